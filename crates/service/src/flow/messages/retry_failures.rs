//! Everything of an endpoint in the failure queue is tried again: a job, made and called off by the operator, and carried
//! out by whoever delivers to the endpoint.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::Kind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::endpoints;
use store::messages::retry_jobs::{self, NewJob};
use uuid::Uuid;

use crate::app::App;

/// What is to be tried again.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Of which kind: whose endpoint.
    pub kind: Kind,
    /// Only what failed since then.
    pub since: Option<DateTime<Utc>>,
    /// How many a second; half of what the endpoint takes, unless it is given.
    pub per_second: Option<i32>,
}

/// Why there is no such job.
#[derive(Debug, thiserror::Error)]
pub enum RetryFailuresError {
    /// Nobody takes them.
    #[error("the merchant has no endpoint for {0}; `backhaul endpoint set` makes one")]
    NoEndpoint(Kind),
    /// One is at work.
    #[error("a job of this endpoint is at work; `backhaul failures jobs` shows it, `backhaul failures cancel` calls it off")]
    AtWork,
    /// The rate.
    #[error("the rate is 1 to 100000 a second")]
    Rate,
    /// There is none to call off.
    #[error("the merchant has no job {0} at work; `backhaul failures jobs` shows those that there are")]
    NoSuchJob(Uuid),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Makes the job, and answers its id and how many messages it is about.
pub async fn retry_failures(app: &App, actor: &str, merchant: MerchantId, wanted: Wanted) -> Result<(Uuid, i64), RetryFailuresError> {
    let (id, now) = (app.mint(), app.now());
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, wanted.kind).await?.ok_or(RetryFailuresError::NoEndpoint(wanted.kind))?;
    let per_second = wanted.per_second.unwrap_or((endpoint.per_second / 2).max(1));
    if !(1..=100_000).contains(&per_second) {
        return Err(RetryFailuresError::Rate);
    }
    let job = NewJob { id, endpoint: endpoint.id, failed_since: wanted.since, per_second, created_by: actor };
    let total = match retry_jobs::insert(&mut tx, &job, now).await {
        Err(failed) if failed.violates("one_retry_job_per_endpoint") => return Err(RetryFailuresError::AtWork),
        other => other?,
    };
    let detail = format!("{id} {}", wanted.kind);
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "retry_job.made", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok((id, total))
}

/// Calls a job off: nothing more is released, and what was released is delivered all the same.
pub async fn cancel_retries(app: &App, actor: &str, merchant: MerchantId, job: Uuid) -> Result<(), RetryFailuresError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    if !retry_jobs::cancel(&mut tx, job, now).await? {
        return Err(RetryFailuresError::NoSuchJob(job));
    }
    let detail = job.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "retry_job.cancelled", detail: &detail, done_at: now }).await?;
    Ok(app.commit(tx).await?)
}
