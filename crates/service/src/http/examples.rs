//! Puts examples into the OpenAPI document: of every body that is read or answered, of every error, and of the parameters in paths.
//!
//! They stand once in `components`, and are referred to wherever their schema is.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::error::ErrorFormat;
use super::error_samples;

/// The id of the request in examples of errors.
const REQUEST: &str = "01a1ded706c0752a9dd56222795bbde0";

/// The schema of errors, of which each status has an example of its own.
const ERROR: &str = "ErrorBody";

/// Adds the examples to the document.
pub(super) fn add(document: &mut Value) {
    let mut examples: Map<String, Value> = wire::examples::all();
    let mut statuses = BTreeSet::new();
    for (path, item) in document.get_mut("paths").and_then(Value::as_object_mut).into_iter().flatten() {
        for operation in item.as_object_mut().into_iter().flat_map(Map::values_mut) {
            for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
                illustrate_parameter(path, parameter);
            }
            let read = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
            for media in read.into_iter().flat_map(Map::values_mut) {
                refer(media, &examples, None);
            }
            for (status, answer) in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten() {
                let answered = answer.get_mut("content").and_then(Value::as_object_mut);
                for media in answered.into_iter().flat_map(Map::values_mut) {
                    if refer(media, &examples, Some(status)) {
                        statuses.insert(status.clone());
                    }
                }
            }
        }
    }
    for status in statuses {
        if let Some(error) = error(&status) {
            examples.insert(named(&status), error);
        }
    }
    if let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) {
        let examples: Map<String, Value> = examples.into_iter().map(|(name, value)| (name, json!({ "value": value }))).collect();
        components.insert("examples".to_owned(), examples.into());
    }
}

/// Gives a parameter of the path its example.
fn illustrate_parameter(path: &str, parameter: &mut Value) {
    let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
    let example = wire::examples::parameter(path, name);
    if let (Some(parameter), Some(example)) = (parameter.as_object_mut(), example) {
        parameter.insert("example".to_owned(), example.into());
    }
}

/// Refers from a media type to the example of its schema. Returns true if it is that of an error.
fn refer(media: &mut Value, examples: &Map<String, Value>, status: Option<&str>) -> bool {
    let schema = media.pointer("/schema/$ref").and_then(Value::as_str).and_then(|schema| schema.rsplit('/').next()).map(ToOwned::to_owned);
    let Some(schema) = schema else { return false };
    let error = status.filter(|_| schema == ERROR).map(named);
    let is_error = error.is_some();
    let name = error.or_else(|| examples.contains_key(&schema).then_some(schema));
    if let (Some(media), Some(name)) = (media.as_object_mut(), name) {
        media.insert("examples".to_owned(), json!({ "example": { "$ref": format!("#/components/examples/{name}") } }));
    }
    is_error
}

/// The name of the example of an error.
fn named(status: &str) -> String {
    format!("Error{status}")
}

/// An error with this status.
fn error(status: &str) -> Option<Value> {
    let sample = error_samples::all().into_iter().find(|sample| sample.error.status().as_str() == status)?;
    serde_json::from_slice(&sample.error.body(REQUEST, ErrorFormat::Json)).ok()
}
