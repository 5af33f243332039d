//! Reports of cancelled drop-ship units that have taken effect.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Tx};

/// The content of the report with this identifier, if there is one. The order must be locked.
pub async fn find(tx: &mut Tx, order: Uuid, identifier: &str) -> Result<Option<String>, Failed> {
    let merchant = tx.merchant().0;
    let found = sqlx::query_scalar!(
        "select content from drop_ship_cancellation where merchant_id = $1 and drop_ship_order_id = $2 and identifier = $3",
        merchant,
        order,
        identifier,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(found)
}

/// Records that a report has taken effect. The order must be locked.
pub async fn insert(tx: &mut Tx, order: Uuid, identifier: &str, content: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into drop_ship_cancellation (merchant_id, drop_ship_order_id, created_at, identifier, content)
        values ($1, $2, $3, $4, $5)
        "#,
        tx.merchant().0,
        order,
        now,
        identifier,
        content,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
