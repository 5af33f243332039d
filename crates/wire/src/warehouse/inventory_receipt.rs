//! The message about a unit that was received against an inbound ASN.

use serde::Serialize;
use utoipa::ToSchema;

/// A received unit. Every key is always present, null if there is no value; identifiers are strings.
#[derive(Serialize, ToSchema)]
pub struct InventoryReceipt<'a> {
    /// Program under which it was received.
    pub program_identifier: Option<&'a str>,
    /// The ASN that the unit was received against.
    pub asn_number: &'a str,
    /// Shipment identifier of the inbound ASN; groups ASNs.
    pub shipment_identifier: &'a str,
    /// Sending location.
    pub from: From<'a>,
    /// Receiving location.
    pub to: To<'a>,
    /// The carton of the inbound ASN.
    pub carton_identifier: Option<&'a str>,
    /// Reference that the unit belongs to.
    pub reference: Reference<'a>,
    /// The line of the ASN.
    pub line_identifier: &'a str,
    /// Line within the reference, such as an RMA item.
    pub reference_line_identifier: Option<&'a str>,
    /// The unit's identifier on the inbound ASN, else the client's, else the license plate given to it at receiving.
    pub unit_identifier: &'a str,
    /// SKU.
    pub sku: Option<&'a str>,
    /// UPC.
    pub upc: Option<&'a str>,
    /// Serial number, provided or collected.
    pub serial_number: Option<&'a str>,
    /// Condition at receiving.
    #[schema(example = "N")]
    pub initial_condition: &'a str,
    /// Channel assigned at receiving.
    pub initial_channel: Option<&'a str>,
    /// Return reason, provided or collected.
    pub return_reason: Option<&'a str>,
    /// Login of the person who handled the unit.
    pub user_login: Option<&'a str>,
    /// Merchant of the inbound ASN.
    pub merchant: Option<&'a str>,
    /// Concept of the inbound ASN.
    pub concept: Option<&'a str>,
    /// Product identifier: ten letters and digits.
    pub asin: Option<&'a str>,
    /// Tracking number scanned at receiving, else that of the inbound ASN.
    pub tracking_number: Option<&'a str>,
    /// First storage location.
    pub location_identifier: Option<&'a str>,
    /// The client's identifier of the unit.
    pub client_unit_identifier: Option<&'a str>,
    /// Reject reason.
    pub reject_reason: Option<&'a str>,
}

/// The sending location of a unit.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptFrom)]
pub struct From<'a> {
    /// The merchant's identifier of the place.
    pub identifier: &'a str,
    /// Type.
    pub r#type: &'a str,
}

/// The receiving location of a unit.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptTo)]
pub struct To<'a> {
    /// Internal id of the warehouse.
    pub identifier: &'a str,
    /// Always `warehouse`.
    pub r#type: &'static str,
    /// Receiving location announced by the inbound ASN.
    pub original_identifier: &'a str,
}

/// The reference that a unit belongs to; all null if the inbound ASN names none.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptReference)]
pub struct Reference<'a> {
    /// Type.
    pub r#type: Option<&'a str>,
    /// Identifier of the reference.
    pub identifier: Option<&'a str>,
    /// Alternate identifier.
    pub alternate_identifier: Option<&'a str>,
}

impl InventoryReceipt<'_> {
    /// Renders the exact bytes that are sent.
    ///
    /// # Errors
    /// Never, in practice: every field can be serialised.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
