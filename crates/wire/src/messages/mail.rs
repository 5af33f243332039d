//! A mail as stored until it is sent.

use serde::Deserialize;

/// A mail. It has no `Debug`: recipient and content are personal.
#[derive(Deserialize)]
pub struct MailBody {
    /// An e-mail address.
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Serialises a mail for storage.
#[must_use]
pub fn write(mail: &MailBody) -> String {
    let MailBody { to, subject, text } = mail;
    serde_json::json!({ "to": to, "subject": subject, "text": text }).to_string()
}

/// Deserialises a stored mail.
#[must_use]
pub fn read(body: &[u8]) -> Option<MailBody> {
    serde_json::from_slice(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_read_as_it_was_written() {
        let mail = MailBody { to: "pat@example.com".to_owned(), subject: "Grüße".to_owned(), text: "Line\n\"quoted\"\n".to_owned() };
        let read = read(write(&mail).as_bytes()).unwrap();
        assert_eq!((read.to, read.subject, read.text), (mail.to, mail.subject, mail.text));
        assert!(super::read(b"{}").is_none());
    }
}
