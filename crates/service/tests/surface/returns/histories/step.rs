//! The steps of a history, as data: a history can be printed, and run again without some of its steps.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::world::{self, beginning};

/// The name of a return that does not exist.
pub const NOBODY: &str = "R-2222-2222";

/// An event in a history. Orders and lines are identified by position, returns by the order in which they were started.
#[derive(Clone, Debug)]
pub enum Step {
    Publish(Snapshot),
    Start(Start),
    Carry(Report),
    /// Units of a return arrive at the warehouse, without an ASN.
    Receive(Arrival),
    /// The warehouse closes the receiving of a return.
    Close(usize),
    Cancel(usize),
    /// The message of a return is requested again.
    Resend(usize),
    /// The merchant gives this answer to the exchange order of a return; true if it was the last attempt.
    Answer(usize, Answer, bool),
    /// An operator converts the exchange of a return into refunds.
    Convert(usize),
    /// Somebody confirms that a refund in question is the shopper's money.
    Confirm(usize),
    /// The exchange order of a return is retried by hand.
    Retry(usize),
    /// This many hours pass, and due returns are woken.
    Wait(i64),
}

/// An order as published.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub order: usize,
    /// Its `updated_at`, in minutes after the beginning.
    pub minute: i64,
    /// Distinguishes it from other snapshots of the same minute.
    pub word: u32,
    pub cancelled: bool,
    pub tags: Vec<&'static str>,
    /// A discount on the whole order, beside those on the lines.
    pub discount: i64,
    pub lines: Vec<Line>,
    pub refunds: Vec<Refund>,
}

/// A line of an order; the money is for all its shipped units, and the discount for all units that are not cancelled.
#[derive(Clone, Debug)]
pub struct Line {
    pub quantity: u32,
    pub shipped: u32,
    pub cancelled: u32,
    pub product: i64,
    pub discount: i64,
    pub tax: i64,
    /// In pounds.
    pub weight: Option<u32>,
    pub tag: Option<&'static str>,
    /// Hours from the beginning to the shipping, usually negative.
    pub shipped_at: i64,
}

/// A refund in an order.
#[derive(Clone, Debug)]
pub struct Refund {
    pub number: u32,
    pub total: i64,
    /// Each line at most once, with its number of units. Without lines, it is a refund by amount.
    pub lines: Vec<(usize, u32)>,
    pub named: Option<usize>,
}

/// A request for a return.
#[derive(Clone, Debug)]
pub struct Start {
    pub order: usize,
    pub method: &'static str,
    pub items: Vec<Item>,
    pub giftee: bool,
    pub key: Option<u32>,
}

/// Units of one line that are returned for the same reason.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub line: usize,
    pub quantity: u32,
    pub reason: &'static str,
    pub instead: Instead,
}

/// The shopper's choice between a refund and an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    Refund,
    Variant(&'static str),
    GiftCard,
}

/// The result of a call that places an exchange order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The order is placed under this number.
    Placed(u32),
    /// A 200 without an order identifier.
    Nameless,
    Status(u16),
    /// No response.
    Silence,
    /// The caller stopped before the response, so the result is unknown.
    Unheard,
}

impl Answer {
    /// The response status, if it is known.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Placed(_) | Self::Nameless => Some(200),
            Self::Status(status) => Some(status),
            Self::Silence | Self::Unheard => None,
        }
    }
}

/// A carrier's report.
#[derive(Clone, Debug)]
pub struct Report {
    pub event: &'static str,
    pub of: Option<usize>,
    pub number: Option<usize>,
    /// The time of the event, in seconds after the beginning.
    pub at: i64,
    /// The items handed over; none if it was the whole parcel.
    pub items: Option<Vec<(usize, u32)>>,
}

/// Units that a warehouse scans for a return.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub of: usize,
    /// Given instead of the return.
    pub number: Option<usize>,
    /// The license plate and the order line of each unit.
    pub units: Vec<(u32, String)>,
}

pub fn order_name(order: usize) -> String {
    format!("A-{order}")
}

pub fn line_name(line: usize) -> String {
    format!("L{line}")
}

pub fn refund_name(number: u32) -> String {
    format!("F-{number:04}")
}

pub fn exchange_order_name(number: u32) -> String {
    format!("X-{number}")
}

pub fn tracking_number(number: usize) -> String {
    format!("T-{number}")
}

/// The name of the `nth` return started.
pub fn return_name(nth: usize, names: &[String]) -> &str {
    names.get(nth).map_or(NOBODY, String::as_str)
}

fn time(after: TimeDelta) -> String {
    let time: DateTime<Utc> = beginning() + after;
    wire::time::write(time)
}

impl Snapshot {
    /// The message that publishes the snapshot.
    pub fn message(&self, names: &[String]) -> String {
        let mut order = world::order(&order_name(self.order));
        order["raw_status"] = self.word.to_string().into();
        order["status"] = if self.cancelled { "Cancelled" } else { "Shipped" }.into();
        order["updated_at"] = time(TimeDelta::minutes(self.minute)).into();
        order["tags"] = json!(self.tags);
        order["discount_amount_cents"] = (self.discount + self.lines.iter().map(|line| line.discount).sum::<i64>()).into();
        order["items"] = self.lines.iter().enumerate().map(|(at, line)| line.json(at)).collect();
        order["refunds"] = self.refunds.iter().map(|refund| refund.json(names)).collect();
        world::message([order]).to_string()
    }
}

impl Line {
    /// The units that are not cancelled.
    pub fn ordered(&self) -> u32 {
        self.quantity - self.cancelled
    }

    fn json(&self, at: usize) -> Value {
        let mut line = world::line(&line_name(at), self.quantity);
        line["quantity_shipped"] = self.shipped.into();
        line["quantity_canceled"] = self.cancelled.into();
        line["product_amount_cents"] = self.product.into();
        line["discount_amount_cents"] = self.discount.into();
        line["tax_amount_cents"] = self.tax.into();
        line["weight"] = json!(self.weight);
        line["tags"] = self.tag.into_iter().collect();
        line["shipped_date"] = time(TimeDelta::hours(self.shipped_at)).into();
        line
    }
}

impl Refund {
    /// Refunds are not numbered in the order of their dates.
    pub fn date(&self) -> String {
        format!("2026-03-0{}T12:00:00Z", 1 + self.number % 3)
    }

    fn json(&self, names: &[String]) -> Value {
        let identifier = refund_name(self.number);
        let lines = self.lines.iter().map(|(line, units)| {
            json!({ "identifier": format!("{identifier}-{line}"), "quantity": units, "order_item_identifier": line_name(*line) })
        });
        json!({
            "identifier": identifier,
            "total_refund_amount_cents": self.total,
            "refund_line_items": lines.collect::<Vec<_>>(),
            "created_at": self.date(),
            "rma_identifier": self.named.map(|nth| return_name(nth, names)),
        })
    }
}

impl Start {
    /// The request that starts the return.
    pub fn request(&self) -> String {
        let items = self.items.iter().map(|Item { line, quantity, reason, instead }| {
            let sku = if let Instead::Variant(sku) = instead { Some(sku) } else { None };
            json!({
                "order_line_item_identifier": line_name(*line),
                "quantity": quantity,
                "return_reason": reason,
                "exchange_sku": sku,
                "gift_card": *instead == Instead::GiftCard,
            })
        });
        json!({
            "order_identifier": order_name(self.order),
            "return_method": self.method,
            "items": items.collect::<Vec<_>>(),
            "giftee_email": self.giftee.then_some("kim@example.com"),
        })
        .to_string()
    }
}

impl Report {
    /// The request that reports the event.
    pub fn request(&self, names: &[String]) -> String {
        let items = self.items.as_ref().map(|items| {
            let item = |(line, units): &(usize, u32)| json!({ "order_line_item_identifier": line_name(*line), "quantity": units });
            items.iter().map(item).collect::<Vec<_>>()
        });
        json!({
            "event": self.event,
            "rma_identifier": self.of.map(|nth| return_name(nth, names)),
            "tracking_number": self.number.map(tracking_number),
            "occurred_at": time(TimeDelta::seconds(self.at)),
            "items": items,
        })
        .to_string()
    }
}

impl Arrival {
    /// The request that receives the units.
    pub fn request(&self, names: &[String]) -> String {
        let unit = |(plate, line): &(u32, String)| {
            json!({
                "rma_identifier": self.number.is_none().then(|| return_name(self.of, names)),
                "tracking_number": self.number.map(tracking_number),
                "unit_identifier": format!("LP-{plate}"),
                "line_identifier": line,
                "warehouse_identifier": world::WAREHOUSE,
                "condition": "A",
            })
        };
        json!({ "units": self.units.iter().map(unit).collect::<Vec<_>>() }).to_string()
    }
}
