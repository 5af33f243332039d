//! Warnings about orders, counted by merchant, day and field.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// The warnings of a merchant about one field on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayOfKind {
    pub day: NaiveDate,
    /// The field, without positions.
    pub kind: String,
    pub count: i64,
}

/// Adds counts. Sorted by day and kind, so that two processes cannot deadlock.
pub async fn add(tx: &mut Tx, counts: &[DayOfKind]) -> Result<(), Failed> {
    if counts.is_empty() {
        return Ok(());
    }
    let days: Vec<NaiveDate> = counts.iter().map(|count| count.day).collect();
    let kinds: Vec<&str> = counts.iter().map(|count| count.kind.as_str()).collect();
    let numbers: Vec<i64> = counts.iter().map(|count| count.count).collect();
    sqlx::query!(
        r#"
        insert into warning_day as stored (merchant_id, day, kind, count)
        select $1, day, kind, count from unnest($2::date[], $3::text[], $4::bigint[]) as more (day, kind, count)
        on conflict (merchant_id, day, kind) do update set count = stored.count + excluded.count
        "#,
        tx.merchant().0,
        &days,
        &kinds as &[&str],
        &numbers,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The warnings of `merchant` from `from` to `to`, by day.
pub async fn list(store: &Store, merchant: MerchantId, from: NaiveDate, to: NaiveDate, most: i64) -> Result<Vec<DayOfKind>, Failed> {
    let days = sqlx::query_as!(
        DayOfKind,
        r#"
        select day, kind, count from warning_day
        where merchant_id = $1 and day between $2 and $3
        order by day, kind
        limit $4
        "#,
        merchant.0,
        from,
        to,
        most,
    );
    Ok(days.fetch_all(&store.pool).await?)
}

/// The warnings of one merchant on one day about one field.
#[derive(Clone, Debug)]
pub struct KindOfMerchant {
    pub merchant: uuid::Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub kind: String,
    pub count: i64,
}

/// The warnings of all merchants on `day` after this merchant and kind, at most `most`.
pub async fn list_across(store: &Store, day: NaiveDate, after: (uuid::Uuid, &str), most: i64) -> Result<Vec<KindOfMerchant>, Failed> {
    let kinds = sqlx::query_as!(
        KindOfMerchant,
        r#"
        select counted.merchant_id as merchant, merchant.handle, merchant.name as merchant_name, counted.kind, counted.count
        from (
            -- Over all merchants.
            select * from warning_day
            where warning_day.day = $1 and (warning_day.merchant_id, warning_day.kind) > ($2, $3)
            order by warning_day.merchant_id, warning_day.kind
            limit $4
        ) as counted
        join merchant on merchant.merchant_id = counted.merchant_id
        order by counted.merchant_id, counted.kind
        "#,
        day,
        after.0,
        after.1,
        most,
    );
    Ok(kinds.fetch_all(&store.pool).await?)
}

/// The time for which counts are kept.
const KEPT_FOR: TimeDelta = TimeDelta::days(400);

/// Merchants and days that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, NaiveDate)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, day from warning_day where day <= $1 order by day limit $2",
        (now - KEPT_FOR).date_naive(),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.day)).collect())
}

/// Deletes the counts of these days.
pub async fn forget(tx: &mut Tx, days: &[NaiveDate]) -> Result<(), Failed> {
    sqlx::query!("delete from warning_day where merchant_id = $1 and day = any($2)", tx.merchant().0, days)
        .execute(tx.connection())
        .await?;
    Ok(())
}
