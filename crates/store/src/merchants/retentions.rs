//! The end of merchants' retention: the orders and drop-ship orders that nothing has changed for as long as the merchant keeps them.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::merchants::erasures::OfOrder;
use crate::{Failed, Store, Tx};

/// Orders of `merchant` that were last changed at `until` or before, and still hold personal data; oldest first.
pub async fn orders(store: &Store, merchant: MerchantId, until: DateTime<Utc>, most: i64) -> Result<Vec<String>, Failed> {
    let orders = sqlx::query_scalar!(
        r#"
        select identifier
        from customer_order
        where merchant_id = $1 and greatest(received_at, kept_from) <= $2
            -- An erased order has no digest.
            and digest <> '\x0000000000000000000000000000000000000000000000000000000000000000'
        order by greatest(received_at, kept_from)
        limit $3
        "#,
        merchant.0,
        until,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(orders)
}

/// Drop-ship orders of `merchant` that are over, were last changed at `until` or before, and still hold personal data; oldest first.
pub async fn drop_ship_orders(store: &Store, merchant: MerchantId, until: DateTime<Utc>, most: i64) -> Result<Vec<String>, Failed> {
    let orders = sqlx::query_scalar!(
        r#"
        select client_identifier
        from drop_ship_order
        where merchant_id = $1 and greatest(updated_at, kept_from) <= $2
            and not erased and status in ('shipped', 'cancelled', 'rejected')
        order by greatest(updated_at, kept_from)
        limit $3
        "#,
        merchant.0,
        until,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(orders)
}

/// The time of the last change to an order, its refunds, its returns, its exchange order and its withdrawals.
pub async fn last_change(tx: &mut Tx, order: &str) -> Result<Option<DateTime<Utc>>, Failed> {
    let changed = sqlx::query_scalar!(
        r#"
        select greatest(
            (select received_at from customer_order where merchant_id = $1 and identifier = $2),
            (select max(received_at) from refund where merchant_id = $1 and order_identifier = $2),
            (select max(updated_at) from rma where merchant_id = $1 and order_identifier = $2),
            (select coalesce(ended_at, created_at) from exchange_order where merchant_id = $1 and original_order_identifier = $2),
            (select max(received_at) from withdrawal where merchant_id = $1 and order_identifier = $2)
        )
        "#,
        tx.merchant().0,
        order,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(changed)
}

/// Counts the retention of an order from `from` on.
pub async fn keep_order(tx: &mut Tx, order: &str, from: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("update customer_order set kept_from = $3 where merchant_id = $1 and identifier = $2", tx.merchant().0, order, from)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Counts the retention of a drop-ship order from `from` on.
pub async fn keep_drop_ship_order(tx: &mut Tx, order: &str, from: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "update drop_ship_order set kept_from = $3 where merchant_id = $1 and client_identifier = $2",
        tx.merchant().0,
        order,
        from,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes what only returns under way need: labels and their purchases, tracking numbers, reports of drop-offs. The returns must be
/// locked.
pub async fn forget_transport(tx: &mut Tx, returns: &[OfOrder]) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let ids: Vec<Uuid> = returns.iter().map(|of_order| of_order.id).collect();
    sqlx::query!(
        r#"
        delete from parcel
        where merchant_id = $1 and rma_id = any($2) and tracking_number in (
            select item.tracking_number from rma_item as item where item.merchant_id = $1 and item.rma_id = any($2)
            union
            select label.tracking_number from label where label.merchant_id = $1 and label.rma_id = any($2)
        )
        "#,
        merchant,
        &ids,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("delete from label where merchant_id = $1 and rma_id = any($2)", merchant, &ids).execute(tx.connection()).await?;
    sqlx::query!("delete from label_order where merchant_id = $1 and rma_id = any($2)", merchant, &ids).execute(tx.connection()).await?;
    sqlx::query!("delete from drop_off where merchant_id = $1 and rma_id = any($2)", merchant, &ids).execute(tx.connection()).await?;
    Ok(())
}
