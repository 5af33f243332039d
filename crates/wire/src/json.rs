//! JSON, read strictly.
//!
//! A body is accepted only if nobody could read it in two ways: it is UTF-8, nests at most [`DEEPEST`] levels, holds at
//! most [`MOST_VALUES`] values, has no name twice in one object, no half surrogate, no number beyond a double and no NUL
//! character. [`text`] checks what must hold before any parser runs; `Unknown` holds fields that we do not know to the same rules as those that we
//! do; `inspect` builds the value of a refused message and notes every place where it breaks them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::fault::{Code, Fault, MOST_TOLD, Path};

/// How deep a message may nest. The deepest that the contract knows is 8.
pub const DEEPEST: usize = 32;

/// How many values a message may hold: more than fit into the largest body with plausible orders, and few enough that
/// explaining a refused one takes bounded memory.
pub const MOST_VALUES: usize = 500_000;

/// Bytes that are no JSON message at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// `body` as text, if it is UTF-8 and does not hold too much.
pub fn text(body: &[u8]) -> Result<&str, Malformed> {
    let text =
        std::str::from_utf8(body).map_err(|wrong| Malformed(format!("the body is not UTF-8 from byte {} on", wrong.valid_up_to())))?;
    // Every value takes a byte at least, so that only a long body has to be looked at.
    if body.len() >= MOST_VALUES && Extent::of(body).values > MOST_VALUES {
        return Err(Malformed(format!("the body holds more than the limit of {MOST_VALUES} values")));
    }
    Ok(text)
}

/// Refuses text that nests too deep to be parsed safely into a value, where it stands `depth` levels deep in a message. A typed reader holds to the same limit by itself: its
/// own shape is flat, and `Unknown` counts.
pub(crate) fn shallow(text: &str, depth: usize) -> Result<&str, Malformed> {
    if Extent::of(text.as_bytes()).deepest + depth > DEEPEST {
        return Err(Malformed(format!("the body nests deeper than the limit of {DEEPEST} levels")));
    }
    Ok(text)
}

/// How much structure a body has, whether or not it is well-formed.
#[derive(Debug, PartialEq, Eq)]
struct Extent {
    deepest: usize,
    values: usize,
}

impl Extent {
    fn of(body: &[u8]) -> Self {
        let (mut depth, mut deepest, mut values) = (0_usize, 0_usize, 1_usize);
        let mut bytes = body.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                    values += 1;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => values += 1,
                b'"' => {
                    while let Some(byte) = bytes.next() {
                        match byte {
                            b'"' => break,
                            b'\\' => _ = bytes.next(),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Self { deepest, values }
    }
}

/// What serde says about bytes that are no JSON, without the bytes.
impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        let what = if error.is_eof() { "the body ends too early" } else { "the body is not well-formed JSON" };
        Self(format!("{what} (line {}, column {})", error.line(), error.column()))
    }
}

/// A string that may be borrowed from the message; refuses NUL.
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;

        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(Str(Cow::Borrowed(text))) }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(Str(Cow::Owned(text.to_owned()))) }
            }
        }

        deserializer.deserialize_str(StrVisitor)
    }
}

/// Any value, read and forgotten, under the same rules as the values that are kept.
#[derive(Clone, Copy)]
pub(crate) struct Unknown {
    /// How many levels it may still nest.
    room: usize,
}

impl Unknown {
    /// A field of an object that stands `depth` levels deep in its message.
    pub(crate) const fn within(depth: usize) -> Self {
        Self { room: DEEPEST.saturating_sub(depth) }
    }

    /// A value inside of this one.
    fn inside<E: Error>(self) -> Result<Self, E> {
        self.room.checked_sub(1).map(|room| Self { room }).ok_or_else(|| E::custom("too deep"))
    }

    /// Reads the fields of an object none of which is known.
    pub(crate) fn fields<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(Str(name)) = map.next_key()? {
            map.next_value_seed(self)?;
            if !names.insert(name) {
                return Err(A::Error::custom("a name twice"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Unknown {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unknown {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(()) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let inside = self.inside()?;
        while seq.next_element_seed(inside)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.inside()?.fields(map)
    }
}

/// How many elements of an array `inspect` keeps: more than any list may have, so that its length is still at fault.
pub(crate) const MOST_KEPT: usize = 1_001;

/// The value of `text`, with a fault for every repeated name and every NUL character (as many as are ever told). Of a
/// repeated name the last value is kept, so that the rest can still be checked; of an array the first [`MOST_KEPT`]
/// elements, so that explaining it takes bounded memory.
pub(crate) fn inspect(text: &str) -> Result<(Value, Vec<Fault>), Malformed> {
    let mut faults = Vec::new();
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Inspector { spot: Spot::Root, faults: &mut faults }.deserialize(&mut parser)?;
    parser.end()?;
    Ok((value, faults))
}

/// Where the inspector is; becomes a [`Path`] only when there is something to tell.
#[derive(Clone, Copy)]
enum Spot<'a> {
    Root,
    Field(&'a Spot<'a>, &'a str),
    Index(&'a Spot<'a>, usize),
}

impl Spot<'_> {
    fn path(self) -> Path {
        match self {
            Self::Root => Path::root(),
            Self::Field(parent, name) => parent.path().field(name),
            Self::Index(parent, index) => parent.path().index(index),
        }
    }
}

struct Inspector<'a> {
    spot: Spot<'a>,
    faults: &'a mut Vec<Fault>,
}

impl Inspector<'_> {
    fn note(&mut self, spot: Spot<'_>, message: &str) {
        if self.faults.len() < MOST_TOLD {
            self.faults.push(Fault::new(spot.path(), Code::Invalid, message));
        }
    }

    fn check(&mut self, spot: Spot<'_>, text: &str) {
        if text.contains('\0') {
            self.note(spot, "must not contain a NUL character");
        }
    }
}

impl<'de> DeserializeSeed<'de> for Inspector<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inspector<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<Value, E> {
        self.check(self.spot, text);
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        let mut at = 0;
        while let Some(value) = seq.next_element_seed(Inspector { spot: Spot::Index(&self.spot, at), faults: self.faults })? {
            if at < MOST_KEPT {
                values.push(value);
            }
            at += 1;
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let here = self.spot;
        while let Some(name) = map.next_key::<String>()? {
            let spot = Spot::Field(&here, &name);
            self.check(spot, &name);
            if object.contains_key(&name) {
                self.note(spot, "must be given once");
            }
            let value = map.next_value_seed(Inspector { spot, faults: self.faults })?;
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structure_is_counted_outside_of_strings() {
        assert_eq!(Extent::of(br#"{"a": [1, {"b": "[[[,{\"[["}], "c": []}"#), Extent { deepest: 3, values: 7 });
        assert_eq!(Extent::of(b"]]}}[[[["), Extent { deepest: 4, values: 5 });
        assert!(shallow(&"[".repeat(DEEPEST), 0).is_ok());
        assert!(shallow(&"[".repeat(DEEPEST + 1), 0).is_err());
        assert!(text(",".repeat(MOST_VALUES - 1).as_bytes()).is_ok());
        assert!(text(",".repeat(MOST_VALUES).as_bytes()).is_err());
    }

    #[test]
    fn unknown_fields_are_held_to_the_same_rules() {
        let read = |text: &str| Unknown::within(2).deserialize(&mut serde_json::Deserializer::from_str(text)).is_ok();
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&nested(DEEPEST - 2)) && !read(&nested(DEEPEST - 1)));
        assert!(read(r#"{"a": [1, 2.5, -3, null, true, "x\u0041", {"a": 1}], "b": {"a": 18446744073709551615}}"#));
        for odd in [r#"{"a": 1, "a": 2}"#, r#"{"a": {"b": 1, "\u0062": 2}}"#, r#""\u0000""#, r#"{"\u0000": 1}"#, r#""\ud800""#, "1e400"] {
            assert!(!read(odd), "{odd}");
        }
    }

    #[test]
    fn every_oddity_is_noted_with_its_path() {
        let (value, faults) = inspect(r#"{"a": [1, "x\u0000", {"b": 1, "b": "\u0000"}]}"#).expect("well-formed");
        assert_eq!(value, serde_json::json!({"a": [1, "x\0", {"b": "\0"}]}));
        let told: Vec<String> = faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        a[1] must not contain a NUL character
        a[2].b must be given once
        a[2].b must not contain a NUL character
        ");
    }
}
