//! Bucket leases: reads their distribution, and frees them after a crash.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use uuid::Uuid;

use crate::messages::owing::BUCKETS;
use crate::stage::Stage;

/// The timeout for rebalancing.
const BALANCED_WITHIN: Duration = Duration::from_secs(40);

/// Waits until the buckets are shared fairly by `count` deliverers. Returns false on a timeout.
pub(crate) async fn balanced(stage: &Stage, count: usize) -> anyhow::Result<bool> {
    let mut connection = stage.connect().await?;
    let started = Instant::now();
    let share = BUCKETS.unsigned_abs().div_ceil(count as u64);
    loop {
        let shares: Vec<i64> = sqlx::query_scalar(
            "select count(*) from delivery_bucket where owner is not null and leased_until > now() group by owner order by 1",
        )
        .fetch_all(&mut connection)
        .await?;
        let fair = shares.len() == count && shares.iter().sum::<i64>() == BUCKETS && shares.iter().all(|held| held.unsigned_abs() <= share);
        if fair || started.elapsed() > BALANCED_WITHIN {
            println!("buckets by deliverer: {shares:?} after {:.1} s", started.elapsed().as_secs_f64());
            return Ok(fair);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The owners of all buckets that have one.
pub(crate) async fn owners(connection: &mut PgConnection) -> anyhow::Result<HashMap<i16, Uuid>> {
    let owners: Vec<(i16, Uuid)> =
        sqlx::query_as("select bucket, owner from delivery_bucket where leased_until > now()").fetch_all(connection).await?;
    Ok(owners.into_iter().collect())
}

/// Frees all leases, so that nobody has to wait for those of a dead process to expire.
pub(crate) async fn free_all(connection: &mut PgConnection) -> anyhow::Result<()> {
    sqlx::raw_sql("delete from deliverer; update delivery_bucket set owner = null, leased_until = null").execute(connection).await?;
    Ok(())
}
