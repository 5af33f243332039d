//! Refused order messages and why, for support.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A refused message. Of its content only the orders' identifiers are kept.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Its id.
    pub id: Uuid,
    /// When it was refused.
    pub refused_at: DateTime<Utc>,
    /// The request, as the caller was told.
    pub request_id: String,
    /// The identifiers of its orders, as far as they could be told.
    pub order_identifiers: Vec<String>,
    /// The summary that the caller was given.
    pub reason: String,
    /// The faults that the caller was told, as JSON.
    pub faults: String,
}

/// Records a refusal of the transaction's merchant.
pub async fn insert(tx: &mut Tx, refusal: &Refusal) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into intake_refusal (merchant_id, refusal_id, refused_at, request_id, order_identifiers, reason, faults)
        values ($1, $2, $3, $4, $5, $6, $7)
        "#,
        tx.merchant().0,
        refusal.id,
        refusal.refused_at,
        refusal.request_id,
        &refusal.order_identifiers,
        refusal.reason,
        refusal.faults,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The newest refusals of `merchant`.
pub async fn list(store: &Store, merchant: MerchantId, limit: i64) -> Result<Vec<Refusal>, Failed> {
    let rows = sqlx::query_as!(
        Refusal,
        r#"
        select refusal_id as id, refused_at, request_id, order_identifiers, reason, faults
        from intake_refusal
        where merchant_id = $1
        order by refusal_id desc
        limit $2
        "#,
        merchant.0,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows)
}
