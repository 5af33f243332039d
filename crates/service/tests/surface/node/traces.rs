//! Traces, as the operator's collector receives them.

use std::collections::BTreeSet;
use std::time::Duration;

use backhaul::delivery::trace_exporter::TraceExporter;
use reqwest::Method;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::Value;

use crate::binary::{Served, command};
use crate::world::receiver::PATH;
use crate::world::{Database, Merchant, Reply, World, mail_back};

/// The path of the collector.
const COLLECTOR: &str = "/v1/traces";
/// The place of a caller in a trace that it records.
const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
/// The same, if the caller does not record it.
const UNRECORDED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/// A world that exports its traces to `collector`.
async fn traced(collector: &Systems, ratio: &str) -> World {
    traced_within(collector, ratio, "20000").await
}

/// The same, with this time for an export, in milliseconds.
async fn traced_within(collector: &Systems, ratio: &str, timeout: &str) -> World {
    let endpoint = collector.url(COLLECTOR);
    let settings =
        [("BACKHAUL__TRACES__ENDPOINT", endpoint.as_str()), ("BACKHAUL__TRACES__RATIO", ratio), ("BACKHAUL__TRACES__TIMEOUT_MS", timeout)];
    World::with(&settings).await
}

/// Every span that the collector was sent.
fn spans(collector: &Systems) -> Vec<Value> {
    let exports = collector.received_at(COLLECTOR).into_iter().map(|export| export.json());
    exports.flat_map(|export| export["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()).collect()
}

/// The spans of a trace with this name, in the order in which they ended.
fn named<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| span["traceId"] == TRACE && span["name"] == name).collect()
}

/// The value of an attribute as text.
fn attribute<'a>(span: &'a Value, key: &str) -> &'a str {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
    let value = &found.unwrap_or_else(|| panic!("no {key} in {span}"))["value"];
    value["stringValue"].as_str().or_else(|| value["intValue"].as_str()).unwrap()
}

/// Starts a return with this `traceparent`.
async fn starts(merchant: &Merchant<'_>, order: &str, traceparent: &str) -> Reply {
    let reply =
        merchant.calls(Method::POST, "/v1/returns", |request| request.header("traceparent", traceparent).json(&mail_back(order, 1))).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply
}

/// The `traceparent` of each message that arrived.
fn told(systems: &Systems) -> Vec<Option<String>> {
    systems.received_at(PATH).iter().map(|message| message.header("traceparent").map(str::to_owned)).collect()
}

#[tokio::test]
async fn one_trace_leads_from_the_callers_request_over_the_outbox_to_every_attempt() {
    let collector = Systems::start().await.unwrap();
    let world = traced(&collector, "1").await;
    let exporter = TraceExporter::start(&world.app).unwrap();
    let shop = world.shop("acme").await;
    shop.merchant.sells("ORDER-A1", 1).await;
    shop.systems.answer_next(PATH, [Answer::status(503)]);
    let started = starts(&shop.merchant, "ORDER-A1", CALLER).await;
    world.deliver_all_due().await;
    world.time_passes(Duration::from_hours(1));
    world.deliver_all_due().await;
    exporter.leave().await;

    let spans = spans(&collector);
    let (requests, writes, calls) = (named(&spans, "POST /v1/returns"), named(&spans, "write messages"), named(&spans, "deliver rma"));
    let ([request], [write], [first, second]) = (requests.as_slice(), writes.as_slice(), calls.as_slice()) else {
        panic!("{requests:?} {writes:?} {calls:?}")
    };
    assert_eq!((&request["kind"], &write["kind"], &first["kind"]), (&2.into(), &4.into(), &3.into()));
    assert_eq!(request["parentSpanId"], "00f067aa0ba902b7", "the caller's span");
    assert_eq!(write["parentSpanId"], request["spanId"]);
    assert!([first, second].iter().all(|call| call["parentSpanId"] == write["spanId"]), "{first} {second}");

    assert_eq!((attribute(request, "http.route"), attribute(request, "http.response.status_code")), ("/v1/returns", "201"));
    assert_eq!(attribute(request, "backhaul.request.id"), started.header("x-request-id"));
    let merchant = shop.merchant.id.to_string();
    assert!([request, write, first].iter().all(|span| attribute(span, "backhaul.merchant.id") == merchant));
    let told_of = |call: &Value| ["backhaul.attempt.number", "http.response.status_code"].map(|key| attribute(call, key).to_owned());
    assert_eq!((told_of(first), told_of(second)), (["1", "503"].map(str::to_owned), ["2", "200"].map(str::to_owned)));
    assert_eq!((&first["status"]["code"], &second["status"]["code"]), (&2.into(), &0.into()));
    let endpoint = world.database.texts("select endpoint_id::text from endpoint where interface = 'rma'").await.remove(0);
    let message = shop.systems.received_at(PATH)[0].message_id().unwrap().to_owned();
    assert_eq!((attribute(first, "backhaul.endpoint.id"), attribute(first, "messaging.message.id")), (endpoint.as_str(), message.as_str()));

    // The receiver continues from the attempt that reached it.
    let expected = |call: &Value| Some(format!("00-{TRACE}-{}-01", call["spanId"].as_str().unwrap()));
    assert_eq!(told(&shop.systems), [expected(first), expected(second)]);
    // Whoever comes without a trace begins one.
    let own = spans.iter().find(|span| span["name"] == "POST /returns_portal_orders").unwrap();
    assert!(own["traceId"] != TRACE && own.get("parentSpanId").is_none(), "{own}");
}

#[tokio::test]
async fn spans_hold_nothing_personal_and_nothing_that_a_caller_wrote() {
    let collector = Systems::start().await.unwrap();
    let world = traced(&collector, "1").await;
    let exporter = TraceExporter::start(&world.app).unwrap();
    let shop = world.shop("acme").await;
    shop.merchant.sells("ORDER-A1", 1).await;
    let rma = shop.merchant.starts_a_return("ORDER-A1", 1).await;
    shop.merchant.looks_at(&rma).await;
    world.ask(Method::GET, "/v1/orders/pat.doe@example.com", |request| request).await;
    world.ask(Method::GET, "/pat.doe@example.com", |request| request.header("traceparent", "pat.doe@example.com")).await;
    world.deliver_all_due().await;
    exporter.leave().await;

    let sent: Vec<String> = collector.received_at(COLLECTOR).iter().map(|export| export.json().to_string()).collect();
    let spans = spans(&collector);
    assert!(spans.len() >= 6, "{sent:?}");
    for text in ["example.com", "pat.doe", "ORDER-A1", &rma, "acme", "bht_", &shop.merchant.client_id] {
        assert!(!sent.iter().any(|sent| sent.contains(text)), "{text} is in {sent:?}");
    }
    let keys: BTreeSet<&str> =
        spans.iter().flat_map(|span| span["attributes"].as_array().unwrap()).map(|attribute| attribute["key"].as_str().unwrap()).collect();
    let known = [
        "backhaul.attempt.number",
        "backhaul.endpoint.id",
        "backhaul.merchant.id",
        "backhaul.request.id",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "messaging.batch.message_count",
        "messaging.destination.name",
        "messaging.message.id",
    ];
    assert_eq!(keys, BTreeSet::from(known));
}

#[tokio::test]
async fn what_a_reaction_owes_belongs_to_the_same_trace() {
    let collector = Systems::start().await.unwrap();
    let world = traced(&collector, "1").await;
    let exporter = TraceExporter::start(&world.app).unwrap();
    let carried = world.shop_with_a_carrier("acme").await;
    carried.shop.merchant.sells("A-1", 1).await;
    starts(&carried.shop.merchant, "A-1", CALLER).await;
    world.deliver_all_due().await;
    exporter.leave().await;

    let told = told(&carried.shop.systems);
    assert!(told.len() >= 2, "the return, and its label: {told:?}");
    assert!(told.iter().flatten().all(|place| place.starts_with(&format!("00-{TRACE}-"))) && told.iter().all(Option::is_some), "{told:?}");
    let spans = spans(&collector);
    let ids: BTreeSet<Option<&str>> = spans.iter().filter(|span| span["traceId"] == TRACE).map(|span| span["spanId"].as_str()).collect();
    let writes = named(&spans, "write messages");
    assert!(writes.len() >= 2, "{writes:?}");
    assert!(writes.iter().all(|write| ids.contains(&write["parentSpanId"].as_str())), "every parent was exported: {writes:?}");
}

#[tokio::test]
async fn a_collector_that_hangs_or_is_away_hurts_nobody_and_what_it_misses_is_counted() {
    let collector = Systems::start().await.unwrap();
    let world = traced_within(&collector, "1", "1000").await;
    let shop = world.shop("acme").await;
    let counts = async || {
        let dropped = world.metric(r#"backhaul_trace_spans_dropped_total{reason="not_taken"}"#).await;
        (world.metric("backhaul_trace_spans_exported_total").await, dropped)
    };
    let returns = async |order: &str| {
        let exporter = TraceExporter::start(&world.app).unwrap();
        shop.merchant.sells(order, 1).await;
        shop.merchant.starts_a_return(order, 1).await;
        assert_eq!(shop.receives_events().await, ["rma.created"]);
        exporter.leave().await;
    };
    collector.answer(COLLECTOR, Answer::hang());
    returns("A-1").await;
    let (exported, hung) = counts().await;
    assert!(exported == 0 && hung >= 4, "{exported} exported, {hung} dropped");

    collector.answer(COLLECTOR, Answer::status(503));
    returns("A-2").await;
    let (exported, refused) = counts().await;
    assert!(exported == 0 && refused > hung, "{exported} exported, {refused} dropped");

    let address = collector.address();
    collector.stop().await;
    returns("A-3").await;
    let (exported, missed) = counts().await;
    assert!(exported == 0 && missed > refused, "{exported} exported, {missed} dropped");

    let collector = Systems::start_at(address).await.unwrap();
    returns("A-4").await;
    let (exported, dropped) = counts().await;
    assert_eq!((exported, dropped), (u64::try_from(spans(&collector).len()).unwrap(), missed));
    assert!(exported >= 4, "{exported}");
}

#[tokio::test]
async fn the_caller_decides_about_its_own_traces_and_the_ratio_about_the_others() {
    let collector = Systems::start().await.unwrap();
    let world = traced(&collector, "0").await;
    let exporter = TraceExporter::start(&world.app).unwrap();
    let shop = world.shop("acme").await;
    for order in ["A-1", "A-2", "A-3"] {
        shop.merchant.sells(order, 1).await;
    }
    shop.merchant.starts_a_return("A-1", 1).await;
    world.deliver_all_due().await;
    starts(&shop.merchant, "A-2", UNRECORDED).await;
    world.deliver_all_due().await;
    assert_eq!(told(&shop.systems), [None, Some(UNRECORDED.to_owned())], "an unrecorded trace is passed on as it came");
    starts(&shop.merchant, "A-3", CALLER).await;
    world.deliver_all_due().await;
    exporter.leave().await;
    let spans = spans(&collector);
    assert!(spans.iter().all(|span| span["traceId"] == TRACE), "{spans:?}");
    assert_eq!((named(&spans, "POST /v1/returns").len(), named(&spans, "deliver rma").len()), (1, 1), "{spans:?}");
}

#[tokio::test]
async fn without_a_collector_nothing_is_traced_stored_or_passed_on() {
    let world = World::new().await;
    assert!(TraceExporter::start(&world.app).is_none());
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    starts(&shop.merchant, "A-1", CALLER).await;
    world.deliver_all_due().await;
    assert_eq!(told(&shop.systems), [None]);
    assert_eq!(world.database.texts("select count(trace)::text from message").await, ["0"]);
}

/// The collector answers while the test waits for the end of the process, so they have a thread each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_spans_are_sent_before_a_process_ends() {
    let (database, collector) = (Database::create().await, Systems::start().await.unwrap());
    let served = Served::start(command(&database).env("BACKHAUL__TRACES__ENDPOINT", collector.url(COLLECTOR)).arg("serve"));
    let asked = reqwest::get(format!("{}/v1/orders/1", served.base)).await.unwrap();
    assert_eq!(asked.status(), 401);
    let (ended, log) = served.terminate();
    assert!(ended, "{log}");
    let spans = spans(&collector);
    assert!(spans.iter().any(|span| span["name"] == "GET /v1/orders/{identifier}"), "{spans:?} {log}");
}
