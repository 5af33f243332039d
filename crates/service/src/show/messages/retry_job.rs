//! How far a retry job has come, for the console and the command line.

use domain::id::MerchantId;
use store::Failed;
use store::messages::retry_jobs::{self, Job};

use crate::node::Node;

/// The messages of a job by what has become of them. Retries of the same endpoint by others count as under way and failed again too,
/// so `delivered` is at least right as long as one job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Not released yet.
    pub(crate) waiting: i64,
    /// Released, and neither delivered nor given up.
    pub(crate) underway: i64,
    /// Given up again.
    pub(crate) failed_again: i64,
    pub(crate) delivered: i64,
}

/// The standing of a job.
pub(crate) async fn standing(node: &Node, merchant: MerchantId, job: &Job) -> Result<Standing, Failed> {
    let progress = retry_jobs::progress(node.store(merchant), merchant, job).await?;
    let (underway, failed_again) = (progress.out.min(job.released), progress.failed_again.min(job.released));
    Ok(Standing {
        waiting: if job.ended_at.is_some() { 0 } else { (job.total - job.released).max(0) },
        underway,
        failed_again,
        delivered: (job.released - underway - failed_again).max(0),
    })
}
