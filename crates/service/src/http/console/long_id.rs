//! A long identifier on a page: its start gives way where there is little room, its last twelve characters stay.

use std::fmt;

use askama::filters::HtmlSafe;
use uuid::Uuid;

/// A long identifier on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongId(pub(super) Uuid);

impl fmt::Display for LongId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let (start, end) = text.split_at(text.len().saturating_sub(12));
        write!(f, r#"<code class="id" title="{text}"><span>{start}</span><b>{end}</b></code>"#)
    }
}

impl HtmlSafe for LongId {}
