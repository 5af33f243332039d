//! What a warehouse reports on a drop-ship order: a shipment, or that the order or some of its units are called off.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use domain::drop_ship::TooMany;
use serde::{Deserialize, Serialize};

use super::content::{cents, text};
use crate::fault::{Code, Fault, Path};
use crate::order::{MOST_ENTRIES, Refusal};
use crate::schema::{self, Explainer};
use crate::shape::{Amount, Count, Identifier, List, Text, Weight, object};

object! {
    /// A shipment that leaves the warehouse.
    pub struct ShipIn<'a> as "DropShipmentReport" at 1 {
        /// The warehouse's name for the shipment: the same report again changes nothing.
        shipment_identifier: Identifier<'a>,
        /// What is in it.
        shipment_items: List<UnitsIn<'a>, 1, MOST_ENTRIES>,
        /// Who carries it.
        carrier: Option<Text<'a>>,
        /// How it is shipped; as the order says when nothing is said.
        shipping_method: Option<Text<'a>>,
        /// The carrier's number.
        tracking_number: Option<Text<'a>>,
        /// The weight that the carrier bills, in pounds.
        billed_weight: Option<Weight>,
        /// What shipping it costs.
        shipping_cost_cents: Option<Amount>,
        /// The packing slip that goes with it; the order's when nothing is said.
        packing_slip_identifier: Option<Text<'a>>,
    }
}

object! {
    /// Units of one item of the order.
    pub struct UnitsIn<'a> as "DropShipUnitsReport" at 3 {
        /// The merchant's name for the item.
        client_identifier: Identifier<'a>,
        /// How many units.
        quantity: Count,
    }
}

object! {
    /// Why an order is called off.
    pub struct CancelIn<'a> as "DropShipCancelReport" at 1 {
        /// Why, in a word or a sentence.
        reject_reason: Option<Identifier<'a>>,
        /// More of it; takes the place of the order's comments in the message.
        comments: Option<Text<'a>>,
    }
}

object! {
    /// Why an order is refused.
    pub struct RejectIn<'a> as "DropShipRejectReport" at 1 {
        /// Why, in a word or a sentence.
        reject_reason: Identifier<'a>,
        /// More of it; takes the place of the order's comments in the message.
        comments: Option<Text<'a>>,
    }
}

object! {
    /// Units that are called off.
    pub struct CancelItemsIn<'a> as "DropShipCancelItemsReport" at 1 {
        /// The warehouse's name for this: the same report again changes nothing.
        cancellation_identifier: Identifier<'a>,
        /// Which units.
        order_items: List<UnitsIn<'a>, 1, MOST_ENTRIES>,
        /// Why; it is told when these were the last units and none was shipped.
        reject_reason: Option<Identifier<'a>>,
        /// More of it; told with the reason.
        comments: Option<Text<'a>>,
    }
}

static SHIP: LazyLock<Explainer> = LazyLock::new(Explainer::of::<ShipIn<'_>>);
static CANCEL: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CancelIn<'_>>);
static REJECT: LazyLock<Explainer> = LazyLock::new(Explainer::of::<RejectIn<'_>>);
static CANCEL_ITEMS: LazyLock<Explainer> = LazyLock::new(Explainer::of::<CancelItemsIn<'_>>);

/// Reads a shipment.
pub fn read_ship(body: &[u8]) -> Result<ShipIn<'_>, Refusal> {
    schema::read(body, &SHIP)
}

/// Reads why an order is called off.
pub fn read_cancel(body: &[u8]) -> Result<CancelIn<'_>, Refusal> {
    schema::read(body, &CANCEL)
}

/// Reads why an order is refused.
pub fn read_reject(body: &[u8]) -> Result<RejectIn<'_>, Refusal> {
    schema::read(body, &REJECT)
}

/// Reads which units are called off.
pub fn read_cancel_items(body: &[u8]) -> Result<CancelItemsIn<'_>, Refusal> {
    schema::read(body, &CANCEL_ITEMS)
}

/// A shipment as the warehouse reported it; kept as text, and the same again if it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShipmentContent {
    /// The warehouse's name for it.
    pub shipment_identifier: String,
    /// What is in it.
    pub shipment_items: Vec<UnitsContent>,
    /// Who carries it.
    pub carrier: Option<String>,
    /// How it is shipped.
    pub shipping_method: Option<String>,
    /// The carrier's number.
    pub tracking_number: Option<String>,
    /// The weight that the carrier bills.
    pub billed_weight: Option<f64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// The packing slip that goes with it.
    pub packing_slip_identifier: Option<String>,
}

/// Units of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitsContent {
    /// The merchant's name for the item.
    pub client_identifier: String,
    /// How many.
    pub quantity: NonZeroU32,
}

/// Units that were called off, as the warehouse reported it; kept as text, and the same again if it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancellationContent {
    /// The warehouse's name for it.
    pub cancellation_identifier: String,
    /// Which units.
    pub order_items: Vec<UnitsContent>,
    /// Why.
    pub reject_reason: Option<String>,
    /// More of it.
    pub comments: Option<String>,
}

impl UnitsIn<'_> {
    fn content(&self) -> UnitsContent {
        UnitsContent { client_identifier: self.client_identifier.0.to_string(), quantity: self.quantity.0 }
    }
}

impl ShipIn<'_> {
    /// What counts of it.
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
    /// What counts of it.
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

/// The entry at a position of `list` names no item of the order.
#[must_use]
pub fn unknown_item(list: &str, at: usize) -> Fault {
    Fault::new(Path::root().field(list).index(at).field("client_identifier"), Code::Invalid, "is no item of the order")
}

/// An entry of `list` wants more units than are open.
#[must_use]
pub fn too_many(list: &str, entry: &TooMany) -> Fault {
    let words = match entry.open {
        0 => "no unit of the item is open any more".to_owned(),
        open => format!("must be from 1 to {open}; no more units of the item are open"),
    };
    Fault::new(Path::root().field(list).index(entry.at).field("quantity"), Code::Invalid, words)
}
