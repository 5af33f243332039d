//! HTTP/2 as an attacker writes it: frames by hand, in any order, with any content.

/// The first bytes of a client, before any frame.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The type of a frame with a part of a body.
pub const DATA: u8 = 0;
/// The type of a frame with the first headers of a request or an answer.
pub const HEADERS: u8 = 1;
/// The type of a frame that nobody heeds any more.
pub const PRIORITY: u8 = 2;
/// The type of a frame that ends a stream early.
pub const RST_STREAM: u8 = 3;
/// The type of a frame with the settings of a connection.
pub const SETTINGS: u8 = 4;
/// The type of a frame with which servers announce answers.
pub const PUSH_PROMISE: u8 = 5;
/// The type of a frame that asks for an acknowledgement.
pub const PING: u8 = 6;
/// The type of a frame that ends a connection.
pub const GOAWAY: u8 = 7;
/// The type of a frame that allows more to be sent.
pub const WINDOW_UPDATE: u8 = 8;
/// The type of a frame with further headers.
pub const CONTINUATION: u8 = 9;

/// The flag of an acknowledgement.
pub const ACK: u8 = 1;
/// The flag of a stream's last frame.
pub const END_STREAM: u8 = 1;
/// The flag of a request's last headers.
pub const END_HEADERS: u8 = 4;

/// The length of a frame's head.
const HEAD: usize = 9;

/// The first bytes of a client, and its empty settings.
#[must_use]
pub fn opening() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()
}

/// A frame.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// A header as HPACK writes it without a table and without compression (RFC 7541, section 6.2.2).
#[must_use]
pub fn header(name: &[u8], value: &[u8]) -> Vec<u8> {
    [&[0][..], &string(name), &string(value)].concat()
}

/// A text as HPACK writes it: its length with a prefix of seven bits, and its bytes.
fn string(text: &[u8]) -> Vec<u8> {
    let mut written = integer(text.len(), 127);
    written.extend_from_slice(text);
    written
}

/// A number as HPACK writes it, with a prefix that holds up to `most`.
fn integer(number: usize, most: u8) -> Vec<u8> {
    let Some(mut rest) = number.checked_sub(usize::from(most)) else { return vec![u8::try_from(number).unwrap_or_default()] };
    let mut written = vec![most];
    while rest >= 128 {
        written.push(u8::try_from(rest % 128).unwrap_or_default() | 128);
        rest /= 128;
    }
    written.push(u8::try_from(rest).unwrap_or_default());
    written
}

/// The headers of a request without a body.
#[must_use]
pub fn request(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")];
    pseudo.iter().chain(more).flat_map(|(name, value)| header(name.as_bytes(), value.as_bytes())).collect()
}

/// The head and the payload of the frame that `bytes` begin with, and how long it is; none while it is incomplete.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(u8, u8, u32, &[u8], usize)> {
    let head = bytes.get(..HEAD)?;
    let number = |at: std::ops::Range<usize>| head.get(at).into_iter().flatten().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    let end = HEAD + usize::try_from(number(0..3)).ok()?;
    let (kind, flags) = (*head.get(3)?, *head.get(4)?);
    Some((kind, flags, number(5..9) & 0x7fff_ffff, bytes.get(HEAD..end)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_back_as_it_was_written() {
        let written = [frame(HEADERS, END_HEADERS, 7, b"abc"), frame(PING, ACK, 0, &[0; 8])].concat();
        let (kind, flags, stream, payload, end) = read(&written).expect("a frame");
        assert_eq!((kind, flags, stream, payload), (HEADERS, END_HEADERS, 7, &b"abc"[..]));
        assert_eq!(read(&written[end..]).map(|(kind, ..)| kind), Some(PING));
        assert_eq!(read(&written[..11]), None);
    }

    #[test]
    fn long_texts_have_long_lengths() {
        assert_eq!(integer(126, 127), [126]);
        assert_eq!(integer(127, 127), [127, 0]);
        assert_eq!(integer(127 + 300, 127), [127, 172, 2]);
    }
}
