//! Labels: what is asked of a carrier, as it is kept until it is done, and what was bought. None of it has `Debug`: addresses
//! are personal.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// What is asked of a carrier for a return.
#[derive(Serialize, Deserialize)]
pub struct LabelWork {
    /// What is to be done.
    pub action: LabelAction,
    /// The return, and our name for its shipment.
    pub reference: String,
    /// Where the parcel comes from: the shopper.
    pub from: PostalAddress,
    /// Where it goes.
    pub to: PostalAddress,
    /// What it weighs, in thousandths of a pound.
    pub weight: u32,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelAction {
    /// Buy a label, unless there is one.
    Buy,
    /// Give it back, if there is one.
    Void,
}

/// An address as carriers want it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct PostalAddress {
    /// Who.
    pub name: String,
    /// Street and number.
    pub street1: String,
    /// More of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub street2: Option<String>,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Postal code.
    pub zip: String,
    /// Country: two letters.
    pub country: String,
    /// Telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

/// A label that was bought.
#[derive(Serialize, Deserialize)]
pub struct BoughtLabel {
    /// The return.
    pub reference: String,
    /// The carrier's name for the shipment.
    pub shipment: String,
    /// The carrier's number of the parcel.
    pub tracking_number: String,
    /// Who carries it.
    pub carrier: String,
    /// The label itself, in base64.
    pdf: String,
}

impl BoughtLabel {
    /// A label, with the document to print.
    #[must_use]
    pub fn new(reference: String, shipment: String, tracking_number: String, carrier: String, pdf: &[u8]) -> Self {
        Self { reference, shipment, tracking_number, carrier, pdf: BASE64_STANDARD.encode(pdf) }
    }

    /// The document to print.
    #[must_use]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        BASE64_STANDARD.decode(&self.pdf).ok()
    }

    /// As text to hand on.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what was handed on.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

impl LabelWork {
    /// As text to keep.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what was kept.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}
