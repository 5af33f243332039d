//! Returns of all merchants whose goods came back longer ago than the merchant promises to refund them.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store};

/// A return whose refund is overdue.
#[derive(Clone, Debug)]
pub struct OverdueRefund {
    pub rma: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub identifier: String,
    pub order_identifier: String,
    pub status: String,
    pub due_at: DateTime<Utc>,
    /// The shopper has withdrawn from the contract, so a law sets the time.
    pub withdrawn: bool,
}

/// The number of overdue refunds at `now`, counted up to `most`.
pub async fn count(store: &Store, now: DateTime<Utc>, most: i64) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from rma where refund_due_at <= $1 limit $2) as overdue"#,
        now,
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(count)
}

/// The overdue refunds at `now` after `(due_at, rma)`, those that are due longest first.
pub async fn list(store: &Store, now: DateTime<Utc>, after: (DateTime<Utc>, Uuid), most: i64) -> Result<Vec<OverdueRefund>, Failed> {
    let overdue = sqlx::query_as!(
        OverdueRefund,
        r#"
        select overdue.rma_id as rma, merchant.handle, merchant.name as merchant_name, overdue.identifier, overdue.order_identifier,
            overdue.status, overdue.refund_due_at as "due_at!",
            exists (
                select from withdrawal
                where withdrawal.merchant_id = overdue.merchant_id and withdrawal.rma_identifier = overdue.identifier
            ) as "withdrawn!"
        from (
            -- Over all merchants; what follows is bound to each.
            select * from rma
            where refund_due_at <= $1 and (refund_due_at, rma_id) > ($2, $3)
            order by refund_due_at, rma_id
            limit $4
        ) as overdue
        join merchant on merchant.merchant_id = overdue.merchant_id
        order by overdue.refund_due_at, overdue.rma_id
        "#,
        now,
        after.0,
        after.1,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(overdue)
}

/// The time by which the merchant has promised to refund the return `rma`. `None` while nothing has come back, and once all of that is
/// refunded.
pub async fn due_of(store: &Store, merchant: MerchantId, rma: Uuid) -> Result<Option<DateTime<Utc>>, Failed> {
    let due = sqlx::query_scalar!("select refund_due_at from rma where merchant_id = $1 and rma_id = $2", merchant.0, rma);
    Ok(due.fetch_optional(&store.pool).await?.flatten())
}
