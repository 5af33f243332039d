//! JSON, read strictly.
//!
//! A body is accepted only if it can be read in just one way: it is UTF-8, nests at most [`DEEPEST`] levels, has at most
//! [`MOST_VALUES`] values, no repeated name within an object, no unpaired surrogate, no number beyond a double and no NUL character.
//! [`text`] checks what must hold before any parser runs. `Unknown` holds unknown fields to the same rules as known ones. `inspect`
//! parses a refused message into a value and notes every violation.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::fault::{Code, Fault, MOST_TOLD, Path};

/// The deepest nesting of a message. The contract needs 8 levels.
pub const DEEPEST: usize = 32;

/// The most values in a message: more than the largest body of plausible orders has, and few enough that explaining a refused
/// message takes bounded memory.
pub const MOST_VALUES: usize = 500_000;

/// A body that is not JSON at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// The body as text, if it is UTF-8 and within [`MOST_VALUES`].
pub fn text(body: &[u8]) -> Result<&str, Malformed> {
    let text = std::str::from_utf8(body)
        .map_err(|wrong| Malformed(format!("the body is not valid UTF-8 from byte {} on", wrong.valid_up_to())))?;
    // Every value takes at least one byte, so only a long body needs to be counted.
    if body.len() >= MOST_VALUES && Extent::of(body).values > MOST_VALUES {
        return Err(Malformed(format!("the body exceeds the limit of {MOST_VALUES} values")));
    }
    Ok(text)
}

/// Refuses text that nests too deep to be parsed safely into a value; nesting counts from `depth`. A typed reader keeps the limit
/// by itself: its own shape is flat, and `Unknown` counts levels.
pub(crate) fn shallow(text: &str, depth: usize) -> Result<&str, Malformed> {
    if Extent::of(text.as_bytes()).deepest + depth > DEEPEST {
        return Err(Malformed(format!("the body exceeds the limit of {DEEPEST} nesting levels")));
    }
    Ok(text)
}

/// The amount of structure in a body, well-formed or not.
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

/// Keeps the position of a parse error, and drops the text.
impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        let what = if error.is_eof() { "the body ends unexpectedly" } else { "the body is not well-formed JSON" };
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

            // JSON holds a NUL only as an escape, and a string with an escape cannot be borrowed.
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(Str(Cow::Owned(text.to_owned()))) }
            }
        }

        deserializer.deserialize_str(StrVisitor)
    }
}

/// Any value: checked under the same rules as known fields, and dropped.
#[derive(Clone, Copy)]
pub(crate) struct Unknown {
    /// Nesting levels left.
    room: usize,
}

impl Unknown {
    /// An unknown field of an object at nesting level `depth`.
    pub(crate) const fn within(depth: usize) -> Self {
        Self { room: DEEPEST.saturating_sub(depth) }
    }

    /// A value inside of this one.
    fn inside<E: Error>(self) -> Result<Self, E> {
        self.room.checked_sub(1).map(|room| Self { room }).ok_or_else(|| E::custom("too deep"))
    }

    /// Reads an object all of whose fields are unknown.
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

/// The most elements of an array that `inspect` keeps: more than any list may have, so that a list that is too long is still a fault.
pub(crate) const MOST_KEPT: usize = 1_001;

/// Parses `text` into a value, with a fault for every repeated name and NUL character, up to [`MOST_TOLD`]. Keeps the last value
/// of a repeated name, so that the rest can still be checked, and the first [`MOST_KEPT`] elements of an array, so that explaining
/// takes bounded memory.
pub(crate) fn inspect(text: &str) -> Result<(Value, Vec<Fault>), Malformed> {
    let mut faults = Vec::new();
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Inspector { spot: Spot::Root, faults: &mut faults }.deserialize(&mut parser)?;
    parser.end()?;
    Ok((value, faults))
}

/// The inspector's position; turned into a [`Path`] only for a fault.
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
                self.note(spot, "must be given only once");
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
        a[2].b must be given only once
        a[2].b must not contain a NUL character
        ");
    }
}
