//! The content of an order, whatever its spelling.
//!
//! A system may write the same order in many ways: with more white space, with names in another order, `10` or `10.0`, `ö` or `\u00f6`.
//! [`digest`] is the same for all of them, because it is made from the one spelling into which [`canonical`] rewrites them.

use std::io::Write as _;

use domain::orders::snapshot::{Digest, of_content};
use sha2::{Digest as _, Sha256};

use crate::json::DEEPEST;

/// The digest of the content of `text`, an order that was read. Anything else has the digest of its bytes.
#[must_use]
pub fn digest(text: &str) -> Digest {
    canonical(text).map_or_else(|| Sha256::digest(text).into(), |content| of_content(Sha256::digest(content).into()))
}

/// The one spelling of the content of a JSON text: without white space, names sorted, numbers and strings written in one way.
fn canonical(text: &str) -> Option<Vec<u8>> {
    let mut writer = Writer {
        rest: text.as_bytes(),
        written: Vec::with_capacity(text.len()),
        members: Vec::new(),
        sorted: Vec::with_capacity(text.len()),
    };
    writer.value(DEEPEST)?;
    writer.peek().is_none().then_some(writer.written)
}

/// Rewrites a JSON text. Its functions return `None` if the text is not JSON, which a text that was read always is.
struct Writer<'t> {
    /// The part that is still to be read.
    rest: &'t [u8],
    written: Vec<u8>,
    /// The members of the objects that are open, those of the innermost last.
    members: Vec<Member>,
    /// An object whose members are being sorted.
    sorted: Vec<u8>,
}

/// A member of an object, as positions in what was written.
struct Member {
    start: usize,
    name_end: usize,
    end: usize,
}

impl Writer<'_> {
    /// Rewrites a value that nests at most `room` levels.
    fn value(&mut self, room: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(room.checked_sub(1)?),
            b'[' => self.array(room.checked_sub(1)?),
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
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
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn object(&mut self, room: usize) -> Option<()> {
        let (opened, first) = (self.written.len(), self.members.len());
        self.skip(b'{')?;
        while self.peek()? != b'}' {
            if self.members.len() > first {
                self.skip(b',')?;
                self.peek()?;
            }
            let start = self.written.len();
            self.string()?;
            let name_end = self.written.len();
            self.skip(b':')?;
            self.written.push(b':');
            self.value(room)?;
            self.members.push(Member { start, name_end, end: self.written.len() });
        }
        self.skip(b'}')?;
        self.sort_object(opened, first)
    }

    /// Sorts the object that begins at `opened`, and whose members are those from `first` on.
    fn sort_object(&mut self, opened: usize, first: usize) -> Option<()> {
        let Self { written, members, sorted, .. } = self;
        let own = members.get_mut(first..)?;
        let name = |member: &Member| written.get(member.start..member.name_end);
        own.sort_unstable_by(|one, other| name(one).cmp(&name(other)));
        sorted.clear();
        sorted.push(b'{');
        for (at, member) in own.iter().enumerate() {
            if at > 0 {
                sorted.push(b',');
            }
            sorted.extend_from_slice(written.get(member.start..member.end)?);
        }
        sorted.push(b'}');
        written.truncate(opened);
        written.extend_from_slice(sorted);
        members.truncate(first);
        Some(())
    }

    fn array(&mut self, room: usize) -> Option<()> {
        self.skip(b'[')?;
        self.written.push(b'[');
        let mut first = true;
        while self.peek()? != b']' {
            if !std::mem::take(&mut first) {
                self.skip(b',')?;
                self.written.push(b',');
            }
            self.value(room)?;
        }
        self.skip(b']')?;
        self.written.push(b']');
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.rest.first().filter(|quote| **quote == b'"')?;
        let (mut length, mut escapes) = (1, false);
        loop {
            let rest = self.rest.get(length..)?;
            let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            length += at + 1;
            if rest.get(at) == Some(&b'"') {
                break;
            }
            // Whatever the character after it is, it does not end the string.
            length += 1;
            escapes = true;
        }
        let (string, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        if escapes {
            let text: String = serde_json::from_slice(string).ok()?;
            return serde_json::to_writer(&mut self.written, &text).ok();
        }
        self.written.extend_from_slice(string);
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let (number, rest) = self.rest.split_at_checked(self.rest.iter().take_while(|byte| is_part(byte)).count())?;
        self.rest = rest;
        write_number(std::str::from_utf8(number).ok()?, &mut self.written)
    }

    /// Copies `true`, `false` or `null`.
    fn word(&mut self) -> Option<()> {
        let (word, rest) = self.rest.split_at_checked(self.rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count())?;
        self.rest = rest;
        self.written.extend_from_slice(word);
        (!word.is_empty()).then_some(())
    }
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
