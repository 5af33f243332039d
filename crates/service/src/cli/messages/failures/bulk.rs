//! `backhaul failures retry`: retries single messages; with `--endpoint`, previews, confirms, starts and follows a retry job.

use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use domain::id::MerchantId;
use domain::messages::message::Kind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use store::messages::endpoints;
use store::messages::retry_jobs::{self, Job, Part};
use store::node::short_ids::Identified;
use uuid::Uuid;
use wire::time;

use super::part::{self as selected, NOTHING};
use crate::app::App;
use crate::cli::confirm::{Confirmation, confirm};
use crate::cli::context::{OfMerchant, actor};
use crate::cli::id::Id;
use crate::cli::messages::commands::Retried;
use crate::cli::output::{self, Format};
use crate::cli::session;
use crate::flow::messages::retry_failures::{RetryRequest, retry_failures, retry_part};
use crate::flow::messages::retry_message::{Asker, retry_message};
use crate::show::messages::retry_job::{Standing, standing};

/// The time between two looks at a job's progress.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The looks at a job that has ended while some of its messages are under way.
const MOST_LOOKS_AFTER_END: u32 = 10;
/// The most jobs listed.
const MOST_LISTED: i64 = 50;

#[derive(Args)]
pub(in crate::cli) struct Retry {
    /// The ids of the messages.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    ids: Vec<Id>,
    #[command(flatten)]
    merchant: OfMerchant,
    #[command(flatten)]
    part: selected::Part,
    /// The messages to release per second; half of the endpoint's own limit if left out.
    #[arg(long, requires = "endpoint", value_parser = clap::value_parser!(i32).range(1..=100_000))]
    per_second: Option<i32>,
    #[command(flatten)]
    confirmation: Confirmation,
}

pub(super) async fn run(app: &App, retry: Retry, format: Format) -> anyhow::Result<()> {
    let of = retry.merchant.find(app).await?;
    let merchant = of.id;
    let Some(kind) = retry.part.endpoint else { return retry_each(app, merchant, &retry.ids, format).await };
    require_endpoint(app, merchant, kind).await?;
    if !retry.confirmation.yes {
        let covered = retry.part.covered(app, &of, kind).await?;
        if covered.count() == 0 {
            return output::said(format, NOTHING);
        }
        covered.preview(&of, format)?;
        confirm(&format!("{} would be retried.", covered.told()), &of.handle)?;
    }
    let wanted = RetryRequest { kind, since: retry.part.since, per_second: retry.per_second };
    let (job, _) = match &retry.part.reason {
        None => retry_failures(app, &actor(), merchant, wanted).await?,
        Some(reason) => retry_part(app, &actor(), merchant, wanted, Part::Reason { reason, at: None }, None).await?,
    };
    follow(app, &retry.merchant, merchant, job, format).await
}

/// Checks that there is an endpoint for messages of a kind.
async fn require_endpoint(app: &App, merchant: MerchantId, kind: Kind) -> anyhow::Result<()> {
    let endpoints = endpoints::list(app.store(merchant), merchant).await?;
    if !matches!(kind, Kind::Internal(_)) && !endpoints.iter().any(|endpoint| endpoint.interface == kind.as_str()) {
        bail!("the merchant has no endpoint for {kind}; `backhaul endpoint list` shows its endpoints");
    }
    Ok(())
}

/// Retries these messages one by one, and reports those that cannot be retried at the end.
async fn retry_each(app: &App, merchant: MerchantId, ids: &[Id], format: Format) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut refused = Vec::new();
    for id in ids {
        let id = id.of(app, merchant, Identified::Message).await?;
        match retry_message(app, Asker::Operator(&actor()), merchant, id).await {
            Ok(retried) => rows.push(Retried { message_id: id.to_string(), attempt: retried.attempt, warning: retried.warning() }),
            Err(error) => refused.push(format!("{id}: {error}")),
        }
    }
    app.forward_signals_now().await;
    output::list(format, &rows, "No message is retried.", &["MESSAGE", "ATTEMPT", "WARNING"], |row| {
        vec![row.message_id.clone(), row.attempt.to_string(), row.warning.unwrap_or_default().to_owned()]
    })?;
    if refused.is_empty() { Ok(()) } else { bail!("{}", refused.join("\n")) }
}

#[derive(Serialize)]
struct JobOut {
    job_id: String,
    interface: String,
    state: &'static str,
    total: i64,
    released: i64,
    /// Of the released ones: those that arrived, those that were given up again, and the others.
    delivered: i64,
    failed_again: i64,
    underway: i64,
    per_second: i32,
    created_at: String,
    created_by: String,
    failed_since: Option<String>,
    reason: Option<String>,
    selected: Option<i32>,
    ended_at: Option<String>,
}

impl JobOut {
    async fn new(app: &App, merchant: MerchantId, job: Job) -> anyhow::Result<Self> {
        let Standing { underway, failed_again, delivered, .. } = standing(app, merchant, &job).await?;
        Ok(Self {
            delivered,
            failed_again,
            underway,
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
        })
    }
}

pub(super) async fn list(app: &App, of: &OfMerchant, merchant: MerchantId, format: Format) -> anyhow::Result<()> {
    let jobs = retry_jobs::list(app.store(merchant), merchant, None, MOST_LISTED).await?;
    let mut rows = Vec::with_capacity(jobs.len());
    for job in jobs {
        rows.push(JobOut::new(app, merchant, job).await?);
    }
    let empty = format!("{of} has no retry jobs.");
    let headers = ["JOB", "INTERFACE", "STATE", "TOTAL", "RELEASED", "DELIVERED", "FAILED AGAIN", "CREATED", "BY"];
    output::list(format, &rows, &empty, &headers, |row| {
        vec![
            row.job_id.clone(),
            row.interface.clone(),
            row.state.to_owned(),
            row.total.to_string(),
            row.released.to_string(),
            row.delivered.to_string(),
            row.failed_again.to_string(),
            row.created_at.clone(),
            row.created_by.clone(),
        ]
    })
}

/// Shows a job's progress until it ends. Interrupting this does not stop the job. Nobody watches through the API.
pub(super) async fn follow(app: &App, of: &OfMerchant, merchant: MerchantId, id: Uuid, format: Format) -> anyhow::Result<()> {
    let job = find(app, merchant, id).await?;
    if session::remote().is_some() {
        return output::one(format, &JobOut::new(app, merchant, job).await?);
    }
    output::progress(&format!(
        "Job {id}: {}, {} per second. Ctrl-C stops watching, not the job.\n  \
         watch:  backhaul failures jobs --merchant {of} --follow {id}\n  \
         cancel: backhaul failures cancel {id} --merchant {of}",
        output::counted(job.total, "message"),
        job.per_second
    ));
    let bar = ProgressBar::with_draw_target(Some(job.total.unsigned_abs()), ProgressDrawTarget::stderr());
    let bar = bar
        .with_style(ProgressStyle::with_template("{bar:30} {pos}/{len} released  {msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut looks_after_end = 0;
    let job = loop {
        let job = find(app, merchant, id).await?;
        let Standing { underway, failed_again, delivered, .. } = standing(app, merchant, &job).await?;
        bar.set_position(job.released.unsigned_abs());
        bar.set_message(format!("{delivered} delivered, {failed_again} failed again"));
        if job.ended_at.is_some() {
            // What was released last is probably delivered in a moment. A retry that fails takes hours.
            if underway == 0 || looks_after_end >= MOST_LOOKS_AFTER_END {
                break job;
            }
            looks_after_end += 1;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    bar.finish_and_clear();
    output::one(format, &JobOut::new(app, merchant, job).await?)
}

async fn find(app: &App, merchant: MerchantId, id: Uuid) -> anyhow::Result<Job> {
    let found = retry_jobs::list(app.store(merchant), merchant, Some(id), 1).await?.pop();
    found.with_context(|| format!("the merchant has no job {id}; `backhaul failures jobs` lists its jobs"))
}
