//! Labels: a request to a carrier, as stored until it is done, the purchased label, and its QR code. No type has `Debug`:
//! addresses are personal.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// A request to a carrier about a return's label.
#[derive(Serialize, Deserialize)]
pub struct LabelWork {
    /// The action that a carrier is asked for.
    pub action: LabelAction,
    /// The return identifier.
    pub reference: String,
    /// Counts the purchases of this return, from 1.
    #[serde(default = "first")]
    pub number: u32,
    /// The shopper's address.
    pub from: PostalAddress,
    pub to: PostalAddress,
    /// In thousandths of a pound.
    pub weight: u32,
}

const fn first() -> u32 {
    1
}

/// The action that a carrier is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelAction {
    /// Buy a label unless there is one.
    Buy,
    /// Fetch the QR code of the label.
    Code,
    /// Void the label if there is one.
    Void,
}

/// An address in the form that carriers expect.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct PostalAddress {
    pub name: String,
    pub street1: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub street2: Option<String>,
    pub city: String,
    pub state: String,
    pub zip: String,
    /// Two letters.
    pub country: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

/// A purchased label.
#[derive(Serialize, Deserialize)]
pub struct BoughtLabel {
    /// The return identifier.
    pub reference: String,
    /// The number of the purchase.
    pub number: u32,
    /// The carrier's id of the shipment.
    pub shipment: String,
    pub tracking_number: String,
    pub carrier: String,
    /// The price, if the carrier tells one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<LabelPrice>,
    /// In base64.
    pdf: String,
}

/// The carrier that sold a label, and its price.
#[derive(Default)]
pub struct Sold {
    /// Empty if it is not told.
    pub carrier: String,
    pub price: Option<LabelPrice>,
}

/// The price of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelPrice {
    pub cents: i64,
    /// Three letters.
    pub currency: String,
}

impl BoughtLabel {
    /// The label that `work` asked for, with its printable document.
    #[must_use]
    pub fn new(work: &LabelWork, shipment: String, tracking_number: String, sold: Sold, pdf: &[u8]) -> Self {
        Self {
            reference: work.reference.clone(),
            number: work.number,
            shipment,
            tracking_number,
            carrier: sold.carrier,
            price: sold.price,
            pdf: BASE64_STANDARD.encode(pdf),
        }
    }

    /// The printable document.
    #[must_use]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        BASE64_STANDARD.decode(&self.pdf).ok()
    }

    /// Serialises the label.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Deserialises a label.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

/// The QR code of a purchased label, which a shopper shows at the counter instead of a printed label.
#[derive(Serialize, Deserialize)]
pub struct LabelCode {
    /// The return identifier.
    pub reference: String,
    /// The carrier's id of the shipment.
    pub shipment: String,
    /// In base64.
    png: String,
}

impl LabelCode {
    /// The QR code that `work` asked for, as a picture.
    #[must_use]
    pub fn new(work: &LabelWork, shipment: String, png: &[u8]) -> Self {
        Self { reference: work.reference.clone(), shipment, png: BASE64_STANDARD.encode(png) }
    }

    /// The picture.
    #[must_use]
    pub fn png(&self) -> Option<Vec<u8>> {
        BASE64_STANDARD.decode(&self.png).ok()
    }

    /// Serialises the code.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Deserialises a code.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

impl LabelWork {
    /// Our reference for the shipment: the return identifier, and for a later purchase its number.
    #[must_use]
    pub fn shipment(&self) -> String {
        if self.number == first() { self.reference.clone() } else { format!("{}-{}", self.reference, self.number) }
    }

    /// Serialises the request for storage.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Deserialises a stored request.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}
