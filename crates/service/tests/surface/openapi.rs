//! The OpenAPI document is sound: names, parameters and servers are right, nothing is unused, and every example holds to its schema.

use std::collections::BTreeSet;

use serde_json::{Value, json};

fn document() -> Value {
    serde_json::from_str(backhaul::http::openapi::text()).unwrap()
}

/// The operations and the calls to merchants, each with its place.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for part in ["paths", "webhooks"] {
        for (path, item) in document[part].as_object().unwrap() {
            found.extend(item.as_object().unwrap().iter().map(|(method, operation)| (format!("{method} {path}"), operation)));
        }
    }
    found
}

/// The bodies of requests and answers, each with its place.
fn bodies(document: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (place, operation) in operations(document) {
        let answers = operation["responses"].as_object().unwrap().iter().map(|(status, answer)| (status.as_str(), answer));
        let parts = answers.chain(operation.get("requestBody").map(|body| ("request", body)));
        for (part, value) in parts {
            let content = value.get("content").and_then(Value::as_object).into_iter().flatten();
            found.extend(content.map(|(media_type, body)| (format!("{place} {part} {media_type}"), body)));
        }
    }
    found
}

/// Every string behind the key `$ref`.
fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[test]
fn every_operation_has_a_name_of_its_own_and_says_what_it_does() {
    let document = document();
    let tags: BTreeSet<&str> = document["tags"].as_array().unwrap().iter().map(|tag| text(tag, "name")).collect();
    let (mut ids, mut titles) = (BTreeSet::new(), BTreeSet::new());
    for (place, operation) in operations(&document) {
        let id = text(operation, "operationId");
        let fits_a_url = !id.is_empty() && id.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
        assert!(fits_a_url && ids.insert(id), "{place} has no name of its own: {id}");
        assert!(text(operation, "summary").ends_with('.') && !text(operation, "description").is_empty(), "{place}");
        assert!(titles.insert(text(operation, "summary")), "{place} has the title of another: {}", text(operation, "summary"));
        let [tag] = operation["tags"].as_array().unwrap().as_slice() else { panic!("{place} has one tag") };
        assert!(tags.contains(tag.as_str().unwrap()), "{place} has the tag {tag}, which is not listed");
        assert!(operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with('2')), "{place} never succeeds");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(!text(parameter, "description").is_empty() && parameter["schema"].is_object(), "{place}: {parameter}");
        }
    }
    for interface in domain::messages::message::Interface::ALL {
        assert!(ids.iter().any(|id| id.ends_with(&format!("_{interface}"))), "{interface} has a name");
    }
}

#[test]
fn the_parameters_of_a_path_are_declared_and_have_an_example() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let named: BTreeSet<&str> = path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        assert!(!path.ends_with('/') && !path.contains('?'), "{path}");
        for operation in item.as_object().unwrap().values() {
            let declared = operation["parameters"].as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "path");
            let declared: BTreeSet<&str> = declared
                .map(|parameter| {
                    assert!(parameter["required"] == true && !text(parameter, "example").is_empty(), "{path}: {parameter}");
                    text(parameter, "name")
                })
                .collect();
            assert_eq!(declared, named, "{path}");
        }
    }
}

#[test]
fn the_document_says_where_it_is_served_and_holds_nothing_unused() {
    let document = document();
    assert_eq!(document["servers"][0]["url"], "/");
    assert!(!text(&document["info"]["contact"], "name").is_empty() && !text(&document["info"]["license"], "name").is_empty());
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    for kind in ["schemas", "examples"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(used.contains(format!("#/components/{kind}/{name}").as_str()), "nothing refers to {kind}/{name}");
        }
    }
    for (place, operation) in operations(&document) {
        let ways = operation["security"].as_array().into_iter().flatten();
        for scheme in ways.flat_map(|way| way.as_object().unwrap().keys()) {
            assert!(document["components"]["securitySchemes"].get(scheme).is_some(), "{place} needs {scheme}");
        }
    }
}

#[test]
fn every_body_has_an_example_that_holds_to_its_schema() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let mut checked = BTreeSet::new();
    for (place, body) in bodies(&document) {
        // Files, streams and what carriers send have no schema of ours.
        let Some(schema) = body.get("schema").filter(|schema| schema.as_object().is_some_and(|schema| !schema.is_empty())) else {
            continue;
        };
        if schema.get("$ref").is_none() && body.get("examples").is_none() {
            continue;
        }
        let reference = body.pointer("/examples/example/$ref").and_then(Value::as_str).unwrap_or_else(|| panic!("{place} has no example"));
        let example = &document.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} is not there"))["value"];
        if !checked.insert((reference, schema.to_string())) {
            continue;
        }
        let mut whole = schema.clone();
        whole["components"] = json!({ "schemas": schemas });
        let validator = jsonschema::options().should_validate_formats(true).build(&whole).unwrap();
        let faults: Vec<String> = validator.iter_errors(example).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert_eq!(faults, Vec::<String>::new(), "{place}");
    }
    assert!(checked.len() > 60, "{} examples", checked.len());
}

#[test]
fn examples_are_plainly_made_up() {
    let document = document();
    let text = document["components"]["examples"].to_string();
    for word in text.split(|letter: char| !letter.is_alphanumeric() && !"@.-_".contains(letter)).filter(|word| word.contains('@')) {
        assert!(word.ends_with("@example.com"), "{word}");
    }
    for word in text.split("https://").skip(1) {
        let host = word.split(['/', '"']).next().unwrap();
        assert!(host.ends_with("example.com") || host.ends_with(".example"), "{host}");
    }
}
