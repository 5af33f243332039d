//! An ASN: its content, and its state.

use chrono::{DateTime, Utc};
use domain::warehouse::asn::{Condition, ReferenceType};
use domain::warehouse::inbound::State;
use uuid::Uuid;

use crate::warehouse::reference::Reference;

/// The content of an ASN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asn {
    pub number: String,
    pub shipment: String,
    /// The program that the goods are received into.
    pub program: Option<String>,
    /// The channel that the goods are for.
    pub channel: Option<String>,
    /// The place the goods come from.
    pub from: Place,
    /// The place the goods go to.
    pub to: Place,
    /// Tracking or PRO number.
    pub tracking_number: Option<String>,
    pub carrier: Option<String>,
    /// The actual or planned date.
    pub ship_date: Option<DateTime<Utc>>,
    /// Carton by carton.
    pub lines: Vec<Line>,
}

/// A place that goods leave or go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The merchant's identifier.
    pub identifier: String,
    pub kind: String,
}

/// A line of an ASN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Unique within the ASN.
    pub identifier: String,
    /// The index of its carton, from 0.
    pub carton: usize,
    /// The identifier scanned on the carton.
    pub carton_identifier: Option<String>,
    /// The document that its units belong to.
    pub reference: Option<Reference>,
    pub reference_line: Option<String>,
    /// The license plate of the announced unit.
    pub unit: Option<String>,
    /// The merchant's identifier of the announced unit.
    pub client_unit: Option<String>,
    pub sku: Option<String>,
    pub upc: Option<String>,
    /// The number of units announced.
    pub quantity: u32,
    /// The number of units received.
    pub received: u32,
    /// `Some` if it differs from the ASN's program.
    pub program: Option<String>,
    pub serial_number: Option<String>,
    pub vendor: Option<String>,
    pub condition: Option<Condition>,
    /// Eligibility flags that the warehouse knows.
    pub flags: Vec<String>,
    /// The owner of the goods.
    pub merchant: Option<String>,
    /// A brand of the merchant.
    pub concept: Option<String>,
    /// Product identifier.
    pub asin: Option<String>,
    pub return_reason: Option<String>,
}

/// A stored ASN.
#[derive(Clone, Debug)]
pub struct StoredAsn {
    pub id: Uuid,
    pub state: State,
    /// The time it was announced.
    pub created_at: DateTime<Utc>,
    /// The time it was last changed, cancelled or closed.
    pub updated_at: DateTime<Utc>,
    /// SHA-256 of the content.
    pub digest: Vec<u8>,
    /// True if any line belongs to a return.
    pub has_returns: bool,
    pub asn: Asn,
}

/// An ASN to insert.
pub struct New<'a> {
    pub id: Uuid,
    /// SHA-256 of the content.
    pub digest: [u8; 32],
    pub asn: &'a Asn,
}

impl Line {
    /// The return that its units belong to.
    #[must_use]
    pub fn rma(&self) -> Option<&str> {
        let reference = self.reference.as_ref().filter(|reference| reference.kind == ReferenceType::Rma);
        reference.map(|reference| reference.identifier.as_str())
    }
}

impl Asn {
    /// The number of units announced.
    #[must_use]
    pub fn announced(&self) -> i64 {
        self.lines.iter().map(|line| i64::from(line.quantity)).sum()
    }

    /// True if any line belongs to a return.
    #[must_use]
    pub fn has_returns(&self) -> bool {
        self.lines.iter().any(|line| line.rma().is_some())
    }
}
