//! Browsers in which an operator has signed in before. They are found by the hash of a long-lived cookie.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::OperatorId;
use uuid::Uuid;

use crate::{Failed, HomeTx, Store};

/// A browser is known for this long after the last sign-in.
pub const KNOWN_FOR: TimeDelta = TimeDelta::days(180);

/// A known browser.
#[derive(Clone, Debug)]
pub struct Device {
    pub id: Uuid,
    pub agent: String,
    pub added_at: DateTime<Utc>,
    pub seen_at: DateTime<Utc>,
}

/// The id of the operator's browser with this hash, if it is known at `now`.
pub async fn find(store: &Store, of: OperatorId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Uuid>, Failed> {
    let found = sqlx::query_scalar!(
        "select device_id from operator_device where operator_id = $1 and device_hash = $2 and seen_at > $3",
        of.0,
        hash,
        now - KNOWN_FOR,
    );
    Ok(found.fetch_optional(&store.pool).await?)
}

/// Notes a sign-in in the operator's browser with this hash. Returns its id, if it is known.
pub async fn touch(tx: &mut HomeTx, of: OperatorId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Uuid>, Failed> {
    let touched = sqlx::query_scalar!(
        r#"
        update operator_device set seen_at = $3
        where operator_id = $1 and device_hash = $2 and seen_at > $4
        returning device_id
        "#,
        of.0,
        hash,
        now,
        now - KNOWN_FOR,
    );
    Ok(touched.fetch_optional(tx.connection()).await?)
}

/// Adds a browser.
pub async fn insert(tx: &mut HomeTx, of: OperatorId, hash: &[u8], id: Uuid, agent: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into operator_device (device_id, operator_id, device_hash, agent, added_at, seen_at) values ($1, $2, $3, $4, $5, $5)",
        id,
        of.0,
        hash,
        agent,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The known browsers of an operator, the last used first.
pub async fn list(store: &Store, of: OperatorId, now: DateTime<Utc>) -> Result<Vec<Device>, Failed> {
    let devices = sqlx::query_as!(
        Device,
        r#"
        select device_id as id, agent, added_at, seen_at
        from operator_device
        where operator_id = $1 and seen_at > $2
        order by seen_at desc
        limit 100
        "#,
        of.0,
        now - KNOWN_FOR,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(devices)
}

/// Forgets one browser of an operator. False if they have no such browser.
pub async fn remove(tx: &mut HomeTx, of: OperatorId, id: Uuid) -> Result<bool, Failed> {
    let removed =
        sqlx::query!("delete from operator_device where operator_id = $1 and device_id = $2", of.0, id).execute(tx.connection()).await?;
    Ok(removed.rows_affected() == 1)
}

/// Forgets all browsers of an operator.
pub async fn remove_all(tx: &mut HomeTx, of: OperatorId) -> Result<(), Failed> {
    sqlx::query!("delete from operator_device where operator_id = $1", of.0).execute(tx.connection()).await?;
    Ok(())
}

/// Deletes browsers that are not known any more at `now`. Returns their number.
pub async fn forget(tx: &mut HomeTx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let forgotten = sqlx::query!(
        r#"
        delete from operator_device where device_id in (
            select device_id from operator_device where seen_at <= $1 order by seen_at limit $2
        )
        "#,
        now - KNOWN_FOR,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(forgotten.rows_affected())
}
