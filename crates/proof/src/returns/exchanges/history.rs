//! The checker: compares the answers to shoppers, the orders placed, the messages to merchants and the database.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::ensure;
use sandbox::merchant::{ExchangeOrder, Received};
use serde_json::{Value, json};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use super::confirm::Confirmed;
use super::temper::is_declared;

/// The number of kills, in total and while confirmations were in progress.
#[derive(Clone, Copy, Default)]
pub(super) struct Kills {
    pub(super) all: u32,
    pub(super) amid: u32,
}

impl Kills {
    pub(super) fn add(&mut self, more: Self) {
        self.all += more.all;
        self.amid += more.amid;
    }
}

/// An order, by its merchant and its identifier.
pub(super) type Key = (usize, String);

/// A message to a merchant about a return.
#[derive(Clone, Debug)]
pub(super) struct ExchangeMessage {
    pub(super) order: Key,
    pub(super) event: String,
    pub(super) exchange_order: Option<String>,
}

impl ExchangeMessage {
    pub(super) fn of(shop: usize, received: &Received) -> Self {
        let body = received.json();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
        Self {
            order: (shop, text("/items/0/order_identifier").unwrap_or_default()),
            event: received.header("x-service-event").unwrap_or_default().to_owned(),
            exchange_order: text("/items/0/exchange_order_identifier"),
        }
    }
}

/// A stored exchange, with the only unit of its return.
#[derive(Clone, Debug)]
pub(super) struct StoredExchange {
    pub(super) rma: String,
    pub(super) state: String,
    pub(super) order_identifier: Option<String>,
    /// The unit's kind of refund, its exchange order, and the shopper's refund in cents.
    pub(super) refund_type: String,
    pub(super) unit_order: Option<String>,
    pub(super) shopper: i64,
    /// The state of the request for the exchange order: still owed, or in the failure queue.
    pub(super) owed: bool,
    pub(super) given_up: bool,
    /// The message that asks for the exchange order.
    pub(super) message: Uuid,
}

/// The stored exchanges.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    pub(super) exchanges: BTreeMap<Key, Vec<StoredExchange>>,
    /// Exchanged units by order, over all returns.
    pub(super) exchanged_units: BTreeMap<Key, i64>,
}

impl Stored {
    /// Reads the database. A merchant's shop number is its position in `merchants`.
    pub(super) async fn read(connection: &mut PgConnection, merchants: &[Uuid]) -> anyhow::Result<Self> {
        let shop = |merchant: Uuid| merchants.iter().position(|known| *known == merchant).unwrap_or(usize::MAX);
        let exchanges = "
            select exchange_order.merchant_id, exchange_order.original_order_identifier, rma.identifier, exchange_order.state,
                exchange_order.order_identifier, item.refund_type, item.exchange_order_identifier, item.shopper_cents,
                exists (select from delivery where delivery.message_id = exchange_order.message_id) as owed,
                exists (select from failure where failure.message_id = exchange_order.message_id and failure.state = 'open') as given_up,
                exchange_order.message_id
            from exchange_order join rma using (merchant_id, rma_id) join rma_item as item using (merchant_id, rma_id)";
        let mut stored = Self::default();
        for row in sqlx::query(exchanges).fetch_all(&mut *connection).await? {
            let exchange = StoredExchange {
                rma: row.get(2),
                state: row.get(3),
                order_identifier: row.get(4),
                refund_type: row.get(5),
                unit_order: row.get(6),
                shopper: row.get(7),
                owed: row.get(8),
                given_up: row.get(9),
                message: row.get(10),
            };
            stored.exchanges.entry((shop(row.get(0)), row.get(1))).or_default().push(exchange);
        }
        let units = "select merchant_id, order_identifier, count(*) from rma join rma_item using (merchant_id, rma_id) \
            where refund_type <> 'REFUND' group by 1, 2";
        for row in sqlx::query(units).fetch_all(connection).await? {
            stored.exchanged_units.insert((shop(row.get(0)), row.get(1)), row.get(2));
        }
        Ok(stored)
    }
}

/// The records of a run.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) confirmed: Vec<Confirmed>,
    pub(super) placed: BTreeMap<Key, ExchangeOrder>,
    pub(super) stored: Stored,
    pub(super) messages: Vec<ExchangeMessage>,
    /// The orders whose exchange somebody asked to convert.
    pub(super) asked_to_convert: BTreeSet<Key>,
}

/// The possible faults of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// A confirmed exchange is not stored, not placed in the end, or its merchant got no message.
    Lost,
    /// The order was exchanged more than once.
    Doubled,
    /// The merchant got another request body for the same order.
    SecondBody,
    /// The order was both exchanged and refunded.
    Both,
    /// The exchange was converted although nobody asked for it and the merchant did not declare that it cannot be placed.
    Unasked,
    /// The stored exchange order has another identifier than the merchant's, or was never placed.
    Misnamed,
}

/// The checker's findings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) wrong: BTreeSet<(Wrong, Key)>,
    orders: usize,
    placed: usize,
    converted: usize,
    pending: usize,
    /// Exchange orders that were named after they were placed.
    named_later: usize,
    /// Exchanges converted because somebody asked for it.
    converted_by_people: usize,
    /// Requests for exchange orders, over all merchants.
    asked: usize,
    /// Confirmations answered.
    confirmations: usize,
}

/// Compares all records.
pub(super) fn check(history: &History) -> Findings {
    let mut findings = Findings { orders: history.confirmed.len(), ..Findings::default() };
    for confirmed in &history.confirmed {
        let key = (confirmed.shop, confirmed.order.clone());
        findings.confirmations += confirmed.returns.len() + confirmed.refused;
        for wrong in of_order(history, confirmed, &key, &mut findings) {
            findings.wrong.insert((wrong, key.clone()));
        }
    }
    let known: BTreeSet<Key> = history.confirmed.iter().map(|confirmed| (confirmed.shop, confirmed.order.clone())).collect();
    for key in history.placed.keys().chain(history.stored.exchanges.keys()).filter(|key| !known.contains(*key)) {
        findings.wrong.insert((Wrong::Misnamed, key.clone()));
    }
    findings
}

fn of_order(history: &History, confirmed: &Confirmed, key: &Key, findings: &mut Findings) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let exchanges = history.stored.exchanges.get(key).map(Vec::as_slice).unwrap_or_default();
    let asked = history.placed.get(key);
    if let Some(asked) = asked {
        findings.asked += asked.asked;
        if asked.bodies.len() > 1 {
            wrong.push(Wrong::SecondBody);
        }
    }
    if confirmed.returns.len() > 1 || exchanges.len() > 1 || history.stored.exchanged_units.get(key).is_some_and(|units| *units > 1) {
        wrong.push(Wrong::Doubled);
    }
    let Some(exchange) = exchanges.first() else {
        wrong.push(Wrong::Lost);
        return wrong;
    };
    if confirmed.returns.iter().any(|rma| *rma != exchange.rma) {
        wrong.push(Wrong::Lost);
    }
    let placed = asked.and_then(|asked| asked.identifier.as_ref());
    let refunded = exchange.refund_type == "REFUND" || exchange.shopper > 0;
    let reported = |event: &str| history.messages.iter().any(|message| message.order == *key && message.event == event);
    match exchange.state.as_str() {
        "placed" => {
            findings.placed += 1;
            if placed.is_none() || exchange.order_identifier.as_ref() != placed || exchange.unit_order.as_ref() != placed {
                wrong.push(Wrong::Misnamed);
            }
            findings.named_later += usize::from(reported("rma.exchange_identified"));
            let mut names =
                history.messages.iter().filter(|message| message.order == *key).filter_map(|message| message.exchange_order.as_ref());
            let told = names.next().is_some_and(|first| Some(first) == placed) && names.all(|name| Some(name) == placed);
            if !reported("rma.exchange_placed") || !told {
                wrong.push(Wrong::Lost);
            }
            if refunded {
                wrong.push(Wrong::Both);
            }
        }
        "converted" => {
            findings.converted += 1;
            let asked = history.asked_to_convert.contains(key);
            findings.converted_by_people += usize::from(asked);
            if !asked && !is_declared(key.0, &key.1) {
                wrong.push(Wrong::Unasked);
            }
            if placed.is_some() || exchange.unit_order.is_some() || exchange.owed || exchange.given_up {
                wrong.push(Wrong::Both);
            }
            if !reported("rma.exchange_converted") {
                wrong.push(Wrong::Lost);
            }
        }
        _ => {
            findings.pending += 1;
            if !exchange.given_up {
                wrong.push(Wrong::Lost);
            }
            if refunded || reported("rma.exchange_converted") {
                wrong.push(Wrong::Both);
            }
        }
    }
    wrong
}

impl Findings {
    pub(super) fn result(&self, kills: Kills, (caught, seeded): (usize, usize), took: Duration) -> Value {
        let count = |wrong: Wrong| self.wrong.iter().filter(|(of, _)| *of == wrong).count();
        json!({
            "kills": kills.all, "kills_while_confirming": kills.amid, "orders": self.orders, "confirmations": self.confirmations, "placed": self.placed,
            "converted": self.converted, "pending": self.pending, "named_later": self.named_later, "converted_by_people": self.converted_by_people,
            "asked": self.asked, "second_bodies": count(Wrong::SecondBody),
            "doubled": count(Wrong::Doubled), "both": count(Wrong::Both), "lost": count(Wrong::Lost), "unasked": count(Wrong::Unasked), "misnamed": count(Wrong::Misnamed),
            "seeded_caught": format!("{caught} of {seeded}"), "seconds": took.as_secs(),
        })
    }

    /// Fails if there are faults. Exchanges in the failure queue are allowed.
    pub(super) fn ensure_sound(&self) -> anyhow::Result<()> {
        ensure!(self.wrong.is_empty(), "some orders are faulty: {:?}", self.wrong);
        println!("{} placed, {} refunded instead, {} in the failure queue", self.placed, self.converted, self.pending);
        Ok(())
    }

    /// Fails unless there are no faults, no exchange is open, and at least `least` were placed.
    pub(super) fn ensure(&self, least: usize, result: &Value) -> anyhow::Result<()> {
        ensure!(self.wrong.is_empty(), "some orders are faulty: {:?}: {result}", self.wrong);
        let settled = self.pending == 0 && self.placed >= least && self.placed + self.converted == self.orders;
        ensure!(settled, "some exchanges are neither placed nor converted: {result}");
        Ok(())
    }
}
