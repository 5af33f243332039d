//! The life cycle of one return, as its clients drive it: the order, the return, the label, the scan, the refund. Requests
//! without an answer are repeated unchanged, and so are some that were answered.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::SOLD;
use super::client::{Client, Refunding, sku};
use super::gate::{Gate, Step};
use super::record::{Progress, Record};
use crate::orders::load::Connection;
use crate::stage::Stage;

/// The pause before a repeat, in milliseconds.
const REPEAT_AFTER: std::ops::Range<u64> = 50..250;

/// The ways a return can go back.
#[derive(Clone, Copy)]
enum Route {
    /// The parcel is scanned after its label is issued.
    Scanned,
    /// One unit is dropped off before the scan.
    DroppedOff,
    /// The scan overtakes the label.
    Overtaken,
    /// The units are dropped off one by one before there is a label.
    HandedOver,
}

/// The settings that all returns of a run share.
pub(super) struct Run {
    pub(super) stage: Arc<Stage>,
    pub(super) record: Arc<Record>,
    pub(super) address: SocketAddr,
    /// The start of the run. Times in requests are derived from it, because they must not change in a repeat.
    pub(super) began: DateTime<Utc>,
    /// The approximate length of a life cycle.
    pub(super) span: Duration,
    /// The percentage of answers lost on the client's side.
    pub(super) unheard: u32,
    pub(super) gate: Gate,
    /// Shoppers forget their returns and send nothing back.
    pub(super) forgotten: bool,
}

/// One return and its clients.
pub(super) struct Life {
    number: u64,
    run: Arc<Run>,
    client: Arc<Mutex<Client>>,
    rng: StdRng,
}

impl Life {
    /// The life cycle of the return with this number.
    pub(super) fn new(number: u64, run: &Arc<Run>) -> Self {
        let mut client = Client::new(number);
        if run.forgotten {
            client.refunding = Refunding::Never;
        }
        let client = Arc::new(Mutex::new(client));
        Self { number, run: Arc::clone(run), client, rng: StdRng::seed_from_u64(number) }
    }

    /// The clients' record, which is updated while the life cycle runs.
    pub(super) fn client(&self) -> Arc<Mutex<Client>> {
        Arc::clone(&self.client)
    }

    fn note<T>(&self, note: impl FnOnce(&mut Client) -> T) -> T {
        note(&mut self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs the life cycle until the merchant's systems have received that the return is refunded or cancelled.
    pub(super) async fn live(mut self) -> anyhow::Result<()> {
        self.step(Step::Order, 2).await?;
        let client = self.note(|client| client.clone());
        self.send("/returns_portal_orders", &self.order(None), &[200]).await?;
        self.note(|client| client.order_acknowledged = true);
        self.step(Step::Start, 12).await?;
        let rma = self.start(&client).await?;
        if client.refunding == Refunding::Never {
            self.note(|client| client.most += 1);
            self.step(Step::Wake, 12).await?;
        } else {
            self.step(Step::Report, 12).await?;
            self.send_back(&client, &rma).await?;
            self.run.record.reached(client.shop, &rma, Progress::Scanned).await?;
            self.step(Step::Refund, 12).await?;
            self.refund(&rma).await?;
        }
        self.run.record.reached(client.shop, &rma, Progress::Ended).await
    }

    /// Pauses for up to `1/part` of the run, and then waits until the gate allows the step.
    async fn step(&mut self, step: Step, part: u32) -> anyhow::Result<()> {
        self.pause(part).await;
        self.run.gate.pass(step).await
    }

    /// Lets the carrier take the parcel, in one way or another.
    async fn send_back(&mut self, client: &Client, rma: &str) -> anyhow::Result<()> {
        let route = match (self.number / 2) % 4 {
            0 => Route::Scanned,
            1 => Route::DroppedOff,
            2 => Route::Overtaken,
            _ => Route::HandedOver,
        };
        let label = json!({"event": "label_issued", "rma_identifier": rma, "tracking_number": client.tracking_number});
        let scan = json!({"event": "in_transit", "tracking_number": client.tracking_number});
        let dropped = |at: DateTime<Utc>| {
            let items = json!([{"order_line_item_identifier": "L1", "quantity": 1}]);
            json!({"event": "dropped_off", "rma_identifier": rma, "items": items, "occurred_at": time(at)})
        };
        match route {
            Route::Scanned => {
                self.label(rma, label, 1).await?;
                self.pause(12).await;
                self.report(rma, scan, 1).await?;
            }
            Route::DroppedOff => {
                self.label(rma, label, 1).await?;
                self.pause(12).await;
                self.report(rma, dropped(self.run.began), 1).await?;
                self.pause(12).await;
                self.report(rma, scan, 1).await?;
            }
            Route::Overtaken => {
                // It is about the parcel, or about the return.
                let scan = if client.units == 1 { scan } else { json!({"event": "in_transit", "rma_identifier": rma}) };
                self.report(rma, scan, 0).await?;
                self.pause(12).await;
                self.label(rma, label, 2).await?;
            }
            Route::HandedOver => {
                for unit in (0..).take(client.units) {
                    self.report(rma, dropped(self.run.began + TimeDelta::seconds(unit)), 1).await?;
                    self.pause(12).await;
                }
                self.label(rma, label, 1).await?;
                self.pause(12).await;
                self.report(rma, scan, 1).await?;
            }
        }
        Ok(())
    }

    /// Pauses for a random time, up to `1/part` of the run.
    async fn pause(&mut self, part: u32) {
        let most = u64::try_from((self.run.span / part).as_millis()).unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(self.rng.random_range(0..=most))).await;
    }

    async fn start(&mut self, client: &Client) -> anyhow::Result<String> {
        let item = json!({"order_line_item_identifier": "L1", "quantity": client.units, "return_reason": "NOT_GIVEN"});
        let start = json!({"order_identifier": client.order, "return_method": "mail-back", "items": [item]});
        self.note(|client| client.most += 1);
        let answers = self.send("/v1/returns", &start, &[201, 200]).await?;
        let first: Value = serde_json::from_slice(answers.first().context("there was no answer")?)?;
        let rma = first.get("rma_identifier").and_then(Value::as_str).context("the answer does not name the return")?.to_owned();
        let of_order = first.get("order_identifier").and_then(Value::as_str) == Some(client.order.as_str());
        let of_shop = first.pointer("/items/0/sku").and_then(Value::as_str) == Some(sku(client.shop).as_str());
        self.note(|client| {
            client.rma = Some(rma.clone());
            client.least += 1;
            client.answered_differently |= answers.iter().any(|answer| Some(answer) != answers.first());
            client.answered_of_another |= !(of_order && of_shop);
        });
        Ok(rma)
    }

    /// Lets the carrier report the label.
    async fn label(&mut self, rma: &str, event: Value, changes: i64) -> anyhow::Result<()> {
        self.report(rma, event, changes).await?;
        self.note(|client| client.labelled = true);
        Ok(())
    }

    /// Lets the carrier report an event that changes the return `changes` times.
    async fn report(&mut self, rma: &str, mut event: Value, changes: i64) -> anyhow::Result<()> {
        if let Value::Object(event) = &mut event {
            event.entry("occurred_at").or_insert_with(|| time(self.run.began).into());
        }
        self.note(|client| client.most += changes);
        let answers = self.send("/v1/carrier_events", &event, if changes == 0 { &[202] } else { &[200] }).await?;
        let named = |answer: &Vec<u8>| serde_json::from_slice::<Value>(answer).ok()?.get("rma_identifier")?.as_str().map(str::to_owned);
        let of_another = answers.iter().filter_map(named).any(|named| named != rma);
        self.note(|client| {
            client.least += changes;
            client.answered_of_another |= of_another;
        });
        Ok(())
    }

    /// Lets the merchant publish the order with the refund: with its units, by amount, or first with too few units and then corrected.
    async fn refund(&mut self, rma: &str) -> anyhow::Result<()> {
        let (received, all) = (self.run.record.latest(), self.note(|client| client.units));
        self.note(|client| {
            client.refunding = Refunding::Sent;
            client.received_before_refund = received;
            client.most += 1;
        });
        let units = match self.number % 3 {
            0 => Some(all),
            1 => None,
            _ if all > 1 => {
                self.note(|client| client.most += 1);
                self.send("/returns_portal_orders", &self.order(Some((rma, Some(1)))), &[200]).await?;
                self.note(|client| client.least += 1);
                Some(all)
            }
            _ => Some(all),
        };
        self.send("/returns_portal_orders", &self.order(Some((rma, units))), &[200]).await?;
        self.note(|client| {
            client.refunding = Refunding::Acknowledged;
            client.least += 1;
        });
        Ok(())
    }

    /// The order message, with the refund of the return `refunded`, of this many units or by amount.
    fn order(&self, refunded: Option<(&str, Option<usize>)>) -> Value {
        let client = self.note(|client| client.clone());
        let (bought, changed) = (self.run.began - TimeDelta::days(1), self.run.began + TimeDelta::seconds(refunded.map_or(0, |_| 1)));
        let refund = refunded.map(|(rma, units)| {
            let covered = units.map(|units| json!({"identifier": client.refund, "quantity": units, "order_item_identifier": "L1"}));
            json!({
                "identifier": client.refund, "total_refund_amount_cents": 5_400 * client.units,
                "refund_line_items": covered.into_iter().collect::<Vec<_>>(),
                "created_at": time(changed), "rma_identifier": rma,
            })
        });
        let line = json!({
            "identifier": "L1", "sku": sku(client.shop), "quantity": SOLD, "quantity_shipped": SOLD, "quantity_canceled": 0,
            "shipped_date": time(bought), "title": "Running shoe", "tags": [], "product_amount_cents": 5_000 * SOLD,
            "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000,
        });
        let order = json!({
            "identifier": client.order, "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400 * SOLD,
            "product_amount_cents": 5_000 * SOLD, "tax_amount_cents": 400 * SOLD, "discount_amount_cents": 0, "shipping_amount_cents": 0,
            "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": time(bought), "updated_at": time(changed),
            "items": [line], "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com"},
            "transactions": [], "refunds": refund.into_iter().collect::<Vec<_>>(), "discounts": [],
        });
        json!({"returns_portal_order": {"orders": [order]}})
    }

    /// Repeats a request until it is answered and the answer is not lost. Returns all answers, including the lost ones.
    async fn send(&mut self, path: &str, body: &Value, expected: &[u16]) -> anyhow::Result<Vec<Vec<u8>>> {
        let request = self.request(path, body);
        let mut answers = Vec::new();
        loop {
            if let Some(mut connection) = Connection::open(self.run.address).await
                && let Some(status) = connection.exchange(&request).await
            {
                match status {
                    status if expected.contains(&status) => answers.push(connection.body().to_vec()),
                    429 | 503 => {}
                    _ => bail!("{path} of return {}: {status} {}", self.number, String::from_utf8_lossy(connection.body())),
                }
                if expected.contains(&status) && self.rng.random_range(0..100) >= self.run.unheard {
                    return Ok(answers);
                }
            }
            tokio::time::sleep(Duration::from_millis(self.rng.random_range(REPEAT_AFTER))).await;
        }
    }

    fn request(&self, path: &str, body: &Value) -> Vec<u8> {
        let (shop, refund) = self.note(|client| (client.shop, client.refund.clone()));
        let (token, body) = (self.run.stage.tokens.get(shop).map_or("", String::as_str), body.to_string());
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nIdempotency-Key: {refund}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
