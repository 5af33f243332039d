//! The refunds that merchants reported: one row per order and identifier, and one per line.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::orders::refund::{Covered, Ledger, Note, Refund};

use crate::connection::Connection;
use crate::{Failed, Store, Tx};

/// A refund of an order, with its identifier.
pub struct Change<'a> {
    pub order: &'a str,
    pub identifier: &'a str,
    pub refund: &'a Refund,
}

/// Inserts refunds and their lines, and updates those that are there. The orders must be locked.
pub async fn save(tx: &mut Tx, changes: &[Change<'_>], now: DateTime<Utc>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let identifiers: Vec<&str> = changes.iter().map(|change| change.identifier).collect();
    let orders: Vec<&str> = changes.iter().map(|change| change.order).collect();
    let totals: Vec<i64> = changes.iter().map(|change| change.refund.total.get()).collect();
    let times: Vec<DateTime<Utc>> = changes.iter().map(|change| change.refund.refunded_at).collect();
    let notes: Vec<Option<&str>> = changes.iter().map(|change| change.refund.note.as_ref().map(|Note(note)| note.as_str())).collect();
    let rmas: Vec<Option<&str>> = changes.iter().map(|change| change.refund.rma_identifier.as_deref()).collect();
    sqlx::query!(
        r#"
        insert into refund (merchant_id, identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, received_at)
        select $1, identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, $8
        from unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[], $7::text[])
            as arriving (identifier, order_identifier, total_cents, refunded_at, note, rma_identifier)
        on conflict (merchant_id, order_identifier, identifier) do update
        set total_cents = excluded.total_cents, refunded_at = excluded.refunded_at, note = excluded.note,
            rma_identifier = excluded.rma_identifier
        "#,
        merchant,
        &identifiers as &[&str],
        &orders as &[&str],
        &totals,
        &times,
        &notes as &[Option<&str>],
        &rmas as &[Option<&str>],
        now,
    )
    .execute(tx.connection())
    .await?;
    save_lines(tx, changes).await
}

async fn save_lines(tx: &mut Tx, changes: &[Change<'_>]) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let lines: Vec<(&Change<'_>, &Covered)> =
        changes.iter().flat_map(|change| change.refund.lines.iter().map(move |line| (change, line))).collect();
    let identifiers: Vec<&str> = lines.iter().map(|(_, line)| line.identifier.as_str()).collect();
    let refunds: Vec<&str> = lines.iter().map(|(change, _)| change.identifier).collect();
    let orders: Vec<&str> = lines.iter().map(|(change, _)| change.order).collect();
    let order_lines: Vec<&str> = lines.iter().map(|(_, line)| line.order_line.as_str()).collect();
    let units = |of: fn(&Covered) -> u32| lines.iter().map(|(_, line)| i32::try_from(of(line))).collect::<Result<Vec<i32>, _>>();
    let out_of_range = |_| Failed::Internal("a quantity is out of range");
    let quantities = units(|line| line.quantity).map_err(out_of_range)?;
    let outside = units(|line| line.outside).map_err(out_of_range)?;
    sqlx::query!(
        r#"
        insert into refund_line (merchant_id, identifier, refund_identifier, order_identifier, order_line, quantity, outside)
        select $1, identifier, refund_identifier, order_identifier, order_line, quantity, outside
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[])
            as arriving (identifier, refund_identifier, order_identifier, order_line, quantity, outside)
        on conflict (merchant_id, order_identifier, order_line, identifier) do update
        set quantity = excluded.quantity, outside = excluded.outside
        "#,
        merchant,
        &identifiers as &[&str],
        &refunds as &[&str],
        &orders as &[&str],
        &order_lines as &[&str],
        &quantities,
        &outside,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The recorded refunds of these orders. The orders must be locked.
pub async fn ledgers(tx: &mut Tx, orders: &[&str]) -> Result<BTreeMap<String, Ledger>, Failed> {
    let merchant = tx.merchant();
    let mut ledgers: BTreeMap<String, Ledger> = BTreeMap::new();
    for recorded in read(tx.connection(), merchant, orders).await? {
        ledgers.entry(recorded.order).or_default().refunds.insert(recorded.identifier, recorded.refund);
    }
    Ok(ledgers)
}

/// Those of `refunds`, as (order, identifier), whose identifier belongs to a refund of another order, too.
pub async fn of_other_orders(tx: &mut Tx, refunds: &[(&str, &str)]) -> Result<HashSet<(String, String)>, Failed> {
    if refunds.is_empty() {
        return Ok(HashSet::new());
    }
    let orders: Vec<&str> = refunds.iter().map(|(order, _)| *order).collect();
    let identifiers: Vec<&str> = refunds.iter().map(|(_, identifier)| *identifier).collect();
    let rows = sqlx::query!(
        r#"
        select stated.order_identifier as "order!", stated.identifier as "identifier!"
        from unnest($2::text[], $3::text[]) as stated (order_identifier, identifier)
        where exists (
            select from refund
            where refund.merchant_id = $1 and refund.identifier = stated.identifier
                and refund.order_identifier <> stated.order_identifier
        )
        "#,
        tx.merchant().0,
        &orders as &[&str],
        &identifiers as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.order, row.identifier)).collect())
}

/// Those of `lines`, as (order, identifier of the refund line), whose identifier belongs to a refund of another order, too.
pub async fn lines_of_other_orders(tx: &mut Tx, lines: &[(&str, &str)]) -> Result<HashSet<(String, String)>, Failed> {
    if lines.is_empty() {
        return Ok(HashSet::new());
    }
    let orders: Vec<&str> = lines.iter().map(|(order, _)| *order).collect();
    let identifiers: Vec<&str> = lines.iter().map(|(_, identifier)| *identifier).collect();
    let rows = sqlx::query!(
        r#"
        select stated.order_identifier as "order!", stated.identifier as "identifier!"
        from unnest($2::text[], $3::text[]) as stated (order_identifier, identifier)
        where exists (
            select from refund_line as line
            where line.merchant_id = $1 and line.identifier = stated.identifier
                and line.order_identifier <> stated.order_identifier
        )
        "#,
        tx.merchant().0,
        &orders as &[&str],
        &identifiers as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.order, row.identifier)).collect())
}

/// A recorded refund.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub order: String,
    /// Unique among the refunds of the order.
    pub identifier: String,
    pub refund: Refund,
    /// The time it was first received.
    pub received_at: DateTime<Utc>,
}

/// Every refund of the order `order` of `merchant`, in the order of arrival.
pub async fn list(store: &Store, merchant: MerchantId, order: &str) -> Result<Vec<Recorded>, Failed> {
    let mut connection = store.pool.single().await?;
    read(&mut connection, merchant, &[order]).await
}

async fn read(connection: &mut Connection, merchant: MerchantId, orders: &[&str]) -> Result<Vec<Recorded>, Failed> {
    let rows = sqlx::query!(
        r#"
        select identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, received_at
        from refund
        where merchant_id = $1 and order_identifier = any($2)
        order by received_at, identifier
        "#,
        merchant.0,
        orders as &[&str],
    )
    .fetch_all(&mut *connection)
    .await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let line_rows = sqlx::query!(
        r#"
        select refund_identifier, order_identifier, identifier, order_line, quantity, outside
        from refund_line
        where merchant_id = $1 and order_identifier = any($2)
        order by identifier, order_line
        "#,
        merchant.0,
        orders as &[&str],
    )
    .fetch_all(connection)
    .await?;
    let mut covered: BTreeMap<(String, String), Vec<Covered>> = BTreeMap::new();
    for line in line_rows {
        let units = |units: i32| u32::try_from(units).map_err(|_| Failed::Internal("a stored quantity is negative"));
        let lines = covered.entry((line.order_identifier, line.refund_identifier)).or_default();
        lines.push(Covered {
            identifier: line.identifier,
            order_line: line.order_line,
            quantity: units(line.quantity)?,
            outside: units(line.outside)?,
        });
    }
    rows.into_iter()
        .map(|row| {
            let total = Cents::new(row.total_cents).ok_or(Failed::Internal("an amount is out of range"))?;
            let key = (row.order_identifier, row.identifier);
            let lines = covered.remove(&key).unwrap_or_default();
            let (order, identifier) = key;
            let note = row.note.map(Note);
            let refund = Refund { total, lines, refunded_at: row.refunded_at, note, rma_identifier: row.rma_identifier };
            Ok(Recorded { order, identifier, refund, received_at: row.received_at })
        })
        .collect()
}
