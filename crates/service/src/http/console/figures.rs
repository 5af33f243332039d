//! Counts of failures, and the tints of outcomes.

use store::messages::failures::MOST_COUNTED;

use super::count::Count;

/// A count of failures, which stops at [`MOST_COUNTED`].
pub(super) fn counted(count: i64) -> String {
    Count { count, bound: MOST_COUNTED }.to_string()
}

/// A number of messages, such as `1 message` or `36 messages`.
pub(super) fn messages(count: i64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{} messages", counted(count)) }
}

/// The class of an outcome or reason: status codes by their first digit.
pub(super) fn tint(outcome: &str) -> &'static str {
    match (outcome.len(), outcome.as_bytes().first()) {
        (3, Some(b'2')) => "s2",
        (3, Some(b'3' | b'4')) => "s4",
        (3, Some(b'5')) => "s5",
        _ => "sx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_and_outcomes_tinted() {
        assert_eq!(messages(1), "1 message");
        assert_eq!(messages(10_000), "10,000 or more messages");
        assert_eq!(["200", "302", "404", "503", "timed out"].map(tint), ["s2", "s4", "s4", "s5", "sx"]);
    }
}
