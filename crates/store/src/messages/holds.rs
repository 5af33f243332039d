//! Buckets as their owners hold them.

use uuid::Uuid;

use crate::connection::Connection;
use crate::failed::Failed;
use crate::messages::buckets::bucket;

/// A bucket as its owner holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hold {
    pub bucket: u8,
    /// Grows each time the bucket changes its owner.
    pub epoch: i64,
    /// The deliverer that took it. After a failover that lost the last lease, another one can hold the same epoch.
    pub owner: Uuid,
}

/// Locks the buckets' rows until the transaction ends, so that nobody can take them over. Returns the holds that are still
/// valid, in order.
pub(crate) async fn hold(connection: &mut Connection, holds: &[Hold]) -> Result<Vec<Hold>, Failed> {
    let mut buckets: Vec<i16> = holds.iter().map(|hold| hold.bucket.into()).collect();
    buckets.sort_unstable();
    buckets.dedup();
    let rows = sqlx::query!(
        r#"
        select bucket, epoch, owner
        from delivery_bucket
        where bucket = any ($1::smallint[])
        order by bucket
        for share of delivery_bucket
        "#,
        &buckets,
    )
    .fetch_all(connection)
    .await?;
    let mut held = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(owner) = row.owner else { continue };
        held.push(Hold { bucket: bucket(row.bucket)?, epoch: row.epoch, owner });
    }
    held.retain(|hold| holds.contains(hold));
    Ok(held)
}
