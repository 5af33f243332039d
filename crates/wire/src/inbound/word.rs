//! Fields that only warehouses know.

use std::borrow::Cow;

use domain::inbound::{Condition, ReferenceType};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::json::Str;
use crate::shape::{Shape, Whole};

/// What the number of an ASN is like.
pub const ASN_NUMBER: &str = "^[A-Za-z0-9_-]{1,255}$";
/// What an ASIN is like.
pub const ASIN: &str = "^[A-Za-z0-9]{10}$";
/// How many units a line may announce.
const MOST_ANNOUNCED: u32 = 100_000;

/// The number of an ASN: 1 to 255 letters, digits, hyphens and underscores.
#[derive(Clone)]
pub struct AsnNumber<'a>(pub Cow<'a, str>);

impl AsnNumber<'_> {
    /// Whether `text` can be one.
    #[must_use]
    pub fn fits(text: &str) -> bool {
        (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for AsnNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        if Self::fits(&text) { Ok(Self(text)) } else { Err(D::Error::custom("no number of an ASN")) }
    }
}

impl Shape for AsnNumber<'_> {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": ASN_NUMBER, "examples": ["ASN-1001"] })
    }
}

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

/// How many units are announced.
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

/// What a unit is like.
#[derive(Clone, Copy)]
pub struct ConditionWord(pub Condition);

impl<'de> Deserialize<'de> for ConditionWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(word) = Str::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Shape for ConditionWord {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Condition::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>() })
    }
}

/// What a reference is.
#[derive(Clone, Copy)]
pub struct ReferenceWord(pub ReferenceType);

impl<'de> Deserialize<'de> for ReferenceWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(word) = Str::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

impl Shape for ReferenceWord {
    fn schema() -> Value {
        json!({ "type": "string", "enum": ReferenceType::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>() })
    }
}
