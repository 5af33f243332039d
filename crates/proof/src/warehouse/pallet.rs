//! `bench-pallet`: the time and memory for shipping a pallet of 100,000 units.
//!
//! A warehouse's system adds the units over HTTP, 500 at a time, and ships the pallet. Adding must not slow down as the pallet
//! grows. When the call to ship is answered, every message is written: the time until then and the service's peak memory are
//! measured. The messages must have numbers without gaps and hold every unit exactly once.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use backhaul::flow::warehouse::configure_place::{TextChange, WarehouseChange, set_warehouse};
use domain::id::MerchantId;
use domain::messages::message::Interface;
use domain::warehouse::place::Address;
use sandbox::merchant::Merchant as Systems;
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::meter::{self, median, round};
use crate::orders::load::Connection;
use crate::stage::Stage;

/// Units per call.
const CHUNK: u32 = 500;
/// The most lines in a message.
const MOST_LINES: usize = 500;
/// The timeout of a call.
const WITHIN: Duration = Duration::from_mins(3);
/// The bar: the time from the call to ship to the last message.
const BAR_S: f64 = 60.0;
/// The bar: the growth of the service's memory while it ships.
const BAR_MB: f64 = 64.0;
const NUMBER: &str = "PALLET";

/// The system of a merchant's warehouse.
struct Warehouse<'a> {
    connection: Connection,
    address: SocketAddr,
    token: &'a str,
}

impl Warehouse<'_> {
    /// Posts `body`. Returns the time taken, in seconds.
    async fn posts(&mut self, path: &str, body: &Value, expected: u16) -> anyhow::Result<f64> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len(),
        );
        let started = Instant::now();
        let status = self.connection.exchange_within(&[head.as_bytes(), body.as_bytes()].concat(), WITHIN).await;
        let took = started.elapsed().as_secs_f64();
        ensure!(status == Some(expected), "{path}: {status:?} {}", String::from_utf8_lossy(self.connection.body()));
        Ok(took)
    }
}

fn unit(number: u32) -> Value {
    json!({
        "line_identifier": format!("L-{number:06}"), "program_identifier": "PROGRAM-1", "unit_identifier": format!("LP-{number:08}"),
        "client_unit_identifier": format!("CU-{number:08}"), "inbound_received_asn": "IN-1042", "sku": format!("SHOE-{}", number % 977),
        "upc": "0123456789012", "quantity": 1, "condition": "N", "eligibility_flags": ["rtv"], "merchant": "Acme",
    })
}

pub(crate) async fn run(program: &Path, units: u32) -> anyhow::Result<Value> {
    println!("Setting up: a temporary PostgreSQL, a merchant with two warehouses …");
    let stage = Stage::set(program).await?;
    let merchant = MerchantId(stage.merchants.first().copied().context("the stage has no merchants")?);
    let systems = Systems::start().await?;
    places(&stage, merchant, &systems).await?;
    let service = stage.serve()?;
    service.ready().await?;
    let connection = Connection::open(service.address).await.context("the service does not listen")?;
    let mut warehouse = Warehouse { connection, address: service.address, token: stage.token(0) };

    let shipment = json!({
        "asn_number": NUMBER, "kind": "freight", "from_warehouse": "WH-1", "to_warehouse": "WH-2", "channel": "RTS",
        "shipment_identifier": "PO-1", "ship_date": "2026-03-04T08:00:00Z",
    });
    warehouse.posts("/v1/outbound_shipments", &shipment, 201).await?;
    println!("Adding {units} units, {CHUNK} at a time …");
    let mut adding = Vec::new();
    for first in (0..units).step_by(CHUNK as usize) {
        let details: Vec<Value> = (first..units.min(first + CHUNK)).map(unit).collect();
        let body = json!({ "cartons": [{ "identifier": "PALLET-1", "details": details }] });
        adding.push(warehouse.posts(&format!("/v1/outbound_shipments/{NUMBER}/units"), &body, 200).await?);
    }
    let tenth = (adding.len() / 10).max(1);
    let (early, late) = (median(adding.iter().take(tenth).copied().collect()), median(adding.iter().rev().take(tenth).copied().collect()));

    println!("Shipping …");
    let before_mb = meter::memory(service.pid(), "VmRSS");
    let ship_s = warehouse.posts(&format!("/v1/outbound_shipments/{NUMBER}/ship"), &json!({}), 200).await?;
    let peak_mb = meter::memory(service.pid(), "VmHWM");
    let parts = check(&mut stage.connect().await?, units).await?;
    let grown_mb = peak_mb - before_mb;
    println!("ship_s     {ship_s:>8.2}   bar {BAR_S}   {}", if ship_s <= BAR_S { "met" } else { "MISSED" });
    println!("grown_mb   {grown_mb:>8.1}   bar {BAR_MB}   {}", if grown_mb <= BAR_MB { "met" } else { "MISSED" });
    println!("adding     {:.1} ms per call at first, {:.1} ms at the end", early * 1_000.0, late * 1_000.0);
    let result = json!({
        "bench": "pallet", "units": units, "parts": parts, "ship_s": round(ship_s, 2), "add_first_ms": round(early * 1_000.0, 1),
        "add_last_ms": round(late * 1_000.0, 1), "before_mb": round(before_mb, 1), "peak_rss_mb": round(peak_mb, 1),
        "grown_mb": round(grown_mb, 1),
    });
    ensure!(ship_s <= BAR_S && grown_mb <= BAR_MB, "a bar was missed: {result}");
    Ok(result)
}

/// Sets up the merchant's warehouses, and systems that accept every message.
async fn places(stage: &Stage, merchant: MerchantId, systems: &Systems) -> anyhow::Result<()> {
    let app = stage.app()?;
    let word = |text: &str| text.to_owned();
    for id in ["WH-1", "WH-2"] {
        let address = Address {
            name: word("Dock 4"),
            street: word("7 Dock Rd"),
            city: word("Reno"),
            state: word("NV"),
            zip: word("89501"),
            ..Address::default()
        };
        let change = WarehouseChange {
            name: Some(word(id)),
            external_identifier: TextChange::Set(word(id)),
            address: Some(address),
            ..WarehouseChange::default()
        };
        set_warehouse(&app, "proof", merchant, &id.parse()?, change).await?;
    }
    let change = EndpointChange { url: Some(systems.url("/outbound_asn")), ..EndpointChange::default() };
    set_endpoint(&app, "proof", merchant, Interface::OutboundAsn, change).await?;
    app.cell().close().await;
    Ok(())
}

/// Reassembles the shipment from its messages and checks it. Returns the number of messages.
async fn check(connection: &mut PgConnection, units: u32) -> anyhow::Result<usize> {
    let subjects: Vec<String> =
        sqlx::query_scalar("select subject from message where kind = 'outbound_asn' order by length(subject), subject")
            .fetch_all(&mut *connection)
            .await?;
    let parts = (units as usize).div_ceil(MOST_LINES);
    let expected: Vec<String> =
        if parts == 1 { vec![NUMBER.to_owned()] } else { (1..=parts).map(|part| format!("{NUMBER}_{part}")).collect() };
    ensure!(subjects == expected, "the numbers of the messages have gaps");
    let mut seen = HashSet::new();
    for subject in &subjects {
        let body: String = sqlx::query_scalar("select body from message where kind = 'outbound_asn' and subject = $1")
            .bind(subject)
            .fetch_one(&mut *connection)
            .await?;
        let body: Value = serde_json::from_str(&body)?;
        let word = |name: &str| body.get(name).and_then(Value::as_str);
        ensure!(
            word("asn_number") == Some(subject) && word("status") == Some("shipped"),
            "the message {subject} has another number or status"
        );
        let list = |value: &'_ Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let details: Vec<Value> = list(&body, "cartons").iter().flat_map(|carton| list(carton, "details")).collect();
        ensure!((1..=MOST_LINES).contains(&details.len()), "{subject} has {} lines", details.len());
        for detail in details {
            let unit = detail.get("unit_identifier").and_then(Value::as_str).context("a line has no unit")?.to_owned();
            ensure!(seen.insert(unit), "a unit is in two messages");
        }
    }
    ensure!(seen.len() == units as usize, "the messages contain only {} of {units} units", seen.len());
    Ok(parts)
}
