//! Returns and their units.

mod changed;
mod locked;
mod record;
mod rows;
mod started;
mod units;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::node::trace::SpanIds;
use domain::returns::rma::Event;
use uuid::Uuid;

pub use self::record::{Item, Return, Stored};
use self::rows::{RmaRow, assemble};
use super::rma_writes::Write;
use crate::messages::outbox::{Message, Shared};
use crate::{Failed, SharedTx, Store, Tx};

/// Selects returns: the conditions, then the arguments.
macro_rules! returns {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            RmaRow,
            "select rma_id, created_at, updated_at, wakes_at, sequence, shipping_cost_cents, fee_deducted, gift, receiving_closed, scanned_early, reminded, method, "
                + "status, identifier, order_identifier, original_order_identifier, cancel_reason, giftee_email, language from rma "
                + $end,
            $($argument),*
        )
    };
}

/// Inserts a return, its units and its claims on them, and marks the order as having returns. The order must be locked. The return is
/// written by the next statement of the transaction, or by the commit.
pub async fn insert(tx: &mut Tx, new: &Return) -> Result<(), Failed> {
    tx.keep(Write::Start(Box::new(started::of(new)))).await
}

/// Saves what has changed of a return and its units. The return must be locked. It is written by the next statement of the
/// transaction, or by the commit.
pub async fn save(tx: &mut Tx, changed: &mut Return) -> Result<(), Failed> {
    tx.keep(Write::Change(Box::new(changed::of(changed, None)))).await?;
    changed.set_stored();
    Ok(())
}

/// [`save`], with an entry of the return's time line: `event` changed it at `now`.
pub async fn save_event(tx: &mut Tx, changed: &mut Return, event: Event, now: DateTime<Utc>) -> Result<(), Failed> {
    tx.keep(Write::Change(Box::new(changed::of(changed, Some((event, now)))))).await?;
    changed.set_stored();
    Ok(())
}

/// [`save_event`] in a transaction that several merchants share, with the message on the change. They are written by the commit.
pub fn save_event_shared(
    tx: &mut SharedTx,
    merchant: MerchantId,
    changed: &mut Return,
    (event, now): (Event, DateTime<Utc>),
    message: Message,
    trace: Option<SpanIds>,
) -> Result<(), Failed> {
    tx.keep_change(Shared { merchant, write: changed::of(changed, Some((event, now))), message, trace })?;
    changed.set_stored();
    Ok(())
}

/// [`insert`] in a transaction that several merchants share, with the message on the return, which exchanges nothing. They are written by
/// the commit.
pub fn insert_shared(
    tx: &mut SharedTx,
    merchant: MerchantId,
    new: &Return,
    message: Message,
    trace: Option<SpanIds>,
) -> Result<(), Failed> {
    tx.keep_start(Shared { merchant, write: started::of(new), message, trace })
}

/// The returns with these identifiers, each with its merchant, locked until the transaction ends. One that does not exist is left out,
/// and so is one that somebody else has locked, or has just changed: nobody waits.
pub async fn lock_at_once(tx: &mut SharedTx, wanted: &[(MerchantId, &str)]) -> Result<Vec<(MerchantId, Return)>, Failed> {
    locked::at_once(tx, wanted).await
}

/// The return with this identifier, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, identifier: &str) -> Result<Option<Return>, Failed> {
    locked::by_identifier(tx, identifier).await
}

/// The return with this id, locked until the transaction ends.
pub async fn lock_by_id(tx: &mut Tx, id: Uuid) -> Result<Option<Return>, Failed> {
    locked::by_id(tx, id).await
}

/// The return with this tracking number, locked until the transaction ends.
pub async fn lock_by_parcel(tx: &mut Tx, number: &str) -> Result<Option<Return>, Failed> {
    locked::by_parcel(tx, number).await
}

/// The return with this id as last committed, not locked.
pub async fn get(tx: &mut Tx, id: Uuid) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = returns!("where merchant_id = $1 and rma_id = $2", merchant, id).fetch_all(tx.connection()).await?;
    Ok(with_units(tx, rows).await?.pop())
}

/// The returns with these identifiers, by id, locked until the transaction ends.
pub async fn lock_many(tx: &mut Tx, identifiers: &[&str]) -> Result<Vec<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = returns!("where merchant_id = $1 and identifier = any($2) order by rma_id for update", merchant, identifiers as &[&str],)
        .fetch_all(tx.connection())
        .await?;
    with_units(tx, rows).await
}

/// The returns of these orders that are not cancelled, locked until the transaction ends: first those that are not settled, oldest
/// first, then the others. The orders must be locked.
pub async fn lock_of_orders(tx: &mut Tx, orders: &[&str]) -> Result<Vec<Return>, Failed> {
    let mut returns = match orders {
        [] => Vec::new(),
        [order] => locked::of_order(tx, order).await?,
        orders => {
            let merchant = tx.merchant().0;
            let rows = returns!(
                "where merchant_id = $1 and order_identifier = any($2) and status <> 'CANCELED' order by rma_id for update",
                merchant,
                orders as &[&str],
            );
            let rows = rows.fetch_all(tx.connection()).await?;
            with_units(tx, rows).await?
        }
    };
    returns.sort_by_key(|kept| !kept.rma.is_live());
    Ok(returns)
}

async fn with_units(tx: &mut Tx, rows: Vec<RmaRow>) -> Result<Vec<Return>, Failed> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.rma_id).collect();
    let merchant = tx.merchant();
    let units = units::of_all(tx.connection(), merchant, &ids).await?;
    assemble(rows, units)
}

/// The return `identifier` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, identifier: &str) -> Result<Option<Return>, Failed> {
    let rows = returns!("where merchant_id = $1 and identifier = $2", merchant.0, identifier).fetch_all(&store.pool).await?;
    Ok(and_units(store, merchant, rows).await?.pop())
}

/// The return of `merchant` with the tracking number `number`.
pub async fn find_by_parcel(store: &Store, merchant: MerchantId, number: &str) -> Result<Option<Return>, Failed> {
    let rows = returns!(
        "where merchant_id = $1 and rma_id = (select parcel.rma_id from parcel where parcel.merchant_id = $1 and parcel.tracking_number = $2)",
        merchant.0,
        number,
    );
    Ok(and_units(store, merchant, rows.fetch_all(&store.pool).await?).await?.pop())
}

/// The returns of `merchant` that a warehouse waits for, before the return `before`: newest first, at most `limit`. The flag
/// tells whether there are more.
pub async fn list_expected(store: &Store, merchant: MerchantId, before: Option<Uuid>, limit: usize) -> Result<(Vec<Return>, bool), Failed> {
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = returns!(
        "where merchant_id = $1 and expected and rma_id < $2 order by rma_id desc limit $3",
        merchant.0,
        before.unwrap_or(Uuid::max()),
        most,
    );
    let mut found = and_units(store, merchant, rows.fetch_all(&store.pool).await?).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    Ok((found, more))
}

async fn and_units(store: &Store, merchant: MerchantId, rows: Vec<RmaRow>) -> Result<Vec<Return>, Failed> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.rma_id).collect();
    let units = units::of_all(&store.pool, merchant, &ids).await?;
    assemble(rows, units)
}

/// Returns of all merchants that are due to be woken, longest due first.
pub async fn due_to_wake(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!("select merchant_id, rma_id from rma where wakes_at <= $1 order by wakes_at limit $2", now, most)
        .fetch_all(&store.pool)
        .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.rma_id)).collect())
}
