//! A shipment with its addresses, rates and label.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::time::text;
use super::tracker::{Magic, Tracker};

/// A shipping service on sale.
struct Offer {
    service: &'static str,
    /// In cents: the base price, and the price of each pound or part of one.
    base: u64,
    per_pound: u64,
    days: u32,
}

const OFFERS: [Offer; 3] = [
    Offer { service: "Ground", base: 512, per_pound: 48, days: 5 },
    Offer { service: "Priority", base: 845, per_pound: 110, days: 2 },
    Offer { service: "Express", base: 2_630, per_pound: 315, days: 1 },
];

/// The maximum weight of a parcel, in ounces.
pub(super) const HEAVIEST: f64 = 70.0 * 16.0;

/// The mandatory parts of an address.
const NEEDED: [&str; 4] = ["street1", "city", "zip", "country"];

/// The word in an address that stands for a carrier without QR codes.
const NO_CODE: &str = "SIM-NO-CODE";

/// A shipment in the book.
#[derive(Clone, Debug)]
pub(super) struct Shipment {
    pub(super) id: String,
    pub(super) reference: Option<String>,
    pub(super) is_return: bool,
    pub(super) to_address: Value,
    pub(super) from_address: Value,
    pub(super) parcel: Value,
    pub(super) rates: Vec<Value>,
    pub(super) purchase: Option<Purchase>,
    pub(super) forms: Vec<Value>,
    pub(super) is_refunded: bool,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
}

/// The label that was bought.
#[derive(Clone, Debug)]
pub(super) struct Purchase {
    pub(super) tracking_code: String,
    pub(super) rate: Value,
    pub(super) label: Value,
}

impl Shipment {
    /// The address the parcel starts from. A return carries the addresses of the original shipment, so they are swapped.
    pub(super) fn sender(&self) -> &Value {
        if self.is_return { &self.to_address } else { &self.from_address }
    }

    /// The address the parcel goes to.
    pub(super) fn receiver(&self) -> &Value {
        if self.is_return { &self.from_address } else { &self.to_address }
    }

    /// The streets and names in which a word can change what happens, those of the sender first.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let places = [self.sender(), self.receiver()].into_iter().flat_map(|address| [address.get("street1"), address.get("name")]);
        places.filter_map(|place| place?.as_str())
    }

    /// The magic word in the sender's address, or else in the receiver's.
    pub(super) fn magic(&self) -> Option<Magic> {
        self.texts().find_map(Magic::asked_for)
    }

    /// True if there is a label with which a QR code can be had.
    pub(super) fn sells_qr_code(&self) -> bool {
        self.purchase.is_some() && !self.is_refunded && !self.texts().any(|text| text.contains(NO_CODE))
    }

    pub(super) fn rate(&self, id: &str) -> Option<&Value> {
        self.rates.iter().find(|rate| rate.get("id").and_then(Value::as_str) == Some(id))
    }

    pub(super) fn json(&self, tracker: Option<&Tracker>) -> Value {
        let purchase = self.purchase.as_ref();
        json!({
            "id": self.id,
            "object": "Shipment",
            "mode": "test",
            "reference": self.reference,
            "is_return": self.is_return,
            "status": tracker.map_or("unknown", |tracker| tracker.status.word()),
            "to_address": self.to_address,
            "from_address": self.from_address,
            "parcel": self.parcel,
            "rates": self.rates,
            "selected_rate": purchase.map(|purchase| &purchase.rate),
            "postage_label": purchase.map(|purchase| &purchase.label),
            "forms": self.forms,
            "tracking_code": purchase.map(|purchase| &purchase.tracking_code),
            "tracker": tracker.map(Tracker::json),
            "refund_status": self.is_refunded.then_some("submitted"),
            "messages": [],
            "created_at": text(self.created_at),
            "updated_at": text(self.updated_at),
        })
    }
}

/// The mandatory parts that are missing from an address.
pub(super) fn missing(address: &Value) -> Vec<&'static str> {
    let has = |part: &str| address.get(part).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let mut missing: Vec<_> = NEEDED.into_iter().filter(|part| !has(part)).collect();
    if !has("name") && !has("company") {
        missing.push("name");
    }
    missing
}

/// The rates of all services for a parcel of this weight in ounces.
pub(super) fn rates(ounces: f64, shipment: &str, mut id: impl FnMut() -> String) -> Vec<Value> {
    let pounds = (1..=70_u32).find(|pounds| ounces <= f64::from(*pounds) * 16.0).unwrap_or(70);
    let rate = |offer: &Offer| {
        let cents = offer.base + offer.per_pound * u64::from(pounds);
        json!({
            "id": id(),
            "object": "Rate",
            "mode": "test",
            "carrier": "SimCarrier",
            "service": offer.service,
            "rate": format!("{}.{:02}", cents / 100, cents % 100),
            "currency": "USD",
            "delivery_days": offer.days,
            "shipment_id": shipment,
        })
    };
    OFFERS.iter().map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(ounces: f64) -> Vec<String> {
        rates(ounces, "shp_1", String::new).iter().map(|rate| rate["rate"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_pound_that_has_begun_is_paid_for() {
        assert_eq!(prices(0.1), ["5.60", "9.55", "29.45"]);
        assert_eq!(prices(16.0), prices(0.1));
        assert_eq!(prices(16.1), ["6.08", "10.65", "32.60"]);
    }

    #[test]
    fn an_address_says_what_it_lacks() {
        let address = json!({"name": "Ada", "street1": "1 Main St", "city": " ", "country": "US"});
        assert_eq!(missing(&address), ["city", "zip"]);
        assert_eq!(missing(&json!(null)), ["street1", "city", "zip", "country", "name"]);
        let company = json!({"company": "Shop", "street1": "1 Main St", "city": "Reno", "zip": "89501", "country": "US"});
        assert!(missing(&company).is_empty());
    }
}
