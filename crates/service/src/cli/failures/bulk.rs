//! `backhaul failures retry --endpoint …`: a job, previewed, asked about, made, and followed.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::Args;
use domain::id::{Handle, MerchantId};
use domain::message::Kind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use store::failures::{self, Of};
use store::retry_jobs::{self, Job};
use uuid::Uuid;
use wire::time;

use super::super::messages::moment;
use super::super::output::{self, Format};
use super::super::{actor, merchant};
use super::{count, endpoint_of, retry_each, show_groups};
use crate::app::App;
use crate::flow::retry_failures::{Wanted, retry_failures};

/// How often a job that is followed is asked how far it has come.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// How many jobs are listed.
const MOST_LISTED: i64 = 50;

#[derive(Args)]
pub(in super::super) struct Retry {
    /// The messages.
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    ids: Vec<Uuid>,
    /// Whose they are.
    #[arg(long)]
    merchant: Handle,
    /// Everything of the endpoint of this interface; `mail` and `operator_hook` are work of our own.
    #[arg(long, value_name = "INTERFACE")]
    endpoint: Option<Kind>,
    /// Only what failed at this time (ISO 8601) or later.
    #[arg(long, value_parser = moment, requires = "endpoint")]
    since: Option<DateTime<Utc>>,
    /// How many a second; half of what the endpoint takes unless it is given.
    #[arg(long, requires = "endpoint", value_parser = clap::value_parser!(i32).range(1..=100_000))]
    per_second: Option<i32>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(app: &App, retry: Retry, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &retry.merchant).await?.id;
    let Some(kind) = retry.endpoint else { return retry_each(app, whose, &retry.ids, format).await };
    let endpoint = endpoint_of(app, whose, kind).await?;
    if !retry.yes {
        let groups = failures::groups(app.store(whose), whose, Of::Endpoint(endpoint), retry.since).await?;
        let counted = groups.iter().map(|group| group.count).sum();
        if counted == 0 {
            output::line("The failure queue has nothing of this endpoint.");
            return Ok(());
        }
        show_groups(&groups, Format::Table)?;
        confirm(&format!("Try {} messages again?", count(counted)))?;
    }
    let wanted = Wanted { kind, since: retry.since, per_second: retry.per_second };
    let (job, _) = retry_failures(app, &actor(), whose, wanted).await?;
    follow(app, &retry.merchant, whose, job, format).await
}

/// Asks, and goes on only after a yes.
fn confirm(question: &str) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("nobody is there to be asked; give --yes");
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) { Ok(()) } else { bail!("nothing was done") }
}

#[derive(Serialize)]
struct JobShown {
    job_id: String,
    interface: String,
    state: &'static str,
    released: i64,
    total: i64,
    per_second: i32,
    created_at: String,
    created_by: String,
    failed_since: Option<String>,
    ended_at: Option<String>,
}

impl From<Job> for JobShown {
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
            ended_at: job.ended_at.map(time::write),
        }
    }
}

pub(super) async fn list(app: &App, handle: &Handle, whose: MerchantId, format: Format) -> anyhow::Result<()> {
    let jobs = retry_jobs::list(app.store(whose), whose, None, MOST_LISTED).await?;
    let rows: Vec<JobShown> = jobs.into_iter().map(JobShown::from).collect();
    let empty = format!("{handle} has no retry jobs.");
    output::list(format, &rows, &empty, &["JOB", "INTERFACE", "STATE", "RELEASED", "TOTAL", "A SECOND", "CREATED", "BY"], |row| {
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

/// Follows a job until it ends. Whoever stops watching stops nothing else.
pub(super) async fn follow(app: &App, handle: &Handle, whose: MerchantId, id: Uuid, format: Format) -> anyhow::Result<()> {
    let job = find(app, whose, id).await?;
    eprintln!(
        "Job {id}: {} messages, {} a second. It goes on without this command; Ctrl-C only stops watching.\n  \
         watch:  backhaul failures jobs --merchant {handle} --follow {id}\n  \
         cancel: backhaul failures cancel {id} --merchant {handle}",
        job.total, job.per_second
    );
    let bar = ProgressBar::with_draw_target(Some(job.total.unsigned_abs()), ProgressDrawTarget::stderr());
    let bar = bar.with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} released  {eta} left").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let job = loop {
        let job = find(app, whose, id).await?;
        bar.set_position(job.released.unsigned_abs());
        if job.ended_at.is_some() {
            break job;
        }
        tokio::time::sleep(ASK_EVERY).await;
    };
    bar.finish_and_clear();
    output::one(format, &JobShown::from(job))
}

async fn find(app: &App, whose: MerchantId, id: Uuid) -> anyhow::Result<Job> {
    let found = retry_jobs::list(app.store(whose), whose, Some(id), 1).await?.pop();
    found.with_context(|| format!("the merchant has no job {id}; `backhaul failures jobs` shows those that there are"))
}
