//! Jobs that try everything of an endpoint again: their owner releases a few messages at a time.
//!
//! What a job has released and how far it has come are one transaction, which looks first whether the bucket is still ours. So
//! nothing is released twice, whoever is killed when.

use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use store::Failed;
use store::messages::retry_jobs::{self, Turn};
use store::messages::settlements::Hold;
use tokio::time::sleep;
use uuid::Uuid;

use super::lease::Leases;
use crate::delivery::handle::Delivery;

/// How often jobs are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How often messages are released while there are any.
const RELEASE_EVERY: Duration = Duration::from_millis(100);

/// Carries out the jobs of the endpoints that this process delivers to.
pub(super) async fn carry_out(delivery: Delivery, held: Arc<Leases>) {
    loop {
        let pause = match take_a_turn(&delivery, &held).await {
            Ok(true) => RELEASE_EVERY,
            Ok(false) => LOOK_EVERY,
            Err(failed) => {
                tracing::warn!(%failed, "retries were not released; they are tried again");
                LOOK_EVERY
            }
        };
        sleep(pause).await;
    }
}

/// Lets every job release what it may. Answers whether one goes on.
async fn take_a_turn(delivery: &Delivery, held: &Leases) -> Result<bool, Failed> {
    let buckets = held.working();
    if buckets.is_empty() {
        return Ok(false);
    }
    let mut goes_on = false;
    for job in retry_jobs::at_work(delivery.cell(), &buckets).await? {
        if let Some(hold) = held.to_start(job.bucket, held.now()) {
            goes_on |= release(delivery, job.merchant, job.job, hold).await?;
        }
    }
    Ok(goes_on)
}

/// Releases the next messages of a job, for the holder of its bucket. Answers whether the job goes on.
async fn release(delivery: &Delivery, merchant: MerchantId, job: Uuid, hold: Hold) -> Result<bool, Failed> {
    let mut tx = delivery.begin(merchant).await?;
    let turn = retry_jobs::release(&mut tx, hold, job, delivery.now()).await?;
    delivery.commit(tx).await?;
    let (signal, goes_on) = match turn {
        Turn::NotOurs => (None, false),
        Turn::Released(signal) => (signal, true),
        Turn::Ended(signal) => (signal, false),
    };
    if let Some(signal) = signal {
        delivery.signal(signal);
    }
    Ok(goes_on)
}
