//! Failed attempts to find an order in the portal, counted so that guessing does not pay.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// A counter of misses.
pub struct Counter {
    /// A keyed hash of what is counted: an address, an order's number, or the merchant.
    pub key: [u8; 16],
    /// Misses are counted for this long, then from 0 again.
    pub period: TimeDelta,
}

/// The state of a counter.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub misses: i32,
    /// The time at which it starts from 0 again.
    pub until: DateTime<Utc>,
}

/// Adds a miss to each counter. The counts are in the order of the counters.
pub async fn add(tx: &mut Tx, counters: &[Counter], now: DateTime<Utc>) -> Result<Vec<Count>, Failed> {
    let mut counts = Vec::with_capacity(counters.len());
    for Counter { key, period } in counters {
        let count = sqlx::query_as!(
            Count,
            r#"
            insert into portal_miss as stored (merchant_id, key_hash, misses, expires_at)
            values ($1, $2, 1, $3)
            on conflict (merchant_id, key_hash) do update set
                misses = case when stored.expires_at > $4 then stored.misses + 1 else 1 end,
                expires_at = case when stored.expires_at > $4 then stored.expires_at else excluded.expires_at end
            returning misses, expires_at as until
            "#,
            tx.merchant().0,
            key.as_slice(),
            now + *period,
            now,
        );
        counts.push(count.fetch_one(tx.connection()).await?);
    }
    Ok(counts)
}

/// The time until which a counter stays at `most` or more; `None` if it is below.
pub async fn used_up(
    store: &Store,
    merchant: MerchantId,
    key: [u8; 16],
    most: i32,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, Failed> {
    let until = sqlx::query_scalar!(
        "select expires_at from portal_miss where merchant_id = $1 and key_hash = $2 and misses >= $3 and expires_at > $4",
        merchant.0,
        key.as_slice(),
        most,
        now,
    );
    Ok(until.fetch_optional(&store.pool).await?)
}

/// Counters of all merchants that have run out at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, key_hash from portal_miss where expires_at <= $1 order by expires_at limit $2", now, most,)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.key_hash)).collect())
}

/// Deletes counters that have run out at `now`. One that has started again stays.
pub async fn forget(tx: &mut Tx, keys: &[Vec<u8>], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("delete from portal_miss where merchant_id = $1 and key_hash = any($2) and expires_at <= $3", tx.merchant().0, keys, now)
        .execute(tx.connection())
        .await?;
    Ok(())
}
