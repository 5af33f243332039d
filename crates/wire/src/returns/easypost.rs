//! The part of the EasyPost v2 API that returns need.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::returns::carrier::CarrierWord;
use crate::returns::label::{LabelPrice, LabelWork, PostalAddress, Sold};

/// The header that signs webhooks. Its value is [`SIGNATURE_SCHEME`], then the HMAC-SHA256 of the body in hex.
pub const SIGNATURE: &str = "x-hmac-signature";
/// The prefix of the value of [`SIGNATURE`].
pub const SIGNATURE_SCHEME: &str = "hmac-sha256-hex=";

/// The error code for a shipment whose label has already been bought.
pub const BOUGHT_ALREADY: &str = "SHIPMENT.POSTAGE.EXISTS";

/// A request to create a shipment. It has no `Debug`: addresses are personal.
#[derive(Serialize)]
pub struct NewShipment<'a> {
    shipment: ShipmentBody<'a>,
}

#[derive(Serialize)]
struct ShipmentBody<'a> {
    reference: String,
    is_return: bool,
    from_address: &'a PostalAddress,
    to_address: &'a PostalAddress,
    parcel: Parcel,
    options: Options,
}

#[derive(Serialize)]
struct Parcel {
    /// In ounces.
    weight: f64,
}

#[derive(Serialize)]
struct Options {
    /// The format of the label. EasyPost's default is a PNG.
    label_format: &'static str,
}

/// Ounces per thousandth of a pound.
const OUNCES: f64 = 16.0 / 1_000.0;

impl<'a> NewShipment<'a> {
    /// The shipment of a return.
    #[must_use]
    pub fn of(work: &'a LabelWork) -> Self {
        Self {
            shipment: ShipmentBody {
                reference: work.shipment(),
                is_return: true,
                // For a return, EasyPost expects the addresses of the outbound journey and swaps them itself.
                from_address: &work.to,
                to_address: &work.from,
                parcel: Parcel { weight: (f64::from(work.weight) * OUNCES * 10.0).ceil() / 10.0 },
                options: Options { label_format: "PDF" },
            },
        }
    }
}

/// A request to buy a rate.
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

/// The forms that are QR codes: of all carriers but FedEx, and of FedEx.
const LABEL_QR_CODE: &str = "label_qr_code";
const RMA_QR_CODE: &str = "rma_qr_code";

/// A request for a form of a bought shipment.
#[derive(Serialize)]
pub struct NewForm {
    form: FormBody,
}

#[derive(Serialize)]
struct FormBody {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rma: Option<RmaBody>,
}

#[derive(Serialize)]
struct RmaBody {
    /// The counter packs the goods.
    pack_and_return: bool,
}

impl NewForm {
    /// The QR code of a label that was bought from `carrier`.
    #[must_use]
    pub fn qr_code(carrier: &str) -> Self {
        let is_fedex = carrier.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("fedex"));
        let form = if is_fedex {
            FormBody { r#type: RMA_QR_CODE, rma: Some(RmaBody { pack_and_return: true }) }
        } else {
            FormBody { r#type: LABEL_QR_CODE, rma: None }
        };
        Self { form }
    }
}

/// A shipment as EasyPost returns it.
#[derive(Deserialize)]
pub struct Shipment {
    pub id: String,
    /// Present once bought.
    pub postage_label: Option<PostageLabel>,
    /// Present once bought.
    pub tracking_code: Option<String>,
    /// The offers to choose from.
    #[serde(default)]
    pub rates: Vec<Rate>,
    /// Present once bought.
    pub selected_rate: Option<Rate>,
    /// Present once a refund was requested.
    pub refund_status: Option<String>,
    forms: Option<Vec<Form>>,
    /// The reasons there are no offers of some carriers.
    #[serde(default)]
    messages: Vec<RateMessage>,
}

/// The reason a carrier makes no offer.
#[derive(Deserialize)]
struct RateMessage {
    #[serde(default)]
    message: Value,
}

/// A label.
#[derive(Deserialize)]
pub struct PostageLabel {
    pub label_url: String,
}

/// A document that goes with a label.
#[derive(Deserialize)]
struct Form {
    form_type: Option<String>,
    form_url: Option<String>,
}

/// A price.
#[derive(Deserialize)]
pub struct Rate {
    pub id: String,
    pub carrier: String,
    /// A decimal number.
    pub rate: String,
    /// Three letters.
    pub currency: Option<String>,
}

impl Rate {
    /// The price, unless it cannot be read.
    fn price(&self) -> Option<LabelPrice> {
        let (whole, part) = self.rate.split_once('.').unwrap_or((&self.rate, ""));
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || part.len() > 5 || !is_number(whole) || !is_number(part) {
            return None;
        }
        // Carriers tell fractions of a cent: half a cent and more counts as one.
        let fraction: i64 = format!("{part:0<5}").parse().ok()?;
        let cents = whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add((fraction + 500) / 1_000)?;
        Some(LabelPrice { cents, currency: self.currency.clone().filter(|currency| currency.len() == 3)? })
    }
}

impl Shipment {
    /// The reason there are no offers, in the carrier's words.
    #[must_use]
    pub fn no_rates(&self) -> String {
        let said: Vec<&str> = self.messages.iter().filter_map(|said| said.message.as_str()).collect();
        if said.is_empty() { "There are no rates for this parcel.".to_owned() } else { shortened(&said.join(" ")) }
    }

    /// The carrier that sold the label; empty before.
    #[must_use]
    pub fn carrier(&self) -> &str {
        self.selected_rate.as_ref().map_or("", |rate| &rate.carrier)
    }

    /// The carrier that sold the label, and its price.
    #[must_use]
    pub fn sold(&self) -> Sold {
        self.selected_rate.as_ref().map(|rate| Sold { carrier: rate.carrier.clone(), price: rate.price() }).unwrap_or_default()
    }

    /// The address of the QR code's picture, once one was asked for.
    #[must_use]
    pub fn qr_code(&self) -> Option<&str> {
        let is_code = |form: &&Form| matches!(form.form_type.as_deref(), Some(LABEL_QR_CODE | RMA_QR_CODE));
        self.forms.iter().flatten().filter(is_code).find_map(|form| form.form_url.as_deref())
    }

    /// The cheapest rate.
    #[must_use]
    pub fn cheapest(&self) -> Option<&Rate> {
        let price = |rate: &&Rate| rate.rate.parse::<f64>().unwrap_or(f64::MAX);
        self.rates.iter().min_by(|a, b| price(a).total_cmp(&price(b)))
    }
}

/// An error response.
#[derive(Deserialize)]
pub struct ErrorAnswer {
    pub error: ErrorDetail,
}

/// An error response.
#[derive(Deserialize)]
pub struct ErrorDetail {
    pub code: String,
    /// A text, but not always.
    #[serde(default)]
    message: Value,
    #[serde(default)]
    errors: Value,
}

impl ErrorDetail {
    /// The carrier's words, with the names of the fields that it complains about. The values of fields are personal and left out.
    #[must_use]
    pub fn words(&self) -> String {
        let message = self.message.as_str().unwrap_or("The request was refused.");
        let fields = self.errors.as_array().map(Vec::as_slice).unwrap_or_default();
        let fields: Vec<&str> = fields.iter().filter_map(|error| error.get("field")?.as_str()).collect();
        let code = &self.code;
        shortened(&if fields.is_empty() { format!("{message} ({code})") } else { format!("{message} ({code}: {})", fields.join(", ")) })
    }
}

/// The most characters of a carrier's words that are kept.
const MOST_SAID: usize = 300;

fn shortened(words: &str) -> String {
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_SAID).collect()
}

/// An event from a webhook.
#[derive(Deserialize)]
pub struct WebhookEvent {
    /// Stays the same when EasyPost sends the event again.
    pub id: String,
    pub created_at: String,
    /// An object of any type.
    #[serde(default)]
    result: Value,
}

impl WebhookEvent {
    /// The tracker, if the event carries one.
    #[must_use]
    pub fn tracker(&self) -> Option<Tracker> {
        let is_tracker = self.result.get("object").and_then(Value::as_str) == Some("Tracker");
        is_tracker.then(|| Tracker::deserialize(&self.result).ok()).flatten()
    }
}

/// The tracking state of a parcel.
#[derive(Deserialize)]
pub struct Tracker {
    pub tracking_code: Option<String>,
    /// Such as `in_transit`.
    pub status: Option<String>,
}

impl Tracker {
    /// The carrier event that the status stands for, if any.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fedex_is_asked_for_its_own_form() {
        let asked = |carrier| serde_json::to_value(NewForm::qr_code(carrier)).unwrap();
        for carrier in ["USPS", "UPSDAP", "Fed", "", "Fed\u{e9}x"] {
            assert_eq!(asked(carrier), json!({"form": {"type": "label_qr_code"}}), "{carrier}");
        }
        for carrier in ["FedEx", "FedExDefault", "FedexSmartPost"] {
            assert_eq!(asked(carrier), json!({"form": {"type": "rma_qr_code", "rma": {"pack_and_return": true}}}), "{carrier}");
        }
    }

    #[test]
    fn the_price_of_a_label_is_read_to_the_cent() {
        let price = |rate: &str, currency: Option<&str>| {
            let rate = json!({"id": "rate_1", "carrier": "USPS", "rate": rate, "currency": currency});
            let sold = serde_json::from_value::<Shipment>(json!({"id": "shp_1", "selected_rate": rate})).unwrap().sold();
            assert_eq!(sold.carrier, "USPS");
            sold.price.map(|price| price.cents)
        };
        assert_eq!(["6.08", "6", "6.5", "6.08500", "6.08499"].map(|rate| price(rate, Some("USD"))), [608, 600, 650, 609, 608].map(Some));
        assert_eq!(["", ".5", "-1.00", "6,08", "1e3", "6.080001"].map(|rate| price(rate, Some("USD"))), [None; 6]);
        assert_eq!([price("6.08", None), price("6.08", Some("dollars"))], [None; 2]);
    }

    #[test]
    fn the_qr_code_is_found_among_other_forms() {
        let shipment = |forms: Value| -> Shipment { serde_json::from_value(json!({"id": "shp_1", "forms": forms})).unwrap() };
        let form = |kind: &str, url: Value| json!({"object": "Form", "form_type": kind, "form_url": url});
        let invoice = form("commercial_invoice", json!("https://example.com/1.pdf"));
        for none in [json!(null), json!([]), json!([invoice]), json!([form("label_qr_code", json!(null))])] {
            assert_eq!(shipment(none.clone()).qr_code(), None, "{none}");
        }
        for kind in ["label_qr_code", "rma_qr_code"] {
            let code = form(kind, json!("https://example.com/2.png"));
            assert_eq!(shipment(json!([invoice, code])).qr_code(), Some("https://example.com/2.png"));
        }
    }
}
