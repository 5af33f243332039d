//! The observable state of a merchant's returns, built from the model or from the database.

pub mod exchanging;

use std::collections::{BTreeMap, BTreeSet};

use backhaul::app::App;
use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::eligibility::{self, UnavailableUnits};
use domain::returns::rma::policy::Policy;
use serde_json::Value;
use sqlx::{PgConnection, Row as _};
use store::returns::returnable_orders;
use uuid::Uuid;

use self::exchanging::{Asked, Called, Exchange, Got};
use super::step::order_name;

/// The observable state after a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub outcome: String,
    /// Oldest first.
    pub returns: Vec<Return>,
    /// The messages of the step, by return and sequence.
    pub messages: Vec<Message>,
    /// The mails to shoppers of the step, by return and name.
    pub mails: Vec<(String, String)>,
    /// The exchange orders sent to the merchant in the step.
    pub asked: Vec<Asked>,
    /// The calls for exchange orders in the step.
    pub called: Vec<Called>,
    /// The returns on the operator's work list because a refund of theirs is in question.
    pub questions: BTreeSet<String>,
    /// Every exchange order, by original order.
    pub exchanges: Vec<Exchange>,
    /// The order, line and number of every unit in a return that is not cancelled.
    pub claims: BTreeSet<(String, String, u32)>,
    /// The returnable units of each line of the order that the step is about.
    pub returnable: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Return {
    pub name: String,
    pub order: String,
    pub status: String,
    pub sequence: i64,
    pub closed: bool,
    pub cancel_reason: Option<String>,
    /// The time of the next reminder or expiry, if nothing happens before.
    pub wakes_at: Option<DateTime<Utc>>,
    pub units: Vec<Unit>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    pub line: String,
    pub number: u32,
    pub place: Place,
    pub refund: Option<String>,
    /// The refund came while the exchange order was owed, and nobody has confirmed it since the exchange was converted.
    pub in_question: bool,
    pub got: Got,
    /// This unit's share of the return fee.
    pub fee: i64,
}

/// A unit's parcel, tracking number and receiving status, as in messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub parcel: Option<String>,
    pub tracking: Option<String>,
    pub receiving: Option<String>,
}

/// A message about a return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub name: String,
    pub sequence: i64,
    pub event: String,
    pub status: String,
    pub units: Vec<Place>,
    pub got: Vec<Got>,
}

impl Unit {
    /// True if a refund covers it beyond question.
    pub fn is_covered(&self) -> bool {
        self.refund.is_some() && !self.in_question
    }

    pub fn cover(&mut self, refund: &str) {
        (self.refund, self.in_question) = (Some(refund.to_owned()), false);
    }
}

impl Return {
    pub fn is_in_question(&self) -> bool {
        self.units.iter().any(|unit| unit.in_question)
    }

    /// True until the return is settled or cancelled.
    pub fn is_live(&self) -> bool {
        ["CREATED", "PARTIAL_REFUND"].contains(&self.status.as_str())
    }
}

/// Reads the view from the database: the messages and calls of the current instant, and the returnable units of `order`.
pub async fn see(app: &App, connection: &mut PgConnection, merchant: MerchantId, policy: &Policy, order: usize) -> View {
    let now = u128::try_from(app.now().timestamp_millis()).unwrap();
    let ids @ (first, last) = (Uuid::from_u128(now << 80), Uuid::from_u128(((now + 1) << 80) - 1));
    let mut view = View { returns: returns(connection, merchant).await, ..View::default() };
    view.exchanges = exchanging::exchanges(connection, merchant).await;
    view.called = exchanging::called(connection, merchant, ids).await;
    let questions = "select subject from work_item where merchant_id = $1 and kind = 'refund_in_question' and closed_at is null";
    view.questions = sqlx::query_scalar(questions).bind(merchant.0).fetch_all(&mut *connection).await.unwrap().into_iter().collect();
    let claims = sqlx::query("select order_identifier, order_line, unit from unit_claim where merchant_id = $1").bind(merchant.0);
    for row in claims.fetch_all(&mut *connection).await.unwrap() {
        view.claims.insert((row.get(0), row.get(1), u32::try_from(row.get::<i32, _>(2)).unwrap()));
    }
    let messages = "
        select kind, subject, sequence, event, body
        from message
        where merchant_id = $1 and message_id between $2 and $3
        order by 2, 3";
    for row in sqlx::query(messages).bind(merchant.0).bind(first).bind(last).fetch_all(&mut *connection).await.unwrap() {
        match row.get("kind") {
            "rma" => view.messages.push(read_message(row.get("subject"), row.get("sequence"), row.get("event"), row.get("body"))),
            "exchange_order" => view.asked.push(Asked::read(row.get("subject"), row.get("body"))),
            _ => view.mails.push((row.get("subject"), row.get("event"))),
        }
    }
    view.mails.sort();
    view.returnable = returnable(app, merchant, policy, &order_name(order)).await;
    view
}

fn read_message(name: String, sequence: i64, event: String, body: &str) -> Message {
    let body: Value = serde_json::from_str(body).unwrap();
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let place = |item: &Value| Place {
        parcel: text(&item["package_tracking_status"]),
        tracking: text(&item["tracking_number"]),
        receiving: text(&item["receiving_status"]),
    };
    let items = body["items"].as_array().unwrap();
    let (units, got) = (items.iter().map(place).collect(), items.iter().map(Got::read).collect());
    Message { name, sequence, event, status: text(&body["status"]).unwrap(), units, got }
}

async fn returns(connection: &mut PgConnection, merchant: MerchantId) -> Vec<Return> {
    let query = "
        select identifier, order_identifier, status, sequence, receiving_closed, cancel_reason, wakes_at,
            order_line, unit, parcel, tracking_number, receiving, refund_identifier, refund_in_question,
            refund_type, exchange_order_identifier, estimated_cents, service_cents, shopper_cents, fee_cents
        from rma join rma_item using (merchant_id, rma_id)
        where merchant_id = $1
        order by rma_id, position";
    let mut returns: Vec<Return> = Vec::new();
    for row in sqlx::query(query).bind(merchant.0).fetch_all(connection).await.unwrap() {
        let name: String = row.get("identifier");
        if returns.last().is_none_or(|last| last.name != name) {
            returns.push(Return {
                name,
                order: row.get("order_identifier"),
                status: row.get("status"),
                sequence: row.get("sequence"),
                closed: row.get("receiving_closed"),
                cancel_reason: row.get("cancel_reason"),
                wakes_at: row.get("wakes_at"),
                ..Return::default()
            });
        }
        let last = returns.last_mut().unwrap();
        last.units.push(Unit {
            line: row.get("order_line"),
            number: u32::try_from(row.get::<i32, _>("unit")).unwrap(),
            place: Place { parcel: row.get("parcel"), tracking: row.get("tracking_number"), receiving: row.get("receiving") },
            refund: row.get("refund_identifier"),
            in_question: row.get("refund_in_question"),
            got: Got {
                refund_type: row.get("refund_type"),
                exchange_order: row.get("exchange_order_identifier"),
                estimated: row.get("estimated_cents"),
                service: row.get("service_cents"),
                shopper: row.get("shopper_cents"),
            },
            fee: row.get("fee_cents"),
        });
    }
    returns
}

/// The returnable units of each line, as the API reports them.
async fn returnable(app: &App, merchant: MerchantId, policy: &Policy, order: &str) -> BTreeMap<String, u32> {
    let Some(stored) = returnable_orders::find(app.cell(), merchant, order, &[]).await.unwrap() else { return BTreeMap::new() };
    let sale = wire::orders::order::read_stored(&stored.snapshot).unwrap().sale();
    let mut taken: BTreeMap<String, UnavailableUnits> = BTreeMap::new();
    for claim in stored.claims {
        let units = taken.entry(claim.line).or_default();
        *if claim.refunded { &mut units.settled } else { &mut units.live } += 1;
    }
    for (line, units) in stored.outside {
        taken.entry(line).or_default().outside = u32::try_from(units).unwrap();
    }
    let lines = eligibility::returnable(&sale, policy, &taken, app.now());
    lines.iter().map(|line| (sale.lines[line.line].identifier.clone(), line.units)).collect()
}
