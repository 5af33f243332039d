//! The wire format of a mail (RFC 5322): headers, and the text, alone or beside its form in HTML.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, MultiPartKind, SinglePart};
use lettre::{Address, error};
use uuid::Uuid;

/// Tells programs that nobody reads their answers, such as notices of absence (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");

/// A mail. It has no `Debug` because the recipient and the text are personal data.
#[derive(Clone)]
pub struct Mail {
    /// The Message-ID is derived from it, so a mail that is sent twice can be recognised.
    pub id: Uuid,
    /// The e-mail address of the recipient.
    pub to: String,
    pub subject: String,
    pub text: String,
    /// The same in HTML.
    pub html: Option<String>,
    /// The name of the sender. The address is that of the settings.
    pub sender: Option<String>,
    /// The e-mail address that answers go to, if not the sender's.
    pub reply_to: Option<String>,
}

/// Composes the headers and the text. The same mail is written in the same way each time, but for the date.
pub(super) fn compose(mail: &Mail, from: &Address, to: &Address, now: DateTime<Utc>) -> Result<Vec<u8>, error::Error> {
    let mut message = Message::builder()
        .message_id(Some(format!("<{}@{}>", mail.id, from.domain())))
        .date(SystemTime::from(now))
        .from(Mailbox::new(mail.sender.as_deref().map(one_line), from.clone()))
        .to(Mailbox::new(None, to.clone()))
        .subject(one_line(&mail.subject))
        .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()));
    if let Some(reply_to) = mail.reply_to.as_ref().and_then(|address| address.parse().ok()) {
        message = message.reply_to(Mailbox::new(None, reply_to));
    }
    let text = SinglePart::plain(mail.text.clone());
    let message = match &mail.html {
        None => message.singlepart(text)?,
        Some(html) => {
            let parts = MultiPart::builder().kind(MultiPartKind::Alternative).boundary(format!("part-{}", mail.id.simple()));
            message.multipart(parts.singlepart(text).singlepart(SinglePart::html(html.clone())))?
        }
    };
    Ok(message.formatted())
}

/// Replaces control characters, so that a value cannot start another header, and leaves single spaces: of several between words that
/// are not ASCII, readers keep none.
fn one_line(text: &str) -> String {
    let words = text.split(|character: char| character.is_control() || character == ' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;
    use proptest::prelude::*;

    use super::*;

    fn mail() -> Mail {
        Mail {
            id: Uuid::from_u128(7),
            to: "pat@example.com".to_owned(),
            subject: "An endpoint fails".to_owned(),
            text: "Gr\u{fc}\u{df}e\n.\n".to_owned(),
            html: None,
            sender: None,
            reply_to: None,
        }
    }

    fn written(mail: &Mail) -> Vec<u8> {
        let address = |text: &str| text.parse::<Address>().expect("an address");
        let now = "2026-03-01T12:00:00Z".parse().expect("a time");
        compose(mail, &address("notices@example.com"), &address("pat@example.com"), now).expect("a mail")
    }

    #[test]
    fn a_mail_is_lines_of_ascii() {
        let expected = "Message-ID: <00000000-0000-0000-0000-000000000007@example.com>\nDate: Sun, 01 Mar 2026 12:00:00 +0000\n\
                        From: notices@example.com\nTo: pat@example.com\nSubject: An endpoint fails\nAuto-Submitted: auto-generated\n\
                        MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n\
                        R3LDvMOfZQ0KLg0K\n";
        let sent = String::from_utf8(written(&mail())).expect("ASCII");
        assert_eq!(sent.trim_end(), expected.replace('\n', "\r\n").trim_end());
    }

    proptest! {
        #[test]
        fn whatever_a_mail_holds_another_program_reads_the_same(
            subject in "\\PC{0,200}", text in "(\\PC{0,200}\n){0,5}", html in "(\\PC{0,200}\n){0,5}", sender in "\\PC{1,60}",
        ) {
            let reply_to = Some("help@example.com".to_owned());
            let mail = Mail { subject, text, html: Some(html), sender: Some(sender), reply_to, ..mail() };
            let sent = written(&mail);
            prop_assert!(sent.is_ascii());
            prop_assert!(sent.split(|byte| *byte == b'\n').all(|line| line.len() <= 999), "SMTP has no longer lines");
            let read = MessageParser::default().parse(&sent).expect("a mail");
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(squeezed(read.subject().unwrap_or_default()), squeezed(&mail.subject));
            let text = read.body_text(0).unwrap_or_default().replace("\r\n", "\n");
            prop_assert_eq!(text.trim_end_matches('\n'), mail.text.trim_end_matches('\n'));
            let html = read.body_html(0).unwrap_or_default().replace("\r\n", "\n");
            prop_assert_eq!(html.trim_end_matches('\n'), mail.html.as_deref().unwrap_or_default().trim_end_matches('\n'));
            let from = read.from().and_then(|from| from.first()).expect("a sender");
            prop_assert_eq!(from.address(), Some("notices@example.com"));
            prop_assert_eq!(read.message_id(), Some("00000000-0000-0000-0000-000000000007@example.com"));
            prop_assert_eq!(read.reply_to().and_then(|to| to.first()).and_then(|to| to.address()), Some("help@example.com"));
        }

        #[test]
        fn nothing_starts_another_header(subject in "[a\r\n:=? ]{0,80}", sender in "[a\r\n:<>\"\\\\, ]{1,40}") {
            let sent = written(&Mail { subject: format!("{subject}\r\nBcc: sam@example.com"), sender: Some(sender), ..mail() });
            let read = MessageParser::default().parse(&sent).expect("a mail");
            prop_assert!(read.bcc().is_none());
            prop_assert_eq!(read.to().and_then(|to| to.first()).and_then(|to| to.address()), Some("pat@example.com"));
        }
    }
}
