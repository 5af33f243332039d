//! The text of a snapshot.

use bytes::Bytes;

/// The text of a snapshot, which is most of its memory.
pub struct Text<'a>(Held<'a>);

enum Held<'a> {
    Borrowed(&'a str),
    Owned(String),
    /// A part of the body that the snapshot came in. It was text when it was taken.
    Part(Bytes),
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Held::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Held::Owned(text))
    }
}

impl Text<'_> {
    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Held::Borrowed(text) => text,
            Held::Owned(text) => text,
            Held::Part(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
        }
    }

    /// The length in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.0 {
            Held::Borrowed(text) => text.len(),
            Held::Owned(text) => text.len(),
            Held::Part(bytes) => bytes.len(),
        }
    }

    /// The same text, as a part of the `body` that it came in, which stays in memory as long as the text. Text from elsewhere is copied.
    #[must_use]
    pub fn keep(&self, body: &Bytes) -> Text<'static> {
        let text = self.as_str().as_bytes();
        let start = text.as_ptr().addr().checked_sub(body.as_ptr().addr());
        let span = start.and_then(|start| Some(start..start.checked_add(text.len())?)).filter(|span| span.end <= body.len());
        Text(Held::Part(span.map_or_else(|| Bytes::copy_from_slice(text), |span| body.slice(span))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_part_of_the_body_that_it_came_in() {
        let body = Bytes::from("[Köln,Bonn]");
        let whole = std::str::from_utf8(&body).expect("text");
        for (start, end) in [(0, 12), (1, 6), (7, 11), (11, 12), (12, 12)] {
            let text = whole.get(start..end).expect("a part");
            let kept = Text::from(text).keep(&body);
            assert_eq!((kept.as_str(), kept.size()), (text, end - start));
            assert!(text.is_empty() || kept.as_str().as_ptr() == text.as_ptr(), "nothing was copied");
        }
    }

    #[test]
    fn a_text_from_elsewhere_is_copied() {
        let elsewhere = "Köln".to_owned();
        for body in [Bytes::new(), Bytes::from_static(b"K"), Bytes::from("another body")] {
            let kept = Text::from(elsewhere.as_str()).keep(&body);
            assert_eq!((kept.as_str(), kept.size()), ("Köln", 5));
        }
        assert_eq!(Text::from(elsewhere).as_str(), "Köln");
    }

    #[test]
    fn a_text_outlives_the_other_handles_of_its_body() {
        let body = Bytes::from(b"one,two".to_vec());
        let kept = Text::from(std::str::from_utf8(&body).expect("text")).keep(&body);
        drop(body);
        assert_eq!(kept.as_str(), "one,two");
    }
}
