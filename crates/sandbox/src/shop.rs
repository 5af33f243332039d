//! A simulated shop: the orders that a merchant's order system pushes, and the requests of its returns portal.
//!
//! It is deterministic: the same shop at the same time has the same orders. All names are obviously fictitious, with e-mail
//! addresses at example.com.

mod catalogue;
mod goods;
mod told;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use self::catalogue::{CITIES, PEOPLE, Product};
pub use self::told::{Told, ToldOfExchange, ToldOfGoods};
use crate::merchant::{Merchant, OnShelf};

/// Sales tax, in percent of the price of the goods.
const TAX: u32 = 8;

/// A shop and its products.
#[derive(Clone, Copy, Debug)]
pub struct Shop {
    pub name: &'static str,
    /// The prefix of its identifiers.
    prefix: &'static str,
    /// The number of its first order.
    first: usize,
    products: &'static [Product],
}

/// A shoe shop.
pub const SHOES: Shop = Shop { name: "Demo Shoes", prefix: "S", first: 1001, products: &catalogue::SHOES };
/// An outdoor shop.
pub const OUTDOOR: Shop = Shop { name: "Demo Outdoor", prefix: "O", first: 2001, products: &catalogue::OUTDOOR };

/// An order's progress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    PartlyShipped,
    Shipped,
    Cancelled,
}

impl Progress {
    /// Of every ten orders, seven are shipped.
    fn of(number: usize) -> Self {
        match number % 10 {
            3 => Self::PartlyShipped,
            7 => Self::Cancelled,
            9 => Self::Open,
            _ => Self::Shipped,
        }
    }

    fn status(self) -> &'static str {
        match self {
            Self::Open | Self::PartlyShipped => "Created",
            Self::Shipped => "Shipped",
            Self::Cancelled => "Cancelled",
        }
    }

    /// The shipped and the cancelled units of a line.
    fn of_units(self, quantity: u32) -> (u32, u32) {
        match self {
            Self::Open => (0, 0),
            Self::PartlyShipped => (quantity / 2, 0),
            Self::Shipped => (quantity, 0),
            Self::Cancelled => (0, quantity),
        }
    }
}

impl Shop {
    /// The `count` newest orders at the time `now`. They are from the last eleven weeks; some are gifts or final sale, some
    /// cancelled or partly shipped.
    #[must_use]
    pub fn orders(&self, count: usize, now: DateTime<Utc>) -> Vec<Value> {
        let magic = |number: usize| match number % 6 {
            0 => " SIM-TRANSIT",
            1 => " SIM-DELIVERED",
            _ => "",
        };
        let days_ago = |number: usize| i64::try_from(2 + number * 3 % 76).unwrap_or_default();
        (0..count)
            .map(|number| {
                let identifier = format!("{}-{}", self.prefix, self.first + number);
                self.order(&identifier, number, Progress::of(number), magic(number), now - TimeDelta::days(days_ago(number)))
            })
            .collect()
    }

    /// An order shipped yesterday. With a magic word in the street, such as SIM-TRANSIT, the parcel of its return moves by itself.
    #[must_use]
    pub fn shipped_yesterday(&self, identifier: &str, magic: &str, now: DateTime<Utc>) -> Value {
        self.order(identifier, 0, Progress::Shipped, &format!(" {magic}"), now - TimeDelta::days(3))
    }

    /// Adds the sizes of its products to the variants of `merchant`.
    pub fn stock(&self, merchant: &Merchant) {
        for product in self.products {
            if let Some(sizes) = product.sizes {
                let on_shelf = sizes.skus.iter().map(|(sku, size)| OnShelf::new(sku, size, product.cents.into()));
                merchant.has_variants(sizes.variant_identifier, on_shelf);
            }
        }
    }

    /// Drop-ship orders named `identifier` plus a number: one for each word in the comments that the simulated warehouse reacts
    /// to.
    #[must_use]
    pub fn drop_ship_orders(&self, identifier: &str) -> Value {
        const PLAYS: [&str; 5] = ["", "SIM-PARTIAL", "SIM-SHORT", "SIM-CANCEL", "SIM-REJECT"];
        let orders = PLAYS.iter().enumerate().map(|(number, comments)| {
            let (first, last) = PEOPLE.get(number % PEOPLE.len()).copied().unwrap_or_default();
            let (city, state, zip) = CITIES.get(number % CITIES.len()).copied().unwrap_or_default();
            let name = format!("{identifier}-{}", number + 1);
            let items = self.products.iter().take(2).zip(1..).map(|(product, at)| {
                json!({ "client_identifier": format!("{name}-{at}"), "sku": product.sku, "quantity": 3 - at, "price_cents": product.cents })
            });
            json!({
                "client_identifier": name,
                "channel": "webshop",
                "comments": comments,
                "shipping_address": {
                    "name": format!("{first} {last}"), "street": format!("{} Example Street", number + 1), "city": city, "state": state,
                    "zip_code": zip, "country": "US",
                },
                "order_items": items.collect::<Vec<_>>(),
            })
        });
        json!({ "drop_ship_orders": orders.collect::<Vec<_>>() })
    }

    fn order(&self, identifier: &str, number: usize, progress: Progress, magic: &str, placed: DateTime<Utc>) -> Value {
        let lines: Vec<Line> = (0..=number % 3).filter_map(|line| self.line(number, line, progress)).collect();
        let sum = |of: fn(&Line) -> u32| lines.iter().map(of).sum::<u32>();
        let (product, tax) = (sum(Line::product), sum(Line::tax));
        let shipping = if product == 0 || product > 10_000 { 0 } else { 500 };
        let shipped_at = placed + TimeDelta::days(2);
        let items: Vec<Value> = lines.iter().enumerate().map(|(at, line)| line.json(identifier, at, shipped_at)).collect();
        let gift: &[&str] = if number % 9 == 4 { &["gift"] } else { &[] };
        let (first, last) = PEOPLE.get(number % PEOPLE.len()).copied().unwrap_or_default();
        let (city, state, zip) = CITIES.get(number % CITIES.len()).copied().unwrap_or_default();
        let email = format!("{}.{}@example.com", first.to_lowercase(), last.to_lowercase());
        let phone = format!("+1-555-01{:02}", number % 100);
        json!({
            "identifier": identifier,
            "status": progress.status(),
            "total_amount_cents": product + tax + shipping,
            "product_amount_cents": product,
            "tax_amount_cents": tax,
            "shipping_amount_cents": shipping,
            "currency": "USD",
            "tags": gift,
            "created_at": time(placed),
            "updated_at": time(shipped_at),
            "customer": {"identifier": email, "first_name": first, "last_name": last, "email": email, "phone": phone},
            "shipping_address": {
                "name": format!("{first} {last}"),
                "street1": format!("{} Example Street{magic}", 10 + number),
                "city": city,
                "state": state,
                "zip_code": zip,
                "country_code": "US",
                "phone": phone,
            },
            "items": items,
            "transactions": [],
            "refunds": [],
            "discounts": [],
        })
    }

    fn line(&self, number: usize, line: usize, progress: Progress) -> Option<Line> {
        let product = *self.products.get((number * 5 + line * 2) % self.products.len())?;
        let quantity = 1 + u32::try_from((number + line) % 3).ok()? + u32::from(progress == Progress::PartlyShipped);
        let (shipped, cancelled) = progress.of_units(quantity);
        Some(Line { product, quantity, shipped, cancelled, is_final: number % 8 == 2 && line == 0 })
    }
}

/// A line of an order.
struct Line {
    product: Product,
    quantity: u32,
    shipped: u32,
    cancelled: u32,
    is_final: bool,
}

impl Line {
    fn product(&self) -> u32 {
        self.product.cents * self.shipped
    }

    fn tax(&self) -> u32 {
        self.product() * TAX / 100
    }

    fn json(&self, order: &str, at: usize, shipped_at: DateTime<Utc>) -> Value {
        let Product { sku, title, cents, thousandths, sizes } = self.product;
        let tags: &[&str] = if self.is_final { &["final_sale"] } else { &[] };
        json!({
            "identifier": format!("{order}-{}", at + 1),
            "sku": sku,
            "title": title,
            "variant_identifier": sizes.map(|sizes| sizes.variant_identifier),
            "quantity": self.quantity,
            "quantity_shipped": self.shipped,
            "quantity_canceled": self.cancelled,
            "shipped_date": (self.shipped > 0).then(|| time(shipped_at)),
            "tags": tags,
            "unit_price_amount_cents": cents,
            "product_amount_cents": self.product(),
            "tax_amount_cents": self.tax(),
            "weight": f64::from(thousandths) / 1_000.0,
        })
    }
}

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The message that pushes these orders.
#[must_use]
pub fn message(orders: &[Value]) -> String {
    json!({"returns_portal_order": {"orders": orders}}).to_string()
}

/// A portal's request to return one unit of an order's first line by mail, for a refund or for another variant.
#[must_use]
pub fn first_unit_back(order: &str, reason: &str, exchange_sku: Option<&str>) -> String {
    let line = format!("{order}-1");
    let items = json!([{"order_line_item_identifier": line, "quantity": 1, "return_reason": reason, "exchange_sku": exchange_sku}]);
    json!({"order_identifier": order, "return_method": "mail-back", "items": items}).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn orders() -> Vec<Value> {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        [SHOES.orders(30, now), OUTDOOR.orders(20, now)].concat()
    }

    #[test]
    fn the_same_shop_at_the_same_time_has_the_same_orders() {
        assert_eq!(orders(), orders());
    }

    #[test]
    fn every_order_has_a_name_of_its_own_and_adds_up() {
        let orders = orders();
        let names: BTreeSet<&str> = orders.iter().filter_map(|order| order["identifier"].as_str()).collect();
        assert_eq!(names.len(), orders.len());
        for order in &orders {
            let cents = |field: &str| order[field].as_u64().unwrap();
            let lines: u64 = order["items"].as_array().unwrap().iter().map(|line| line["product_amount_cents"].as_u64().unwrap()).sum();
            assert_eq!(cents("product_amount_cents"), lines, "{order}");
            let parts = lines + cents("tax_amount_cents") + cents("shipping_amount_cents");
            assert_eq!(cents("total_amount_cents"), parts, "{order}");
        }
    }

    #[test]
    fn the_orders_are_of_many_kinds_and_of_nobody() {
        let orders = orders();
        let of_status = |status: &str| orders.iter().filter(|order| order["status"] == status).count();
        assert!(of_status("Cancelled") >= 3 && of_status("Created") >= 5 && of_status("Shipped") >= 20);
        let text = message(&orders);
        for word in ["final_sale", r#""gift""#, "SIM-TRANSIT", "SIM-DELIVERED"] {
            assert!(text.contains(word), "{word}");
        }
        for order in &orders {
            assert!(order["customer"]["email"].as_str().unwrap().ends_with("@example.com"));
        }
    }
}
