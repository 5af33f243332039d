//! Which units are in a return: a unit is claimed by one return at most, and only cancelling gives it back.

use domain::id::MerchantId;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A unit that is in a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The line of the order.
    pub line: String,
    /// Which of its units, from 1 on.
    pub unit: u32,
    /// Whether a refund covers it already.
    pub refunded: bool,
}

/// The claimed units of the order `order`, as they stand; the order is locked by whoever means to claim more.
pub async fn lock_of_order(tx: &mut Tx, order: &str) -> Result<Vec<Claim>, Failed> {
    let merchant = tx.merchant();
    read(tx.connection(), merchant, order).await
}

/// The claimed units of the order `order` of `merchant`, as of now.
pub async fn list(store: &Store, merchant: MerchantId, order: &str) -> Result<Vec<Claim>, Failed> {
    let mut connection = store.pool.acquire().await?;
    read(&mut connection, merchant, order).await
}

async fn read(connection: &mut PgConnection, merchant: MerchantId, order: &str) -> Result<Vec<Claim>, Failed> {
    let rows = sqlx::query!(
        r#"
        select claim.order_line, claim.unit, item.refund_identifier is not null as "refunded!"
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
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Claim { line: row.order_line, unit: u32::try_from(row.unit).unwrap_or_default(), refunded: row.refunded })
        .collect())
}

/// Gives back the units of a return.
pub async fn release(tx: &mut Tx, rma: Uuid) -> Result<(), Failed> {
    sqlx::query!("delete from unit_claim where merchant_id = $1 and rma_id = $2", tx.merchant().0, rma).execute(tx.connection()).await?;
    Ok(())
}
