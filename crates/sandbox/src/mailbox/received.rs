//! A mail that the mailbox received.

use std::sync::Arc;

use super::encoding;

/// A received mail. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Received(Arc<Mail>);

#[derive(Debug)]
struct Mail {
    from: String,
    to: Vec<String>,
    raw: Vec<u8>,
    headers: Vec<(String, String)>,
    text: Option<String>,
    is_accepted: bool,
}

impl Received {
    pub(super) fn new(from: String, to: Vec<String>, raw: Vec<u8>, is_accepted: bool) -> Self {
        let end = raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(raw.len());
        let (head, body) = raw.split_at(end);
        let headers = headers(&String::from_utf8_lossy(head));
        let value = |name| find(&headers, name).unwrap_or_default();
        let is_text = value("content-type").is_empty() || value("content-type").to_ascii_lowercase().starts_with("text/plain");
        let body = body.strip_prefix(b"\r\n\r\n").unwrap_or(body);
        let text = is_text.then(|| encoding::body(value("content-transfer-encoding"), body)).flatten();
        Self(Arc::new(Mail { from, to, raw, headers, text, is_accepted }))
    }

    /// The sender in the envelope.
    #[must_use]
    pub fn envelope_from(&self) -> &str {
        &self.0.from
    }

    /// The recipients in the envelope.
    #[must_use]
    pub fn envelope_to(&self) -> &[String] {
        &self.0.to
    }

    /// The exact bytes of the mail, without the dots that SMTP adds.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.0.raw
    }

    /// The first header with this name, unfolded and decoded.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.0.headers, name)
    }

    /// The `Subject` header.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.header("subject")
    }

    /// The `Message-ID` header, with its angle brackets.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.header("message-id")
    }

    /// The `From` header.
    #[must_use]
    pub fn from(&self) -> Option<&str> {
        self.header("from")
    }

    /// The `To` header.
    #[must_use]
    pub fn to(&self) -> Option<&str> {
        self.header("to")
    }

    /// The decoded text. `None` if the mail has several parts or is not plain text in UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// Returns whether the mailbox answered that it accepted the mail.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.0.is_accepted
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_str())
}

/// Reads the headers of a mail. A line that begins with a space continues the previous one.
fn headers(head: &str) -> Vec<(String, String)> {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let split = unfolded.split("\r\n").filter_map(|line| line.split_once(':'));
    split.map(|(name, value)| (name.to_owned(), encoding::header(value.trim()))).collect()
}
