//! Orders with everything that decides what of them can come back, read at once.

use std::collections::{BTreeMap, HashMap};

use domain::id::MerchantId;
use domain::returns::rma::choice::Standing;
use uuid::Uuid;

use super::exchange_orders;
use super::return_drafts::Draft;
use super::unit_claims::Claim;
use crate::connection::Connection;
use crate::{Failed, SharedTx, Store, Tx};

/// An order and what has become of its units.
#[derive(Clone, Debug)]
pub struct ReturnableOrder {
    pub snapshot: String,
    /// The units that belong to returns.
    pub claims: Vec<Claim>,
    /// The number of units of each line that were refunded outside of returns.
    pub outside: BTreeMap<String, u64>,
    pub standing: Standing,
    /// The open draft of a return, unless another session owns it.
    pub draft: Option<Draft>,
}

/// The order `order` of `merchant`, as the session `session` sees it.
pub async fn find(store: &Store, merchant: MerchantId, order: &str, session: &[u8]) -> Result<Option<ReturnableOrder>, Failed> {
    let row = sqlx::query!(
        r#"
        select
            stored.snapshot,
            claimed.lines as "claimed_lines: Vec<String>", claimed.units as "claimed_units: Vec<i32>",
            claimed.refunded as "claimed_refunded: Vec<bool>",
            elsewhere.lines as "outside_lines: Vec<String>", elsewhere.units as "outside_units: Vec<i64>",
            exists (
                select from endpoint where merchant_id = $1 and interface = 'exchange_order' and removed_at is null
            ) as "offered!",
            exists (select from exchange_order where merchant_id = $1 and original_order_identifier = $2) as "exchanged!",
            draft.draft_id as "draft_id?", draft.revision as "revision?", draft.answers as "answers?"
        from customer_order as stored
        cross join lateral (
            select
                array_agg(claim.order_line order by claim.order_line, claim.unit) as lines,
                array_agg(claim.unit order by claim.order_line, claim.unit) as units,
                array_agg(
                    item.refund_identifier is not null and not item.refund_in_question order by claim.order_line, claim.unit
                ) as refunded
            from unit_claim as claim
            join rma_item as item
                on item.merchant_id = claim.merchant_id and item.rma_id = claim.rma_id
                and item.order_line = claim.order_line and item.unit = claim.unit
            where claim.merchant_id = $1 and claim.order_identifier = $2
        ) as claimed
        cross join lateral (
            select array_agg(line.order_line) as lines, array_agg(line.units) as units
            from (
                select order_line, sum(outside) as units
                from refund_line
                where merchant_id = $1 and order_identifier = $2
                group by order_line
            ) as line
        ) as elsewhere
        left join return_draft as draft
            on draft.merchant_id = $1 and draft.order_identifier = $2 and draft.rma_identifier is null
            and (draft.session_hash is null or draft.session_hash = $3)
        where stored.merchant_id = $1 and stored.identifier = $2
        "#,
        merchant.0,
        order,
        session,
    )
    .fetch_optional(&store.pool)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let draft = row.draft_id.zip(row.revision).zip(row.answers);
    Ok(Some(ReturnableOrder {
        snapshot: row.snapshot,
        claims: claims(row.claimed_lines, row.claimed_units, row.claimed_refunded),
        outside: outside(row.outside_lines, row.outside_units),
        standing: exchange_orders::standing_from(row.offered, row.exchanged),
        draft: draft.map(|((id, revision), answers)| Draft { id, order: order.to_owned(), revision, answers }),
    }))
}

/// What has become of an order's units, and what decides on a new return of it.
#[derive(Clone, Debug)]
pub struct LockedOrder {
    /// The units that belong to returns.
    pub claims: Vec<Claim>,
    /// The number of units of each line that were refunded outside of returns.
    pub outside: BTreeMap<String, u64>,
    pub standing: Standing,
    /// The order that this one is the exchange order of.
    pub original: Option<String>,
    /// True if the merchant has an account with a carrier.
    pub has_carrier: bool,
}

/// Everything but the snapshot of the order `order`, which must be locked: a return that was started meanwhile has claimed its units.
pub async fn of_locked(tx: &mut Tx, order: &str) -> Result<LockedOrder, Failed> {
    let merchant = tx.merchant();
    let found = read_locked(tx.connection(), &[(merchant, order)]).await?;
    found.into_values().next().ok_or(Failed::Internal("what has become of an order could not be read"))
}

/// [`of_locked`] for several orders, each with its merchant.
pub async fn of_locked_at_once(
    tx: &mut SharedTx,
    orders: &[(MerchantId, &str)],
) -> Result<HashMap<(MerchantId, String), LockedOrder>, Failed> {
    read_locked(tx.connection(), orders).await
}

async fn read_locked(
    connection: &mut Connection,
    orders: &[(MerchantId, &str)],
) -> Result<HashMap<(MerchantId, String), LockedOrder>, Failed> {
    let (merchants, identifiers): (Vec<Uuid>, Vec<&str>) = orders.iter().map(|(merchant, order)| (merchant.0, *order)).unzip();
    let rows = sqlx::query!(
        r#"
        -- Orders, each with its merchant.
        select
            locked.merchant_id as "merchant_id!", locked.identifier as "identifier!",
            claimed.lines as "claimed_lines: Vec<String>", claimed.units as "claimed_units: Vec<i32>",
            claimed.refunded as "claimed_refunded: Vec<bool>",
            elsewhere.lines as "outside_lines: Vec<String>", elsewhere.units as "outside_units: Vec<i64>",
            exists (
                select from endpoint
                where endpoint.merchant_id = locked.merchant_id and interface = 'exchange_order' and removed_at is null
            ) as "offered!",
            exists (
                select from exchange_order
                where exchange_order.merchant_id = locked.merchant_id and original_order_identifier = locked.identifier
            ) as "exchanged!",
            (
                select original_order_identifier from exchange_order
                where exchange_order.merchant_id = locked.merchant_id and order_identifier = locked.identifier
                order by created_at
                limit 1
            ) as original,
            exists (select from carrier_account where carrier_account.merchant_id = locked.merchant_id) as "has_carrier!"
        -- The planner cannot tell how long the lists are, and keeps its plan.
        from unnest($1::uuid[], (select $2::text[])) as locked (merchant_id, identifier)
        cross join lateral (
            select
                array_agg(claim.order_line order by claim.order_line, claim.unit) as lines,
                array_agg(claim.unit order by claim.order_line, claim.unit) as units,
                array_agg(
                    item.refund_identifier is not null and not item.refund_in_question order by claim.order_line, claim.unit
                ) as refunded
            from unit_claim as claim
            join rma_item as item
                on item.merchant_id = claim.merchant_id and item.rma_id = claim.rma_id
                and item.order_line = claim.order_line and item.unit = claim.unit
            where claim.merchant_id = locked.merchant_id and claim.order_identifier = locked.identifier
        ) as claimed
        cross join lateral (
            select array_agg(line.order_line) as lines, array_agg(line.units) as units
            from (
                select order_line, sum(outside) as units
                from refund_line
                where refund_line.merchant_id = locked.merchant_id and order_identifier = locked.identifier
                group by order_line
            ) as line
        ) as elsewhere
        "#,
        &merchants,
        &identifiers as &[&str],
    )
    .fetch_all(connection)
    .await?;
    let read = rows.into_iter().map(|row| {
        let locked = LockedOrder {
            claims: claims(row.claimed_lines, row.claimed_units, row.claimed_refunded),
            outside: outside(row.outside_lines, row.outside_units),
            standing: exchange_orders::standing_from(row.offered, row.exchanged),
            original: row.original,
            has_carrier: row.has_carrier,
        };
        ((MerchantId(row.merchant_id), row.identifier), locked)
    });
    Ok(read.collect())
}

/// Claims from one list per column.
fn claims(lines: Option<Vec<String>>, units: Option<Vec<i32>>, refunded: Option<Vec<bool>>) -> Vec<Claim> {
    let claims = lines.unwrap_or_default().into_iter().zip(units.unwrap_or_default()).zip(refunded.unwrap_or_default());
    claims.map(|((line, unit), refunded)| Claim { line, unit: u32::try_from(unit).unwrap_or_default(), refunded }).collect()
}

/// The units refunded outside of returns, from one list per column.
fn outside(lines: Option<Vec<String>>, units: Option<Vec<i64>>) -> BTreeMap<String, u64> {
    let outside = lines.unwrap_or_default().into_iter().zip(units.unwrap_or_default());
    outside.map(|(line, units)| (line, u64::try_from(units).unwrap_or_default())).collect()
}
