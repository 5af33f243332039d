//! The field types.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use chrono::{DateTime, NaiveDate, Utc};
use domain::money::Cents;
use domain::orders::order::{MOST_UNITS, Status};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::field::Shape;
use super::pattern::CURRENCY;
use crate::json::{Str, Unknown};

/// Any text without NUL characters.
#[derive(Clone)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer).map(|Str(text)| Self(text))
    }
}

impl Shape for Text<'_> {
    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// A tag: a text, or a number or boolean as its text. Anything else is checked under the rules of [`crate::json`] and ignored;
/// `DEPTH` is the nesting level of the list of tags.
#[derive(Clone)]
pub struct Tag<'a, const DEPTH: usize>(pub Option<Cow<'a, str>>);

impl<'de: 'a, 'a, const DEPTH: usize> Deserialize<'de> for Tag<'a, DEPTH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TagVisitor<const DEPTH: usize>;

        impl<'de, const DEPTH: usize> Visitor<'de> for TagVisitor<DEPTH> {
            type Value = Tag<'de, DEPTH>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(Tag(Some(Cow::Borrowed(text)))) }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(Tag(Some(Cow::Owned(text.to_owned())))) }
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Tag(Some(Cow::Borrowed(if value { "true" } else { "false" }))))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Tag(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Tag(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Tag(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Tag(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Unknown::within(DEPTH).visit_seq(seq).map(|()| Tag(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Unknown::within(DEPTH).visit_map(map).map(|()| Tag(None))
            }
        }

        deserializer.deserialize_any(TagVisitor)
    }
}

impl<const DEPTH: usize> Shape for Tag<'_, DEPTH> {
    fn schema() -> Value {
        json!({})
    }
}

/// An identifier of 1 to 255 characters.
#[derive(Clone)]
pub struct Identifier<'a>(pub Cow<'a, str>);

impl Identifier<'_> {
    const LONGEST: usize = 255;

    /// Checks the length and for NUL characters.
    pub(crate) fn fits(text: &str) -> bool {
        !text.is_empty() && !text.contains('\0') && (text.len() <= Self::LONGEST || text.chars().count() <= Self::LONGEST)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Identifier<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        if Self::fits(&text) { Ok(Self(text)) } else { Err(D::Error::custom("length")) }
    }
}

impl Shape for Identifier<'_> {
    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": Self::LONGEST })
    }
}

/// Reads a whole number from 0 to `most`. As in JSON Schema, `12.0` and `1.2e1` are whole.
pub(crate) struct Whole {
    pub(crate) most: i64,
}

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", self.most)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        if (0..=self.most).contains(&number) { Ok(number) } else { Err(E::custom("range")) }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    #[expect(clippy::cast_possible_truncation, reason = "whole numbers beyond an i64 saturate, and are then out of range")]
    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        if number.fract() == 0.0 { self.visit_i64(number as i64) } else { Err(E::custom("fraction")) }
    }
}

/// A whole number from 0 to `most`.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D, most: i64) -> Result<i64, D::Error> {
    deserializer.deserialize_i64(Whole { most })
}

/// An amount in minor currency units.
#[derive(Clone, Copy)]
pub struct Amount(pub Cents);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let amount = deserializer.deserialize_i64(Whole { most: Cents::MAX })?;
        Cents::new(amount).map(Self).ok_or_else(|| D::Error::custom("range"))
    }
}

impl Shape for Amount {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0, "maximum": Cents::MAX })
    }
}

/// A number of units.
#[derive(Clone, Copy)]
pub struct Quantity(pub u32);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = deserializer.deserialize_i64(Whole { most: i64::from(MOST_UNITS) })?;
        u32::try_from(units).map(Self).map_err(D::Error::custom)
    }
}

impl Shape for Quantity {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0, "maximum": MOST_UNITS })
    }
}

/// A number of units, at least 1.
#[derive(Clone, Copy)]
pub struct Count(pub NonZeroU32);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Quantity(units) = Quantity::deserialize(deserializer)?;
        NonZeroU32::new(units).map(Self).ok_or_else(|| D::Error::custom("none"))
    }
}

impl Shape for Count {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": MOST_UNITS })
    }
}

/// A boolean.
#[derive(Clone, Copy)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer).map(Self)
    }
}

impl Shape for Flag {
    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

/// A date, in the format of [`crate::time::read_day`].
#[derive(Clone, Copy)]
pub struct Day(pub NaiveDate);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        crate::time::read_day(&text).map(Self).ok_or_else(|| D::Error::custom("no day"))
    }
}

impl Shape for Day {
    fn schema() -> Value {
        json!({ "type": "string", "format": "date" })
    }
}

/// A weight in pounds.
#[derive(Clone, Copy)]
pub struct Weight(pub f64);

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let weight = f64::deserialize(deserializer)?;
        if weight < 0.0 { Err(D::Error::custom("negative")) } else { Ok(Self(weight)) }
    }
}

impl Shape for Weight {
    fn schema() -> Value {
        json!({ "type": "number", "minimum": 0 })
    }
}

/// A point in time, in one of the formats of [`crate::time::read`].
#[derive(Clone, Copy)]
pub struct Timestamp(pub DateTime<Utc>);

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        crate::time::read(&text).map(Self).ok_or_else(|| D::Error::custom("no time"))
    }
}

impl Shape for Timestamp {
    fn schema() -> Value {
        json!({ "type": "string", "format": "date-time" })
    }
}

/// A currency code: three letters.
#[derive(Clone)]
pub struct Currency(pub String);

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(code) = Str::deserialize(deserializer)?;
        if code.len() == 3 && code.bytes().all(|b| b.is_ascii_alphabetic()) {
            Ok(Self(code.to_ascii_uppercase()))
        } else {
            Err(D::Error::custom("no currency"))
        }
    }
}

impl Shape for Currency {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": CURRENCY, "examples": ["USD"] })
    }
}

/// The status of an order; the American spelling of Cancelled is accepted.
#[derive(Clone, Copy)]
pub struct OrderStatus(pub Status);

impl<'de> Deserialize<'de> for OrderStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(word) = Str::deserialize(deserializer)?;
        match &*word {
            "Created" => Ok(Self(Status::Created)),
            "Shipped" => Ok(Self(Status::Shipped)),
            "Cancelled" | "Canceled" => Ok(Self(Status::Cancelled)),
            _ => Err(D::Error::custom("no status")),
        }
    }
}

impl Shape for OrderStatus {
    fn schema() -> Value {
        json!({ "type": "string", "enum": ["Created", "Shipped", "Cancelled", "Canceled"] })
    }
}

/// Any object; its fields are not interpreted.
#[derive(Clone, Copy)]
pub struct Free;

impl Free {
    /// The nesting level of an entry in a list of an order.
    const DEPTH: usize = 6;
}

impl<'de> Deserialize<'de> for Free {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FreeVisitor;

        impl<'de> Visitor<'de> for FreeVisitor {
            type Value = Free;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Free, A::Error> {
                Unknown::within(Free::DEPTH).fields(map).map(|()| Free)
            }
        }

        deserializer.deserialize_map(FreeVisitor)
    }
}

impl Shape for Free {
    fn schema() -> Value {
        json!({ "type": "object" })
    }
}

/// A list of `LEAST` to `MOST` elements.
#[derive(Clone)]
pub struct List<T, const LEAST: usize, const MOST: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const LEAST: usize, const MOST: usize> Deserialize<'de> for List<T, LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T, const LEAST: usize, const MOST: usize>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const LEAST: usize, const MOST: usize> Visitor<'de> for ListVisitor<T, LEAST, MOST> {
            type Value = List<T, LEAST, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an array of {LEAST} to {MOST} elements")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if elements.len() == MOST {
                        return Err(A::Error::custom("too many"));
                    }
                    elements.push(element);
                }
                if elements.len() < LEAST { Err(A::Error::custom("too few")) } else { Ok(List(elements)) }
            }
        }

        deserializer.deserialize_seq(ListVisitor(std::marker::PhantomData))
    }
}

impl<T: Shape, const LEAST: usize, const MOST: usize> Shape for List<T, LEAST, MOST> {
    fn schema() -> Value {
        json!({ "type": "array", "minItems": LEAST, "maxItems": MOST, "items": T::reference() })
    }

    fn define(components: &mut Map<String, Value>) {
        T::define(components);
    }
}
