//! Sends the delivered messages of a time range to an endpoint once more. The operator creates or cancels the job; the endpoint's
//! deliverer carries it out.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use store::Failed;
use store::merchants::audit::{self, Entry};
use store::messages::endpoints;
use store::messages::replays::{self, NewReplay};
use uuid::Uuid;

use crate::app::App;

/// The age up to which messages can be replayed. They are kept for 30 days or more, which leaves a day for the attempts.
pub const REACHES_BACK: TimeDelta = TimeDelta::days(29);

/// A request to replay messages of an interface.
#[derive(Clone, Copy, Debug)]
pub struct ReplayRequest {
    pub interface: Interface,
    /// Messages written from this time on.
    pub from: DateTime<Utc>,
    /// Messages written before this time.
    pub to: DateTime<Utc>,
    /// Half of the endpoint's rate if absent.
    pub per_second: Option<i32>,
}

/// The reasons messages cannot be replayed, or a replay cannot be cancelled.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("the merchant has no endpoint for {0}; add one with `backhaul endpoint set --merchant HANDLE {0}`")]
    NoEndpoint(Interface),
    #[error("{0} is only queried and gets no messages, so there is nothing to replay")]
    Asked(Interface),
    #[error("the range must begin before it ends, and its end must have passed")]
    Range,
    #[error("the range begins more than 29 days ago; messages are kept for 30 days")]
    TooOld,
    #[error("the rate must be 1 to 100000 messages per second")]
    Rate,
    #[error(
        "a replay for this endpoint is still running; see it with `backhaul endpoint replays --merchant HANDLE`, or cancel it with `backhaul endpoint cancel-replay --merchant HANDLE`"
    )]
    JobRunning,
    #[error("the merchant has no running replay {0}; `backhaul endpoint replays --merchant HANDLE` lists its replays")]
    NoSuchJob(Uuid),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The checks of a range that need no database.
pub fn check(interface: Interface, from: DateTime<Utc>, to: DateTime<Utc>, now: DateTime<Utc>) -> Result<(), ReplayError> {
    if interface.is_asked() {
        return Err(ReplayError::Asked(interface));
    }
    // A message of this moment may not be committed yet, and the replay would pass it by.
    if from >= to || to > now {
        return Err(ReplayError::Range);
    }
    if from < now - REACHES_BACK { Err(ReplayError::TooOld) } else { Ok(()) }
}

/// Creates the job. Returns its id.
pub async fn replay_messages(app: &App, actor: &str, merchant: MerchantId, request: ReplayRequest) -> Result<Uuid, ReplayError> {
    let (id, now) = (app.mint(), app.now());
    let ReplayRequest { interface, from, to, per_second } = request;
    check(interface, from, to, now)?;
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ReplayError::NoEndpoint(interface))?;
    let per_second = per_second.unwrap_or((endpoint.per_second / 2).max(1));
    if !(1..=100_000).contains(&per_second) {
        return Err(ReplayError::Rate);
    }
    let job = NewReplay { id, endpoint: endpoint.id, from, to, per_second, created_by: actor };
    match replays::insert(&mut tx, &job, now).await {
        Err(failed) if failed.violates("one_replay_job_per_endpoint") => return Err(ReplayError::JobRunning),
        other => other?,
    }
    let detail = format!("{id} {interface} from {} to {}", wire::time::write(from), wire::time::write(to));
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "replay_job.made", detail: &detail, done_at: now }).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// Cancels a job. No more messages are released; those already released are still delivered.
pub async fn cancel_replay(app: &App, actor: &str, merchant: MerchantId, job: Uuid) -> Result<(), ReplayError> {
    let now = app.now();
    let mut tx = app.begin(merchant).await?;
    if !replays::cancel(&mut tx, job, now).await? {
        return Err(ReplayError::NoSuchJob(job));
    }
    let detail = job.to_string();
    audit::record(&mut tx, Entry { id: app.mint(), actor, action: "replay_job.cancelled", detail: &detail, done_at: now }).await?;
    Ok(app.commit(tx).await?)
}
