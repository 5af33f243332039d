//! Returns and their units.

mod columns;
mod record;
mod rows;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::ExchangeState;
use uuid::Uuid;

use self::columns::Columns;
pub use self::record::{Item, Return};
use self::rows::{ItemRow, RmaRow, assemble};
use crate::{Failed, Store, Tx};

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

/// Selects units: the conditions, then the arguments.
macro_rules! units {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ItemRow,
            "select rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents, unit, "
                + "exchange_owed, refund_type, order_line, sku, title, reason, parcel, tracking_number, receiving, refund_identifier, "
                + "refund_in_question, "
                + "exchange_sku, exchange_order_identifier from rma_item "
                + $end,
            $($argument),*
        )
    };
}

/// Inserts a return, its units and its claims on them, and marks the order as having returns. The order must be locked.
pub async fn insert(tx: &mut Tx, new: &Return) -> Result<(), Failed> {
    let columns = Columns::of(new);
    sqlx::query!(
        r#"
        with started as (
            insert into rma (
                merchant_id, rma_id, identifier, order_identifier, original_order_identifier, created_at, updated_at, wakes_at, sequence,
                shipping_cost_cents, fee_deducted, exchange, gift, giftee_email, method, status, receiving_closed, reminded, expected,
                language
            )
            values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $29, $31, $10, $11, $12, $13, false, false, $32, $33)
        ), units as (
            insert into rma_item (
                merchant_id, rma_id, position, unit, order_line, sku, title, reason, refund_type, exchange_owed, exchange_sku, receiving,
                product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents
            )
            select
                $1, $2, (nth - 1)::integer, unit, order_line, sku, title, reason, refund_type, exchange_owed, exchange_sku, receiving,
                product, discount, tax, estimated, fee, service, shopper
            from unnest(
                $14::integer[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::boolean[], $21::text[],
                $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[], $30::text[]
            ) with ordinality as returned (
                unit, order_line, sku, title, reason, refund_type, exchange_owed, receiving,
                product, discount, tax, estimated, fee, service, shopper, exchange_sku, nth
            )
        ), noted as (
            update customer_order set has_returns = true
            where merchant_id = $1 and identifier = $4 and not has_returns
        )
        insert into unit_claim (merchant_id, rma_id, order_identifier, order_line, unit)
        select $1, $2, $4, order_line, unit
        from unnest($14::integer[], $15::text[]) as claimed (unit, order_line)
        "#,
        tx.merchant().0,
        new.id,
        new.identifier,
        new.order,
        new.original_order,
        new.created_at,
        new.wakes_at,
        new.sequence,
        new.shipping_cost.get(),
        new.gift,
        new.giftee_email,
        new.rma.method.as_str(),
        new.rma.status.as_str(),
        &columns.units,
        &columns.lines as &[&str],
        &columns.skus as &[&str],
        &columns.titles as &[Option<&str>],
        &columns.reasons as &[&str],
        &columns.refund_types as &[&str],
        &columns.exchange_owed,
        &columns.receiving as &[Option<&str>],
        &columns.products,
        &columns.discounts,
        &columns.taxes,
        &columns.estimated,
        &columns.fees,
        &columns.service,
        &columns.shopper,
        new.fee_deducted,
        &columns.exchange_skus as &[Option<&str>],
        new.rma.exchange().map(ExchangeState::as_str),
        new.rma.is_expected(),
        new.language,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Saves the state of a return and its units. The return must be locked.
pub async fn save(tx: &mut Tx, changed: &Return) -> Result<(), Failed> {
    let columns = Columns::of(changed);
    sqlx::query!(
        r#"
        with units as (
            update rma_item
            set parcel = now.parcel, tracking_number = now.tracking_number, receiving = now.receiving,
                refund_identifier = now.refund, refund_in_question = now.in_question, refund_type = now.refund_type, exchange_owed = now.exchange_owed,
                exchange_order_identifier = now.exchange_order,
                estimated_cents = now.estimated, fee_cents = now.fee, service_cents = now.service, shopper_cents = now.shopper
            from unnest(
                $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::boolean[], $16::text[],
                $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $22::boolean[]
            ) with ordinality as now (
                parcel, tracking_number, receiving, refund, refund_type, exchange_owed, exchange_order,
                estimated, fee, service, shopper, in_question, nth
            )
            where rma_item.merchant_id = $1 and rma_item.rma_id = $2 and rma_item.position = now.nth - 1
        )
        update rma
        set updated_at = $3, sequence = $4, wakes_at = $5, reminded = $6, status = $7, receiving_closed = $8, cancel_reason = $9, exchange = $21,
            scanned_early = $23, expected = $24,
            -- The promise counts from the first goods that came back, and later ones do not move it.
            refund_due_at = case
                when $25 then coalesce(
                    refund_due_at,
                    $3::timestamptz + (select make_interval(days => refund_days) from merchant where merchant.merchant_id = $1)
                )
            end
        where merchant_id = $1 and rma_id = $2
        "#,
        tx.merchant().0,
        changed.id,
        changed.updated_at,
        changed.sequence,
        changed.wakes_at,
        changed.reminded,
        changed.rma.status.as_str(),
        changed.rma.receiving_closed,
        changed.cancel_reason,
        &columns.parcels as &[Option<&str>],
        &columns.tracking_numbers as &[Option<&str>],
        &columns.receiving as &[Option<&str>],
        &columns.refunds as &[Option<&str>],
        &columns.refund_types as &[&str],
        &columns.exchange_owed,
        &columns.exchange_orders as &[Option<&str>],
        &columns.estimated,
        &columns.fees,
        &columns.service,
        &columns.shopper,
        changed.rma.exchange().map(ExchangeState::as_str),
        &columns.in_question,
        changed.rma.scanned_early,
        changed.rma.is_expected(),
        changed.rma.awaits_refund(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The return with this identifier, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, identifier: &str) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = returns!("where merchant_id = $1 and identifier = $2 for update", merchant, identifier).fetch_all(tx.connection()).await?;
    Ok(with_units(tx, rows).await?.pop())
}

/// The return with this id, locked until the transaction ends.
pub async fn lock_by_id(tx: &mut Tx, id: Uuid) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = returns!("where merchant_id = $1 and rma_id = $2 for update", merchant, id).fetch_all(tx.connection()).await?;
    Ok(with_units(tx, rows).await?.pop())
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
    let merchant = tx.merchant().0;
    let rows = returns!(
        "where merchant_id = $1 and order_identifier = any($2) and status <> 'CANCELED' order by rma_id for update",
        merchant,
        orders as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    let mut returns = with_units(tx, rows).await?;
    returns.sort_by_key(|kept| !kept.rma.is_live());
    Ok(returns)
}

async fn with_units(tx: &mut Tx, rows: Vec<RmaRow>) -> Result<Vec<Return>, Failed> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.rma_id).collect();
    let merchant = tx.merchant().0;
    let units =
        units!("where merchant_id = $1 and rma_id = any($2) order by rma_id, position", merchant, &ids).fetch_all(tx.connection()).await?;
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
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.rma_id).collect();
    let units = units!("where merchant_id = $1 and rma_id = any($2) order by rma_id, position", merchant.0, &ids);
    assemble(rows, units.fetch_all(&store.pool).await?)
}

/// Returns of all merchants that are due to be woken, longest due first.
pub async fn due_to_wake(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!("select merchant_id, rma_id from rma where wakes_at <= $1 order by wakes_at limit $2", now, most)
        .fetch_all(&store.pool)
        .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.rma_id)).collect())
}
