//! The message on a unit that was received against an inbound ASN.

use serde::Serialize;
use utoipa::ToSchema;

/// A unit that was received. Every key is always there, null where there is nothing to say; identifiers are strings.
#[derive(Serialize, ToSchema)]
pub struct InventoryReceipt<'a> {
    /// Program under which it was received.
    pub program_identifier: Option<&'a str>,
    /// The ASN that it was received against.
    pub asn_number: &'a str,
    /// Groups ASNs; the value of the inbound ASN.
    pub shipment_identifier: &'a str,
    /// Where it came from.
    pub from: From<'a>,
    /// Where it was received.
    pub to: To<'a>,
    /// The carton of the inbound ASN.
    pub carton_identifier: Option<&'a str>,
    /// What it belongs to.
    pub reference: Reference<'a>,
    /// The line of the ASN.
    pub line_identifier: &'a str,
    /// The line in the reference, such as an RMA item.
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
    /// Why it came back, provided or collected.
    pub return_reason: Option<&'a str>,
    /// Who handled it.
    pub user_login: Option<&'a str>,
    /// Merchant of the inbound ASN.
    pub merchant: Option<&'a str>,
    /// Concept of the inbound ASN.
    pub concept: Option<&'a str>,
    /// Product identifier: ten letters and digits.
    pub asin: Option<&'a str>,
    /// Tracking number scanned at receiving, else that of the inbound ASN.
    pub tracking_number: Option<&'a str>,
    /// Where it was put first.
    pub location_identifier: Option<&'a str>,
    /// The client's identifier of the unit.
    pub client_unit_identifier: Option<&'a str>,
    /// Why it was rejected.
    pub reject_reason: Option<&'a str>,
}

/// Where a unit came from.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptFrom)]
pub struct From<'a> {
    /// What the merchant calls it.
    pub identifier: &'a str,
    /// What it is.
    pub r#type: &'a str,
}

/// Where a unit was received.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptTo)]
pub struct To<'a> {
    /// Internal id of the warehouse.
    pub identifier: &'a str,
    /// Always `warehouse`.
    pub r#type: &'static str,
    /// Where the inbound ASN had announced it to.
    pub original_identifier: &'a str,
}

/// What a unit belongs to; all null when the inbound ASN says nothing.
#[derive(Serialize, ToSchema)]
#[schema(as = InventoryReceiptReference)]
pub struct Reference<'a> {
    /// What it is.
    pub r#type: Option<&'a str>,
    /// Its identifier.
    pub identifier: Option<&'a str>,
    /// Another one.
    pub alternate_identifier: Option<&'a str>,
}

impl InventoryReceipt<'_> {
    /// The exact bytes that are sent.
    ///
    /// # Errors
    /// It cannot fail for what this message is made of.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
