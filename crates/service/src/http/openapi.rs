//! The OpenAPI document, generated from the handlers and from the shapes in `wire`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::examples;
use super::prepared::Prepared;
use super::public;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Backhaul",
        description = "Returns, exchange and fulfilment integration: merchants send orders, and Backhaul notifies their systems of returns, exchanges and shipments. Guides, samples, messages and errors are at `/docs`.",
        contact(name = "The operator of your installation"),
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    servers((url = "/", description = "The installation that serves this document.")),
    tags(
        (name = "tokens", description = "Get an access token."),
        (name = "orders", description = "Publish orders and look them up."),
        (name = "returns", description = "See what can be returned, start returns and follow them."),
        (name = "carriers", description = "Report labels and scans."),
        (name = "drop shipping", description = "Have orders shipped from the warehouse, and report their shipments and cancellations."),
        (name = "warehouse", description = "Report shipments that leave a warehouse."),
        (name = "inbound", description = "Announce goods to a warehouse and receive them."),
        (name = "imports", description = "Import months of order history at once."),
        (name = "events", description = "Read the feed of messages to a merchant's systems."),
        (name = "reports", description = "See how messages were delivered."),
        (name = "messages", description = "See the messages that were sent to your systems, and send them again."),
        (name = "webhooks", description = "The requests that Backhaul sends to your systems."),
        (name = "documents", description = "Read about this interface."),
    )
)]
struct Head;

/// The document as it is served; built once.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&build()).unwrap_or_default();
    text.push('\n');
    text
});

/// The document with its compressed form and the names of both.
static PREPARED: LazyLock<Prepared> = LazyLock::new(|| Prepared::new("application/json", text()));

/// Builds and compresses the document, so that no caller waits for it.
pub(super) fn prepare() {
    LazyLock::force(&PREPARED);
}

/// The document, pretty-printed as in `docs/openapi.json`.
#[must_use]
pub fn text() -> &'static str {
    &DOCUMENT
}

/// The handlers' part, completed with the schemas of `wire`, the security scheme, and the responses that the middleware and the
/// extractors can give.
fn build() -> Value {
    let mut head = Head::openapi();
    head.merge(public().into_openapi());
    let mut document = serde_json::to_value(&head).unwrap_or_default();
    if let Some(components) = document.pointer_mut("/components").and_then(Value::as_object_mut) {
        components.insert("securitySchemes".to_owned(), security());
        if let Some(schemas) = components.get_mut("schemas").and_then(Value::as_object_mut) {
            schemas.extend(wire::schema::components());
            schemas.extend(wire::messages::webhook::schemas());
            schemas.sort_keys();
        }
    }
    let paths = document.pointer_mut("/paths").and_then(Value::as_object_mut);
    for (path, operations) in paths.into_iter().flatten() {
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            complete(operation);
            if let Some(operation) = operation.as_object_mut() {
                operation.insert("operationId".to_owned(), operation_id(method, path).into());
            }
        }
    }
    if let Some(document) = document.as_object_mut() {
        document.insert("webhooks".to_owned(), wire::messages::webhook::webhooks());
    }
    examples::add(&mut document);
    leave_out_unused(&mut document);
    document
}

/// Leaves out schemas that nothing refers to, such as those that are spelt out where they may be null.
fn leave_out_unused(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        references(document, &mut used);
        let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) else { return };
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(&format!("#/components/schemas/{name}")));
        if schemas.len() == before {
            return;
        }
    }
}

/// Every reference in a part of the document.
fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// The name of an operation, by which generated clients know it: `get_orders_by_identifier`. The handlers' names repeat.
fn operation_id(method: &str, path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "v1").map(|part| match part.strip_prefix('{') {
        Some(parameter) => format!("by_{}", parameter.trim_end_matches('}')),
        None => part.replace('.', "_"),
    });
    std::iter::once(method.to_owned()).chain(parts).collect::<Vec<_>>().join("_")
}

/// Adds the responses that an operation shares with its kind: those that need a token, those that read JSON, and all.
fn complete(operation: &mut Value) {
    let mut answers = vec![("429", too_many_requests())];
    // Each alternative has one scope.
    let ways = operation.pointer("/security").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let scopes: Vec<String> = ways.iter().filter_map(|way| way.pointer("/oauth2/0")?.as_str()).map(|scope| format!("`{scope}`")).collect();
    if !scopes.is_empty() {
        answers.push(("401", error("The access token is missing, unknown, expired or revoked.")));
        answers.push(("403", error(&format!("The token lacks the scope {}, or the merchant is paused.", scopes.join(" or ")))));
    }
    if let Some(content) = operation.pointer("/requestBody/content").and_then(Value::as_object) {
        answers.push(("408", error("The body did not arrive in time.")));
        answers.push(("415", error("The Content-Type is none of those that the operation reads.")));
        if content.contains_key("application/json") {
            answers.push(("413", error("The body is larger than 5 MiB.")));
        }
    }
    // The document is built once, so serving it cannot fail.
    if operation.pointer("/tags/0").and_then(Value::as_str) != Some("documents") {
        answers.push(("500", error("The service failed. Try again with exponential backoff.")));
        answers.push(("503", error("The service is unavailable. Try again with exponential backoff.")));
    }
    if let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) {
        for (status, answer) in answers {
            responses.entry(status).or_insert(answer);
        }
        responses.sort_keys();
    }
}

/// An error response.
fn error(description: &str) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
    })
}

/// The response of every operation above the rate limit.
fn too_many_requests() -> Value {
    json!({
        "description": "Too many requests. Try again after `Retry-After`, with exponential backoff.",
        "headers": {
            "Retry-After": { "description": "Seconds until a request is allowed again.", "schema": { "type": "integer" } },
        },
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
    })
}

fn security() -> Value {
    let scopes = json!({
        "orders": "All routes that are not for warehouses or carriers.",
        "warehouse": "The routes for warehouse systems.",
        "carrier": "The routes for carriers.",
    });
    json!({ "oauth2": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/oauth/token", "scopes": scopes } } } })
}

/// Get this document.
///
/// It is compressed for callers who accept `gzip`. Send the `ETag` of an earlier answer as `If-None-Match` to learn whether it is
/// still current.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "documents",
    responses(
        (status = 200, description = "The OpenAPI 3.1 document of this interface.", content_type = "application/json"),
        (status = 304, description = "The document is the one that the caller has."),
    )
)]
pub(super) async fn document(headers: HeaderMap) -> Response {
    PREPARED.answer(&headers)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn no_two_operations_have_one_name() {
        let document = build();
        let operations = document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        for name in ["post_oauth_token", "get_openapi_json", "get_orders_by_identifier", "post_messages_by_message_id_retry"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }

    #[test]
    fn whatever_reads_a_body_says_that_it_may_be_late_or_of_another_type() {
        let document = build();
        let operations = document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let reading: Vec<&Value> = operations.filter(|operation| operation.get("requestBody").is_some()).collect();
        assert!(reading.len() > 10);
        for operation in reading {
            for status in ["408", "415"] {
                assert!(operation["responses"].get(status).is_some(), "{} lacks {status}", operation["operationId"]);
            }
        }
    }

    #[test]
    fn no_two_shapes_have_one_name() {
        let mut head = Head::openapi();
        head.merge(public().into_openapi());
        let document = serde_json::to_value(&head).unwrap();
        let answers = document.pointer("/components/schemas").and_then(Value::as_object).unwrap();
        let (requests, messages) = (wire::schema::components(), wire::messages::webhook::schemas());
        let names = |schemas: &Map<String, Value>| schemas.keys().cloned().collect::<BTreeSet<_>>();
        let taken: BTreeSet<String> = names(answers).union(&names(&messages)).cloned().collect();
        assert_eq!(names(&requests).intersection(&taken).collect::<Vec<_>>(), Vec::<&String>::new(), "one would replace the other");
        // A response may use the schema of a message, but then it must be the same.
        for name in names(answers).intersection(&names(&messages)) {
            assert_eq!(answers[name]["properties"], messages[name]["properties"], "{name}");
        }
        assert!(answers.len() > 50 && requests.len() > 20 && messages.len() > 7);
    }
}
