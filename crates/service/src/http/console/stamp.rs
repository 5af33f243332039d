//! A time on a page: as the person reads it, and exactly in UTC.

use std::fmt;

use askama::filters::HtmlSafe;
use chrono::{DateTime, SecondsFormat, Utc};

/// A time on a page.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    at: DateTime<Utc>,
    /// Digits, letters and spaces only.
    text: String,
    after: String,
}

impl Stamp {
    pub(super) fn new(at: DateTime<Utc>, text: String) -> Self {
        Self { at, text, after: String::new() }
    }

    /// The same time with words of ours after it.
    pub(super) fn followed_by(mut self, words: &str) -> Self {
        self.after.push_str(words);
        self
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.at.format("%Y-%m-%d %H:%M:%S UTC");
        let machine = self.at.to_rfc3339_opts(SecondsFormat::Secs, true);
        write!(f, r#"<time datetime="{machine}" title="{exact}">{}</time>{}"#, self.text, self.after)
    }
}

impl HtmlSafe for Stamp {}
