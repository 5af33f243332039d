//! Jobs that try everything of an endpoint again: their owner releases a few messages at a time.
//!
//! What a job has released and how far it has come are one transaction, which looks first whether the bucket is still ours. So
//! nothing is released twice, whoever is killed when.

use std::sync::Arc;
use std::time::Duration;

use store::retry_jobs;
use tokio::time::sleep;

use super::lease::Leases;
use crate::app::App;
use crate::flow::retry_failures::release_retries;

/// How often jobs are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How often messages are released while there are any.
const RELEASE_EVERY: Duration = Duration::from_millis(100);

/// Carries out the jobs of the endpoints that this process delivers to.
pub(super) async fn carry_out(app: App, held: Arc<Leases>) {
    loop {
        let pause = match take_a_turn(&app, &held).await {
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
async fn take_a_turn(app: &App, held: &Leases) -> Result<bool, store::Failed> {
    let buckets = held.working();
    if buckets.is_empty() {
        return Ok(false);
    }
    let mut goes_on = false;
    for job in retry_jobs::at_work(&app.store, &buckets).await? {
        if let Some(hold) = held.to_start(job.bucket, held.now()) {
            goes_on |= release_retries(app, job.merchant, job.job, hold).await?;
        }
    }
    Ok(goes_on)
}
