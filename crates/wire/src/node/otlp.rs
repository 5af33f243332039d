//! Spans for the operator's collector: the JSON form of OTLP, the protocol of OpenTelemetry.
//!
//! [`Attribute`] lists everything that a span can tell. Ids, patterns, statuses and numbers are among it; names, addresses and
//! anything that a caller wrote are not, so no span can hold personal data.

use std::fmt::Display;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::node::trace::SpanIds;
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// A span that has ended.
pub struct Span {
    pub ids: SpanIds,
    pub name: String,
    pub kind: Kind,
    pub began: DateTime<Utc>,
    pub ended: DateTime<Utc>,
    pub attributes: Vec<Attribute>,
    /// True if the work failed on our side, or at the peer that was called.
    pub failed: bool,
}

/// The role of a span in the exchange that it describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It answers a request.
    Server,
    /// It calls another system.
    Client,
    /// It writes messages, which are delivered later.
    Producer,
}

/// Something that a span tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The method of a request.
    Method(&'static str),
    /// The pattern of the route, never the path.
    Route(String),
    /// The status of an answer.
    Status(u16),
    /// The kind of failure of a call without an answer.
    Error(String),
    /// The id of the request, as in the log.
    Request(String),
    Merchant(MerchantId),
    Endpoint(EndpointId),
    Message(Uuid),
    /// The interface of a message, or the kind of internal work.
    Interface(&'static str),
    /// The number of messages that were written.
    Messages(usize),
    /// The number of the attempt, from 1.
    Attempt(i16),
}

/// The process whose spans are told.
pub struct Resource<'a> {
    pub version: &'a str,
    pub node: Uuid,
    /// The mode of the installation.
    pub mode: &'a str,
}

/// Writes the body of an export request.
pub fn write(resource: &Resource<'_>, spans: &[Span]) -> Result<Vec<u8>, serde_json::Error> {
    let text = |key, text: &str| Named { key, value: Value::String(text.to_owned()) };
    let attributes = vec![
        text("service.name", "backhaul"),
        text("service.version", resource.version),
        text("service.instance.id", &resource.node.to_string()),
        text("deployment.environment.name", resource.mode),
    ];
    let scope_spans =
        [ScopeSpans { scope: Scope { name: "backhaul", version: resource.version }, spans: spans.iter().map(WrittenSpan::from).collect() }];
    serde_json::to_vec(&Export { resource_spans: [ResourceSpans { resource: Attributes { attributes }, scope_spans }] })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Export<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Attributes,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Attributes {
    attributes: Vec<Named>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope<'a>,
    spans: Vec<WrittenSpan<'a>>,
}

#[derive(Serialize)]
struct Scope<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenSpan<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: &'a str,
    kind: u8,
    #[serde(serialize_with = "as_text")]
    start_time_unix_nano: i64,
    #[serde(serialize_with = "as_text")]
    end_time_unix_nano: i64,
    attributes: Vec<Named>,
    status: Status,
}

#[derive(Serialize)]
struct Status {
    /// 0 if nobody has judged it, 2 for an error.
    code: u8,
}

#[derive(Serialize)]
struct Named {
    key: &'static str,
    value: Value,
}

#[derive(Serialize)]
enum Value {
    #[serde(rename = "stringValue")]
    String(String),
    #[serde(rename = "intValue", serialize_with = "as_text")]
    Number(i64),
}

/// Numbers of 64 bits are text in the JSON of protocol buffers.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_text<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

impl<'a> From<&'a Span> for WrittenSpan<'a> {
    fn from(span: &'a Span) -> Self {
        let Span { ids: SpanIds { context, parent }, name, kind, began, ended, attributes, failed } = span;
        let nanos = |time: &DateTime<Utc>| time.timestamp_nanos_opt().unwrap_or_default();
        Self {
            trace_id: format!("{:032x}", context.trace),
            span_id: format!("{:016x}", context.span),
            parent_span_id: parent.map(|parent| format!("{parent:016x}")),
            name,
            kind: match kind {
                Kind::Server => 2,
                Kind::Client => 3,
                Kind::Producer => 4,
            },
            start_time_unix_nano: nanos(began),
            end_time_unix_nano: nanos(ended),
            attributes: attributes.iter().map(Named::from).collect(),
            status: Status { code: if *failed { 2 } else { 0 } },
        }
    }
}

impl From<&Attribute> for Named {
    fn from(attribute: &Attribute) -> Self {
        let text = |text: &dyn Display| Value::String(text.to_string());
        // The names are those of OpenTelemetry's conventions where it has one, and ours otherwise.
        let (key, value) = match attribute {
            Attribute::Method(method) => ("http.request.method", text(method)),
            Attribute::Route(route) => ("http.route", text(route)),
            Attribute::Status(status) => ("http.response.status_code", Value::Number((*status).into())),
            Attribute::Error(error) => ("error.type", text(error)),
            Attribute::Request(request) => ("backhaul.request.id", text(request)),
            Attribute::Merchant(merchant) => ("backhaul.merchant.id", text(merchant)),
            Attribute::Endpoint(endpoint) => ("backhaul.endpoint.id", text(endpoint)),
            Attribute::Message(message) => ("messaging.message.id", text(message)),
            Attribute::Interface(interface) => ("messaging.destination.name", text(interface)),
            Attribute::Messages(count) => ("messaging.batch.message_count", Value::Number(i64::try_from(*count).unwrap_or(i64::MAX))),
            Attribute::Attempt(number) => ("backhaul.attempt.number", Value::Number((*number).into())),
        };
        Self { key, value }
    }
}

#[cfg(test)]
mod tests {
    use domain::node::trace::TraceContext;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_span_is_written_as_collectors_read_it() {
        let context = TraceContext { trace: 7, span: 9, sampled: true };
        let began: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let span = Span {
            ids: SpanIds { context, parent: Some(8) },
            name: "POST /v1/rmas".to_owned(),
            kind: Kind::Server,
            began,
            ended: began + chrono::TimeDelta::milliseconds(3),
            attributes: vec![Attribute::Route("/v1/rmas".to_owned()), Attribute::Status(503)],
            failed: true,
        };
        let resource = Resource { version: "1.0.0", node: Uuid::from_u128(5), mode: "sandbox" };
        let written: serde_json::Value = serde_json::from_slice(&write(&resource, &[span]).unwrap()).unwrap();
        let spans = &written["resourceSpans"][0]["scopeSpans"][0]["spans"];
        assert_eq!(
            *spans,
            json!([{
                "traceId": "00000000000000000000000000000007",
                "spanId": "0000000000000009",
                "parentSpanId": "0000000000000008",
                "name": "POST /v1/rmas",
                "kind": 2,
                "startTimeUnixNano": "1772366400000000000",
                "endTimeUnixNano": "1772366400003000000",
                "attributes": [
                    { "key": "http.route", "value": { "stringValue": "/v1/rmas" } },
                    { "key": "http.response.status_code", "value": { "intValue": "503" } },
                ],
                "status": { "code": 2 },
            }])
        );
        let resource = &written["resourceSpans"][0]["resource"]["attributes"];
        assert_eq!(resource[0], json!({ "key": "service.name", "value": { "stringValue": "backhaul" } }));
    }
}
