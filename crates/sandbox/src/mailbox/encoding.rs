//! Decodes the encodings used in mails: quoted-printable, base64, and encoded words in headers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Decodes a body with this transfer encoding. `None` if it is wrongly encoded or not UTF-8.
pub(super) fn body(encoding: &str, body: &[u8]) -> Option<String> {
    let bytes = match encoding.to_ascii_lowercase().as_str() {
        "" | "7bit" | "8bit" | "binary" => body.to_vec(),
        "quoted-printable" => quoted_printable(body)?,
        "base64" => base64(body)?,
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

/// Decodes the encoded words (RFC 2047) of a header's value. Other words stay as they are.
pub(super) fn header(value: &str) -> String {
    let mut text = String::new();
    let mut after_encoded = false;
    for (at, word) in value.split(' ').enumerate() {
        let decoded = encoded_word(word);
        // A space between two encoded words only separates them.
        if at > 0 && !(after_encoded && decoded.is_some()) {
            text.push(' ');
        }
        after_encoded = decoded.is_some();
        text.push_str(decoded.as_deref().unwrap_or(word));
    }
    text
}

fn encoded_word(word: &str) -> Option<String> {
    let mut parts = word.strip_prefix("=?")?.strip_suffix("?=")?.split('?');
    let (charset, encoding, text) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let bytes = match encoding {
        "b" | "B" => base64(text.as_bytes())?,
        "q" | "Q" => quoted_printable(text.replace('_', " ").as_bytes())?,
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64_STANDARD.decode(text).ok()
}

fn quoted_printable(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = match (first, behind) {
            // A soft line break.
            (b'=', [b'\r', b'\n', behind @ ..]) => behind,
            (b'=', [high, low, behind @ ..]) => {
                bytes.push(hex(*high)? << 4 | hex(*low)?);
                behind
            }
            (b'=', _) => return None,
            _ => {
                bytes.push(*first);
                behind
            }
        };
    }
    Some(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_decoded() {
        assert_eq!(body("quoted-printable", b"gr=C3=BC=\r\nn =3D green\r\n").as_deref(), Some("gr\u{fc}n = green\r\n"));
        assert_eq!(body("BASE64", b"Z3LD\r\nvG4=\r\n").as_deref(), Some("gr\u{fc}n"));
        assert_eq!(body("", b"plain\r\n").as_deref(), Some("plain\r\n"));
        for (encoding, wrong) in
            [("quoted-printable", &b"=4"[..]), ("quoted-printable", b"=ZZ"), ("base64", b"?"), ("8bit", b"\xff"), ("uu", b"")]
        {
            assert_eq!(body(encoding, wrong), None, "{encoding}");
        }
    }

    #[test]
    fn the_encoded_words_of_a_header_are_decoded() {
        for (value, text) in [
            ("plain words", "plain words"),
            ("=?utf-8?b?Z3LDvG4=?= =?UTF-8?Q?=C3=BCber_all?= is well", "gr\u{fc}n\u{fc}ber all is well"),
            ("=?latin-1?q?x?= =?utf-8?x?y?= =?utf-8?b?", "=?latin-1?q?x?= =?utf-8?x?y?= =?utf-8?b?"),
        ] {
            assert_eq!(header(value), text);
        }
    }
}
