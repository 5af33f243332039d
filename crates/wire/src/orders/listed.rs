//! The list of orders: `/v1/orders`.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Query parameters for listing orders.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OrdersQuery {
    /// Only orders that changed at this time or later (ISO 8601).
    #[param(required = false)]
    pub since: Option<String>,
    /// Only orders in this status: `Created`, `Shipped` or `Cancelled`.
    #[param(required = false)]
    pub status: Option<String>,
}

/// A page of orders.
#[derive(Serialize, ToSchema)]
pub struct Orders {
    /// Newest change first. A page examines a bounded number of orders: with `status` it can be short or even empty while `next` is
    /// not null.
    pub items: Vec<OrderListed>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// An order in a list, without anything personal.
#[derive(Serialize, ToSchema)]
pub struct OrderListed {
    /// The merchant's identifier of the order.
    pub identifier: String,
    /// `Created`, `Shipped` or `Cancelled`.
    pub status: String,
    /// Number of snapshots that were stored.
    pub revision: i64,
    /// Time the order was placed, as in its newest snapshot.
    pub created_at: String,
    /// Time of the last update, as in its newest snapshot.
    pub updated_at: String,
    /// Time at which its newest snapshot arrived.
    pub received_at: String,
    /// Time of its last change: when its newest snapshot arrived, or when its last return ended if that was later.
    pub changed_at: String,
    /// True if there is or was a return.
    pub has_returns: bool,
    /// True if the newest snapshot was accepted with warnings.
    pub has_warnings: bool,
}
