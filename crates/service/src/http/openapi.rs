//! The OpenAPI document, generated from the handlers and from the shapes in `wire`.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::public;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Backhaul",
        description = "Returns, exchange and fulfilment integration: merchants push orders in, Backhaul tells their systems what comes back.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "tokens", description = "Get access."),
        (name = "orders", description = "Push orders in, look them up."),
        (name = "imports", description = "Send months of orders at once."),
        (name = "events", description = "Read what was said to a merchant's systems."),
        (name = "reports", description = "See how deliveries went."),
        (name = "messages", description = "See what your systems were sent, and send it once more."),
        (name = "documents", description = "Read about the interface."),
    )
)]
struct Head;

/// The document as it is served: made once.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&build()).unwrap_or_default();
    text.push('\n');
    text
});

/// The document as text.
#[must_use]
pub fn text() -> &'static str {
    &DOCUMENT
}

/// The handlers' part, completed by what `wire` publishes, by how access is got, and by what the exchange around every
/// handler may answer.
fn build() -> Value {
    let mut head = Head::openapi();
    head.merge(public().into_openapi());
    let mut document = serde_json::to_value(&head).unwrap_or_default();
    if let Some(components) = document.pointer_mut("/components").and_then(Value::as_object_mut) {
        components.insert("securitySchemes".to_owned(), security());
        if let Some(schemas) = components.get_mut("schemas").and_then(Value::as_object_mut) {
            schemas.extend(wire::schema::components());
            schemas.sort_keys();
        }
    }
    let paths = document.pointer_mut("/paths").and_then(Value::as_object_mut);
    let operations = paths.into_iter().flat_map(|paths| paths.values_mut()).filter_map(Value::as_object_mut).flatten();
    for responses in operations.filter_map(|(_, operation)| operation.pointer_mut("/responses")?.as_object_mut()) {
        responses.entry("429").or_insert_with(too_many_requests);
        responses.sort_keys();
    }
    document
}

/// What every operation answers to a caller who asks too often.
fn too_many_requests() -> Value {
    json!({
        "description": "Too many requests. Try again after `Retry-After`, with exponential backoff.",
        "headers": {
            "Retry-After": { "description": "In how many seconds a request would pass.", "schema": { "type": "integer" } },
        },
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
    })
}

fn security() -> Value {
    let scopes = json!({
        "orders": "Everything that is not a warehouse or carrier route.",
        "warehouse": "The routes of a warehouse system.",
        "carrier": "The routes of a carrier.",
    });
    json!({ "oauth2": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/oauth/token", "scopes": scopes } } } })
}

/// This document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "documents",
    responses((status = 200, description = "The OpenAPI 3.1 document of this interface.", content_type = "application/json"))
)]
pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], text())
}
