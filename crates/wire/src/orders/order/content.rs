//! The content of an order, whatever its spelling.
//!
//! A system may write the same order in many ways: with more white space, with names in another order, `10` or `10.0`, `ö` or `\u00f6`.
//! [`digest`] is the same for all of them, because it is made from the one spelling into which [`canonical`] rewrites them.

use std::borrow::Cow;
use std::io::Write as _;

use domain::orders::snapshot::{Digest, of_content};
use memchr::memchr2;
use sha2::{Digest as _, Sha256};

use crate::json::DEEPEST;

/// The most values of a content that is looked at. It bounds the memory for them; an order of 1,000 lines has fewer.
const MOST_VALUES: usize = 250_000;

/// The digest of the content of `text`, an order that was read. Anything else, and what has too many values, has the digest of its bytes.
#[must_use]
pub fn digest(text: &str) -> Digest {
    canonical(text).map_or_else(|| Sha256::digest(text).into(), |content| of_content(blake3::hash(&content).into()))
}

/// The one spelling of the content of a JSON text: without white space, names sorted, numbers and strings written in one way. `None` if the
/// text is not JSON, or has too many values.
fn canonical(text: &str) -> Option<Vec<u8>> {
    let mut reader = Reader { rest: text.as_bytes(), values_left: MOST_VALUES, members: Vec::new() };
    let value = reader.value(DEEPEST)?;
    if reader.peek().is_some() {
        return None;
    }
    let mut written = Vec::with_capacity(text.len());
    value.write(&mut written)?;
    Some(written)
}

/// A value as parts of the text.
enum Value<'t> {
    /// A string without escapes, `true`, `false` or `null`, which have one spelling.
    Plain(&'t [u8]),
    Escaped(&'t [u8]),
    Number(&'t [u8]),
    Array(Vec<Value<'t>>),
    /// Sorted by name.
    Object(Vec<Member<'t>>),
}

struct Member<'t> {
    /// The first bytes of the name, which nearly always tell one name from another.
    first: u64,
    /// In quotes.
    name: Cow<'t, [u8]>,
    value: Value<'t>,
}

impl Value<'_> {
    fn write(&self, to: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Plain(text) => to.extend_from_slice(text),
            Self::Escaped(string) => to.append(&mut unescaped(string)?),
            Self::Number(number) => write_number(str::from_utf8(number).ok()?, to)?,
            Self::Array(elements) => {
                to.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        to.push(b',');
                    }
                    element.write(to)?;
                }
                to.push(b']');
            }
            Self::Object(members) => {
                to.push(b'{');
                for (at, member) in members.iter().enumerate() {
                    if at > 0 {
                        to.push(b',');
                    }
                    to.extend_from_slice(&member.name);
                    to.push(b':');
                    member.value.write(to)?;
                }
                to.push(b'}');
            }
        }
        Some(())
    }
}

/// A string in quotes without needless escapes.
fn unescaped(string: &[u8]) -> Option<Vec<u8>> {
    let text: String = serde_json::from_slice(string).ok()?;
    serde_json::to_vec(&text).ok()
}

/// Reads a JSON text. Its functions return `None` if it is none, or has too many values.
struct Reader<'t> {
    /// The part that is still to be read.
    rest: &'t [u8],
    values_left: usize,
    /// The members of the objects that are open, those of the innermost last.
    members: Vec<Member<'t>>,
}

impl<'t> Reader<'t> {
    /// A value that nests at most `room` levels.
    fn value(&mut self, room: usize) -> Option<Value<'t>> {
        self.values_left = self.values_left.checked_sub(1)?;
        match self.peek()? {
            b'{' => self.object(room.checked_sub(1)?),
            b'[' => self.array(room.checked_sub(1)?),
            b'"' => self.string().map(|(string, is_plain)| if is_plain { Value::Plain(string) } else { Value::Escaped(string) }),
            b'-' | b'0'..=b'9' => self.take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).map(Value::Number),
            _ => self.take_while(|byte| byte.is_ascii_lowercase()).filter(|word| !word.is_empty()).map(Value::Plain),
        }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    /// Skips `mark`, which must come next.
    fn skip(&mut self, mark: u8) -> Option<()> {
        self.peek().filter(|next| *next == mark)?;
        self.take(1).map(|_| ())
    }

    /// Takes the next `length` bytes.
    fn take(&mut self, length: usize) -> Option<&'t [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn take_while(&mut self, is_part: impl Fn(u8) -> bool) -> Option<&'t [u8]> {
        let length = self.rest.iter().take_while(|byte| is_part(**byte)).count();
        self.take(length)
    }

    fn object(&mut self, room: usize) -> Option<Value<'t>> {
        let first = self.members.len();
        self.skip(b'{')?;
        while self.peek()? != b'}' {
            if self.members.len() > first {
                self.skip(b',')?;
                self.peek()?;
            }
            let name = match self.string()? {
                (name, true) => Cow::Borrowed(name),
                (name, false) => Cow::Owned(unescaped(name)?),
            };
            self.skip(b':')?;
            let value = self.value(room)?;
            self.members.push(Member { first: first_bytes(&name), name, value });
        }
        self.skip(b'}')?;
        // A list as long as it has to be: very many objects may have one member each.
        let mut members = self.members.split_off(first);
        members.sort_unstable_by(|one, other| one.first.cmp(&other.first).then_with(|| one.name.cmp(&other.name)));
        Some(Value::Object(members))
    }

    fn array(&mut self, room: usize) -> Option<Value<'t>> {
        let mut elements = Vec::new();
        self.skip(b'[')?;
        while self.peek()? != b']' {
            if !elements.is_empty() {
                self.skip(b',')?;
            }
            elements.push(self.value(room)?);
        }
        self.skip(b']')?;
        Some(Value::Array(elements))
    }

    /// A string in its quotes, and whether it has no escapes.
    fn string(&mut self) -> Option<(&'t [u8], bool)> {
        self.rest.first().filter(|quote| **quote == b'"')?;
        let (mut length, mut is_plain) = (1, true);
        loop {
            let rest = self.rest.get(length..)?;
            let at = memchr2(b'"', b'\\', rest)?;
            length += at + 1;
            if rest.get(at) == Some(&b'"') {
                return Some((self.take(length)?, is_plain));
            }
            // Whatever the character after it is, it does not end the string.
            length += 1;
            is_plain = false;
        }
    }
}

/// The first bytes of a name after its quote, as a number that sorts like them.
fn first_bytes(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name.iter().skip(1)).for_each(|(byte, of_name)| *byte = *of_name);
    u64::from_be_bytes(first)
}

/// The most zeros that are written out at the end of a number, and the longest whole number that is copied as it is. Each of these
/// numbers has one spelling then.
const MOST_ZEROS: usize = 400;

/// Writes a number by its value: its digits, from the first to the last that is not zero, and the zeros or the power of ten after them.
fn write_number(number: &str, written: &mut Vec<u8>) -> Option<()> {
    let (sign, unsigned) = number.strip_prefix('-').map_or(("", number), |unsigned| ("-", unsigned));
    if unsigned.len() <= MOST_ZEROS && unsigned != "0" && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        written.extend_from_slice(number.as_bytes());
        return Some(());
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let start = written.len();
    written.extend_from_slice(sign.as_bytes());
    let first = written.len();
    written.extend(whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0'));
    let zeros = written.iter().skip(first).rev().take_while(|digit| **digit == b'0').count();
    written.truncate(written.len() - zeros);
    if written.len() == first {
        // Zero has no sign and no exponent.
        written.truncate(start);
        written.push(b'0');
        return Some(());
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        // Nobody means such a number. It is told apart by its spelling.
        written.truncate(start);
        written.extend_from_slice(number.as_bytes());
        return Some(());
    };
    let exponent = i128::from(exponent) - i128::try_from(fraction.len()).ok()? + i128::try_from(zeros).ok()?;
    match usize::try_from(exponent) {
        Ok(zeros) if zeros <= MOST_ZEROS => written.extend(std::iter::repeat_n(b'0', zeros)),
        _ => write!(written, "e{exponent}").ok()?,
    }
    Some(())
}

#[cfg(test)]
mod tests;
