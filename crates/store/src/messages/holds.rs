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
    Ok(hold_for(connection, holds, &[]).await?.0)
}

/// [`hold`] for a transaction that is not one merchant's. Also returns those of `merchants` that live in another cell; nothing of them
/// may be written.
pub(crate) async fn hold_for(connection: &mut Connection, holds: &[Hold], merchants: &[Uuid]) -> Result<(Vec<Hold>, Vec<Uuid>), Failed> {
    let mut buckets: Vec<i16> = holds.iter().map(|hold| hold.bucket.into()).collect();
    buckets.sort_unstable();
    buckets.dedup();
    let rows = sqlx::query!(
        r#"
        select bucket, epoch, owner,
            array(
                select moved.merchant_id from moved_merchant as moved where moved.merchant_id = any ($2::uuid[]) and moved.closed
            ) as "moved!"
        from delivery_bucket
        where bucket = any ($1::smallint[])
        order by bucket
        for share of delivery_bucket
        "#,
        &buckets,
        merchants,
    )
    .fetch_all(connection)
    .await?;
    let (mut held, mut moved) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        moved = row.moved;
        let Some(owner) = row.owner else { continue };
        held.push(Hold { bucket: bucket(row.bucket)?, epoch: row.epoch, owner });
    }
    held.retain(|hold| holds.contains(hold));
    Ok((held, moved))
}
