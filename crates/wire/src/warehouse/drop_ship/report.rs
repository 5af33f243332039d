//! A warehouse's reports on a drop-ship order: shipments, cancellations and rejections.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use domain::warehouse::drop_ship::TooMany;
use serde::{Deserialize, Serialize};

use super::content::{cents, text};
use crate::explainer::Explainer;
use crate::fault::{Code, Fault, Path};
use crate::orders::order::MOST_ENTRIES;
use crate::request::{self, Refusal};
use crate::shape::{Amount, Count, Identifier, List, Text, Weight, object};

object! {
    /// A shipment leaving the warehouse.
    pub struct ShipIn<'a> as "DropShipmentReport" at 1 {
        /// The warehouse's identifier of the shipment; sending the same report again changes nothing.
        shipment_identifier: Identifier<'a>,
        /// Items in the shipment.
        shipment_items: List<UnitsIn<'a>, 1, MOST_ENTRIES>,
        /// Carrier.
        carrier: Option<Text<'a>>,
        /// Shipping method; defaults to the order's.
        shipping_method: Option<Text<'a>>,
        /// Tracking number.
        tracking_number: Option<Text<'a>>,
        /// Billed weight in pounds.
        billed_weight: Option<Weight>,
        /// Shipping cost in cents.
        shipping_cost_cents: Option<Amount>,
        /// Packing slip; defaults to the order's.
        packing_slip_identifier: Option<Text<'a>>,
    }
}

object! {
    /// Units of one item of the order.
    pub struct UnitsIn<'a> as "DropShipUnitsReport" at 3 {
        /// The merchant's identifier of the item.
        client_identifier: Identifier<'a>,
        /// Number of units.
        quantity: Count,
    }
}

object! {
    /// A cancellation of the whole order.
    pub struct CancelIn<'a> as "DropShipCancelReport" at 1 {
        /// Reason, as a code or a sentence.
        reject_reason: Option<Identifier<'a>>,
        /// Details; they replace the order's comments in the message to the merchant.
        comments: Option<Text<'a>>,
    }
}

object! {
    /// A rejection of the order.
    pub struct RejectIn<'a> as "DropShipRejectReport" at 1 {
        /// Reason, as a code or a sentence.
        reject_reason: Identifier<'a>,
        /// Details; they replace the order's comments in the message to the merchant.
        comments: Option<Text<'a>>,
    }
}

object! {
    /// A cancellation of some units of the order.
    pub struct CancelItemsIn<'a> as "DropShipCancelItemsReport" at 1 {
        /// The warehouse's identifier of the cancellation; sending the same report again changes nothing.
        cancellation_identifier: Identifier<'a>,
        /// Units to cancel.
        order_items: List<UnitsIn<'a>, 1, MOST_ENTRIES>,
        /// Reason; sent to the merchant only if no unit is left and none was shipped.
        reject_reason: Option<Identifier<'a>>,
        /// Details; sent along with the reason.
        comments: Option<Text<'a>>,
    }
}

static SHIP: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ShipIn<'_>>);
static CANCEL: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CancelIn<'_>>);
static REJECT: LazyLock<Explainer> = LazyLock::new(Explainer::of::<RejectIn<'_>>);
static CANCEL_ITEMS: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CancelItemsIn<'_>>);

/// Reads a shipment report.
pub fn read_ship(body: &[u8]) -> Result<ShipIn<'_>, Refusal> {
    request::read(body, &SHIP)
}

/// Reads a cancellation of the whole order.
pub fn read_cancel(body: &[u8]) -> Result<CancelIn<'_>, Refusal> {
    request::read(body, &CANCEL)
}

/// Reads a rejection.
pub fn read_reject(body: &[u8]) -> Result<RejectIn<'_>, Refusal> {
    request::read(body, &REJECT)
}

/// Reads a cancellation of units.
pub fn read_cancel_items(body: &[u8]) -> Result<CancelItemsIn<'_>, Refusal> {
    request::read(body, &CANCEL_ITEMS)
}

/// A shipment as the warehouse reported it. It is stored as JSON text; a repeat is recognised by the same text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShipmentContent {
    pub shipment_identifier: String,
    pub shipment_items: Vec<UnitsContent>,
    pub carrier: Option<String>,
    pub shipping_method: Option<String>,
    pub tracking_number: Option<String>,
    pub billed_weight: Option<f64>,
    pub shipping_cost_cents: Option<i64>,
    pub packing_slip_identifier: Option<String>,
}

/// Units of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitsContent {
    pub client_identifier: String,
    pub quantity: NonZeroU32,
}

/// A cancellation of units as the warehouse reported it. It is stored as JSON text; a repeat is recognised by the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancellationContent {
    pub cancellation_identifier: String,
    pub order_items: Vec<UnitsContent>,
    pub reject_reason: Option<String>,
    pub comments: Option<String>,
}

impl UnitsIn<'_> {
    fn content(&self) -> UnitsContent {
        UnitsContent { client_identifier: self.client_identifier.0.to_string(), quantity: self.quantity.0 }
    }
}

impl ShipIn<'_> {
    /// The content that is stored and compared.
    #[must_use]
    pub fn content(&self) -> ShipmentContent {
        ShipmentContent {
            shipment_identifier: self.shipment_identifier.0.to_string(),
            shipment_items: self.shipment_items.0.iter().map(UnitsIn::content).collect(),
            carrier: text(self.carrier.as_ref()),
            shipping_method: text(self.shipping_method.as_ref()),
            tracking_number: text(self.tracking_number.as_ref()),
            billed_weight: self.billed_weight.map(|weight| weight.0),
            shipping_cost_cents: cents(self.shipping_cost_cents),
            packing_slip_identifier: text(self.packing_slip_identifier.as_ref()),
        }
    }
}

impl CancelItemsIn<'_> {
    /// The content that is stored and compared.
    #[must_use]
    pub fn content(&self) -> CancellationContent {
        CancellationContent {
            cancellation_identifier: self.cancellation_identifier.0.to_string(),
            order_items: self.order_items.0.iter().map(UnitsIn::content).collect(),
            reject_reason: self.reject_reason.as_ref().map(|reason| reason.0.to_string()),
            comments: text(self.comments.as_ref()),
        }
    }
}

/// The fault of an entry of `list` that names no item of the order.
#[must_use]
pub fn unknown_item(list: &str, at: usize) -> Fault {
    Fault::new(Path::root().field(list).index(at).field("client_identifier"), Code::Invalid, "is not an item of the order")
}

/// The fault of an entry of `list` that asks for more units than are open.
#[must_use]
pub fn too_many(list: &str, entry: &TooMany) -> Fault {
    let words = match entry.open {
        0 => "no units of the item are open any more".to_owned(),
        open => format!("must be from 1 to {open}; no more units of the item are open"),
    };
    Fault::new(Path::root().field(list).index(entry.at).field("quantity"), Code::Invalid, words)
}
