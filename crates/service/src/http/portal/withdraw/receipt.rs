//! A statement as its receipt was acknowledged.

use store::returns::withdrawals::Withdrawal;

use crate::http::pages::frame::Reader;
use crate::http::portal::view::Day;

/// A statement with the time of its receipt. The statement is in the language in which it was made.
pub(super) struct Receipt {
    pub(super) received: Day,
    pub(super) reference: String,
    /// The code of the statement's language.
    pub(super) language: String,
    /// The sentence that withdraws.
    pub(super) sentence: String,
    /// The facts, each with its name.
    pub(super) facts: Vec<(String, String)>,
    /// Whether it was made in the period, in words, where that is told.
    pub(super) in_time: Option<String>,
}

impl Receipt {
    pub(super) fn of(reader: &Reader, found: &Withdrawal) -> Self {
        let words = reader.words();
        let mut lines = found.statement.lines();
        let sentence = lines.next().unwrap_or_default().to_owned();
        let facts = lines.filter_map(|line| line.split_once(": "));
        Self {
            received: Day { machine: words.machine_time(found.received_at), words: words.exact_moment(found.received_at) },
            reference: found.reference.clone(),
            language: found.language.clone(),
            sentence,
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            in_time: None,
        }
    }
}
