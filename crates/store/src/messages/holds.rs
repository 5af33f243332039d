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
/// valid.
pub(crate) async fn hold(connection: &mut Connection, holds: &[Hold]) -> Result<Vec<Hold>, Failed> {
    let buckets: Vec<i16> = holds.iter().map(|hold| hold.bucket.into()).collect();
    let epochs: Vec<i64> = holds.iter().map(|hold| hold.epoch).collect();
    let owners: Vec<Uuid> = holds.iter().map(|hold| hold.owner).collect();
    let rows = sqlx::query!(
        r#"
        select delivery_bucket.bucket, delivery_bucket.epoch, delivery_bucket.owner as "owner!"
        from delivery_bucket
        join unnest($1::smallint[], $2::bigint[], $3::uuid[]) as ours (bucket, epoch, owner)
            on ours.bucket = delivery_bucket.bucket and ours.epoch = delivery_bucket.epoch and ours.owner = delivery_bucket.owner
        order by delivery_bucket.bucket
        for share of delivery_bucket
        "#,
        &buckets,
        &epochs,
        &owners,
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(|row| Ok(Hold { bucket: bucket(row.bucket)?, epoch: row.epoch, owner: row.owner })).collect()
}
