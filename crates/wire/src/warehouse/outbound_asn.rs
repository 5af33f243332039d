//! The message about a shipment out of a warehouse, or about one part of it, sent whenever the shipment changes.

use serde::Serialize;
use utoipa::ToSchema;

/// The value of `details_type` in every message.
pub const DETAILS_TYPE: &str = "unit";

/// The current state of a shipment, or of one part of it. Every key is always present, null if there is no value.
#[derive(Serialize, ToSchema)]
pub struct OutboundAsnMessage<'a> {
    /// The sending location.
    pub from: AsnFrom<'a>,
    /// The receiving location.
    pub to: AsnTo<'a>,
    /// Unique; with an incremental suffix (`_1`, `_2`, …) when the shipment is split into several messages.
    #[schema(example = "ASN-1042_1")]
    pub asn_number: &'a str,
    /// Channel the inventory is fulfilled for.
    pub channel: &'a str,
    /// Order number, RA number or other shipment reference.
    pub shipment_identifier: &'a str,
    /// Tracking or PRO number: the first scanned. Always null for stock transfers.
    pub tracking_number: Option<&'a str>,
    /// Always null for stock transfers.
    pub carrier: Option<&'a str>,
    /// `prepaid` or `collect`. Always null for stock transfers.
    pub carrier_payment_type: Option<&'static str>,
    /// Actual or planned ship time.
    pub ship_date: String,
    /// `pending`, `shipped`, `delivered` or `canceled`.
    pub status: &'static str,
    /// Always `unit`.
    pub details_type: &'static str,
    /// One element per carton or pallet; one that spans messages appears in each of them.
    pub cartons: Vec<AsnCarton<'a>>,
    /// Bill of lading number of a freight shipment.
    pub bol_number: Option<&'a str>,
    /// Time of the event.
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
    /// Depending on the kind of shipment: the stock transfer identifier, the external warehouse identifier, or the vendor's number.
    pub identifier: &'a str,
    /// `warehouse` or `store`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Address.
    pub address: AsnAddress<'a>,
}

/// The address of a receiving location.
#[derive(Serialize, ToSchema)]
pub struct AsnAddress<'a> {
    /// Recipient.
    pub name: &'a str,
    /// Company.
    pub company: Option<&'a str>,
    /// Street and number.
    pub street: &'a str,
    /// Second address line.
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
    /// Units of the carton, one line each.
    pub details: Vec<AsnDetail<'a>>,
    /// The scannable carton id.
    pub identifier: Option<&'a str>,
    /// Reference of the carton.
    pub reference: Option<AsnReference<'a>>,
    /// The last directed sorting template assigned to the carton.
    pub sorting_template_name: Option<&'a str>,
}

/// The reference of a carton, as given on the inbound ASN.
#[derive(Serialize, ToSchema)]
pub struct AsnReference<'a> {
    /// `StockTransferOrder`, `RA`, `RMA`, `ForwardOrder` or `ReturnsPortalOrder`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Identifier of the reference.
    pub identifier: &'a str,
    /// Alternate identifier.
    pub alternate_identifier: Option<&'a str>,
}

/// A unit.
#[derive(Serialize, ToSchema)]
pub struct AsnDetail<'a> {
    /// Unique within the ASN.
    pub line_identifier: &'a str,
    /// Program the unit was received into.
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
    /// Renders the exact bytes that are sent.
    ///
    /// # Errors
    /// Never, in practice: every field can be serialised.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}
