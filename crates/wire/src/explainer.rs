//! Explains a refused message: every fault, found through the message's published JSON Schema.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::fault::{Code, Fault, MOST_TOLD, Path};
use crate::shape::{Shape, pattern};

/// Explains one object through its schema, and the elements of its longest lists one by one: the validator collects every error
/// before it returns, and a message can have a million errors where only [`MOST_TOLD`] are reported.
pub(crate) struct Explainer {
    validator: Validator,
    schema: Value,
    lists: Vec<(&'static str, Explainer)>,
}

impl Explainer {
    /// An explainer for an object without long lists.
    pub(crate) fn of<T: Shape>() -> Self {
        Self::with_lists::<T>(&[], Vec::new())
    }

    /// An explainer for an object with long lists. The components `left_out` are the elements of `lists`; the object's own
    /// validator skips them.
    pub(crate) fn with_lists<T: Shape>(left_out: &[&str], lists: Vec<(&'static str, Self)>) -> Self {
        let mut components = Map::new();
        T::define(&mut components);
        for name in left_out {
            components.insert((*name).to_owned(), json!({}));
        }
        let schema = document(&T::reference(), &components);
        Self { validator: validator(&schema), schema, lists }
    }

    /// Adds the faults of `instance` to `faults`, up to [`MOST_TOLD`]. Removes optional fields that are empty strings.
    pub(crate) fn explain(&self, instance: &mut Value, at: &Path, faults: &mut Vec<Fault>) {
        forgive_empty(instance, &self.schema, &self.schema);
        faults.extend(faults_of(&self.validator, instance, at));
        for (name, element) in &self.lists {
            let elements = instance.get_mut(name).and_then(Value::as_array_mut).map_or(&mut [][..], Vec::as_mut_slice);
            for (index, instance) in elements.iter_mut().enumerate() {
                if faults.len() >= MOST_TOLD {
                    return;
                }
                element.explain(instance, &at.field(name).index(index), faults);
            }
        }
    }
}

/// The schema `reference` in a document with the components that it refers to.
fn document(reference: &Value, components: &Map<String, Value>) -> Value {
    let mut document = json!({ "components": { "schemas": components } });
    if let (Some(document), Some(reference)) = (document.as_object_mut(), reference.as_object()) {
        document.extend(reference.clone());
    }
    document
}

/// Removes the empty strings that count as absent: those in fields that may be null.
fn forgive_empty(instance: &mut Value, schema: &Value, document: &Value) {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    let schema = reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema);
    match instance {
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties") else { return };
            fields.retain(|name, value| !(value == "" && properties.get(name).is_some_and(may_be_null)));
            for (name, value) in fields {
                if let Some(schema) = properties.get(name) {
                    forgive_empty(value, schema, document);
                }
            }
        }
        Value::Array(elements) => {
            let Some(schema) = schema.get("items") else { return };
            elements.iter_mut().for_each(|element| forgive_empty(element, schema, document));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn may_be_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
}

#[expect(clippy::expect_used, reason = "the schema is made by this crate alone and compiled in every test")]
fn validator(document: &Value) -> Validator {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_format("date-time", |text: &str| crate::time::read(text).is_some())
        .with_format("date", |text: &str| crate::time::read_day(text).is_some())
        .should_validate_formats(true)
        .build(document)
        .expect("the published schema is a JSON Schema")
}

/// The faults of `instance`, one per field.
fn faults_of(validator: &Validator, instance: &Value, root: &Path) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for error in validator.iter_errors(instance) {
        let fault = fault_of(&error, root);
        if !faults.iter().rev().take(2).any(|reported| reported.field == fault.field) {
            faults.push(fault);
        }
    }
    faults
}

fn path_of(root: &Path, location: &Location) -> Path {
    location.segments().fold(root.clone(), |path, segment| match segment {
        LocationSegment::Property(name) => path.field(&name),
        LocationSegment::Index(index) => path.index(index),
    })
}

/// The fault for an error. Its message states the rule, never the value, which may be personal.
fn fault_of(error: &ValidationError<'_>, root: &Path) -> Fault {
    let at = path_of(root, error.instance_path());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            Fault::new(at.field(property.as_str().unwrap_or_default()), Code::MissingField, "is required")
        }
        // The only alternative in the schemas is between the two names of the customer.
        ValidationErrorKind::AnyOf { .. } => Fault::new(at.field("customer"), Code::MissingField, "is required"),
        ValidationErrorKind::Not { .. } => Fault::new(at.field("customer"), Code::Invalid, "must be given under one name only"),
        ValidationErrorKind::Type { kind } => Fault::new(at, Code::InvalidType, format!("must be {}", type_name(kind))),
        ValidationErrorKind::Minimum { limit } => Fault::new(at, Code::Invalid, format!("must be at least {limit}")),
        ValidationErrorKind::Maximum { limit } => Fault::new(at, Code::Invalid, format!("must be at most {limit}")),
        ValidationErrorKind::MinItems { limit } => Fault::new(at, Code::Invalid, format!("must have at least {limit} element")),
        ValidationErrorKind::MaxItems { limit } => Fault::new(at, Code::Invalid, format!("must have at most {limit} elements")),
        ValidationErrorKind::MinLength { .. } => Fault::new(at, Code::Invalid, "must not be empty"),
        ValidationErrorKind::MaxLength { limit } => Fault::new(at, Code::Invalid, format!("must have at most {limit} characters")),
        ValidationErrorKind::Enum { options } => Fault::new(at, Code::Invalid, format!("must be one of {options}")),
        ValidationErrorKind::Format { format } if format == "date" => Fault::new(at, Code::Invalid, "must be a date, such as 2026-01-31"),
        ValidationErrorKind::Format { .. } => Fault::new(at, Code::Invalid, "must be an ISO 8601 time, such as 2026-01-31T12:00:00Z"),
        ValidationErrorKind::Pattern { pattern } => Fault::new(at, Code::Invalid, pattern::rule(pattern)),
        other => Fault::new(at, Code::Invalid, format!("violates the schema rule {}", other.keyword())),
    }
}

fn type_name(kind: &TypeKind) -> String {
    let name = |kind: &dyn ToString| {
        let kind = kind.to_string();
        let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {kind}")
    };
    match kind {
        TypeKind::Single(kind) => name(kind),
        TypeKind::Multiple(kinds) => kinds
            .iter()
            .map(|kind| if kind.to_string() == "null" { "null".to_owned() } else { name(&kind) })
            .collect::<Vec<_>>()
            .join(" or "),
    }
}
