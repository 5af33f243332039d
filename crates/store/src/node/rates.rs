//! Request counts of busy addresses, shared between nodes so that they enforce the rate limit together.
//!
//! These tables belong to no merchant and do not survive a crash of the database, so writes take no `Tx`: each is a single
//! statement whose failure does no harm.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::{Failed, Store};

/// One node's count of one address.
#[derive(Clone, Debug)]
pub struct Counted {
    pub address: String,
    /// Requests in each second of the last minute, as the node wrote them.
    pub counts: Vec<u8>,
    /// The time of the count.
    pub counted_at: DateTime<Utc>,
}

/// The response to a node's heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The number of other live nodes.
    pub others: i64,
    /// The offset of the sandbox's clock from real time.
    pub clock_ahead: TimeDelta,
}

/// Marks `node` as live until `live_until`, with the proxy that it found in front of it although nobody declared one, and reads
/// the number of other live nodes and the clock's offset. One statement, because every node sends it every second.
pub async fn pulse(
    store: &Store,
    node: Uuid,
    now: DateTime<Utc>,
    live_until: DateTime<Utc>,
    undeclared_proxy: Option<&str>,
) -> Result<Heard, Failed> {
    let row = sqlx::query!(
        r#"
        with mine as (
            insert into node_pulse (node_id, live_until, undeclared_proxy) values ($1, $3, $4)
            on conflict (node_id) do update set live_until = excluded.live_until, undeclared_proxy = excluded.undeclared_proxy
        )
        select
            (select count(*) from node_pulse where node_id <> $1 and live_until > $2) as "others!",
            (select clock_ahead_us from installation) as "clock_ahead_us!"
        "#,
        node,
        now,
        live_until,
        undeclared_proxy,
    )
    .fetch_one(&store.aside)
    .await?;
    Ok(Heard { others: row.others, clock_ahead: TimeDelta::microseconds(row.clock_ahead_us) })
}

/// The proxies that nodes found in front of them although nobody declared them.
pub async fn undeclared_proxies(store: &Store) -> Result<Vec<String>, Failed> {
    let found = sqlx::query_scalar!(
        r#"
        select distinct undeclared_proxy as "proxy!" from node_pulse where undeclared_proxy is not null order by undeclared_proxy limit 5
        "#
    );
    Ok(found.fetch_all(&store.pool).await?)
}

/// Saves the counts of `node` for its busy addresses. `counts` has the same order as `addresses`.
pub async fn save(
    store: &Store,
    node: Uuid,
    addresses: &[String],
    counts: &[Vec<u8>],
    counted_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into rate_count (node_id, address, counts, counted_at, expires_at)
        select $1, busy.address, busy.counts, $4, $5
        from unnest($2::text[], $3::bytea[]) as busy (address, counts)
        on conflict (node_id, address) do update
        set counts = excluded.counts, counted_at = excluded.counted_at, expires_at = excluded.expires_at
        "#,
        node,
        addresses,
        counts,
        counted_at,
        expires_at,
    )
    .execute(&store.aside)
    .await?;
    Ok(())
}

/// The unexpired counts of nodes other than `node`.
pub async fn list(store: &Store, node: Uuid, now: DateTime<Utc>) -> Result<Vec<Counted>, Failed> {
    let counted =
        sqlx::query_as!(Counted, "select address, counts, counted_at from rate_count where node_id <> $1 and expires_at > $2", node, now)
            .fetch_all(&store.aside)
            .await?;
    Ok(counted)
}

/// Deletes whatever expired before `expired_before`, of every node.
pub async fn sweep(store: &Store, expired_before: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("delete from rate_count where expires_at < $1", expired_before).execute(&store.aside).await?;
    sqlx::query!("delete from node_pulse where live_until < $1", expired_before).execute(&store.aside).await?;
    Ok(())
}
