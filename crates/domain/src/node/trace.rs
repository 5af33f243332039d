//! The place of a piece of work in a trace, as the W3C's Trace Context defines it.

use std::fmt;

/// A span's place: the trace, the span itself, and whether the trace is recorded. It is displayed as the header `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Never 0.
    pub trace: u128,
    /// Never 0.
    pub span: u64,
    /// True if the spans of the trace are recorded.
    pub sampled: bool,
}

/// The ids of a span and of the one that it is a part of. The first span of a trace is part of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanIds {
    pub context: TraceContext,
    pub parent: Option<u64>,
}

/// The length of the header in version 00: 2, 32, 16 and 2 digits with three hyphens.
const LENGTH: usize = 55;
/// The flag that says that a trace is recorded.
const SAMPLED: u8 = 1;

impl TraceContext {
    /// Reads the header `traceparent`. Returns `None` if it is not valid. A later version may append fields, which are ignored.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        let mut fields = header.splitn(5, '-');
        let version = hex(fields.next()?, 2)?;
        let (trace, span, flags) = (hex(fields.next()?, 32)?, hex(fields.next()?, 16)?, hex(fields.next()?, 2)?);
        let is_whole = match version {
            0 => header.len() == LENGTH,
            0xff => false,
            _ => true,
        };
        let span = u64::try_from(span).ok()?;
        let sampled = u8::try_from(flags).ok()? & SAMPLED != 0;
        (is_whole && trace != 0 && span != 0).then_some(Self { trace, span, sampled })
    }

    /// Reads the stored form. Returns `None` if the bytes are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (trace, rest) = bytes.split_first_chunk()?;
        let (span, rest) = rest.split_first_chunk()?;
        let [flags] = rest else { return None };
        let (trace, span) = (u128::from_be_bytes(*trace), u64::from_be_bytes(*span));
        (trace != 0 && span != 0).then_some(Self { trace, span, sampled: flags & SAMPLED != 0 })
    }

    /// The stored form: 16 bytes of the trace, 8 of the span, and the flags.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(25);
        bytes.extend(self.trace.to_be_bytes());
        bytes.extend(self.span.to_be_bytes());
        bytes.push(u8::from(self.sampled));
        bytes
    }

    /// The same trace, at another span.
    #[must_use]
    pub fn at(self, span: u64) -> Self {
        Self { span, ..self }
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

/// Reads exactly this many digits, in lower case as the standard demands.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then(|| u128::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_header_is_read_written_and_stored_without_loss() {
        let context = TraceContext::parse(VALID).expect("a valid header");
        assert_eq!((context.trace, context.span), (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, 0x00f0_67aa_0ba9_02b7));
        assert!(context.sampled);
        assert_eq!(context.to_string(), VALID);
        assert_eq!(TraceContext::from_bytes(&context.to_bytes()), Some(context));
        let unsampled = TraceContext { sampled: false, ..context };
        assert_eq!(TraceContext::parse(&unsampled.to_string()), Some(unsampled));
        assert_eq!(TraceContext::from_bytes(&unsampled.to_bytes()), Some(unsampled));
    }

    #[test]
    fn unknown_flags_and_fields_of_later_versions_are_ignored() {
        let read = |header: &str| TraceContext::parse(header).map(|context| context.sampled);
        assert_eq!(read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02"), Some(false));
        assert_eq!(read("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff"), Some(true));
        assert_eq!(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), Some(true));
        assert_eq!(read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-is-next"), Some(true));
    }

    #[test]
    fn anything_else_is_no_place_in_a_trace() {
        for header in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::parse(header), None, "{header}");
        }
        for bytes in [&[][..], &[1; 24], &[1; 26], &[0; 25]] {
            assert_eq!(TraceContext::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
