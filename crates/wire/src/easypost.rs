//! The shapes of the EasyPost v2 API, as far as returns need it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::carrier::CarrierWord;
use crate::label::{LabelWork, PostalAddress};

/// The header with which webhooks are signed, and how its value begins: then follows the HMAC-SHA256 of the body in hex.
pub const SIGNATURE: &str = "x-hmac-signature";
/// See [`SIGNATURE`].
pub const SIGNATURE_SCHEME: &str = "hmac-sha256-hex=";

/// The error of a shipment whose label was bought before.
pub const BOUGHT_ALREADY: &str = "SHIPMENT.POSTAGE.EXISTS";

/// A shipment to be made. It has no `Debug`: addresses are personal.
#[derive(Serialize)]
pub struct NewShipment<'a> {
    shipment: ShipmentBody<'a>,
}

#[derive(Serialize)]
struct ShipmentBody<'a> {
    reference: &'a str,
    is_return: bool,
    from_address: &'a PostalAddress,
    to_address: &'a PostalAddress,
    parcel: Parcel,
}

#[derive(Serialize)]
struct Parcel {
    /// In ounces.
    weight: f64,
}

/// Ounces of a thousandth of a pound.
const OUNCES: f64 = 16.0 / 1_000.0;

impl<'a> NewShipment<'a> {
    /// The shipment of a return.
    #[must_use]
    pub fn of(work: &'a LabelWork) -> Self {
        Self {
            shipment: ShipmentBody {
                reference: &work.reference,
                is_return: true,
                // Of a return, EasyPost wants the addresses of the way there, and switches them itself.
                from_address: &work.to,
                to_address: &work.from,
                parcel: Parcel { weight: (f64::from(work.weight) * OUNCES * 10.0).ceil() / 10.0 },
            },
        }
    }
}

/// Which rate is bought.
#[derive(Serialize)]
pub struct Purchase<'a> {
    rate: RateId<'a>,
}

#[derive(Serialize)]
struct RateId<'a> {
    id: &'a str,
}

impl<'a> Purchase<'a> {
    /// The rate with this id.
    #[must_use]
    pub const fn of(rate: &'a str) -> Self {
        Self { rate: RateId { id: rate } }
    }
}

/// A shipment as EasyPost knows it.
#[derive(Deserialize)]
pub struct Shipment {
    /// Its id.
    pub id: String,
    /// The label, once it is bought.
    pub postage_label: Option<PostageLabel>,
    /// The carrier's number, once it is bought.
    pub tracking_code: Option<String>,
    /// What it may cost.
    #[serde(default)]
    pub rates: Vec<Rate>,
    /// What it does cost, once it is bought.
    pub selected_rate: Option<Rate>,
    /// Whether it was given back.
    pub refund_status: Option<String>,
}

/// A label.
#[derive(Deserialize)]
pub struct PostageLabel {
    /// Where the document is.
    pub label_url: String,
}

/// A price.
#[derive(Deserialize)]
pub struct Rate {
    /// Its id.
    pub id: String,
    /// Who carries.
    pub carrier: String,
    /// The price, as a decimal number.
    pub rate: String,
}

impl Shipment {
    /// The cheapest rate.
    #[must_use]
    pub fn cheapest(&self) -> Option<&Rate> {
        let price = |rate: &&Rate| rate.rate.parse::<f64>().unwrap_or(f64::MAX);
        self.rates.iter().min_by(|a, b| price(a).total_cmp(&price(b)))
    }
}

/// What is wrong with a request.
#[derive(Deserialize)]
pub struct ErrorAnswer {
    /// What.
    pub error: ErrorDetail,
}

/// What is wrong with a request.
#[derive(Deserialize)]
pub struct ErrorDetail {
    /// A word for programs.
    pub code: String,
}

/// What a webhook tells.
#[derive(Deserialize)]
pub struct WebhookEvent {
    /// Its id; the same when it is sent again.
    pub id: String,
    /// When it happened.
    pub created_at: String,
    /// What it is about; that can be anything.
    #[serde(default)]
    result: Value,
}

impl WebhookEvent {
    /// The tracker, if it is about one.
    #[must_use]
    pub fn tracker(&self) -> Option<Tracker> {
        let is_tracker = self.result.get("object").and_then(Value::as_str) == Some("Tracker");
        is_tracker.then(|| Tracker::deserialize(&self.result).ok()).flatten()
    }
}

/// Where a parcel is.
#[derive(Deserialize)]
pub struct Tracker {
    /// The carrier's number.
    pub tracking_code: Option<String>,
    /// Where it is: `in_transit`.
    pub status: Option<String>,
}

impl Tracker {
    /// What its status says of the parcel, if it says something.
    #[must_use]
    pub fn word(&self) -> Option<CarrierWord> {
        match self.status.as_deref()? {
            "in_transit" | "out_for_delivery" | "available_for_pickup" => Some(CarrierWord::InTransit),
            "delivered" => Some(CarrierWord::Delivered),
            "return_to_sender" => Some(CarrierWord::ReturnedToSender),
            "failure" | "error" | "cancelled" => Some(CarrierWord::Failed),
            _ => None,
        }
    }
}
