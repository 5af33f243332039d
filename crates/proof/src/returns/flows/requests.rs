//! The requests of a round, built before they are measured.

use backhaul::platform::clock::Clock;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use super::size::{SHOPS, UNITS};

/// Orders of a message while they are stored.
const ORDERS: usize = 50;

/// The requests about the returns of one round. Each is of an order of its own.
pub(super) struct Requests {
    /// Keeps the identifiers of rounds apart.
    round: String,
    count: usize,
    began: DateTime<Utc>,
}

impl Requests {
    pub(super) fn new(round: &str, count: usize) -> anyhow::Result<Self> {
        anyhow::ensure!(count >= SHOPS, "a round needs {SHOPS} returns, and the round to warm up is a tenth of the others");
        Ok(Self { round: round.to_owned(), count, began: Clock::system().now() })
    }

    /// Order messages with all orders, none of which has a refund.
    pub(super) fn orders<'a>(&self, token: impl Fn(usize) -> &'a str) -> Vec<Vec<u8>> {
        let of_shop = |shop: usize| (0..self.count).filter(move |number| number % SHOPS == shop).collect::<Vec<_>>();
        let messages = (0..SHOPS).flat_map(|shop| {
            let orders = of_shop(shop);
            orders.chunks(ORDERS).map(|orders| (shop, orders.to_vec())).collect::<Vec<_>>()
        });
        messages
            .map(|(shop, orders)| {
                let orders: Vec<Value> = orders.into_iter().map(|number| self.order(number, None)).collect();
                request("/returns_portal_orders", token(shop), &json!({"returns_portal_order": {"orders": orders}}))
            })
            .collect()
    }

    /// A return of all units of each order.
    pub(super) fn new_returns<'a>(&self, token: impl Fn(usize) -> &'a str) -> Vec<Vec<u8>> {
        self.each(token, "/v1/returns", |number| {
            let item = json!({"order_line_item_identifier": "L1", "quantity": UNITS, "return_reason": "NOT_GIVEN"});
            json!({"order_identifier": self.order_name(number), "return_method": "mail-back", "items": [item]})
        })
    }

    /// The label of each return.
    pub(super) fn labels<'a>(&self, token: impl Fn(usize) -> &'a str, returns: &[String]) -> Vec<Vec<u8>> {
        self.each(token, "/v1/carrier_events", |number| {
            let tracking_number = format!("T-{}-{number}", self.round);
            json!({
                "event": "label_issued", "rma_identifier": returns.get(number), "tracking_number": tracking_number,
                "occurred_at": time(self.began),
            })
        })
    }

    /// The first scan of each return.
    pub(super) fn scans<'a>(&self, token: impl Fn(usize) -> &'a str, returns: &[String]) -> Vec<Vec<u8>> {
        self.each(
            token,
            "/v1/carrier_events",
            |number| json!({"event": "in_transit", "rma_identifier": returns.get(number), "occurred_at": time(self.began)}),
        )
    }

    /// A resend of each return.
    pub(super) fn resends<'a>(&self, token: impl Fn(usize) -> &'a str, returns: &[String]) -> Vec<Vec<u8>> {
        let numbered = returns.iter().enumerate().take(self.count);
        numbered.map(|(number, rma)| post(&format!("/v1/returns/{rma}/resend"), token(number % SHOPS), "")).collect()
    }

    /// The order of each return once more, with the refund that settles it.
    pub(super) fn refunds<'a>(&self, token: impl Fn(usize) -> &'a str, returns: &[String]) -> Vec<Vec<u8>> {
        self.each(token, "/returns_portal_orders", |number| {
            let order = self.order(number, returns.get(number).map(String::as_str));
            json!({"returns_portal_order": {"orders": [order]}})
        })
    }

    /// One request for each return.
    fn each<'a>(&self, token: impl Fn(usize) -> &'a str, path: &str, body: impl Fn(usize) -> Value) -> Vec<Vec<u8>> {
        (0..self.count).map(|number| request(path, token(number % SHOPS), &body(number))).collect()
    }

    fn order_name(&self, number: usize) -> String {
        format!("O-{}-{number}", self.round)
    }

    /// The order `number`, with the refund of the return `refunded`.
    fn order(&self, number: usize, refunded: Option<&str>) -> Value {
        let name = self.order_name(number);
        let (bought, changed) = (self.began - TimeDelta::days(1), self.began + TimeDelta::seconds(refunded.map_or(0, |_| 1)));
        let refund = refunded.map(|rma| {
            let identifier = format!("F-{}-{number}", self.round);
            json!({
                "identifier": identifier, "total_refund_amount_cents": 5_400 * UNITS, "created_at": time(changed), "rma_identifier": rma,
                "refund_line_items": [{"identifier": identifier, "quantity": UNITS, "order_item_identifier": "L1"}],
            })
        });
        let line = json!({
            "identifier": "L1", "sku": "SHOE-42", "quantity": UNITS, "quantity_shipped": UNITS, "quantity_canceled": 0,
            "shipped_date": time(bought), "title": "Running shoe", "tags": [], "product_amount_cents": 5_000 * UNITS,
            "tax_amount_cents": 400 * UNITS, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000,
        });
        json!({
            "identifier": name, "raw_status": "COMPLETE", "status": "Shipped", "total_amount_cents": 5_400 * UNITS,
            "product_amount_cents": 5_000 * UNITS, "tax_amount_cents": 400 * UNITS, "discount_amount_cents": 0, "shipping_amount_cents": 0,
            "shipping_tax_amount_cents": 0, "currency": "USD", "tags": [], "created_at": time(bought), "updated_at": time(changed),
            "items": [line], "customer": {"identifier": "C1", "first_name": "Pat", "last_name": "Doe", "email": "pat@example.com"},
            "transactions": [], "refunds": refund.into_iter().collect::<Vec<_>>(), "discounts": [],
        })
    }
}

fn request(path: &str, token: &str, body: &Value) -> Vec<u8> {
    post(path, token, &body.to_string())
}

fn post(path: &str, token: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json\r\nApi-Version: 3\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
