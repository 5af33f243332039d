//! The message on a shipment that leaves a warehouse, or on one part of it: what the merchant's systems are sent whenever it
//! changes.

use serde::Serialize;
use utoipa::ToSchema;

/// What every message says of its details.
pub const DETAILS_TYPE: &str = "unit";

/// A shipment, or one part of it, as it stands. Every key is always there, null where there is nothing to say.
#[derive(Serialize, ToSchema)]
pub struct OutboundAsnMessage<'a> {
    /// The sending location.
    pub from: AsnFrom<'a>,
    /// The receiving location.
    pub to: AsnTo<'a>,
    /// Unique; with an incremental suffix (`_1`, `_2`, …) when the shipment is split into several messages.
    #[schema(example = "ASN-1042_1")]
    pub asn_number: &'a str,
    /// The channel that the inventory is fulfilled for.
    pub channel: &'a str,
    /// Order number, RA number or other shipment reference.
    pub shipment_identifier: &'a str,
    /// Tracking or PRO number: the first scanned. Always null for stock transfers.
    pub tracking_number: Option<&'a str>,
    /// Always null for stock transfers.
    pub carrier: Option<&'a str>,
    /// `prepaid` or `collect`. Always null for stock transfers.
    pub carrier_payment_type: Option<&'static str>,
    /// When it was or will be shipped.
    pub ship_date: String,
    /// `pending`, `shipped`, `delivered` or `canceled`.
    pub status: &'static str,
    /// Always `unit`.
    pub details_type: &'static str,
    /// One element per box or pallet; one that spans messages is in each of them.
    pub cartons: Vec<AsnCarton<'a>>,
    /// Bill of lading number of a freight shipment.
    pub bol_number: Option<&'a str>,
    /// When this happened.
    pub timestamp: String,
}

/// The sending location.
#[derive(Serialize, ToSchema)]
pub struct AsnFrom<'a> {
    /// The external identifier if one is configured, else the internal warehouse id.
    pub identifier: &'a str,
    /// `warehouse` or `store`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// The receiving location.
#[derive(Serialize, ToSchema)]
pub struct AsnTo<'a> {
    /// The stock transfer identifier, the external warehouse identifier, or the vendor's number, by the kind of shipment.
    pub identifier: &'a str,
    /// `warehouse` or `store`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Where it is.
    pub address: AsnAddress<'a>,
}

/// Where a shipment goes.
#[derive(Serialize, ToSchema)]
pub struct AsnAddress<'a> {
    /// Who receives.
    pub name: &'a str,
    /// Of which company.
    pub company: Option<&'a str>,
    /// Street and number.
    pub street: &'a str,
    /// More of it.
    pub street2: Option<&'a str>,
    /// City.
    pub city: &'a str,
    /// State.
    pub state: &'a str,
    /// Postal code.
    pub zip: &'a str,
}

/// A box or a pallet.
#[derive(Serialize, ToSchema)]
pub struct AsnCarton<'a> {
    /// Its units, one line each.
    pub details: Vec<AsnDetail<'a>>,
    /// The scannable carton id.
    pub identifier: Option<&'a str>,
    /// What it refers to.
    pub reference: Option<AsnReference<'a>>,
    /// The last directed sorting template assigned to the carton.
    pub sorting_template_name: Option<&'a str>,
}

/// What a carton refers to, as the inbound ASN said.
#[derive(Serialize, ToSchema)]
pub struct AsnReference<'a> {
    /// `StockTransferOrder`, `RA`, `RMA`, `ForwardOrder` or `ReturnsPortalOrder`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its identifier.
    pub identifier: &'a str,
    /// Another identifier of it.
    pub alternate_identifier: Option<&'a str>,
}

/// A unit.
#[derive(Serialize, ToSchema)]
pub struct AsnDetail<'a> {
    /// Unique within the ASN.
    pub line_identifier: &'a str,
    /// The program that the unit was received into.
    pub program_identifier: &'a str,
    /// The warehouse license plate of the unit.
    pub unit_identifier: &'a str,
    /// The client's unique identifier.
    pub client_unit_identifier: Option<&'a str>,
    /// The inbound ASN number tied to the unit at receiving.
    pub inbound_received_asn: Option<&'a str>,
    /// SKU.
    pub sku: &'a str,
    /// UPC.
    pub upc: Option<&'a str>,
    /// Always 1.
    pub quantity: u8,
    /// Vendor or supplier of the unit.
    pub vendor_identifier: Option<&'a str>,
    /// Serial number.
    pub serial_number: Option<&'a str>,
    /// `N`, `A`, `R`, `B`, `TT`, `C` or `X`.
    pub condition: &'static str,
    /// Flags passed on the inbound ASN and configured in the warehouse system.
    pub eligibility_flags: Option<&'a [String]>,
    /// Merchant name.
    pub merchant: Option<&'a str>,
}

impl OutboundAsnMessage<'_> {
    /// The exact bytes that are sent.
    ///
    /// # Errors
    /// It cannot fail for what this message is made of.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
