//! An ASN as it is shown.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// How many ASNs, or exceptions, a page has at most.
pub const MOST_LISTED: u32 = 100;

/// How many it has when nothing is said.
const USUAL_LISTED: u32 = 50;

pub(crate) fn usual_listed() -> u32 {
    USUAL_LISTED
}

/// What became of the ASNs of a message.
#[derive(Serialize, ToSchema)]
pub struct AnnouncedAsns {
    /// In the order of the message.
    pub inbound_asns: Vec<AnnouncedAsn>,
}

/// What became of an ASN.
#[derive(Serialize, ToSchema)]
pub struct AnnouncedAsn {
    /// Its number.
    pub asn_number: String,
    /// `created`, `changed`, or `unchanged` when it was announced before with the same content.
    pub result: &'static str,
    /// Where it stands: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
}

/// Which ASNs are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InboundAsnsQuery {
    /// Of this shipment.
    #[param(required = false)]
    pub shipment_identifier: Option<String>,
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "usual_listed")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

/// A page of ASNs.
#[derive(Serialize, ToSchema)]
pub struct InboundAsns {
    /// Newest first.
    pub inbound_asns: Vec<InboundAsnListed>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// An ASN in a list.
#[derive(Serialize, ToSchema)]
pub struct InboundAsnListed {
    /// Its number.
    pub asn_number: String,
    /// Its shipment.
    pub shipment_identifier: String,
    /// Where it stands: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
    /// How many lines it has.
    pub lines: i32,
    /// How many units they announce.
    pub announced: i64,
    /// When it was announced.
    pub created_at: String,
    /// When it was last changed, canceled or closed.
    pub updated_at: String,
}

/// An ASN with what has arrived of it.
#[derive(Serialize, ToSchema)]
pub struct InboundAsnOut {
    /// Its number.
    pub asn_number: String,
    /// Where it stands: `open`, `receiving`, `closed` or `canceled`.
    pub state: &'static str,
    /// How many units it announces.
    pub announced: i64,
    /// How many of them have arrived.
    pub received: i64,
    /// Its shipment.
    pub shipment_identifier: String,
    /// Program that the goods are received into.
    pub program_identifier: Option<String>,
    /// Channel that the goods are for.
    pub channel: Option<String>,
    /// Where the goods come from.
    pub from: PlaceOut,
    /// Where they go.
    pub to: PlaceOut,
    /// Tracking or PRO number.
    pub tracking_number: Option<String>,
    /// Who carries them.
    pub carrier: Option<String>,
    /// When they were or will be shipped.
    pub ship_date: Option<String>,
    /// When it was announced.
    pub created_at: String,
    /// When it was last changed, canceled or closed.
    pub updated_at: String,
    /// Boxes and pallets.
    pub cartons: Vec<CartonOut>,
}

/// A place.
#[derive(Serialize, ToSchema)]
pub struct PlaceOut {
    /// What the merchant calls it.
    pub identifier: String,
    /// What it is.
    pub r#type: String,
}

/// A box or pallet.
#[derive(Serialize, ToSchema)]
pub struct CartonOut {
    /// What can be scanned on it.
    pub identifier: Option<String>,
    /// What its units belong to.
    pub reference: Option<ReferenceOut>,
    /// Its lines.
    pub details: Vec<LineOut>,
}

/// What units belong to.
#[derive(Serialize, ToSchema)]
pub struct ReferenceOut {
    /// What it is.
    pub r#type: String,
    /// Its identifier.
    pub identifier: String,
    /// Another one.
    pub alternate_identifier: Option<String>,
}

/// A line.
#[derive(Serialize, ToSchema)]
pub struct LineOut {
    /// Unique within the ASN.
    pub line_identifier: String,
    /// The line in the reference.
    pub reference_line_identifier: Option<String>,
    /// The unit's license plate.
    pub unit_identifier: Option<String>,
    /// The merchant's own identifier of the unit.
    pub client_unit_identifier: Option<String>,
    /// SKU.
    pub sku: Option<String>,
    /// UPC.
    pub upc: Option<String>,
    /// How many units it announces.
    pub quantity: u32,
    /// How many of them have arrived.
    pub received: u32,
    /// Program, when it is another than the ASN's.
    pub program_identifier: Option<String>,
    /// Serial number.
    pub serial_number: Option<String>,
    /// Vendor or supplier.
    pub vendor_identifier: Option<String>,
    /// What it is like.
    pub condition: Option<String>,
    /// Flags that the warehouse knows.
    pub eligibility_flags: Vec<String>,
    /// Who owns the goods.
    pub merchant: Option<String>,
    /// A brand of the merchant.
    pub concept: Option<String>,
    /// Product identifier.
    pub asin: Option<String>,
    /// Why it comes back.
    pub return_reason: Option<String>,
}
