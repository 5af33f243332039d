//! Fields that inbound and outbound ASNs have in common.

use std::borrow::Cow;

use domain::warehouse::asn::{Condition, ReferenceType, is_number};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

use crate::json::Str;
use crate::shape::Shape;
pub use crate::shape::pattern::ASN_NUMBER;

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

/// Declares a field type whose values are a fixed set of words.
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
    /// The type of thing that a carton or its units belong to.
    ReferenceWord of ReferenceType
}
word! {
    /// The condition grade of a unit.
    ConditionWord of Condition
}
