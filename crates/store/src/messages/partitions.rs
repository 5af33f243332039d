//! The partitions of `message` and `attempt`, a week each: created ahead of time, dropped whole. Neither holds up readers or writers.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgExecutor;
use uuid::Uuid;

use crate::crash::{self, Point};
use crate::{Failed, Store};

/// Partitions are created from yesterday to two weeks ahead at least.
const DAYS_AHEAD: i32 = 16;

/// Creates the missing partitions from the day before `now` to two weeks ahead. Returns how many it created.
pub async fn make_around(store: &Store, now: DateTime<Utc>) -> Result<i32, Failed> {
    make(store, now - TimeDelta::days(1), DAYS_AHEAD).await
}

/// Creates the missing partitions for `days` days, starting at `first`. Returns how many it created.
pub async fn make(store: &Store, first: DateTime<Utc>, days: i32) -> Result<i32, Failed> {
    let made = make_by(store.of_schema().await?, first, days).await?;
    crash::point(Point::PartitionsMade);
    Ok(made)
}

pub(crate) async fn make_around_by(connection: impl PgExecutor<'_>, now: DateTime<Utc>) -> Result<i32, Failed> {
    make_by(connection, now - TimeDelta::days(1), DAYS_AHEAD).await
}

async fn make_by(connection: impl PgExecutor<'_>, first: DateTime<Utc>, days: i32) -> Result<i32, Failed> {
    let made = sqlx::query_scalar!(r#"select make_partitions($1, $2) as "made!""#, first, days).fetch_one(connection).await?;
    Ok(made)
}

/// Drops the partitions that ended before `keep_from`, and at least 30 days ago by the database's clock. Returns the names of those
/// kept because they hold a message that is still owed. Fails at once while somebody else, such as a backup, holds the tables.
pub async fn drop_before(store: &Store, keep_from: DateTime<Utc>) -> Result<Vec<String>, Failed> {
    let kept = sqlx::query_scalar!(r#"select drop_partitions($1) as "kept!""#, keep_from);
    Ok(kept.fetch_one(store.of_schema().await?).await?)
}

/// The range of the ids that messages can have: the first id of the oldest partition, and the time at which the newest one ends.
/// `None` if there is no partition.
pub async fn range(store: &Store) -> Result<Option<(Uuid, DateTime<Utc>)>, Failed> {
    let mut connection = store.engine.begin_on_tables().await?;
    let row = sqlx::query!(
        r#"
        select first_value(from_id) over (order by from_id) as "oldest!", time_of_id(to_id) as "ends!"
        from partitions_of('message')
        order by to_id desc
        limit 1
        "#
    )
    .fetch_optional(&mut connection)
    .await?;
    connection.rollback().await?;
    Ok(row.map(|row| (row.oldest, row.ends)))
}
