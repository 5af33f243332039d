//! The vocabulary of inbound messages.
//!
//! A field type reads itself from JSON (the fast path) and describes itself as JSON Schema (what is published, and what
//! explains a refused message). `object!` declares an object once and derives both from it, so that the two agree by
//! construction wherever the vocabulary does. A property test drives both with generated messages all the same.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use chrono::{DateTime, NaiveDate, Utc};
use domain::money::Cents;
use domain::order::{MOST_UNITS, Status};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::json::{Str, Unknown};

/// Where the schemas of objects stand in the OpenAPI document.
const COMPONENTS: &str = "#/components/schemas/";

/// A field that can describe itself.
pub trait Shape: Sized {
    /// Whether a message must have it.
    const REQUIRED: bool = true;

    /// The value of a field that is not there, for those that need not be.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// Its JSON Schema, written out.
    fn schema() -> Value;

    /// Its JSON Schema as other schemas refer to it.
    #[must_use]
    fn reference() -> Value {
        Self::schema()
    }

    /// Adds the schemas that [`Shape::reference`] refers to.
    fn define(_components: &mut Map<String, Value>) {}
}

/// The reference to the component `name`.
pub(crate) fn component(name: &str) -> Value {
    json!({ "$ref": format!("{COMPONENTS}{name}") })
}

/// An optional field may be left out or null.
impl<T: Shape> Shape for Option<T> {
    const REQUIRED: bool = false;

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn schema() -> Value {
        let mut schema = T::schema();
        if let Some(kind) = schema.get_mut("type") {
            *kind = json!([kind.take(), "null"]);
        }
        schema
    }

    fn define(components: &mut Map<String, Value>) {
        T::define(components);
    }
}

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

/// A name by which the merchant or the service finds something: 1 to 255 characters.
#[derive(Clone)]
pub struct Identifier<'a>(pub Cow<'a, str>);

impl Identifier<'_> {
    const LONGEST: usize = 255;

    /// Whether `text` can be one.
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

/// A number of units of which there is at least one.
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

/// Yes or no.
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

/// A day without a time, in the form of [`crate::time::read_day`].
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

/// A moment, in one of the forms of [`crate::time::read`].
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

/// A currency: three letters.
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
        json!({ "type": "string", "pattern": "^[A-Za-z]{3}$", "examples": ["USD"] })
    }
}

/// The status of an order; the American spelling of Cancelled is understood.
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

/// An object of which only that is checked.
#[derive(Clone, Copy)]
pub struct Free;

impl Free {
    /// It stands in a list of an order.
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

/// `LEAST` to `MOST` elements.
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

/// Declares an object of an inbound message: its struct, how it is read, and its schema.
///
/// Fields of type `Option` may be left out or null. Fields that are not declared are ignored, though held to the rules of
/// [`crate::json`]. `at` says how many levels deep the object stands in its message. `name | "other name": Type` declares a second name under which the field is understood;
/// `name as "other name": Type`, that the field has another name in JSON, for one that Rust keeps to itself.
macro_rules! object {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident<$lt:lifetime> as $component:literal at $depth:literal {
            $( $(#[doc = $field_doc:literal])* $field:ident $(as $name_in_json:literal)? $(| $alias:literal)? : $ty:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        pub struct $name<$lt> {
            $( $(#[doc = $field_doc])* pub $field: $ty, )*
            /// Ties the object to the text that it borrows from.
            pub(crate) text: std::marker::PhantomData<&$lt str>,
        }

        impl<'de: $lt, $lt> serde::de::Deserialize<'de> for $name<$lt> {
            fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor;

                impl<'de> serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        use serde::de::Error as _;

                        $( let mut $field = None; )*
                        let mut unknown = std::collections::HashSet::new();
                        while let Some($crate::json::Str(key)) = map.next_key()? {
                            let repeated = match &*key {
                                $( $crate::shape::name_in_json!($field $($name_in_json)?) $(| $alias)? => $field.replace(map.next_value()?).is_some(), )*
                                _ => {
                                    map.next_value_seed($crate::json::Unknown::within($depth))?;
                                    !unknown.insert(key)
                                }
                            };
                            if repeated {
                                return Err(A::Error::custom("a name twice"));
                            }
                        }
                        Ok($name {
                            $( $field: match $field {
                                Some(value) => value,
                                None => $crate::shape::Shape::absent().ok_or_else(|| A::Error::custom("missing"))?,
                            }, )*
                            text: std::marker::PhantomData,
                        })
                    }
                }

                deserializer.deserialize_map(ObjectVisitor)
            }
        }

        impl<$lt> $crate::shape::Shape for $name<$lt> {
            fn schema() -> serde_json::Value {
                let mut schema = $crate::shape::ObjectSchema::new(concat!($($doc, "\n"),*));
                $( schema.field::<$ty>($crate::shape::name_in_json!($field $($name_in_json)?), &[$($alias)?], concat!($($field_doc, "\n"),*)); )*
                schema.finish()
            }

            fn reference() -> serde_json::Value {
                $crate::shape::component($component)
            }

            fn define(components: &mut serde_json::Map<String, serde_json::Value>) {
                components.insert($component.to_owned(), Self::schema());
                $( <$ty as $crate::shape::Shape>::define(components); )*
            }
        }
    };
}
pub(crate) use object;

/// The name of a field in JSON.
macro_rules! name_in_json {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}
pub(crate) use name_in_json;

/// The schema of an object, field by field.
pub(crate) struct ObjectSchema {
    description: &'static str,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    conditions: Vec<Value>,
}

impl ObjectSchema {
    pub(crate) fn new(description: &'static str) -> Self {
        Self { description, properties: Map::new(), required: Vec::new(), conditions: Vec::new() }
    }

    pub(crate) fn field<T: Shape>(&mut self, name: &'static str, aliases: &[&'static str], description: &'static str) {
        let mut schema = T::reference();
        if let Some(schema) = schema.as_object_mut()
            && !description.is_empty()
        {
            schema.insert("description".to_owned(), prose(description).into());
        }
        for alias in aliases {
            self.properties.insert((*alias).to_owned(), schema.clone());
            // One of the two names, and not both. The second says `object` because `required` holds for everything else.
            self.conditions.push(json!({ "anyOf": [{ "required": [name] }, { "required": [alias] }] }));
            self.conditions.push(json!({ "not": { "type": "object", "required": [name, alias] } }));
        }
        if T::REQUIRED && aliases.is_empty() {
            self.required.push(name);
        }
        self.properties.insert(name.to_owned(), schema);
    }

    pub(crate) fn finish(self) -> Value {
        let mut schema = json!({
            "type": "object",
            "description": prose(self.description),
            "properties": self.properties,
            "required": self.required,
        });
        if let Some(schema) = schema.as_object_mut()
            && !self.conditions.is_empty()
        {
            schema.insert("allOf".to_owned(), self.conditions.into());
        }
        schema
    }
}

/// The lines of a doc comment as one paragraph.
fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
