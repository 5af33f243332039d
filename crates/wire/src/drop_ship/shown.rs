//! How drop-ship orders are looked at.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::drop_shipment::{DropShipment, DropShipmentOrder};

/// How many drop-ship orders a page has at most.
pub const MOST_LISTED: u32 = 100;

/// How many it has when nothing is said.
const USUAL_LISTED: u32 = 50;

/// What became of the drop-ship orders of a message.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrdersTaken {
    /// One for each order, in the order of the message.
    pub drop_ship_orders: Vec<DropShipOrderTaken>,
}

/// What became of a drop-ship order.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderTaken {
    /// The service's id of it.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: String,
    /// `created`, or `unchanged` when it was known with the same content.
    pub result: &'static str,
}

/// A drop-ship order with everything that is known of it.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderOut<'a> {
    /// The order, as a cancellation would tell it.
    pub order: DropShipmentOrder<'a>,
    /// The channel that it was sold through.
    pub channel: Option<&'a str>,
    /// How many messages it had; `X-Service-Sequence` of the last one.
    pub sequence: i64,
    /// The units of its items.
    pub units: Vec<DropShipUnits<'a>>,
    /// Its shipments, oldest first, each as its confirmation told it.
    pub shipments: Vec<DropShipment<'a>>,
}

/// The units of an item.
#[derive(Serialize, ToSchema)]
pub struct DropShipUnits<'a> {
    /// The merchant's name for the item.
    pub client_identifier: &'a str,
    /// How many were ordered.
    pub quantity: u32,
    /// How many were shipped.
    pub shipped_quantity: u32,
    /// How many were called off.
    pub cancelled_quantity: u32,
    /// How many are still to be shipped.
    pub open_quantity: u32,
}

/// Which drop-ship orders are wanted.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DropShipOrdersQuery {
    /// In this status: `accepted`, `partially_shipped`, `shipped`, `cancelled` or `rejected`.
    #[param(required = false)]
    pub status: Option<String>,
    /// Go on: the `next_before` of the page before.
    #[param(required = false)]
    pub before: Option<String>,
    /// How many at most.
    #[serde(default = "usual_listed")]
    #[param(required = false, minimum = 1, maximum = 100, default = 50)]
    pub limit: u32,
}

fn usual_listed() -> u32 {
    USUAL_LISTED
}

/// A page of drop-ship orders.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrders {
    /// Newest first.
    pub drop_ship_orders: Vec<DropShipOrderListed>,
    /// Whether there may be more.
    pub has_more: bool,
    /// Ask with this as `before` to go on; null when there are no more.
    pub next_before: Option<String>,
}

/// A drop-ship order in a list.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderListed {
    /// The service's id of it.
    pub id: String,
    /// The merchant's name for it.
    pub client_identifier: String,
    /// Where it stands.
    pub status: &'static str,
    /// When it was taken.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}
