//! Partial drop-offs that took effect. One that is reported again takes no other units.

use uuid::Uuid;

use crate::{Failed, Tx};

/// Records a partial drop-off of a return. Returns false if the same one was recorded before.
pub async fn record(tx: &mut Tx, rma: Uuid, report_hash: &[u8; 32]) -> Result<bool, Failed> {
    let recorded = sqlx::query!(
        "insert into drop_off (merchant_id, rma_id, report_hash) values ($1, $2, $3) on conflict do nothing",
        tx.merchant().0,
        rma,
        report_hash.as_slice(),
    )
    .execute(tx.connection())
    .await?;
    Ok(recorded.rows_affected() > 0)
}
