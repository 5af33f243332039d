//! Merchants that are not live yet.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store};

/// A merchant that is not live yet.
#[derive(Clone, Debug)]
pub struct Unfinished {
    pub id: MerchantId,
    pub handle: String,
    pub name: String,
    pub technical_contact: Option<String>,
}

/// Merchants that were added before `before` and are not live, oldest first. Paused ones are left out.
pub async fn list(store: &Store, before: DateTime<Utc>, most: i64) -> Result<Vec<Unfinished>, Failed> {
    let rows = sqlx::query!(
        r#"
        select merchant_id, handle, name, technical_contact
        from merchant
        where live_at is null and created_at <= $1 and paused_at is null
        order by created_at
        limit $2
        "#,
        before,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    let unfinished = rows.into_iter().map(|row| Unfinished {
        id: MerchantId(row.merchant_id),
        handle: row.handle,
        name: row.name,
        technical_contact: row.technical_contact,
    });
    Ok(unfinished.collect())
}
