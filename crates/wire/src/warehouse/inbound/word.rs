//! Field types that only inbound ASNs use.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::json::Str;
pub use crate::shape::pattern::ASIN;
use crate::shape::{Shape, Whole};

/// The most units on one line.
const MOST_ANNOUNCED: u32 = 100_000;

/// A product identifier of ten letters and digits.
#[derive(Clone)]
pub struct Asin<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Asin<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        let fits = text.len() == 10 && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if fits { Ok(Self(text)) } else { Err(D::Error::custom("no ASIN")) }
    }
}

impl Shape for Asin<'_> {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": ASIN, "examples": ["B000000001"] })
    }
}

/// The number of units that a line announces.
#[derive(Clone, Copy)]
pub struct Announced(pub u32);

impl<'de> Deserialize<'de> for Announced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = deserializer.deserialize_i64(Whole { most: i64::from(MOST_ANNOUNCED) })?;
        if units == 0 { Err(D::Error::custom("none")) } else { u32::try_from(units).map(Self).map_err(D::Error::custom) }
    }
}

impl Shape for Announced {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": MOST_ANNOUNCED })
    }
}
