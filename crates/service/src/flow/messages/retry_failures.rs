//! Retries all messages of an interface that are in the failure queue, also those of endpoints that were removed. The operator creates or cancels the job; the endpoint's
//! deliverer carries it out.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::Kind;
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::endpoints;
use store::messages::retry_jobs::{self, MOST_SELECTED, NewJob, Part};
use uuid::Uuid;

use crate::app::App;

/// A request to retry the failed messages of an interface.
#[derive(Clone, Copy, Debug)]
pub struct RetryRequest {
    pub kind: Kind,
    /// Only messages that failed at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Half of the endpoint's rate if absent.
    pub per_second: Option<i32>,
}

/// The reasons a retry job cannot be created or cancelled.
#[derive(Debug, thiserror::Error)]
pub enum RetryFailuresError {
    #[error("the merchant has no endpoint for {0}; add one with `backhaul endpoint set --merchant HANDLE`")]
    NoEndpoint(Kind),
    #[error(
        "a retry job for this endpoint is still running; see it with `backhaul failures jobs --merchant HANDLE`, or cancel it with `backhaul failures cancel --merchant HANDLE`"
    )]
    JobRunning,
    #[error("select at most {MOST_SELECTED} messages")]
    TooMany,
    /// Fewer messages can be retried than the person saw. Carries how many there are, and how many there were.
    #[error("the failure queue has changed: {now} of the {expected} messages can still be retried")]
    Changed { now: i64, expected: i64 },
    #[error("the rate must be 1 to 100000 messages per second")]
    Rate,
    #[error("the merchant has no running job {0}; `backhaul failures jobs --merchant HANDLE` lists its jobs")]
    NoSuchJob(Uuid),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Creates the job. Returns its id and the number of messages to retry.
pub async fn retry_failures(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    request: RetryRequest,
) -> Result<(Uuid, i64), RetryFailuresError> {
    create(app, actor, merchant, request, None, None).await
}

/// Creates a job for a part of the failures. Returns its id and the number of messages to retry. Nothing happens if these are fewer
/// than `expected`, because somebody has retried or discarded some in the meantime.
pub async fn retry_part(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    request: RetryRequest,
    part: Part<'_>,
    expected: Option<i64>,
) -> Result<(Uuid, i64), RetryFailuresError> {
    if matches!(part, Part::Selected(messages) if messages.len() > MOST_SELECTED) {
        return Err(RetryFailuresError::TooMany);
    }
    create(app, actor, merchant, request, Some(part), expected).await
}

async fn create(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    request: RetryRequest,
    part: Option<Part<'_>>,
    expected: Option<i64>,
) -> Result<(Uuid, i64), RetryFailuresError> {
    let (id, now) = (app.mint(), app.now());
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, request.kind).await?.ok_or(RetryFailuresError::NoEndpoint(request.kind))?;
    let per_second = request.per_second.unwrap_or((endpoint.per_second / 2).max(1));
    if !(1..=100_000).contains(&per_second) {
        return Err(RetryFailuresError::Rate);
    }
    let job = NewJob { id, endpoint: endpoint.id, failed_since: request.since, per_second, created_by: actor };
    let created = match part {
        None => retry_jobs::insert(&mut tx, &job, now).await,
        Some(part) => retry_jobs::insert_part(&mut tx, &job, part, now).await,
    };
    let total = match created {
        Err(failed) if failed.violates("one_retry_job_per_endpoint") => return Err(RetryFailuresError::JobRunning),
        other => other?,
    };
    if let Some(expected) = expected.filter(|expected| total < *expected) {
        return Err(RetryFailuresError::Changed { now: total, expected });
    }
    let detail = match part {
        None => format!("{id} {}", request.kind),
        Some(Part::Reason { reason, .. }) => format!("{id} {} {reason}", request.kind),
        Some(Part::Selected(_)) => format!("{id} {} {total} selected", request.kind),
    };
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "retry_job.made", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok((id, total))
}

/// Cancels a job. No more messages are released; those already released are still delivered.
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
