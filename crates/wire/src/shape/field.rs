//! The trait of every field type.

use serde_json::{Map, Value, json};

/// A field type that can describe itself.
pub trait Shape: Sized {
    /// False for fields that may be omitted.
    const REQUIRED: bool = true;

    /// The value of an omitted field; `None` if the field is required.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// The JSON Schema in full.
    fn schema() -> Value;

    /// The JSON Schema as other schemas refer to it.
    #[must_use]
    fn reference() -> Value {
        Self::schema()
    }

    /// Adds the schemas that [`Shape::reference`] refers to.
    fn define(_components: &mut Map<String, Value>) {}
}

/// An optional field may be omitted, null, or an empty string. [`crate::schema`] adds the last of these where it is published;
/// faults are explained without it.
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
