//! Claims on units: a unit belongs to at most one return, and only cancelling the return releases it.

use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A unit that belongs to a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub line: String,
    /// The unit's number within the line, from 1.
    pub unit: u32,
    /// True if a refund covers it already.
    pub refunded: bool,
}

/// The claimed units of the order `order`.
pub async fn list(store: &Store, merchant: MerchantId, order: &str) -> Result<Vec<Claim>, Failed> {
    let rows = sqlx::query!(
        r#"
        select claim.order_line, claim.unit, item.refund_identifier is not null and not item.refund_in_question as "refunded!"
        from unit_claim as claim
        join rma_item as item
            on item.merchant_id = claim.merchant_id and item.rma_id = claim.rma_id
            and item.order_line = claim.order_line and item.unit = claim.unit
        where claim.merchant_id = $1 and claim.order_identifier = $2
        order by claim.order_line, claim.unit
        "#,
        merchant.0,
        order,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Claim { line: row.order_line, unit: u32::try_from(row.unit).unwrap_or_default(), refunded: row.refunded })
        .collect())
}

/// Releases the units of a return.
pub async fn release(tx: &mut Tx, rma: Uuid) -> Result<(), Failed> {
    sqlx::query!("delete from unit_claim where merchant_id = $1 and rma_id = $2", tx.merchant().0, rma).execute(tx.connection()).await?;
    Ok(())
}
