//! `backhaul failures retry --endpoint …`: previews, confirms, starts and follows a retry job.

use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use clap::Args;
use domain::id::MerchantId;
use domain::messages::message::Kind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use store::messages::failures::{self, Of};
use store::messages::retry_jobs::{self, Job, Part};
use uuid::Uuid;
use wire::time;

use super::{count, groups_table, require_endpoint, retry_each, show_groups};
use crate::app::App;
use crate::cli::confirm::{Confirmation, confirm};
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::messages::commands::moment;
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::flow::messages::retry_failures::{RetryRequest, retry_failures, retry_part};

/// The time between two looks at a job's progress.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The most jobs listed.
const MOST_LISTED: i64 = 50;

#[derive(Args)]
pub(in crate::cli) struct Retry {
    /// The ids of the messages.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    ids: Vec<Id>,
    #[command(flatten)]
    merchant: OfMerchant,
    /// Retry everything of this interface, also what its removed endpoints left behind; `mail` and `operator_hook` are internal work.
    #[arg(long, value_name = "INTERFACE")]
    endpoint: Option<Kind>,
    /// Only messages that failed at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment, requires = "endpoint")]
    since: Option<DateTime<Utc>>,
    /// Only messages that failed for this reason, as `backhaul failures list` shows it, such as 503.
    #[arg(long, requires = "endpoint")]
    reason: Option<String>,
    /// The messages to release per second; half of the endpoint's own limit if left out.
    #[arg(long, requires = "endpoint", value_parser = clap::value_parser!(i32).range(1..=100_000))]
    per_second: Option<i32>,
    #[command(flatten)]
    confirmation: Confirmation,
}

pub(super) async fn run(app: &App, retry: Retry, format: Format) -> anyhow::Result<()> {
    let merchant = retry.merchant.find(app).await?.id;
    let Some(kind) = retry.endpoint else { return retry_each(app, merchant, &retry.ids, format).await };
    require_endpoint(app, merchant, kind).await?;
    if !retry.confirmation.yes {
        let mut groups = failures::groups(app.store(merchant), merchant, Of::Interface(kind), retry.since).await?;
        groups.retain(|group| retry.reason.as_ref().is_none_or(|reason| *reason == group.reason));
        let counted = groups.iter().map(|group| group.count).sum();
        if counted == 0 {
            return output::said(format, "The failure queue has no messages for this interface.");
        }
        // A caller of the API reads the groups as the result; at a terminal they are for whoever confirms.
        if session::remote().is_some() {
            show_groups(&groups, format)?;
        } else {
            output::note(groups_table(&groups).trim_end());
        }
        let messages = if counted == 1 { "1 message".to_owned() } else { format!("{} messages", count(counted)) };
        confirm(&format!("{messages} would be retried."), retry.merchant.handle.as_str())?;
    }
    let wanted = RetryRequest { kind, since: retry.since, per_second: retry.per_second };
    let (job, _) = match &retry.reason {
        None => retry_failures(app, &actor(), merchant, wanted).await?,
        Some(reason) => retry_part(app, &actor(), merchant, wanted, Part::Reason { reason, at: None }, None).await?,
    };
    follow(app, &retry.merchant, merchant, job, format).await
}

#[derive(Serialize)]
struct JobOut {
    job_id: String,
    interface: String,
    state: &'static str,
    released: i64,
    total: i64,
    per_second: i32,
    created_at: String,
    created_by: String,
    failed_since: Option<String>,
    reason: Option<String>,
    selected: Option<i32>,
    ended_at: Option<String>,
}

impl From<Job> for JobOut {
    fn from(job: Job) -> Self {
        Self {
            job_id: job.id.to_string(),
            interface: job.interface,
            state: match (job.cancelled_at, job.ended_at) {
                (Some(_), _) => "cancelled",
                (None, Some(_)) => "done",
                (None, None) => "at work",
            },
            released: job.released,
            total: job.total,
            per_second: job.per_second,
            created_at: time::write(job.created_at),
            created_by: job.created_by,
            failed_since: job.failed_since.map(time::write),
            reason: job.reason,
            selected: job.selected,
            ended_at: job.ended_at.map(time::write),
        }
    }
}

pub(super) async fn list(app: &App, of: &OfMerchant, merchant: MerchantId, format: Format) -> anyhow::Result<()> {
    let jobs = retry_jobs::list(app.store(merchant), merchant, None, MOST_LISTED).await?;
    let rows: Vec<JobOut> = jobs.into_iter().map(JobOut::from).collect();
    let empty = format!("{of} has no retry jobs.");
    output::list(format, &rows, &empty, &["JOB", "INTERFACE", "STATE", "RELEASED", "TOTAL", "PER SECOND", "CREATED", "BY"], |row| {
        vec![
            row.job_id.clone(),
            row.interface.clone(),
            row.state.to_owned(),
            row.released.to_string(),
            row.total.to_string(),
            row.per_second.to_string(),
            row.created_at.clone(),
            row.created_by.clone(),
        ]
    })
}

/// Shows a job's progress until it ends. Interrupting this does not stop the job. Nobody watches through the API.
pub(super) async fn follow(app: &App, of: &OfMerchant, merchant: MerchantId, id: Uuid, format: Format) -> anyhow::Result<()> {
    let job = find(app, merchant, id).await?;
    if session::remote().is_some() {
        return output::one(format, &JobOut::from(job));
    }
    output::progress(&format!(
        "Job {id}: {}, {} per second. Ctrl-C stops watching, not the job.\n  \
         watch:  backhaul failures jobs --merchant {of} --follow {id}\n  \
         cancel: backhaul failures cancel {id} --merchant {of}",
        output::counted(job.total, "message"),
        job.per_second
    ));
    let bar = ProgressBar::with_draw_target(Some(job.total.unsigned_abs()), ProgressDrawTarget::stderr());
    let bar = bar.with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} released  {eta} left").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let job = loop {
        let job = find(app, merchant, id).await?;
        bar.set_position(job.released.unsigned_abs());
        if job.ended_at.is_some() {
            break job;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    bar.finish_and_clear();
    output::one(format, &JobOut::from(job))
}

async fn find(app: &App, merchant: MerchantId, id: Uuid) -> anyhow::Result<Job> {
    let found = retry_jobs::list(app.store(merchant), merchant, Some(id), 1).await?.pop();
    found.with_context(|| format!("the merchant has no job {id}; `backhaul failures jobs` lists its jobs"))
}
