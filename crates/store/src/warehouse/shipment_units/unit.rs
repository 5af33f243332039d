//! Units and cartons as they are stored.

use domain::warehouse::asn::Condition;

use crate::Failed;
use crate::warehouse::reference::Reference;
use crate::warehouse::shipments::count;

/// A box or a pallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carton {
    /// The number within the shipment, from 1.
    pub number: u32,
    /// Tells it from the shipment's other cartons.
    pub key: [u8; 32],
    /// The identifier scanned on it.
    pub identifier: Option<String>,
    pub reference: Option<Reference>,
    /// The last sorting template that it was assigned.
    pub sorting_template: Option<String>,
}

/// A unit of a shipment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The number of its carton.
    pub carton: u32,
    /// The identifier of its line.
    pub line: String,
    /// The program it was received into.
    pub program: String,
    /// The license plate.
    pub unit: String,
    /// The client's own identifier.
    pub client_unit: Option<String>,
    /// The inbound ASN that it was received against.
    pub inbound_asn: Option<String>,
    pub sku: String,
    pub upc: Option<String>,
    pub vendor: Option<String>,
    pub serial_number: Option<String>,
    pub condition: Condition,
    pub eligibility_flags: Option<Vec<String>>,
    /// The merchant's name.
    pub merchant: Option<String>,
    /// The document that it belongs to, according to its receipt.
    pub reference: Option<Reference>,
}

/// A row of `shipment_carton`.
pub(super) struct CartonRow {
    pub(super) carton: i32,
    pub(super) key: Vec<u8>,
    pub(super) identifier: Option<String>,
    pub(super) reference_type: Option<String>,
    pub(super) reference_identifier: Option<String>,
    pub(super) reference_alternate: Option<String>,
    pub(super) sorting_template: Option<String>,
}

impl TryFrom<CartonRow> for Carton {
    type Error = Failed;

    fn try_from(row: CartonRow) -> Result<Self, Failed> {
        Ok(Self {
            number: count(row.carton)?,
            key: row.key.try_into().map_err(|_| Failed::Internal("a stored carton key is not 32 bytes long"))?,
            identifier: row.identifier,
            reference: Reference::restore(row.reference_type, row.reference_identifier, row.reference_alternate)?,
            sorting_template: row.sorting_template,
        })
    }
}
