//! The wire format of a mail (RFC 5322): headers, and the text in base64, so that it consists of short ASCII lines.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, Utc};
use lettre::Address;
use uuid::Uuid;

/// A mail. It has no `Debug` because the recipient and the text are personal data.
#[derive(Clone)]
pub struct Mail {
    /// The Message-ID is derived from it, so a mail that is sent twice can be recognised.
    pub id: Uuid,
    /// The e-mail address of the recipient.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// The longest subject that is written without encoding.
const SHORT: usize = 66;
/// The bytes of a subject per encoded word. With the header's name, a word stays within a line of 78 characters.
const WORD: usize = 42;
/// The length of a line of base64.
const LINE: usize = 76;

/// Composes the headers and the text.
pub(super) fn compose(mail: &Mail, from: &Address, to: &Address, now: DateTime<Utc>) -> String {
    let lines: Vec<&str> = mail.text.lines().collect();
    let mut text = format!(
        "Message-ID: <{}@{}>\r\nDate: {}\r\nFrom: <{from}>\r\nTo: <{to}>\r\nSubject: {}\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
        mail.id,
        from.domain(),
        now.to_rfc2822(),
        subject(&mail.subject),
    );
    for (at, character) in BASE64_STANDARD.encode(lines.join("\r\n") + "\r\n").char_indices() {
        if at > 0 && at % LINE == 0 {
            text.push_str("\r\n");
        }
        text.push(character);
    }
    text + "\r\n"
}

/// The subject as a header value, in encoded words (RFC 2047) if it cannot be written as it is. Control characters are replaced, so
/// that a subject cannot start another header.
fn subject(subject: &str) -> String {
    let subject: String = subject.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    if subject.is_ascii() && subject.len() <= SHORT && !subject.contains("=?") {
        return subject;
    }
    let mut words = Vec::new();
    let mut rest = subject.as_str();
    while let Some((word, behind)) = rest.split_at_checked(rest.floor_char_boundary(WORD)).filter(|(word, _)| !word.is_empty()) {
        words.push(format!("=?utf-8?b?{}?=", BASE64_STANDARD.encode(word)));
        rest = behind;
    }
    words.join("\r\n ")
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_mail_is_lines_of_ascii() {
        let mail = Mail {
            id: Uuid::from_u128(7),
            to: "pat@example.com".to_owned(),
            subject: "An endpoint fails".to_owned(),
            text: "Gr\u{fc}\u{df}e\n.\n".to_owned(),
        };
        let address = |text: &str| text.parse::<Address>().expect("an address");
        let now = "2026-03-01T12:00:00Z".parse().expect("a time");
        let composed = compose(&mail, &address("notices@example.com"), &address("pat@example.com"), now);
        let expected = "Message-ID: <00000000-0000-0000-0000-000000000007@example.com>\nDate: Sun, 1 Mar 2026 12:00:00 +0000\n\
                        From: <notices@example.com>\nTo: <pat@example.com>\nSubject: An endpoint fails\nMIME-Version: 1.0\n\
                        Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ0KLg0K\n";
        assert_eq!(composed, expected.replace('\n', "\r\n"));
        let long = Mail { subject: "\u{4e2d}".repeat(500), text: "\u{4e2d}\n".repeat(500), ..mail };
        let composed = compose(&long, &address("notices@example.com"), &address("pat@example.com"), now);
        assert!(composed.is_ascii() && composed.split("\r\n").all(|line| line.len() <= 78 && !line.contains(['\r', '\n'])));
    }

    #[test]
    fn a_subject_is_one_header_whatever_it_holds() {
        for (text, value) in [
            ("plain", "plain"),
            ("a\r\nBcc: b", "a  Bcc: b"),
            ("", ""),
            ("=?utf-8?b?", "=?utf-8?b?PT91dGYtOD9iPw==?="),
            ("gr\u{fc}n", "=?utf-8?b?Z3LDvG4=?="),
        ] {
            assert_eq!(subject(text), value);
        }
        assert_eq!(subject(&"x".repeat(67)).matches("=?utf-8?b?").count(), 2);
    }
}
