//! An ASN: what it says, and what is known of it.

use chrono::{DateTime, Utc};
use domain::asn::{Condition, ReferenceType};
use domain::inbound::State;
use uuid::Uuid;

/// What an ASN says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asn {
    /// Its number.
    pub number: String,
    /// Its shipment.
    pub shipment: String,
    /// Program that the goods are received into.
    pub program: Option<String>,
    /// Channel that the goods are for.
    pub channel: Option<String>,
    /// Where the goods come from.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// Tracking or PRO number.
    pub tracking_number: Option<String>,
    /// Who carries them.
    pub carrier: Option<String>,
    /// When they were or will be shipped.
    pub ship_date: Option<DateTime<Utc>>,
    /// Its lines, carton by carton.
    pub lines: Vec<Line>,
}

/// A place that goods leave or go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the merchant calls it.
    pub identifier: String,
    /// What it is.
    pub kind: String,
}

/// What units belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What it is.
    pub kind: ReferenceType,
    /// Its identifier.
    pub identifier: String,
    /// Another one.
    pub alternate: Option<String>,
}

/// A line of an ASN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its name in the ASN.
    pub identifier: String,
    /// The how manieth carton it is in, from 0 on.
    pub carton: usize,
    /// What can be scanned on the carton.
    pub carton_identifier: Option<String>,
    /// What its units belong to.
    pub reference: Option<Reference>,
    /// The line in the reference.
    pub reference_line: Option<String>,
    /// The unit that it announces.
    pub unit: Option<String>,
    /// The same, by the merchant's own name.
    pub client_unit: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// UPC.
    pub upc: Option<String>,
    /// How many units it announces.
    pub quantity: u32,
    /// How many of them are there.
    pub received: u32,
    /// Program, when it is another than the ASN's.
    pub program: Option<String>,
    /// Serial number.
    pub serial_number: Option<String>,
    /// Vendor or supplier.
    pub vendor: Option<String>,
    /// What it is like.
    pub condition: Option<Condition>,
    /// Flags that the warehouse knows.
    pub flags: Vec<String>,
    /// Who owns the goods.
    pub merchant: Option<String>,
    /// A brand of the merchant.
    pub concept: Option<String>,
    /// Product identifier.
    pub asin: Option<String>,
    /// Why it comes back.
    pub return_reason: Option<String>,
}

/// An ASN as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id (UUID version 7).
    pub id: Uuid,
    /// Where it stands.
    pub state: State,
    /// When it was announced.
    pub created_at: DateTime<Utc>,
    /// When it was last changed, canceled or closed.
    pub updated_at: DateTime<Utc>,
    /// SHA-256 of what it says.
    pub digest: Vec<u8>,
    /// Whether any line belongs to a return.
    pub has_returns: bool,
    /// What it says; its lines only where they were asked for.
    pub asn: Asn,
}

/// An ASN that is to be written.
pub struct New<'a> {
    /// Its id (UUID version 7).
    pub id: Uuid,
    /// SHA-256 of what it says.
    pub digest: [u8; 32],
    /// What it says.
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
    /// How many units it announces.
    #[must_use]
    pub fn announced(&self) -> i64 {
        self.lines.iter().map(|line| i64::from(line.quantity)).sum()
    }

    /// Whether any line belongs to a return.
    #[must_use]
    pub fn has_returns(&self) -> bool {
        self.lines.iter().any(|line| line.rma().is_some())
    }
}
