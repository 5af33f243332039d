//! The receiving exceptions of all merchants that nobody has resolved, oldest first.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Store};

/// A receiving exception that is not resolved.
#[derive(Clone, Debug)]
pub struct OpenException {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub found_at: DateTime<Utc>,
    pub exception: String,
    pub quantity: i32,
    /// What the unit was scanned for: an ASN, a return or a parcel.
    pub scanned_for: String,
    pub unit_identifier: String,
    pub line_identifier: String,
    pub sku: Option<String>,
    pub warehouse: Option<String>,
}

/// The number of open exceptions, counted up to `most`, and when the oldest was found.
pub async fn count(store: &Store, most: i64) -> Result<(i64, Option<DateTime<Utc>>), Failed> {
    let row = sqlx::query!(
        r#"
        select count(*) as "count!", min(found_at) as oldest
        from (select found_at from receiving_exception where resolved_at is null order by exception_id limit $1) as open
        "#,
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok((row.count, row.oldest))
}

/// The open exceptions after `after`, oldest first.
pub async fn list(store: &Store, after: Option<Uuid>, most: i64) -> Result<Vec<OpenException>, Failed> {
    let exceptions = sqlx::query_as!(
        OpenException,
        r#"
        select open.exception_id as id, merchant.handle, merchant.name as merchant_name, open.found_at, open.exception, open.quantity,
            open.asn_number as scanned_for, open.unit_identifier, open.line_identifier, open.sku, open.warehouse_id as warehouse
        from (
            -- Over all merchants.
            select * from receiving_exception
            where resolved_at is null and exception_id > $1
            order by exception_id
            limit $2
        ) as open
        join merchant on merchant.merchant_id = open.merchant_id
        order by open.exception_id
        "#,
        after.unwrap_or_default(),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(exceptions)
}
