//! A drop-ship order as it is stored, and the rows it is read from.

use chrono::{DateTime, Utc};
use domain::warehouse::drop_ship::{Item, Order, Status};
use uuid::Uuid;

use crate::Failed;

/// A stored drop-ship order. It has no `Debug`, because its content includes the shopper's address.
#[derive(Clone)]
pub struct DropShipOrder {
    pub id: Uuid,
    pub billing_address_id: Uuid,
    pub shipping_address_id: Uuid,
    /// The merchant's identifier.
    pub client_identifier: String,
    /// The time it was accepted.
    pub created_at: DateTime<Utc>,
    /// The time it last changed.
    pub updated_at: DateTime<Utc>,
    /// The number of messages written about it.
    pub sequence: i64,
    /// The merchant's order in canonical form.
    pub content: String,
    /// The warehouse's reason for rejecting it.
    pub reject_reason: Option<String>,
    /// The warehouse's comments on that.
    pub comments: Option<String>,
    /// The state of its units.
    pub order: Order,
    /// In the order of the items.
    pub item_ids: Vec<Uuid>,
}

pub(super) struct OrderRow {
    pub(super) drop_ship_order_id: Uuid,
    pub(super) billing_address_id: Uuid,
    pub(super) shipping_address_id: Uuid,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) sequence: i64,
    pub(super) status: String,
    pub(super) client_identifier: String,
    pub(super) content: String,
    pub(super) reject_reason: Option<String>,
    pub(super) comments: Option<String>,
}

pub(super) struct ItemRow {
    pub(super) item_id: Uuid,
    pub(super) ordered: i32,
    pub(super) shipped: i32,
    pub(super) cancelled: i32,
}

fn units(number: i32) -> Result<u32, Failed> {
    u32::try_from(number).map_err(|_| Failed::Internal("a stored number of units is negative"))
}

/// Parses a stored status.
pub(super) fn status(word: &str) -> Result<Status, Failed> {
    word.parse().map_err(|_| Failed::Internal("a stored status of a drop-ship order is unknown"))
}

impl OrderRow {
    pub(super) fn into_order(self, rows: Vec<ItemRow>) -> Result<DropShipOrder, Failed> {
        let (mut items, mut item_ids) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            items.push(Item { ordered: units(row.ordered)?, shipped: units(row.shipped)?, cancelled: units(row.cancelled)? });
            item_ids.push(row.item_id);
        }
        Ok(DropShipOrder {
            id: self.drop_ship_order_id,
            billing_address_id: self.billing_address_id,
            shipping_address_id: self.shipping_address_id,
            client_identifier: self.client_identifier,
            created_at: self.created_at,
            updated_at: self.updated_at,
            sequence: self.sequence,
            content: self.content,
            reject_reason: self.reject_reason,
            comments: self.comments,
            order: Order { items, rejected: status(&self.status)? == Status::Rejected },
            item_ids,
        })
    }
}
