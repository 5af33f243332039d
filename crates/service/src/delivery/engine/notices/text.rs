//! The text of a notice mail to the merchant's technical contact.

use chrono::{DateTime, Utc};
use domain::messages::notice::Notice;
use store::messages::notices::{Counts, Facts, MOST_COUNTED};

/// The content of one notice.
pub(super) struct Details<'a> {
    pub(super) change: Notice,
    pub(super) facts: &'a Facts,
    pub(super) counts: &'a Counts,
    pub(super) last_failure: Option<&'a str>,
}

/// The subject and the text of the mail.
pub(super) fn compose(details: &Details<'_>) -> (String, String) {
    let Details { change, facts: Facts { interface, handle, url, .. }, counts: Counts { waiting, failed }, last_failure } = *details;
    let (subject, opening, advice) = match change {
        Notice::Failing { since } => (
            format!("{handle}: the endpoint for {interface} is failing"),
            format!("None of our messages has reached this endpoint of {handle} since {}:", moment(since)),
            "Please check your system. You need to do nothing else: we retry each message for some hours, and deliver waiting messages \
             in order once your system accepts them. We will write again when messages have been arriving for a while."
                .to_owned(),
        ),
        Notice::Recovered { since } => (
            format!("{handle}: the endpoint for {interface} has recovered"),
            format!("This endpoint of {handle} receives messages again. It had been failing since {}.", moment(since)),
            if *failed == 0 {
                "You need to do nothing: waiting messages are delivered automatically.".to_owned()
            } else {
                format!("Waiting messages are delivered automatically. Messages that were given up are not: {SEND_AGAIN}")
            },
        ),
        Notice::FailuresOpen => (
            format!("{handle}: messages for {interface} were given up"),
            format!("All attempts to deliver a message to this endpoint of {handle} have failed, so we have given it up:"),
            format!(
                "The message is kept until someone deals with it, and later messages are sent as usual. Once your system can accept it, \
                 {SEND_AGAIN} We do not write about every further message; we will write again when all of them have been dealt \
                 with and another one is given up, at most every 8 hours."
            ),
        ),
    };
    let mut lines =
        vec![("interface", interface.clone()), ("address", url.clone()), ("waiting", messages(*waiting)), ("given up", messages(*failed))];
    if let Some(last_failure) = last_failure {
        lines.insert(2, ("last answer", last_failure.to_owned()));
    }
    let lines: Vec<String> = lines.into_iter().map(|(name, value)| format!("  {:<13}{value}", format!("{name}:"))).collect();
    (subject, format!("Hello,\n\n{opening}\n\n{}\n\n{advice}\n", lines.join("\n")))
}

/// The ways to retry a message that was given up.
const SEND_AGAIN: &str = "retry with POST /v1/messages/{message_id}/retry (GET /v1/messages?state=failed lists them), or ask us to \
                          retry all of them.";

fn moment(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

fn messages(count: i64) -> String {
    match count {
        1 => "1 message".to_owned(),
        MOST_COUNTED.. => format!("{MOST_COUNTED} messages or more"),
        _ => format!("{count} messages"),
    }
}

#[cfg(test)]
mod tests {
    use domain::messages::notice::ReportedHealth;

    use super::*;

    fn composed(change: Notice, failed: i64, last_failure: Option<&str>) -> (String, String) {
        let facts = Facts {
            reported: ReportedHealth::default(),
            sequence: 0,
            interface: "rma".to_owned(),
            url: "https://example.com/rmas".to_owned(),
            open: failed > 0,
            handle: "acme".to_owned(),
            technical_contact: None,
        };
        compose(&Details { change, facts: &facts, counts: &Counts { waiting: 12, failed }, last_failure })
    }

    fn noon() -> DateTime<Utc> {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_mail_says_which_endpoint_since_when_and_what_to_do() {
        let (subject, text) = composed(Notice::Failing { since: noon() }, 0, Some("503"));
        assert_eq!(subject, "acme: the endpoint for rma is failing");
        insta::assert_snapshot!(text, @r"
        Hello,

        None of our messages has reached this endpoint of acme since 2026-03-01 12:00 UTC:

          interface:   rma
          address:     https://example.com/rmas
          last answer: 503
          waiting:     12 messages
          given up:    0 messages

        Please check your system. You need to do nothing else: we retry each message for some hours, and deliver waiting messages in order once your system accepts them. We will write again when messages have been arriving for a while.
        ");
    }

    #[test]
    fn a_recovery_mail_asks_for_a_retry_only_if_messages_were_given_up() {
        let (subject, text) = composed(Notice::Recovered { since: noon() }, 0, None);
        assert_eq!(subject, "acme: the endpoint for rma has recovered");
        assert!(text.contains("You need to do nothing") && !text.contains("retry"), "{text}");
        let (_, text) = composed(Notice::Recovered { since: noon() }, 1, None);
        assert!(text.contains("1 message\n") && text.contains("/retry"), "{text}");
    }

    #[test]
    fn a_mail_about_given_up_messages_says_how_to_retry_them() {
        let (subject, text) = composed(Notice::FailuresOpen, 10_000, Some("timed out"));
        assert_eq!(subject, "acme: messages for rma were given up");
        assert!(text.contains("10000 messages or more") && text.contains("GET /v1/messages?state=failed"), "{text}");
    }
}
