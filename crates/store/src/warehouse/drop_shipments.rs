//! Shipments of drop-ship orders.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A stored shipment.
#[derive(Clone, Debug)]
pub struct DropShipment {
    pub id: Uuid,
    /// The warehouse's identifier.
    pub identifier: String,
    /// The time it was reported.
    pub created_at: DateTime<Utc>,
    /// The warehouse's report in canonical form.
    pub content: String,
    pub items: Vec<DropShipmentItem>,
}

/// Units of one item in a shipment.
#[derive(Clone, Copy, Debug)]
pub struct DropShipmentItem {
    pub id: Uuid,
    /// The position of the item in the order.
    pub item: usize,
    /// The number of units.
    pub quantity: u32,
}

/// The content of the shipment with this identifier, if there is one. The order must be locked.
pub async fn find(tx: &mut Tx, order: Uuid, identifier: &str) -> Result<Option<String>, Failed> {
    let merchant = tx.merchant().0;
    let found = sqlx::query_scalar!(
        "select content from drop_shipment where merchant_id = $1 and drop_ship_order_id = $2 and identifier = $3",
        merchant,
        order,
        identifier,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(found)
}

/// Inserts a shipment. The order must be locked.
pub async fn insert(tx: &mut Tx, order: Uuid, new: &DropShipment) -> Result<(), Failed> {
    let beyond = |_| Failed::Internal("a position or quantity of a drop shipment is out of range");
    let ids: Vec<Uuid> = new.items.iter().map(|item| item.id).collect();
    let items = new.items.iter().map(|item| i32::try_from(item.item)).collect::<Result<Vec<_>, _>>().map_err(beyond)?;
    let quantities = new.items.iter().map(|item| i32::try_from(item.quantity)).collect::<Result<Vec<_>, _>>().map_err(beyond)?;
    sqlx::query!(
        r#"
        with shipped as (
            insert into drop_shipment (merchant_id, drop_ship_order_id, shipment_id, created_at, identifier, content)
            values ($1, $2, $3, $4, $5, $6)
        )
        insert into drop_shipment_item (merchant_id, drop_ship_order_id, shipment_id, shipment_item_id, position, item, quantity)
        select $1, $2, $3, id, (nth - 1)::integer, item, quantity
        from unnest($7::uuid[], $8::integer[], $9::integer[]) with ordinality as units (id, item, quantity, nth)
        "#,
        tx.merchant().0,
        order,
        new.id,
        new.created_at,
        new.identifier,
        new.content,
        &ids,
        &items,
        &quantities,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The shipments of an order, oldest first.
pub async fn list(store: &Store, merchant: MerchantId, order: Uuid) -> Result<Vec<DropShipment>, Failed> {
    let rows = sqlx::query!(
        r#"
        select shipment_id, identifier, created_at, content
        from drop_shipment
        where merchant_id = $1 and drop_ship_order_id = $2
        order by shipment_id
        "#,
        merchant.0,
        order,
    )
    .fetch_all(&store.pool)
    .await?;
    let units = sqlx::query!(
        r#"
        select shipment_id, shipment_item_id, item, quantity
        from drop_shipment_item
        where merchant_id = $1 and drop_ship_order_id = $2
        order by shipment_id, position
        "#,
        merchant.0,
        order,
    )
    .fetch_all(&store.pool)
    .await?;
    let negative = |_| Failed::Internal("a stored position or quantity of a drop shipment is negative");
    let mut of: HashMap<Uuid, Vec<DropShipmentItem>> = HashMap::with_capacity(rows.len());
    for row in units {
        of.entry(row.shipment_id).or_default().push(DropShipmentItem {
            id: row.shipment_item_id,
            item: usize::try_from(row.item).map_err(negative)?,
            quantity: u32::try_from(row.quantity).map_err(negative)?,
        });
    }
    let shipments = rows.into_iter().map(|row| DropShipment {
        id: row.shipment_id,
        identifier: row.identifier,
        created_at: row.created_at,
        content: row.content,
        items: of.remove(&row.shipment_id).unwrap_or_default(),
    });
    Ok(shipments.collect())
}
