//! Locks returns and reads them with their units in one statement.
//!
//! A statement sees the rows as of its start. If another transaction changed a return after that, the lock waits for it and yields
//! the newest version of the return, but the units are still those of before. Units change only together with the return's sequence,
//! so the statement also reads the sequence as of its start; where the two differ, the units are read once more.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use super::record::Return;
use super::rows::{ItemRow, RmaRow, assemble};
use super::units;
use crate::{Failed, SharedTx, Tx};

/// A unit of a locked return, with the return.
#[expect(clippy::struct_excessive_bools, reason = "the columns of a row")]
struct LockedRow {
    merchant_id: Uuid,
    rma_id: Uuid,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    wakes_at: Option<DateTime<Utc>>,
    sequence: i64,
    /// The sequence as of the start of the statement.
    seen: i64,
    shipping_cost_cents: i64,
    fee_deducted: bool,
    gift: bool,
    receiving_closed: bool,
    scanned_early: bool,
    reminded: bool,
    method: String,
    status: String,
    identifier: String,
    order_identifier: String,
    original_order_identifier: Option<String>,
    cancel_reason: Option<String>,
    giftee_email: Option<String>,
    language: Option<String>,
    position: i32,
    product_cents: i64,
    discount_cents: i64,
    tax_cents: i64,
    estimated_cents: i64,
    fee_cents: i64,
    service_cents: i64,
    shopper_cents: i64,
    unit: i32,
    exchange_owed: bool,
    refund_type: String,
    order_line: String,
    sku: String,
    title: Option<String>,
    reason: String,
    parcel: Option<String>,
    tracking_number: Option<String>,
    receiving: Option<String>,
    refund_identifier: Option<String>,
    refund_in_question: bool,
    exchange_sku: Option<String>,
    exchange_order_identifier: Option<String>,
}

/// Locks and reads returns of one merchant: the condition on `rma`, then the arguments. The first argument is the merchant.
macro_rules! locked {
    ($condition:tt, $($argument:expr),* $(,)?) => {
        locked_from!("$1", "$1", "rma where merchant_id = $1 and ", $condition, "for update", $($argument),*)
    };
}

/// Locks and reads returns: the merchant of a return while it is locked and afterwards, where the returns are found, how they are locked,
/// and the arguments.
macro_rules! locked_from {
    ($of:tt, $of_locked:tt, $from:tt, $condition:tt, $how:tt, $($argument:expr),* $(,)?) => {
        sqlx::query_as!(
            LockedRow,
            "with locked as materialized (
                select rma.merchant_id, rma_id, created_at, updated_at, wakes_at, sequence, shipping_cost_cents, fee_deducted, gift, receiving_closed,
                    scanned_early, reminded, method, status, identifier, order_identifier, original_order_identifier, cancel_reason,
                    giftee_email, language,
                    (select seen.sequence from rma as seen where seen.merchant_id = "
                + $of
                + " and seen.rma_id = rma.rma_id) as seen
                from "
                + $from
                + $condition
                + " "
                + $how
                + "
            )
            select locked.merchant_id as \"merchant_id!\", locked.rma_id as \"rma_id!\", locked.created_at as \"created_at!\", locked.updated_at as \"updated_at!\",
                locked.wakes_at as \"wakes_at?\", locked.sequence as \"sequence!\", locked.seen as \"seen!\",
                locked.shipping_cost_cents as \"shipping_cost_cents!\", locked.fee_deducted as \"fee_deducted!\", locked.gift as \"gift!\",
                locked.receiving_closed as \"receiving_closed!\", locked.scanned_early as \"scanned_early!\",
                locked.reminded as \"reminded!\", locked.method as \"method!\", locked.status as \"status!\",
                locked.identifier as \"identifier!\", locked.order_identifier as \"order_identifier!\",
                locked.original_order_identifier as \"original_order_identifier?\", locked.cancel_reason as \"cancel_reason?\",
                locked.giftee_email as \"giftee_email?\", locked.language as \"language?\",
                item.position as \"position!\", item.product_cents as \"product_cents!\", item.discount_cents as \"discount_cents!\",
                item.tax_cents as \"tax_cents!\", item.estimated_cents as \"estimated_cents!\", item.fee_cents as \"fee_cents!\",
                item.service_cents as \"service_cents!\", item.shopper_cents as \"shopper_cents!\", item.unit as \"unit!\",
                item.exchange_owed as \"exchange_owed!\", item.refund_type as \"refund_type!\", item.order_line as \"order_line!\",
                item.sku as \"sku!\", item.title as \"title?\", item.reason as \"reason!\", item.parcel as \"parcel?\",
                item.tracking_number as \"tracking_number?\", item.receiving as \"receiving?\",
                item.refund_identifier as \"refund_identifier?\", item.refund_in_question as \"refund_in_question!\",
                item.exchange_sku as \"exchange_sku?\", item.exchange_order_identifier as \"exchange_order_identifier?\"
            from locked
            join rma_item as item on item.merchant_id = "
                + $of_locked
                + " and item.rma_id = locked.rma_id",
            $($argument),*
        )
    };
}

/// The return with this identifier.
pub(super) async fn by_identifier(tx: &mut Tx, identifier: &str) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = locked!("identifier = $2", merchant, identifier).fetch_all(tx.connection()).await?;
    Ok(read(tx, rows).await?.pop())
}

/// The return with this id.
pub(super) async fn by_id(tx: &mut Tx, id: Uuid) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = locked!("rma_id = $2", merchant, id).fetch_all(tx.connection()).await?;
    Ok(read(tx, rows).await?.pop())
}

/// The return with this tracking number.
pub(super) async fn by_parcel(tx: &mut Tx, number: &str) -> Result<Option<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = locked!(
        "rma_id = (select parcel.rma_id from parcel where parcel.merchant_id = $1 and parcel.tracking_number = $2)",
        merchant,
        number,
    );
    let rows = rows.fetch_all(tx.connection()).await?;
    Ok(read(tx, rows).await?.pop())
}

/// The returns of an order that are not cancelled, by id.
pub(super) async fn of_order(tx: &mut Tx, order: &str) -> Result<Vec<Return>, Failed> {
    let merchant = tx.merchant().0;
    let rows = locked!("order_identifier = $2 and status <> 'CANCELED' order by rma_id", merchant, order);
    let rows = rows.fetch_all(tx.connection()).await?;
    read(tx, rows).await
}

/// The returns with these identifiers, each with its merchant. One that does not exist is left out, and so is one that somebody else
/// has locked, or has just changed: nobody waits.
pub(super) async fn at_once(tx: &mut SharedTx, wanted: &[(MerchantId, &str)]) -> Result<Vec<(MerchantId, Return)>, Failed> {
    let (merchants, identifiers): (Vec<Uuid>, Vec<&str>) = wanted.iter().map(|(merchant, identifier)| (merchant.0, *identifier)).unzip();
    let rows = locked_from!(
        "rma.merchant_id",
        "locked.merchant_id",
        // The planner cannot tell how long the lists are, and keeps its plan.
        "unnest($1::uuid[], (select $2::text[])) as wanted (of_merchant, named)
                join rma on rma.merchant_id = wanted.of_merchant and rma.identifier = wanted.named",
        "",
        "for update of rma skip locked",
        &merchants,
        &identifiers as &[&str],
    );
    let mut rows = rows.fetch_all(tx.connection()).await?;
    rows.retain(|row| row.seen == row.sequence);
    rows.sort_unstable_by_key(|row| (row.rma_id, row.position));
    let of: HashMap<Uuid, MerchantId> = rows.iter().map(|row| (row.rma_id, MerchantId(row.merchant_id))).collect();
    let (returns, items) = divide(rows);
    let found = assemble(returns, items)?.into_iter().filter_map(|found| Some((*of.get(&found.id)?, found)));
    Ok(found.collect())
}

/// Builds returns from their rows, by id.
async fn read(tx: &mut Tx, mut rows: Vec<LockedRow>) -> Result<Vec<Return>, Failed> {
    rows.sort_unstable_by_key(|row| (row.rma_id, row.position));
    let waited_for = |row: &LockedRow| (row.seen != row.sequence).then_some(row.rma_id);
    let mut changed: Vec<Uuid> = rows.iter().filter_map(waited_for).collect();
    changed.dedup();
    let (returns, mut items) = divide(rows);
    for id in changed {
        items.retain(|item| item.rma_id != id);
        items.extend(units::of(tx, id).await?);
    }
    assemble(returns, items)
}

/// Divides sorted rows into returns and units.
fn divide(rows: Vec<LockedRow>) -> (Vec<RmaRow>, Vec<ItemRow>) {
    let (mut returns, mut items): (Vec<RmaRow>, Vec<ItemRow>) = (Vec::new(), Vec::with_capacity(rows.len()));
    for row in rows {
        let (of, item) = row.split();
        if returns.last().is_none_or(|last| last.rma_id != of.rma_id) {
            returns.push(of);
        }
        items.push(item);
    }
    (returns, items)
}

impl LockedRow {
    /// The return and its unit.
    fn split(self) -> (RmaRow, ItemRow) {
        let of = RmaRow {
            rma_id: self.rma_id,
            created_at: self.created_at,
            updated_at: self.updated_at,
            wakes_at: self.wakes_at,
            sequence: self.sequence,
            shipping_cost_cents: self.shipping_cost_cents,
            fee_deducted: self.fee_deducted,
            gift: self.gift,
            receiving_closed: self.receiving_closed,
            scanned_early: self.scanned_early,
            reminded: self.reminded,
            method: self.method,
            status: self.status,
            identifier: self.identifier,
            order_identifier: self.order_identifier,
            original_order_identifier: self.original_order_identifier,
            cancel_reason: self.cancel_reason,
            giftee_email: self.giftee_email,
            language: self.language,
        };
        let item = ItemRow {
            rma_id: self.rma_id,
            product_cents: self.product_cents,
            discount_cents: self.discount_cents,
            tax_cents: self.tax_cents,
            estimated_cents: self.estimated_cents,
            fee_cents: self.fee_cents,
            service_cents: self.service_cents,
            shopper_cents: self.shopper_cents,
            unit: self.unit,
            exchange_owed: self.exchange_owed,
            refund_type: self.refund_type,
            order_line: self.order_line,
            sku: self.sku,
            title: self.title,
            reason: self.reason,
            parcel: self.parcel,
            tracking_number: self.tracking_number,
            receiving: self.receiving,
            refund_identifier: self.refund_identifier,
            refund_in_question: self.refund_in_question,
            exchange_sku: self.exchange_sku,
            exchange_order_identifier: self.exchange_order_identifier,
        };
        (of, item)
    }
}
