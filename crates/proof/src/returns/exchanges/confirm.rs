//! Shoppers who confirm the same exchange many times at once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::caller::Caller;
use crate::stage::Stage;

/// The number of merchants. All of them use the same identifiers.
pub(super) const SHOPS: usize = 4;
/// Units of an order's only line: more than one, so that a second exchange is not refused for lack of units.
const SOLD: i64 = 3;

/// One order, and the shoppers who confirm its exchange.
pub(super) struct Shopper {
    number: u64,
    times: u64,
    caller: Caller,
    began: DateTime<Utc>,
}

/// The answers about an order.
#[derive(Clone, Debug)]
pub(super) struct Confirmed {
    pub(super) shop: usize,
    pub(super) order: String,
    /// The returns started, according to the answers.
    pub(super) returns: BTreeSet<String>,
    /// The number of confirmations refused because the order was already exchanged.
    pub(super) refused: usize,
}

enum Confirmation {
    Started(String),
    ExchangedBefore,
}

impl Shopper {
    /// One for each order number.
    pub(super) fn all(numbers: Range<u64>, times: u64, stage: &Arc<Stage>, address: SocketAddr) -> Vec<Self> {
        let began = backhaul::platform::clock::Clock::system().now();
        let caller = |number: u64| Caller { stage: Arc::clone(stage), address, shop: usize::try_from(number).unwrap_or_default() % SHOPS };
        numbers.map(|number| Self { number, times, caller: caller(number), began }).collect()
    }

    fn order(&self) -> String {
        format!("O-{}", self.number)
    }

    /// Publishes the order, and confirms its exchange many times at once.
    pub(super) async fn confirm(self) -> anyhow::Result<Confirmed> {
        let status = self.caller.publish(&sold(&self.order(), self.began)).await;
        ensure!(status == 200, "{}: {status}", self.order());
        let (this, mut at_once) = (Arc::new(self), JoinSet::new());
        for time in 0..this.times {
            let this = Arc::clone(&this);
            at_once.spawn(async move { this.once(time).await });
        }
        let mut confirmed = Confirmed { shop: this.caller.shop, order: this.order(), returns: BTreeSet::new(), refused: 0 };
        while let Some(confirmation) = at_once.join_next().await {
            match confirmation?? {
                Confirmation::Started(rma) => drop(confirmed.returns.insert(rma)),
                Confirmation::ExchangedBefore => confirmed.refused += 1,
            }
        }
        Ok(confirmed)
    }

    /// Sends one confirmation, repeated until it is answered.
    async fn once(&self, time: u64) -> anyhow::Result<Confirmation> {
        let mut item = json!({"order_line_item_identifier": "L1", "quantity": 1, "return_reason": "TOO_SMALL"});
        let (name, instead) = if self.number.is_multiple_of(2) { ("exchange_sku", json!("SHOE-43")) } else { ("gift_card", json!(true)) };
        if let Value::Object(item) = &mut item {
            item.insert(name.to_owned(), instead);
        }
        let start = json!({"order_identifier": self.order(), "return_method": "mail-back", "items": [item]});
        let (status, answer) = self.caller.send("POST /v1/returns", &format!("K-{}-{time}", self.number), &start).await;
        let answer: Value = serde_json::from_slice(&answer)?;
        ensure!(matches!(status, 200 | 201 | 422), "{}: {status} {answer}", self.order());
        if status == 422 {
            let why = answer.pointer("/errors/0/message").and_then(Value::as_str).unwrap_or_default();
            ensure!(why.contains("the order has already been exchanged"), "{answer}");
            return Ok(Confirmation::ExchangedBefore);
        }
        let rma = answer.get("rma_identifier").and_then(Value::as_str).context("the answer does not name the return")?;
        Ok(Confirmation::Started(rma.to_owned()))
    }
}

/// The order `identifier`, as of `began`.
pub(super) fn sold(identifier: &str, began: DateTime<Utc>) -> Value {
    let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
    let bought = time(began - TimeDelta::days(1));
    let line = json!({
        "identifier": "L1", "sku": "SHOE-42", "quantity": SOLD, "quantity_shipped": SOLD, "quantity_canceled": 0,
        "shipped_date": bought, "title": "Running shoe", "tags": [], "variant_identifier": "V-SHOE", "product_amount_cents": 5_000 * SOLD,
        "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000,
    });
    json!({
        "identifier": identifier, "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400 * SOLD,
        "product_amount_cents": 5_000 * SOLD, "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "shipping_amount_cents": 0,
        "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": bought, "updated_at": time(began),
        "items": [line], "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com"},
        "transactions": [], "refunds": [], "discounts": [],
    })
}
