//! The work lists of all merchants as one: open cases by kind, oldest first.

use chrono::{DateTime, Utc};
use domain::returns::work::WorkKind;
use uuid::Uuid;

use crate::{Failed, Store};

/// An open case.
#[derive(Clone, Debug)]
pub struct OpenCase {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    /// The identifier of the return, or of the order if there is no return, or the reference of a withdrawal.
    pub subject: String,
    /// What happened, as a sentence for the operator.
    pub reason: String,
    pub opened_at: DateTime<Utc>,
}

/// The number of open cases of a kind, counted up to `most`, and when the oldest was opened.
pub async fn count(store: &Store, kind: WorkKind, most: i64) -> Result<(i64, Option<DateTime<Utc>>), Failed> {
    let row = sqlx::query!(
        r#"
        select count(*) as "count!", min(opened_at) as oldest
        from (select opened_at from work_item where kind = $1 and closed_at is null order by item_id limit $2) as open
        "#,
        kind.as_str(),
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok((row.count, row.oldest))
}

/// The open cases of a kind after the case `after`, oldest first.
pub async fn list(store: &Store, kind: WorkKind, after: Option<Uuid>, most: i64) -> Result<Vec<OpenCase>, Failed> {
    let cases = sqlx::query_as!(
        OpenCase,
        r#"
        select open.item_id as id, merchant.handle, merchant.name as merchant_name, open.subject, open.reason, open.opened_at
        from (
            -- Over all merchants.
            select * from work_item
            where kind = $1 and closed_at is null and item_id > $2
            order by item_id
            limit $3
        ) as open
        join merchant on merchant.merchant_id = open.merchant_id
        order by open.item_id
        "#,
        kind.as_str(),
        after.unwrap_or_default(),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(cases)
}
