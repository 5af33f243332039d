//! Views of ASNs.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The results for the ASNs of a message.
#[derive(Serialize, ToSchema)]
pub struct AnnouncedAsns {
    /// One entry per ASN, in the order of the message.
    pub inbound_asns: Vec<AnnouncedAsn>,
}

/// The result for an ASN.
#[derive(Serialize, ToSchema)]
pub struct AnnouncedAsn {
    /// ASN number.
    pub asn_number: String,
    /// `created`, `changed`, or `unchanged` if it was announced before with the same content.
    pub result: &'static str,
    /// State: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
}

/// Query parameters for listing ASNs.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InboundAsnsQuery {
    /// Only ASNs of this shipment.
    #[param(required = false)]
    pub shipment_identifier: Option<String>,
}

/// A page of ASNs.
#[derive(Serialize, ToSchema)]
pub struct InboundAsns {
    /// Newest first.
    pub items: Vec<InboundAsnListed>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// An ASN in a list.
#[derive(Serialize, ToSchema)]
pub struct InboundAsnListed {
    /// ASN number.
    pub asn_number: String,
    /// Shipment identifier.
    pub shipment_identifier: String,
    /// State: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
    /// Number of lines.
    pub lines: i32,
    /// Units announced.
    pub announced: i64,
    /// Time it was announced.
    pub created_at: String,
    /// Time of the last change, cancellation or closing.
    pub updated_at: String,
}

/// An ASN in full, with the units received so far.
#[derive(Serialize, ToSchema)]
pub struct InboundAsnOut {
    /// ASN number.
    pub asn_number: String,
    /// State: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
    /// Units announced.
    pub announced: i64,
    /// Units received.
    pub received: i64,
    /// Shipment identifier.
    pub shipment_identifier: String,
    /// Program the goods are received into.
    pub program_identifier: Option<String>,
    /// Channel the goods are for.
    pub channel: Option<String>,
    /// Sending location.
    pub from: PlaceOut,
    /// Receiving location.
    pub to: PlaceOut,
    /// Tracking or PRO number.
    pub tracking_number: Option<String>,
    /// Carrier.
    pub carrier: Option<String>,
    /// Actual or planned ship time.
    pub ship_date: Option<String>,
    /// Time it was announced.
    pub created_at: String,
    /// Time of the last change, cancellation or closing.
    pub updated_at: String,
    /// Cartons and pallets.
    pub cartons: Vec<CartonOut>,
}

/// A location.
#[derive(Serialize, ToSchema)]
pub struct PlaceOut {
    /// The merchant's identifier of the place.
    pub identifier: String,
    /// Type.
    pub r#type: String,
}

/// A box or pallet.
#[derive(Serialize, ToSchema)]
pub struct CartonOut {
    /// Scannable carton id.
    pub identifier: Option<String>,
    /// Reference that its units belong to.
    pub reference: Option<ReferenceOut>,
    /// Lines of the carton.
    pub details: Vec<LineOut>,
}

/// The reference that units belong to.
#[derive(Serialize, ToSchema)]
pub struct ReferenceOut {
    /// Type.
    pub r#type: String,
    /// Identifier of the reference.
    pub identifier: String,
    /// Alternate identifier.
    pub alternate_identifier: Option<String>,
}

/// A line.
#[derive(Serialize, ToSchema)]
pub struct LineOut {
    /// Unique within the ASN.
    pub line_identifier: String,
    /// Line within the reference.
    pub reference_line_identifier: Option<String>,
    /// License plate of the unit.
    pub unit_identifier: Option<String>,
    /// The merchant's own identifier of the unit.
    pub client_unit_identifier: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// UPC.
    pub upc: Option<String>,
    /// Units announced.
    pub quantity: u32,
    /// Units received.
    pub received: u32,
    /// Program, if it differs from the ASN's.
    pub program_identifier: Option<String>,
    /// Serial number.
    pub serial_number: Option<String>,
    /// Vendor or supplier.
    pub vendor_identifier: Option<String>,
    /// Condition grade.
    pub condition: Option<String>,
    /// Eligibility flags known to the warehouse.
    pub eligibility_flags: Vec<String>,
    /// Owner of the goods.
    pub merchant: Option<String>,
    /// Brand of the merchant.
    pub concept: Option<String>,
    /// Product identifier.
    pub asin: Option<String>,
    /// Return reason.
    pub return_reason: Option<String>,
}
