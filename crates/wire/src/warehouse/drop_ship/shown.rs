//! Views of drop-ship orders.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::warehouse::drop_shipment::{DropShipment, DropShipmentOrder};

/// The results for the drop-ship orders of a message.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrdersTaken {
    /// One entry per order, in the order of the message.
    pub drop_ship_orders: Vec<DropShipOrderTaken>,
}

/// The result for a drop-ship order.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderTaken {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's identifier of the order.
    pub client_identifier: String,
    /// `created`, or `unchanged` if the same order was accepted before.
    pub result: &'static str,
}

/// A drop-ship order in full.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderOut<'a> {
    /// The order, in the form of the cancellation message.
    pub order: DropShipmentOrder<'a>,
    /// Sales channel.
    pub channel: Option<&'a str>,
    /// Number of messages sent about the order: `X-Service-Sequence` of the last one.
    pub sequence: i64,
    /// Unit counts by item.
    pub units: Vec<DropShipUnits<'a>>,
    /// Shipments, oldest first, in the form of the confirmation message.
    pub shipments: Vec<DropShipment<'a>>,
}

/// The unit counts of an item.
#[derive(Serialize, ToSchema)]
pub struct DropShipUnits<'a> {
    /// The merchant's identifier of the item.
    pub client_identifier: &'a str,
    /// Units ordered.
    pub quantity: u32,
    /// Units shipped.
    pub shipped_quantity: u32,
    /// Units cancelled.
    pub cancelled_quantity: u32,
    /// Units still to be shipped.
    pub open_quantity: u32,
}

/// Query parameters for listing drop-ship orders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DropShipOrdersQuery {
    /// Only orders in this status: `accepted`, `partially_shipped`, `shipped`, `cancelled` or `rejected`.
    #[param(required = false)]
    pub status: Option<String>,
}

/// A page of drop-ship orders.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrders {
    /// Newest first.
    pub items: Vec<DropShipOrderListed>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A drop-ship order in a list.
#[derive(Serialize, ToSchema)]
pub struct DropShipOrderListed {
    /// The service's id of the order.
    pub id: String,
    /// The merchant's identifier of the order.
    pub client_identifier: String,
    /// Status of the order.
    pub status: &'static str,
    /// Time it was accepted.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}
