//! Shoppers who confirm the same exchange many times at once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::orders::load::Connection;
use crate::stage::Stage;

/// The number of merchants. All of them use the same identifiers.
pub(super) const SHOPS: usize = 4;
/// Units of an order's only line: more than one, so that a second exchange is not refused for lack of units.
const SOLD: i64 = 3;
const REPEAT_AFTER: Duration = Duration::from_millis(100);

/// One order, and the shoppers who confirm its exchange.
pub(super) struct Shopper {
    number: u64,
    times: u64,
    stage: Arc<Stage>,
    address: SocketAddr,
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
        numbers.map(|number| Self { number, times, stage: Arc::clone(stage), address, began }).collect()
    }

    fn shop(&self) -> usize {
        usize::try_from(self.number).unwrap_or_default() % SHOPS
    }

    fn order(&self) -> String {
        format!("O-{}", self.number)
    }

    /// Publishes the order, and confirms its exchange many times at once.
    pub(super) async fn confirm(self) -> anyhow::Result<Confirmed> {
        let published = json!({"returns_portal_order": {"orders": [self.sold()]}});
        self.send("/returns_portal_orders", "-", &published).await?;
        let (this, mut at_once) = (Arc::new(self), JoinSet::new());
        for time in 0..this.times {
            let this = Arc::clone(&this);
            at_once.spawn(async move { this.once(time).await });
        }
        let mut confirmed = Confirmed { shop: this.shop(), order: this.order(), returns: BTreeSet::new(), refused: 0 };
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
        let (status, answer) = self.send("/v1/returns", &format!("K-{}-{time}", self.number), &start).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        if status == 422 {
            let why = answer.pointer("/errors/0/message").and_then(Value::as_str).unwrap_or_default();
            anyhow::ensure!(why.contains("the order has already been exchanged"), "{answer}");
            return Ok(Confirmation::ExchangedBefore);
        }
        let rma = answer.get("rma_identifier").and_then(Value::as_str).context("the answer does not name the return")?;
        Ok(Confirmation::Started(rma.to_owned()))
    }

    /// Repeats a request until it is answered.
    async fn send(&self, path: &str, key: &str, body: &Value) -> anyhow::Result<(u16, Vec<u8>)> {
        let (token, body) = (self.stage.tokens.get(self.shop()).map_or("", String::as_str), body.to_string());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        loop {
            if let Some(mut connection) = Connection::open(self.address).await
                && let Some(status) = connection.exchange(request.as_bytes()).await
            {
                match status {
                    200 | 201 | 422 => return Ok((status, connection.body().to_vec())),
                    429 | 502 | 503 => {}
                    _ => bail!("{path} of {}: {status} {}", self.order(), String::from_utf8_lossy(connection.body())),
                }
            }
            tokio::time::sleep(REPEAT_AFTER).await;
        }
    }

    fn sold(&self) -> Value {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Secs, true);
        let bought = time(self.began - TimeDelta::days(1));
        let line = json!({
            "identifier": "L1", "sku": "SHOE-42", "quantity": SOLD, "quantity_shipped": SOLD, "quantity_canceled": 0,
            "shipped_date": bought, "title": "Running shoe", "tags": [], "variant_identifier": "V-SHOE", "product_amount_cents": 5_000 * SOLD,
            "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000,
        });
        json!({
            "identifier": self.order(), "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400 * SOLD,
            "product_amount_cents": 5_000 * SOLD, "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "shipping_amount_cents": 0,
            "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": bought, "updated_at": time(self.began),
            "items": [line], "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com"},
            "transactions": [], "refunds": [], "discounts": [],
        })
    }
}
