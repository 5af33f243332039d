//! Fields that ASNs have in common, whether goods come in or leave.

use std::borrow::Cow;

use domain::asn::{Condition, ReferenceType, is_number};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::json::Str;
use crate::shape::Shape;

/// What the number of an ASN is like.
pub const ASN_NUMBER: &str = "^[A-Za-z0-9_-]{1,255}$";

/// The number of an ASN: 1 to 255 letters, digits, hyphens and underscores.
#[derive(Clone)]
pub struct AsnNumber<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for AsnNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(text) = Str::deserialize(deserializer)?;
        if is_number(&text) { Ok(Self(text)) } else { Err(D::Error::custom("no number of an ASN")) }
    }
}

impl Shape for AsnNumber<'_> {
    fn schema() -> Value {
        json!({ "type": "string", "pattern": ASN_NUMBER, "examples": ["ASN-1001"] })
    }
}

/// Declares a field that is one of a few words.
macro_rules! word {
    ($(#[doc = $doc:literal])* $name:ident of $word:ty) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub $word);

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let crate::json::Str(word) = serde::Deserialize::deserialize(deserializer)?;
                word.parse().map(Self).map_err(serde::de::Error::custom)
            }
        }

        impl crate::shape::Shape for $name {
            fn schema() -> serde_json::Value {
                serde_json::json!({ "type": "string", "enum": <$word>::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>() })
            }
        }
    };
}
pub(crate) use word;

word! {
    /// What a carton or its units belong to.
    ReferenceWord of ReferenceType
}
word! {
    /// What a unit is like.
    ConditionWord of Condition
}
