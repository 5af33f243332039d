//! Retry jobs and replays: the owner of an endpoint's bucket releases the messages of a job, a few at a time.
//!
//! One transaction releases messages and records the job's progress, after checking that the bucket is still ours. So no message
//! is released twice, even if a process is killed in between.

use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use store::Failed;
use store::messages::replays;
use store::messages::retry_jobs::{self, Turn};
use store::messages::settlements::Hold;
use tokio::time::sleep;
use uuid::Uuid;

use super::lease::Leases;
use crate::delivery::handle::Delivery;

/// The pause while no job runs.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// The pause while a job runs.
const RELEASE_EVERY: Duration = Duration::from_millis(100);

/// Runs the jobs of the endpoints that this process delivers to, for as long as the engine runs.
pub(super) async fn run(delivery: Delivery, leases: Arc<Leases>) {
    loop {
        let pause = match run_jobs(&delivery, &leases).await {
            Ok(true) => RELEASE_EVERY,
            Ok(false) => LOOK_EVERY,
            Err(failed) => {
                tracing::warn!(%failed, "looking for jobs failed, will retry");
                LOOK_EVERY
            }
        };
        sleep(pause).await;
    }
}

/// Lets every job release its next messages. Returns true if any job continues.
async fn run_jobs(delivery: &Delivery, leases: &Leases) -> Result<bool, Failed> {
    let buckets = leases.active();
    if buckets.is_empty() {
        return Ok(false);
    }
    let mut continues = false;
    let retries = retry_jobs::running(delivery.cell(), &buckets).await?.into_iter();
    let retries = retries.map(|job| (job.bucket, job.merchant, Job::Retry(job.job)));
    let replays = replays::running(delivery.cell(), &buckets).await?.into_iter();
    let replays = replays.map(|job| (job.bucket, job.merchant, Job::Replay(job.job)));
    for (bucket, merchant, job) in retries.chain(replays) {
        if let Some(hold) = leases.hold_to_start(bucket, leases.now()) {
            match release(delivery, merchant, job, hold).await {
                Ok(more) => continues |= more,
                // Somebody may have locked one of its messages. The other jobs go on.
                Err(failed) => tracing::warn!(%failed, job = %job.id(), "releasing the messages of a job failed, will retry"),
            }
        }
    }
    Ok(continues)
}

/// A job to run.
#[derive(Clone, Copy)]
enum Job {
    Retry(Uuid),
    Replay(Uuid),
}

impl Job {
    const fn id(self) -> Uuid {
        match self {
            Self::Retry(id) | Self::Replay(id) => id,
        }
    }
}

/// Releases the next messages of a job. Returns true if the job continues.
async fn release(delivery: &Delivery, merchant: MerchantId, job: Job, hold: Hold) -> Result<bool, Failed> {
    let (mut tx, now) = (delivery.begin(merchant).await?, delivery.now());
    let turn = match job {
        Job::Retry(id) => retry_jobs::release(&mut tx, hold, id, now).await?,
        Job::Replay(id) => replays::release(&mut tx, hold, id, now).await?,
    };
    delivery.commit(tx).await?;
    let (signal, continues) = match turn {
        Turn::NotOurs => (None, false),
        Turn::Released(signal) => (signal, true),
        Turn::Ended(signal) => (signal, false),
    };
    if let Some(signal) = signal {
        delivery.signal(signal);
    }
    Ok(continues)
}
