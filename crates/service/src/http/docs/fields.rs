//! The fields of a schema as a flat list: `items[].sku`, its type, and what it means.

use serde_json::Value;

use super::document::{Document, text};
use super::markdown::short;

/// The deepest level of objects that is listed.
const DEEPEST: usize = 6;

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The path from the body, such as `items[].sku`.
    pub(super) path: String,
    /// The type, with its limits.
    pub(super) kind: String,
    pub(super) is_required: bool,
    /// The meaning, as HTML.
    pub(super) meaning: String,
}

/// The fields of a schema, those of nested objects included.
pub(super) fn of(document: &Document, schema: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    below(document, schema, "", 0, &mut fields);
    fields
}

/// The schema without what only says that it may be absent: null, or an empty text in its place.
fn essence<'a>(document: &'a Document, schema: &'a Value) -> Vec<&'a Value> {
    let followed = document.followed(schema);
    let alternatives = followed.get("oneOf").or_else(|| followed.get("anyOf")).and_then(Value::as_array);
    let is_something = |value: &&Value| {
        value.get("type").and_then(Value::as_str) != Some("null")
            && value.get("const").is_none()
            && value.get("required").is_none_or(|_| has_shape(value))
    };
    match alternatives {
        Some(alternatives) if followed.get("properties").is_none() => {
            alternatives.iter().map(|value| document.followed(value)).filter(is_something).collect()
        }
        _ => vec![followed],
    }
}

/// True for a schema that says more than which keys are required.
fn has_shape(schema: &Value) -> bool {
    ["type", "properties", "$ref", "allOf"].iter().any(|key| schema.get(key).is_some())
}

fn below(document: &Document, schema: &Value, prefix: &str, depth: usize, fields: &mut Vec<Field>) {
    for schema in essence(document, schema) {
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten().map(|part| document.followed(part));
        for part in parts.chain([schema]) {
            for (name, value) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                let required = part.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let is_required = required.iter().any(|known| known.as_str() == Some(name.as_str()));
                add(document, value, &path, is_required, depth, fields);
            }
        }
    }
}

fn add(document: &Document, value: &Value, path: &str, is_required: bool, depth: usize, fields: &mut Vec<Field>) {
    // Two alternatives may share a field.
    if fields.iter().any(|known| known.path == path) {
        return;
    }
    let own = text(value, "description");
    let described = if own.is_empty() { text(document.followed(value), "description") } else { own };
    let kinds = essence(document, value);
    fields.push(Field { path: path.to_owned(), kind: kind(document, value), is_required, meaning: short(described) });
    if depth >= DEEPEST {
        return;
    }
    for inner in kinds {
        match inner.get("items") {
            Some(items) => below(document, items, &format!("{path}[]"), depth + 1, fields),
            None => below(document, inner, path, depth + 1, fields),
        }
    }
}

/// The type of a value in words.
pub(super) fn kind(document: &Document, schema: &Value) -> String {
    let mut kinds: Vec<String> = essence(document, schema).into_iter().map(|schema| one_kind(document, schema)).collect();
    kinds.dedup();
    let followed = document.followed(schema);
    let alternatives = followed.get("oneOf").or_else(|| followed.get("anyOf")).and_then(Value::as_array).into_iter().flatten();
    let may_be_null = alternatives.chain([followed]).any(|value| match value.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    });
    let words = kinds.join(", or ");
    if may_be_null { format!("{words}, or null") } else { words }
}

fn one_kind(document: &Document, schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let span = |least: Option<f64>, most: Option<f64>, unit: &str| match (least, most) {
        (Some(least), Some(most)) if (least - most).abs() < f64::EPSILON => format!(", {least}{unit}"),
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (Some(least), None) if least > 0.0 => format!(", {least} or more{unit}"),
        (None, Some(most)) => format!(", up to {most}{unit}"),
        (Some(_) | None, None) => String::new(),
    };
    let choices: Vec<&str> = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    match named {
        Some("string") if !choices.is_empty() => format!("one of {}", choices.join(", ")),
        Some("string") => match text(schema, "format") {
            "date-time" => "time".to_owned(),
            "date" => "date".to_owned(),
            _ => format!("text{}", span(number("minLength"), number("maxLength"), " characters")),
        },
        Some("integer") => format!("whole number{}", span(number("minimum"), number("maximum"), "")),
        Some("number") => format!("number{}", span(number("minimum"), number("maximum"), "")),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            let items = schema.get("items").map(|items| kind(document, items));
            let entries = span(number("minItems"), number("maxItems"), " entries");
            items.map_or_else(|| format!("list{entries}"), |items| format!("list of: {items}{entries}"))
        }
        Some("object") => "object".to_owned(),
        _ if schema.get("properties").is_some() || schema.get("allOf").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_fields_are_listed_with_their_paths_and_limits() {
        let document = Document::read(
            r#"{ "components": { "schemas": {
                "Line": { "type": "object", "required": ["sku"], "properties": {
                    "sku": { "type": "string", "minLength": 1, "maxLength": 255, "description": "The `sku`." },
                    "kind": { "anyOf": [{ "type": ["string", "null"], "enum": ["a", "b"] }, { "const": "" }] } } } } } }"#,
        );
        let schema: Value = serde_json::from_str(
            r##"{ "type": "object", "properties": { "items": { "type": "array", "minItems": 1, "items": { "$ref": "#/components/schemas/Line" } } } }"##,
        )
        .unwrap();
        let fields = of(&document, &schema);
        let told: Vec<(&str, &str, bool)> =
            fields.iter().map(|field| (field.path.as_str(), field.kind.as_str(), field.is_required)).collect();
        assert_eq!(
            told,
            [
                ("items", "list of: object, 1 or more entries", false),
                ("items[].kind", "one of a, b, or null", false),
                ("items[].sku", "text, 1 to 255 characters", true),
            ]
        );
        assert_eq!(fields[2].meaning.trim(), "<p>The <code>sku</code>.</p>");
    }
}
