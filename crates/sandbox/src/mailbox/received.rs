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
    html: Option<String>,
    is_accepted: bool,
}

impl Received {
    pub(super) fn new(from: String, to: Vec<String>, raw: Vec<u8>, is_accepted: bool) -> Self {
        let (headers, body) = split(&raw);
        let parts = parts(&headers, body);
        let (text, html) = (read(&parts, "text/plain"), read(&parts, "text/html"));
        Self(Arc::new(Mail { from, to, raw, headers, text, html, is_accepted }))
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

    /// The decoded text. `None` if the mail has no plain text in UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// The decoded HTML, if there is one.
    #[must_use]
    pub fn html(&self) -> Option<&str> {
        self.0.html.as_deref()
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

/// A part of a mail: its headers and its encoded body.
type Part<'a> = (Vec<(String, String)>, &'a [u8]);

/// Splits a mail or a part of it into headers and body.
fn split(raw: &[u8]) -> Part<'_> {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(raw.len());
    let (head, body) = raw.split_at(end);
    (headers(&String::from_utf8_lossy(head)), body.strip_prefix(b"\r\n\r\n").unwrap_or(body))
}

/// The parts of a mail; one without several is its own only part.
fn parts<'a>(headers: &[(String, String)], body: &'a [u8]) -> Vec<Part<'a>> {
    let kind = find(headers, "content-type").unwrap_or_default();
    let boundary = kind.split(';').filter_map(|value| value.trim().strip_prefix("boundary=")).map(|value| value.trim_matches('"')).next();
    match boundary.filter(|_| kind.to_ascii_lowercase().starts_with("multipart/")) {
        None => vec![(headers.to_vec(), body)],
        Some(boundary) => {
            let line = format!("--{boundary}").into_bytes();
            let mut starts = body.windows(line.len()).enumerate().filter(|(_, here)| *here == line).map(|(at, _)| at).collect::<Vec<_>>();
            let last = starts.pop().unwrap_or_default();
            let ends = starts.iter().skip(1).copied().chain([last]);
            let between = starts.iter().zip(ends).filter_map(|(start, end)| body.get(start + line.len() + 2..end.saturating_sub(2)));
            between.map(split).collect()
        }
    }
}

/// The first part of this type, decoded. A part without a type is plain text.
fn read(parts: &[Part<'_>], wanted: &str) -> Option<String> {
    let kind = |headers: &[(String, String)]| find(headers, "content-type").unwrap_or("text/plain").to_ascii_lowercase();
    let (headers, body) = parts.iter().find(|(headers, _)| kind(headers).starts_with(wanted))?;
    encoding::body(find(headers, "content-transfer-encoding").unwrap_or_default(), body)
}

/// Reads the headers of a mail. A line that begins with a space continues the previous one.
fn headers(head: &str) -> Vec<(String, String)> {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let split = unfolded.split("\r\n").filter_map(|line| line.split_once(':'));
    split.map(|(name, value)| (name.to_owned(), encoding::header(value.trim()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_mail_are_read() {
        let raw = "Subject: both\r\nContent-Type: multipart/alternative;\r\n boundary=\"x-1\"\r\n\r\n\
                   --x-1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ngr=C3=BCn\r\n\
                   --x-1\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>green</p>\r\n--x-1--\r\n";
        let read = |raw: &str| Received::new(String::new(), Vec::new(), raw.as_bytes().to_vec(), true);
        let both = read(raw);
        assert_eq!((both.text(), both.html(), both.subject()), (Some("gr\u{fc}n"), Some("<p>green</p>"), Some("both")));
        let alone = read("Subject: plain\r\n\r\nhello\r\n");
        assert_eq!((alone.text(), alone.html()), (Some("hello\r\n"), None));
        let empty = read("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x--\r\n");
        assert_eq!((empty.text(), empty.html()), (None, None));
    }
}
