//! Drop-ship orders and their items.

mod order;
mod pages;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

pub use self::order::DropShipOrder;
use self::order::{ItemRow, OrderRow};
pub use self::pages::{Listed, MOST_LISTED, Page, list};
use crate::{Failed, Store, Tx};

/// Selects orders: the conditions, then the arguments.
macro_rules! orders {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            OrderRow,
            "select drop_ship_order_id, billing_address_id, shipping_address_id, created_at, updated_at, sequence, status, "
                + "client_identifier, content, reject_reason, comments from drop_ship_order "
                + $end,
            $($argument),*
        )
    };
}

/// Selects items: the conditions, then the arguments.
macro_rules! items {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ItemRow,
            "select item_id, ordered, shipped, cancelled from drop_ship_item " + $end,
            $($argument),*
        )
    };
}

/// Inserts new orders with their items, skipping those whose identifiers are taken. The orders must be sorted by identifier.
/// Returns the ids of the inserted ones.
pub async fn insert(tx: &mut Tx, new: &[DropShipOrder], now: DateTime<Utc>) -> Result<HashSet<Uuid>, Failed> {
    let ids: Vec<Uuid> = new.iter().map(|order| order.id).collect();
    let billing: Vec<Uuid> = new.iter().map(|order| order.billing_address_id).collect();
    let shipping: Vec<Uuid> = new.iter().map(|order| order.shipping_address_id).collect();
    let names: Vec<&str> = new.iter().map(|order| order.client_identifier.as_str()).collect();
    let contents: Vec<&str> = new.iter().map(|order| order.content.as_str()).collect();
    let (mut of, mut item_ids, mut positions, mut ordered) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for order in new {
        for ((position, item), id) in order.order.items.iter().enumerate().zip(&order.item_ids) {
            of.push(order.id);
            item_ids.push(*id);
            positions.push(number(position)?);
            ordered.push(number(item.ordered)?);
        }
    }
    let taken = sqlx::query_scalar!(
        r#"
        with taken as (
            insert into drop_ship_order (
                merchant_id, drop_ship_order_id, billing_address_id, shipping_address_id, created_at, updated_at, sequence, status,
                client_identifier, content
            )
            select $1, id, billing, shipping, $2, $2, 0, 'accepted', client_identifier, content
            from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[])
                as new (id, billing, shipping, client_identifier, content)
            on conflict (merchant_id, client_identifier) do nothing
            returning drop_ship_order_id
        ), units as (
            insert into drop_ship_item (merchant_id, drop_ship_order_id, item_id, position, ordered, shipped, cancelled)
            select $1, order_id, id, position, ordered, 0, 0
            from unnest($8::uuid[], $9::uuid[], $10::integer[], $11::integer[]) as item (order_id, id, position, ordered)
            where order_id in (select drop_ship_order_id from taken)
        )
        select drop_ship_order_id from taken
        "#,
        tx.merchant().0,
        now,
        &ids,
        &billing,
        &shipping,
        &names as &[&str],
        &contents as &[&str],
        &of,
        &item_ids,
        &positions,
        &ordered,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(taken.into_iter().collect())
}

/// The ids and contents of the orders with these identifiers.
pub async fn contents(tx: &mut Tx, names: &[&str]) -> Result<HashMap<String, (Uuid, String)>, Failed> {
    let merchant = tx.merchant().0;
    let rows = sqlx::query!(
        "select drop_ship_order_id, client_identifier, content from drop_ship_order where merchant_id = $1 and client_identifier = any($2)",
        merchant,
        names as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.client_identifier, (row.drop_ship_order_id, row.content))).collect())
}

/// Saves the state of an order and its items. The order must be locked.
pub async fn save(tx: &mut Tx, changed: &DropShipOrder) -> Result<(), Failed> {
    let shipped = changed.order.items.iter().map(|item| number(item.shipped)).collect::<Result<Vec<_>, _>>()?;
    let cancelled = changed.order.items.iter().map(|item| number(item.cancelled)).collect::<Result<Vec<_>, _>>()?;
    sqlx::query!(
        r#"
        with units as (
            update drop_ship_item set shipped = now.shipped, cancelled = now.cancelled
            from unnest($8::integer[], $9::integer[]) with ordinality as now (shipped, cancelled, nth)
            where drop_ship_item.merchant_id = $1 and drop_ship_item.drop_ship_order_id = $2 and drop_ship_item.position = now.nth - 1
        )
        update drop_ship_order set updated_at = $3, sequence = $4, status = $5, reject_reason = $6, comments = $7
        where merchant_id = $1 and drop_ship_order_id = $2
        "#,
        tx.merchant().0,
        changed.id,
        changed.updated_at,
        changed.sequence,
        changed.order.status().as_str(),
        changed.reject_reason,
        changed.comments,
        &shipped,
        &cancelled,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The order with this identifier, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, client_identifier: &str) -> Result<Option<DropShipOrder>, Failed> {
    let merchant = tx.merchant().0;
    let row = orders!("where merchant_id = $1 and client_identifier = $2 for update", merchant, client_identifier)
        .fetch_optional(tx.connection())
        .await?;
    let Some(row) = row else { return Ok(None) };
    let items = items!("where merchant_id = $1 and drop_ship_order_id = $2 order by position", merchant, row.drop_ship_order_id)
        .fetch_all(tx.connection())
        .await?;
    row.into_order(items).map(Some)
}

/// True if the merchant has an order with this identifier.
pub async fn exists(store: &Store, merchant: MerchantId, client_identifier: &str) -> Result<bool, Failed> {
    let found = sqlx::query_scalar!(
        "select drop_ship_order_id from drop_ship_order where merchant_id = $1 and client_identifier = $2",
        merchant.0,
        client_identifier,
    );
    Ok(found.fetch_optional(&store.pool).await?.is_some())
}

/// The order with this identifier.
pub async fn find(store: &Store, merchant: MerchantId, client_identifier: &str) -> Result<Option<DropShipOrder>, Failed> {
    let row =
        orders!("where merchant_id = $1 and client_identifier = $2", merchant.0, client_identifier).fetch_optional(&store.pool).await?;
    let Some(row) = row else { return Ok(None) };
    let items = items!("where merchant_id = $1 and drop_ship_order_id = $2 order by position", merchant.0, row.drop_ship_order_id)
        .fetch_all(&store.pool)
        .await?;
    row.into_order(items).map(Some)
}

fn number<T: TryInto<i32>>(number: T) -> Result<i32, Failed> {
    number.try_into().map_err(|_| Failed::Internal("a number of units is out of range"))
}
