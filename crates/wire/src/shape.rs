//! The vocabulary of inbound messages.
//!
//! A field type reads itself from JSON (the fast path) and describes itself as JSON Schema (for publishing, and for explaining a
//! refused message). `object!` declares an object once and derives both from it, so that the two agree wherever the field types
//! do. A property test still drives both with generated messages.

mod field;
mod lenient;
pub(crate) mod pattern;
mod value;

use serde_json::{Map, Value, json};

pub use self::field::Shape;
pub(crate) use self::lenient::read_field;
pub use self::value::{Amount, Count, Currency, Day, Flag, Free, Identifier, List, OrderStatus, Quantity, Tag, Text, Timestamp, Weight};
pub(crate) use self::value::{Whole, whole};

/// The location of object schemas in the OpenAPI document.
const COMPONENTS: &str = "#/components/schemas/";

/// The reference to the component `name`.
pub(crate) fn component(name: &str) -> Value {
    json!({ "$ref": format!("{COMPONENTS}{name}") })
}

/// Declares an object of an inbound message: its struct, how it is read, and its schema.
///
/// Fields of type `Option` may be omitted, null, or an empty string. Undeclared fields are ignored, but must follow the rules of
/// [`crate::json`]. `at` is the nesting level of the object in its message. `name | "other name": Type` declares an alias. `name as
/// "other name": Type` declares the field's name in JSON, for names that are reserved in Rust.
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
                                $( $crate::shape::name_in_json!($field $($name_in_json)?) $(| $alias)? => {
                                    $field.replace($crate::shape::read_field(&mut map)?).is_some()
                                } )*
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

/// Builds the schema of an object, field by field.
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
            // One of the two names, but not both. The second condition says `object`, because `required` holds for every other type.
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

/// Joins the lines of a doc comment into one paragraph.
fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
