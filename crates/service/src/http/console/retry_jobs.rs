//! `/failures/jobs` and `/merchants/{handle}/jobs/{job}`: retries under way, how far they have come, and their end.

use std::cmp::Reverse;

use askama::Template;
use axum::response::Response;
use chrono::TimeDelta;
use domain::merchants::operator::Role;
use store::merchants::accounts::Merchant;
use store::messages::retry_jobs::{self, Job, JobOfMerchant, MOST_WATCHED};
use uuid::Uuid;

use super::by::{By, Permission, Support, Viewer};
use super::count::grouped;
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Path;
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use super::view::span;
use crate::flow::messages::retry_failures::cancel_retries;
use crate::http::pages::see;
use crate::node::each_cell;
use crate::show::messages::retry_job::{Standing, standing};

/// The most jobs of each kind on the list.
const LISTED: i64 = 25;

struct Row {
    at: String,
    merchant: String,
    interface: String,
    reason: String,
    state: (&'static str, &'static str),
    released: String,
    total: String,
    created_by: String,
    created_at: Stamp,
}

#[derive(Template)]
#[template(path = "console/retry-jobs.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
}

/// The jobs of all merchants.
pub(super) async fn list(by: By<Viewer>) -> Result<Response, ConsoleError> {
    // Those that run come first, then those that ended last.
    let place = |job: &JobOfMerchant| (job.ended_at.is_some(), Reverse(job.ended_at), Reverse(job.job));
    let jobs = each_cell::list(&by.app, |store| retry_jobs::newest(store, LISTED), place).await?;
    let row = |job: JobOfMerchant| Row {
        at: format!("/merchants/{}/jobs/{}", job.handle, job.job),
        state: state(job.cancelled_at.is_some(), job.ended_at.is_some()),
        released: grouped(job.released),
        total: grouped(job.total),
        created_at: by.log_time(job.created_at),
        merchant: job.merchant,
        interface: job.interface,
        reason: job.reason.unwrap_or_default(),
        created_by: job.created_by,
    };
    let rows: Vec<Row> = jobs.into_iter().map(row).collect();
    render(&Page { frame: by.frame(Section::Failures, "Retry jobs").renewing(5), rows })
}

const fn state(cancelled: bool, ended: bool) -> (&'static str, &'static str) {
    match (cancelled, ended) {
        (true, _) => ("off", "Cancelled"),
        (false, true) => ("ok", "Done"),
        (false, false) => ("run", "Runs"),
    }
}

#[derive(Template)]
#[template(path = "console/retry-job.html")]
struct JobPage {
    frame: Frame,
    merchant: Merchant,
    job: Job,
    state: (&'static str, &'static str),
    created_at: Stamp,
    ended_at: Option<Stamp>,
    released: String,
    total: String,
    waiting: i64,
    out: String,
    failed_again: String,
    delivered: String,
    bar: [i64; 4],
    width: i64,
    left: Option<String>,
    may_act: bool,
    command: String,
}

async fn find<P: Permission>(by: &By<P>, handle: &str, job: Uuid) -> Result<(Merchant, Job), ConsoleError> {
    let merchant = merchant_of(by, handle).await?;
    let job = retry_jobs::list(by.app.store(merchant.id), merchant.id, Some(job), 1).await?.pop().ok_or(ConsoleError::NotFound)?;
    Ok((merchant, job))
}

/// How far a job has come.
pub(super) async fn show(by: By<Viewer>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, job) = find(&by, &handle, id).await?;
    let Standing { waiting, underway: out, failed_again, delivered } = standing(&by.app, merchant.id, &job).await?;
    let bounded = |count: i64| if count >= MOST_WATCHED { format!("{} or more", grouped(count)) } else { grouped(count) };
    let mut frame = by.frame(Section::Failures, &format!("Retry of {} · {}", merchant.name, job.interface));
    if job.ended_at.is_none() || out > 0 {
        frame = frame.renewing(2);
    }
    render(&JobPage {
        frame,
        state: state(job.cancelled_at.is_some(), job.ended_at.is_some()),
        created_at: by.log_time(job.created_at),
        ended_at: job.ended_at.map(|at| by.log_time(at)),
        released: grouped(job.released),
        total: grouped(job.total),
        waiting,
        out: bounded(out),
        failed_again: bounded(failed_again),
        delivered: grouped(delivered),
        bar: [delivered, failed_again, out, waiting],
        width: job.total.max(1),
        left: job.ended_at.is_none().then(|| span(TimeDelta::seconds(waiting / i64::from(job.per_second.max(1)) + 1))),
        may_act: by.may(Role::Support),
        command: format!("backhaul failures jobs --merchant {} --follow {id}", merchant.handle),
        merchant,
        job,
    })
}

#[derive(Template)]
#[template(path = "console/retry-cancel.html")]
struct CancelPage {
    frame: Frame,
    merchant: Merchant,
    job: Job,
    released: String,
    waiting: String,
    command: String,
}

/// The preview of cancelling.
pub(super) async fn ask_cancel(by: By<Support>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, job) = find(&by, &handle, id).await?;
    if job.ended_at.is_some() {
        return Ok(see(&format!("/merchants/{handle}/jobs/{id}")));
    }
    render(&CancelPage {
        frame: by.frame(Section::Failures, "Cancel the job?"),
        released: grouped(job.released),
        waiting: grouped((job.total - job.released).max(0)),
        command: format!("backhaul failures cancel {id} --merchant {}", merchant.handle),
        merchant,
        job,
    })
}

pub(super) async fn cancel(by: By<Support>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, _) = find(&by, &handle, id).await?;
    cancel_retries(&by.app, &by.actor(), merchant.id, id).await?;
    Ok(see(&format!("/merchants/{}/jobs/{id}", merchant.handle)))
}
