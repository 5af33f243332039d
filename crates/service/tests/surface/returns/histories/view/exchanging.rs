//! The observable state of exchanges.

use domain::id::MerchantId;
use serde_json::Value;
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

/// The refund type of a unit that is paid back to the shopper.
pub const REFUND: &str = "REFUND";

/// A unit's refund type and money, as in messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Got {
    pub refund_type: String,
    pub exchange_order: Option<String>,
    pub estimated: i64,
    pub service: i64,
    pub shopper: i64,
}

/// An exchange order as sent to the merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The original order.
    pub order: String,
    /// The name of the return.
    pub name: String,
    pub items: Vec<AskedItem>,
}

/// Units of one replacement SKU, or a gift card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedItem {
    pub sku: String,
    pub unit_price: i64,
    /// For all units; none for a gift card.
    pub product: Option<i64>,
    pub discount: Option<i64>,
    /// Only for a gift card.
    pub bonus: Option<i64>,
    /// The returned lines, with the number of units of each.
    pub lines: Vec<(String, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub order: String,
    pub number: i16,
    pub status: Option<i16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub order: String,
    pub name: String,
    pub state: String,
    pub identifier: Option<String>,
    /// The worth of its gift card, and the bonus.
    pub gift_card: Option<(i64, i64)>,
    /// Counted attempts in this round and in earlier rounds, while the message is owed.
    pub owed: Option<(i16, i16)>,
    /// The state and counted attempts of its entry in the failure queue.
    pub failure: Option<(String, i16)>,
}

impl Got {
    pub fn is_exchange(&self) -> bool {
        self.refund_type != REFUND
    }

    /// Reads a unit from a message about a return.
    pub fn read(item: &Value) -> Self {
        let cents = |name: &str| item["refund_financials"][name].as_i64().unwrap();
        let got = Self {
            refund_type: item["refund_type"].as_str().unwrap().to_owned(),
            exchange_order: item["exchange_order_identifier"].as_str().map(ToOwned::to_owned),
            estimated: cents("estimated_refund_amount_cents"),
            service: cents("service_refund_amount_cents"),
            shopper: cents("shopper_refund_amount_cents"),
        };
        assert_eq!(item["is_exchange"].as_bool(), Some(got.is_exchange()));
        got
    }
}

impl Asked {
    /// Reads the message that places the order with the merchant.
    pub fn read(subject: String, body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["original_order_id"].as_str(), Some(subject.as_str()));
        let items = body["items"].as_array().unwrap().iter().map(AskedItem::read).collect();
        Self { order: subject, name: body["rma_identifier"].as_str().unwrap().to_owned(), items }
    }
}

impl AskedItem {
    fn read(item: &Value) -> Self {
        let line = |of: &Value| {
            let quantity = u32::try_from(of["quantity"].as_u64().unwrap()).unwrap();
            (of["original_item_identifier"].as_str().unwrap().to_owned(), quantity)
        };
        Self {
            sku: item["sku"].as_str().unwrap().to_owned(),
            unit_price: item["unit_price_amount_cents"].as_i64().unwrap(),
            product: item["product_amount_cents"].as_i64(),
            discount: item["discount_amount_cents"].as_i64(),
            bonus: item["bonus_credit_amount_cents"].as_i64(),
            lines: item["return_items"].as_array().map_or_else(|| vec![line(item)], |lines| lines.iter().map(line).collect()),
        }
    }
}

pub async fn exchanges(connection: &mut PgConnection, merchant: MerchantId) -> Vec<Exchange> {
    let query = "
        select exchange_order.original_order_identifier, identifier, exchange_order.state, exchange_order.order_identifier, gift_card_cents,
            bonus_cents, delivery.attempts, delivery.attempts_before, failure.state as failure, failure.attempts as failed_after
        from exchange_order
        join rma using (merchant_id, rma_id)
        left join delivery using (merchant_id, message_id)
        left join failure using (merchant_id, message_id)
        where merchant_id = $1
        order by 1";
    let rows = sqlx::query(query).bind(merchant.0).fetch_all(connection).await.unwrap();
    let exchange = |row: &sqlx::postgres::PgRow| Exchange {
        order: row.get(0),
        name: row.get(1),
        state: row.get(2),
        identifier: row.get(3),
        gift_card: row.get::<Option<i64>, _>(4).zip(row.get(5)),
        owed: row.get::<Option<i16>, _>(6).zip(row.get(7)),
        failure: row.get::<Option<String>, _>(8).zip(row.get(9)),
    };
    rows.iter().map(exchange).collect()
}

/// The calls for exchange orders with ids between these two.
pub async fn called(connection: &mut PgConnection, merchant: MerchantId, (first, last): (Uuid, Uuid)) -> Vec<Called> {
    let query = "
        select original_order_identifier, number, status
        from attempt join exchange_order using (merchant_id, message_id)
        where merchant_id = $1 and attempt_id between $2 and $3
        order by attempt_id";
    let rows = sqlx::query(query).bind(merchant.0).bind(first).bind(last).fetch_all(connection).await.unwrap();
    rows.iter().map(|row| Called { order: row.get(0), number: row.get(1), status: row.get(2) }).collect()
}
