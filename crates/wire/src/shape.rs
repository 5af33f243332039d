//! The vocabulary of inbound messages.
//!
//! A field type reads itself from JSON (the fast path) and describes itself as JSON Schema (what is published, and what
//! explains a refused message). `object!` declares an object once and derives both from it, so that the two agree by
//! construction wherever the vocabulary does. A property test drives both with generated messages all the same.

mod value;

use serde_json::{Map, Value, json};

pub use self::value::{Amount, Count, Currency, Day, Flag, Free, Identifier, List, OrderStatus, Quantity, Text, Timestamp, Weight};
pub(crate) use self::value::{Whole, whole};

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

/// Declares an object of an inbound message: its struct, how it is read, and its schema.
///
/// Fields of type `Option` may be left out or null. Fields that are not declared are ignored, though held to the rules of
/// [`crate::json`]. `at` says how many levels deep the object stands in its message. `name | "other name": Type` declares a
/// second name under which the field is understood; `name as "other name": Type`, that the field has another name in JSON, for
/// one that Rust keeps to itself.
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
