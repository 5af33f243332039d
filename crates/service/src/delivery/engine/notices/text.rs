//! The words of a notice, for the merchant's technical contact.

use chrono::{DateTime, Utc};
use domain::messages::notice::Notice;
use store::messages::notices::{Counts, Facts, MOST_COUNTED};

use super::News;

/// The subject of a mail, and what it says.
pub(super) fn compose(news: &News<'_>) -> (String, String) {
    let News { change, facts: Facts { interface, handle, url, .. }, counts: Counts { waiting, failed }, last } = *news;
    let (subject, opening, advice) = match change {
        Notice::Failing { since } => (
            format!("{handle}: the endpoint for {interface} is failing"),
            format!("Since {} none of our messages has reached this endpoint of {handle}:", moment(since)),
            "Please look at your system. Nothing else is needed: messages are tried again by themselves, for some hours, and what \
             waits is delivered in order once your system takes it. We write again when messages arrive."
                .to_owned(),
        ),
        Notice::Recovered { since } => (
            format!("{handle}: the endpoint for {interface} has recovered"),
            format!("Messages reach this endpoint of {handle} again. It had been failing since {}.", moment(since)),
            if *failed == 0 {
                "Nothing is to be done: what still waits is delivered by itself.".to_owned()
            } else {
                format!("What still waits is delivered by itself. What was given up is not: {SEND_AGAIN}")
            },
        ),
        Notice::FailuresOpen => (
            format!("{handle}: messages for {interface} were given up"),
            format!("We have tried a message to this endpoint of {handle} as often as we do, and given it up:"),
            format!(
                "It is kept until it is dealt with, and later messages are sent as usual. When your system takes it: {SEND_AGAIN} \
                 We do not write for each further one; we write again when all were dealt with and another is given up."
            ),
        ),
    };
    let mut lines =
        vec![("interface", interface.clone()), ("address", url.clone()), ("waiting", messages(*waiting)), ("given up", messages(*failed))];
    if let Some(last) = last {
        lines.insert(2, ("last answer", last.to_owned()));
    }
    let lines: Vec<String> = lines.into_iter().map(|(name, value)| format!("  {:<13}{value}", format!("{name}:"))).collect();
    (subject, format!("Hello,\n\n{opening}\n\n{}\n\n{advice}\n", lines.join("\n")))
}

/// How what was given up is sent again.
const SEND_AGAIN: &str = "have it sent again with POST /v1/messages/{message_id}/retry (GET /v1/messages?state=failed lists it), or \
                          ask us to try everything again.";

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

    fn composed(change: Notice, failed: i64, last: Option<&str>) -> (String, String) {
        let facts = Facts {
            told: ReportedHealth::default(),
            sequence: 0,
            interface: "rma".to_owned(),
            url: "https://example.com/rmas".to_owned(),
            open: failed > 0,
            handle: "acme".to_owned(),
            technical_contact: None,
        };
        compose(&News { change, facts: &facts, counts: &Counts { waiting: 12, failed }, last })
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

        Since 2026-03-01 12:00 UTC none of our messages has reached this endpoint of acme:

          interface:   rma
          address:     https://example.com/rmas
          last answer: 503
          waiting:     12 messages
          given up:    0 messages

        Please look at your system. Nothing else is needed: messages are tried again by themselves, for some hours, and what waits is delivered in order once your system takes it. We write again when messages arrive.
        ");
    }

    #[test]
    fn whoever_has_recovered_is_asked_for_something_only_if_there_is_something() {
        let (subject, text) = composed(Notice::Recovered { since: noon() }, 0, None);
        assert_eq!(subject, "acme: the endpoint for rma has recovered");
        assert!(text.contains("Nothing is to be done") && !text.contains("retry"), "{text}");
        let (_, text) = composed(Notice::Recovered { since: noon() }, 1, None);
        assert!(text.contains("1 message\n") && text.contains("/retry"), "{text}");
    }

    #[test]
    fn what_was_given_up_can_be_sent_again() {
        let (subject, text) = composed(Notice::FailuresOpen, 10_000, Some("timed out"));
        assert_eq!(subject, "acme: messages for rma were given up");
        assert!(text.contains("10000 messages or more") && text.contains("GET /v1/messages?state=failed"), "{text}");
    }
}
