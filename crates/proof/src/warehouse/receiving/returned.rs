//! Returns that the scanners receive without an ASN, beside the units of the ASN.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use backhaul::platform::clock::Clock;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use super::plan::Plan;
use super::request::request;
use crate::orders::load::Connection;

/// The units of each return.
pub(super) const UNITS_EACH: usize = 5;
/// The lines of the ASN for each return.
const LINES_PER_RETURN: usize = 10;

/// A unit of a return, with the return's identifier.
#[derive(Clone, Debug)]
pub(super) struct Returned {
    pub(super) unit: String,
    pub(super) rma: String,
}

/// The number of returns in a run.
pub(super) const fn returns_of(plan: &Plan) -> usize {
    plan.lines.div_ceil(LINES_PER_RETURN)
}

/// The units of these returns.
pub(super) fn units(returns: &[String]) -> Vec<Returned> {
    let of_return =
        |rma: &String| (0..UNITS_EACH).map(|nth| Returned { unit: format!("{rma}-{nth}"), rma: rma.clone() }).collect::<Vec<_>>();
    returns.iter().flat_map(of_return).collect()
}

/// Starts the returns, each of an order of its own, and returns their identifiers.
pub(super) async fn start(address: SocketAddr, token: &str, plan: &Plan) -> anyhow::Result<Vec<String>> {
    let (now, mut returns) = (Clock::system().now(), Vec::new());
    for number in 0..returns_of(plan) {
        let order = format!("RETURNED-{number}");
        let sold = json!({"returns_portal_order": {"orders": [sold(&order, now)]}});
        call(address, "/returns_portal_orders", token, &sold).await?;
        let item = json!({"order_line_item_identifier": "L1", "quantity": UNITS_EACH, "return_reason": "NOT_GIVEN"});
        let wanted = json!({"order_identifier": order, "return_method": "mail-back", "items": [item]});
        let started = call(address, "/v1/returns", token, &wanted).await?;
        returns.push(started.get("rma_identifier").and_then(Value::as_str).context("the answer does not name the return")?.to_owned());
    }
    Ok(returns)
}

async fn call(address: SocketAddr, path: &str, token: &str, body: &Value) -> anyhow::Result<Value> {
    let mut connection = Connection::open(address).await.context("the service does not listen")?;
    let status = connection.exchange(&request(path, token, body)).await.context("a request was not answered")?;
    ensure!(status == 200 || status == 201, "{path} failed: {status} {}", String::from_utf8_lossy(connection.body()));
    Ok(serde_json::from_slice(connection.body())?)
}

/// An order of the units of one return.
fn sold(identifier: &str, now: DateTime<Utc>) -> Value {
    let bought = (now - TimeDelta::days(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let line = json!({
        "identifier": "L1", "sku": "SHOE-42", "quantity": UNITS_EACH, "quantity_shipped": UNITS_EACH, "shipped_date": bought,
        "unit_price_amount_cents": 5_000, "product_amount_cents": 5_000 * UNITS_EACH, "tax_amount_cents": 0,
    });
    json!({
        "identifier": identifier, "status": "Shipped", "total_amount_cents": 5_000 * UNITS_EACH,
        "product_amount_cents": 5_000 * UNITS_EACH, "currency": "USD", "created_at": bought, "updated_at": bought, "items": [line],
        "customer": {"email": "pat@example.com"}, "transactions": [], "refunds": [], "discounts": [],
    })
}
