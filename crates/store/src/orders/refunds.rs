//! The refunds that merchants reported: one row per identifier. The content of a recorded refund never changes.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::money::Cents;
use domain::orders::refund::{Covered, Note, Refund};
use sqlx::PgConnection;

use crate::{Failed, Store, Tx};

/// A recorded refund.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Unique among the merchant's refunds.
    pub identifier: String,
    pub refund: Refund,
    /// The time it was first received.
    pub received_at: DateTime<Utc>,
}

/// Inserts those of `refunds` whose identifiers are new to the merchant, and returns these identifiers. The refunds must be
/// sorted by identifier.
pub async fn insert(tx: &mut Tx, refunds: &[(&str, &Refund)], now: DateTime<Utc>) -> Result<Vec<String>, Failed> {
    let merchant = tx.merchant().0;
    let identifiers: Vec<&str> = refunds.iter().map(|(identifier, _)| *identifier).collect();
    let orders: Vec<&str> = refunds.iter().map(|(_, refund)| refund.order.as_str()).collect();
    let totals: Vec<i64> = refunds.iter().map(|(_, refund)| refund.total.get()).collect();
    let times: Vec<DateTime<Utc>> = refunds.iter().map(|(_, refund)| refund.refunded_at).collect();
    let notes: Vec<Option<&str>> = refunds.iter().map(|(_, refund)| refund.note.as_ref().map(|Note(note)| note.as_str())).collect();
    let rmas: Vec<Option<&str>> = refunds.iter().map(|(_, refund)| refund.rma_identifier.as_deref()).collect();
    let new = sqlx::query_scalar!(
        r#"
        insert into refund (merchant_id, identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, received_at)
        select $1, identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, $8
        from unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[], $7::text[])
            as arriving (identifier, order_identifier, total_cents, refunded_at, note, rma_identifier)
        on conflict (merchant_id, identifier) do nothing
        returning identifier
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
    .fetch_all(tx.connection())
    .await?;
    Ok(new)
}

/// Inserts the lines of `refunds`, which must be new, and returns the identifiers of the inserted lines. A line that is
/// missing from the result belongs to another refund.
pub async fn insert_lines(tx: &mut Tx, refunds: &[(&str, &Refund)]) -> Result<Vec<String>, Failed> {
    let merchant = tx.merchant().0;
    let mut lines: Vec<(&str, &Refund, &Covered)> =
        refunds.iter().flat_map(|(identifier, refund)| refund.lines.iter().map(move |line| (*identifier, *refund, line))).collect();
    lines.sort_unstable_by(|(.., a), (.., b)| a.identifier.cmp(&b.identifier));
    let identifiers: Vec<&str> = lines.iter().map(|(.., line)| line.identifier.as_str()).collect();
    let owners: Vec<&str> = lines.iter().map(|(refund, ..)| *refund).collect();
    let orders: Vec<&str> = lines.iter().map(|(_, refund, _)| refund.order.as_str()).collect();
    let order_lines: Vec<&str> = lines.iter().map(|(.., line)| line.order_line.as_str()).collect();
    let quantities = lines.iter().map(|(.., line)| i32::try_from(line.quantity)).collect::<Result<Vec<i32>, _>>();
    let quantities = quantities.map_err(|_| Failed::Internal("a quantity is out of range"))?;
    let recorded = sqlx::query_scalar!(
        r#"
        insert into refund_line (merchant_id, identifier, refund_identifier, order_identifier, order_line, quantity)
        select $1, identifier, refund_identifier, order_identifier, order_line, quantity
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[])
            as arriving (identifier, refund_identifier, order_identifier, order_line, quantity)
        on conflict (merchant_id, identifier) do nothing
        returning identifier
        "#,
        merchant,
        &identifiers as &[&str],
        &owners as &[&str],
        &orders as &[&str],
        &order_lines as &[&str],
        &quantities,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(recorded)
}

/// Updates the note and the return of a repeated refund. They are not part of its content.
pub async fn amend(tx: &mut Tx, identifier: &str, note: Option<&Note>, rma_identifier: Option<&str>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update refund
        set note = coalesce($3, note), rma_identifier = coalesce(rma_identifier, $4)
        where merchant_id = $1 and identifier = $2
        "#,
        tx.merchant().0,
        identifier,
        note.map(|Note(note)| note.as_str()),
        rma_identifier,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The recorded refunds with these identifiers, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, identifiers: &[&str]) -> Result<Vec<Recorded>, Failed> {
    let merchant = tx.merchant().0;
    let rows = sqlx::query_as!(
        RefundRow,
        r#"
        select identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, received_at
        from refund
        where merchant_id = $1 and identifier = any($2)
        order by identifier
        for update
        "#,
        merchant,
        identifiers as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    let orders: Vec<&str> = rows.iter().map(|row| row.order_identifier.as_str()).collect();
    let lines = sqlx::query_as!(
        LineRow,
        r#"
        select refund_identifier, identifier, order_line, quantity
        from refund_line
        where merchant_id = $1 and order_identifier = any($2)
        order by identifier
        "#,
        merchant,
        &orders as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    assemble(rows, lines)
}

/// Refunded units per line of the order `order`, over all recorded refunds.
pub async fn refunded_units(tx: &mut Tx, order: &str) -> Result<BTreeMap<String, u64>, Failed> {
    let merchant = tx.merchant();
    read_units(tx.connection(), merchant, order).await
}

/// [`refunded_units`] outside of a transaction.
pub async fn units(store: &Store, merchant: MerchantId, order: &str) -> Result<BTreeMap<String, u64>, Failed> {
    let mut connection = store.pool.acquire().await?;
    read_units(&mut connection, merchant, order).await
}

async fn read_units(connection: &mut PgConnection, merchant: MerchantId, order: &str) -> Result<BTreeMap<String, u64>, Failed> {
    let rows = sqlx::query!(
        r#"
        select order_line, sum(quantity) as "units!"
        from refund_line
        where merchant_id = $1 and order_identifier = $2
        group by order_line
        "#,
        merchant.0,
        order,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (row.order_line, u64::try_from(row.units).unwrap_or_default())).collect())
}

/// Every refund of the order `order` of `merchant`, in the order of arrival.
pub async fn list(store: &Store, merchant: MerchantId, order: &str) -> Result<Vec<Recorded>, Failed> {
    let rows = sqlx::query_as!(
        RefundRow,
        r#"
        select identifier, order_identifier, total_cents, refunded_at, note, rma_identifier, received_at
        from refund
        where merchant_id = $1 and order_identifier = $2
        order by received_at, identifier
        "#,
        merchant.0,
        order,
    )
    .fetch_all(&store.pool)
    .await?;
    let lines = sqlx::query_as!(
        LineRow,
        r#"
        select refund_identifier, identifier, order_line, quantity
        from refund_line
        where merchant_id = $1 and order_identifier = $2
        order by identifier
        "#,
        merchant.0,
        order,
    )
    .fetch_all(&store.pool)
    .await?;
    assemble(rows, lines)
}

struct RefundRow {
    identifier: String,
    order_identifier: String,
    total_cents: i64,
    refunded_at: DateTime<Utc>,
    note: Option<String>,
    rma_identifier: Option<String>,
    received_at: DateTime<Utc>,
}

struct LineRow {
    refund_identifier: String,
    identifier: String,
    order_line: String,
    quantity: i32,
}

fn assemble(rows: Vec<RefundRow>, lines: Vec<LineRow>) -> Result<Vec<Recorded>, Failed> {
    let mut covered: HashMap<String, Vec<Covered>> = HashMap::new();
    for line in lines {
        let quantity = u32::try_from(line.quantity).map_err(|_| Failed::Internal("a stored quantity is negative"))?;
        let line_of = covered.entry(line.refund_identifier).or_default();
        line_of.push(Covered { identifier: line.identifier, order_line: line.order_line, quantity });
    }
    rows.into_iter()
        .map(|row| {
            let total = Cents::new(row.total_cents).ok_or(Failed::Internal("an amount is out of range"))?;
            let lines = covered.remove(&row.identifier).unwrap_or_default();
            let refund = Refund {
                order: row.order_identifier,
                total,
                lines,
                refunded_at: row.refunded_at,
                note: row.note.map(Note),
                rma_identifier: row.rma_identifier,
            };
            Ok(Recorded { identifier: row.identifier, refund, received_at: row.received_at })
        })
        .collect()
}
