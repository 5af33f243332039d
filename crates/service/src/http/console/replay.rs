//! `GET /merchants/{handle}/endpoints/{interface}/replay`: sends the delivered messages of a time range once more.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::endpoints::Endpoint;
use store::messages::replays::{self, Preview, Replay};
use uuid::Uuid;

use super::by::{By, Manager, Permission, Viewer};
use super::count::grouped as number;
use super::endpoint::found;
use super::error::ConsoleError;
use super::form::{Form, Path, Query};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, State, Tab};
use super::merchants::capitalised;
use super::page::render;
use super::question::Question;
use super::stamp::Stamp;
use super::view::span;
use crate::flow::messages::replay_messages::{ReplayError, ReplayRequest, cancel_replay, check, replay_messages};
use crate::http::pages::see;

/// The range and the rate of a replay, as they are typed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Range {
    from: String,
    to: String,
    per_second: String,
}

/// What a replay would send.
struct Shown {
    /// The number of messages, in words.
    messages: String,
    /// The number of messages on the button.
    button: String,
    left_out: Option<String>,
    lasts: Option<String>,
    from: Stamp,
    to: Stamp,
    /// The times as the form posts them.
    exact_from: String,
    exact_to: String,
    per_second: i32,
    is_empty: bool,
    command: String,
}

/// A replay, as it is drawn.
struct Row {
    id: Uuid,
    state: State,
    from: Stamp,
    to: Stamp,
    released: String,
    left_out: String,
    per_second: i32,
    /// How far through the range it is, of a hundred.
    percent: i64,
    created: Stamp,
    created_by: String,
    ended: Option<Stamp>,
    is_running: bool,
}

#[derive(Template)]
#[template(path = "console/replay.html")]
struct Page {
    frame: Frame,
    head: Head,
    interface: &'static str,
    typed: Range,
    usual_rate: i32,
    rate: i32,
    fault: Option<String>,
    preview: Option<Shown>,
    jobs: Vec<Row>,
}

/// The replays in a list.
const LISTED: i64 = 20;

pub(super) async fn ask(
    by: By<Viewer>,
    Path(path): Path<(String, String)>,
    Query(mut typed): Query<Range>,
) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    if interface.is_asked() {
        return Err(refused(ReplayError::Asked(interface)));
    }
    let (mut preview, mut fault) = (None, None);
    if typed.from.is_empty() && typed.to.is_empty() {
        (typed.from, typed.to) = (by.field(by.now - TimeDelta::hours(4)), by.field(by.now));
    } else {
        match range(&by, interface, &endpoint, &typed) {
            Ok(range) => preview = Some(look(&by, &merchant, interface, &endpoint, range).await?),
            Err(why) => fault = Some(why),
        }
    }
    let jobs = replays::list(by.app.store(merchant.id), merchant.id, Some(interface), None, LISTED).await?;
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: replay {interface}", merchant.name)),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        interface: interface.as_str(),
        usual_rate: usual_rate(&endpoint),
        rate: endpoint.per_second,
        typed,
        fault,
        preview,
        jobs: jobs.into_iter().map(|job| row(&by, job)).collect(),
    })
}

fn usual_rate(endpoint: &Endpoint) -> i32 {
    (endpoint.per_second / 2).max(1)
}

/// The range and rate that were typed, or what is wrong with them.
fn range<P: Permission>(
    by: &By<P>,
    interface: Interface,
    endpoint: &Endpoint,
    typed: &Range,
) -> Result<(DateTime<Utc>, DateTime<Utc>, i32), String> {
    let time = |text: &str| by.parse(text.trim()).ok_or_else(|| "Write both times as 2026-11-16T18:00.".to_owned());
    let (from, to) = (time(&typed.from)?, time(&typed.to)?);
    check(interface, from, to, by.now).map_err(|error| format!("{}.", capitalised(&error.to_string())))?;
    let rate = match typed.per_second.trim() {
        "" => Some(usual_rate(endpoint)),
        text => text.parse().ok().filter(|rate| (1..=100_000).contains(rate)),
    };
    Ok((from, to, rate.ok_or("The rate must be a whole number from 1 to 100,000.")?))
}

async fn look(
    by: &By<Viewer>,
    merchant: &Merchant,
    interface: Interface,
    endpoint: &Endpoint,
    (from, to, per_second): (DateTime<Utc>, DateTime<Utc>, i32),
) -> Result<Shown, ConsoleError> {
    let store = by.app.store(merchant.id);
    let counted = replays::preview(store, merchant.id, (endpoint.id, interface), (from, to)).await?;
    let (delivered, messages, left_out) = match counted {
        Preview::Exact { delivered, left_out } => (delivered, number(delivered), Some(number(left_out))),
        Preview::About { delivered } => (delivered, format!("about {}", number(delivered)), None),
    };
    let exact = wire::time::write;
    Ok(Shown {
        button: format!("Replay {messages} messages"),
        messages,
        left_out,
        lasts: Some(span(TimeDelta::seconds(delivered / i64::from(per_second).max(1)))).filter(|_| delivered > 0),
        from: by.time(from),
        to: by.time(to),
        exact_from: exact(from),
        exact_to: exact(to),
        per_second,
        is_empty: matches!(counted, Preview::Exact { delivered: 0, .. }),
        command: format!(
            "backhaul endpoint replay --merchant {} {interface} --from {} --to {} --per-second {per_second}",
            merchant.handle,
            exact(from),
            exact(to)
        ),
    })
}

fn row<P: Permission>(by: &By<P>, job: Replay) -> Row {
    let looked = job.looked_at_until.map_or(0, |until| (until - job.from).num_seconds());
    let length = (job.to - job.from).num_seconds().max(1);
    let (is_running, is_done) = (job.ended_at.is_none(), job.ended_at.is_some() && job.cancelled_at.is_none());
    Row {
        id: job.id,
        state: match (is_running, is_done) {
            (true, _) => State::new("run", "Runs"),
            (false, true) => State::new("ok", "Done"),
            (false, false) => State::new("off", "Cancelled"),
        },
        from: by.time(job.from),
        to: by.time(job.to),
        released: number(job.released),
        left_out: number(job.left_out),
        per_second: job.per_second,
        percent: if is_done { 100 } else { (looked * 100 / length).clamp(0, 100) },
        created: by.time(job.created_at),
        created_by: job.created_by,
        ended: job.ended_at.map(|at| by.time(at)),
        is_running,
    }
}

/// The page of an error of the flow.
fn refused(error: ReplayError) -> ConsoleError {
    match error {
        ReplayError::Failed(failed) => failed.into(),
        ReplayError::JobRunning => ConsoleError::Conflict(
            "A replay for this endpoint still runs. Wait until it has ended, or cancel it on the endpoint's page Replay.".to_owned(),
        ),
        ReplayError::NoSuchJob(_) => ConsoleError::Conflict("The replay has ended already.".to_owned()),
        ReplayError::NoEndpoint(_) => ConsoleError::Conflict("The endpoint has been removed meanwhile.".to_owned()),
        error @ (ReplayError::Asked(_) | ReplayError::Range | ReplayError::TooOld | ReplayError::Rate) => {
            ConsoleError::Refused(format!("{}.", capitalised(&error.to_string())))
        }
    }
}

/// Starts the replay.
pub(super) async fn start(by: By<Manager>, Path(path): Path<(String, String)>, Form(typed): Form<Range>) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    let (from, to, per_second) = range(&by, interface, &endpoint, &typed).map_err(ConsoleError::Refused)?;
    let request = ReplayRequest { interface, from, to, per_second: Some(per_second) };
    let job = replay_messages(&by.app, &by.actor(), merchant.id, request).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{}/endpoints/{interface}/replay/{job}", merchant.handle)))
}

#[derive(Template)]
#[template(path = "console/replay_job.html")]
struct JobPage {
    frame: Frame,
    head: Head,
    interface: &'static str,
    job: Row,
    command: String,
}

async fn job_of<P: Permission>(by: &By<P>, merchant: &Merchant, interface: Interface, job: Uuid) -> Result<Replay, ConsoleError> {
    let found = replays::list(by.app.store(merchant.id), merchant.id, Some(interface), Some(job), 1).await?.pop();
    found.ok_or(ConsoleError::NotFound)
}

/// `GET …/replay/{job}`: how far a replay is.
pub(super) async fn show(by: By<Viewer>, Path((handle, interface, job)): Path<(String, String, Uuid)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &(handle, interface)).await?;
    let job = row(&by, job_of(&by, &merchant, interface, job).await?);
    let frame = by.frame(Section::Merchants, &format!("{}: replay {interface}", merchant.name));
    render(&JobPage {
        frame: if job.is_running { frame.renewing(2) } else { frame },
        head: Head::new(&merchant, Tab::Endpoints, &by),
        interface: interface.as_str(),
        job,
        command: format!("backhaul endpoint replays --merchant {}", merchant.handle),
    })
}

/// `GET …/replay/{job}/cancel`: what cancelling does.
pub(super) async fn ask_to_cancel(
    by: By<Manager>,
    Path((handle, interface, job)): Path<(String, String, Uuid)>,
) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &(handle, interface)).await?;
    let replay = job_of(&by, &merchant, interface, job).await?;
    if replay.ended_at.is_some() {
        return Err(refused(ReplayError::NoSuchJob(job)));
    }
    let handle = &merchant.handle;
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        asks: format!("Cancel the replay of {} · {interface}?", merchant.name),
        facts: vec![
            ("Stops", "No further message is released from now on.".to_owned()),
            ("Goes on", format!("The {} messages that were released are still delivered.", number(replay.released))),
            ("Undone by", "starting another replay of the rest of the range".to_owned()),
        ],
        action: format!("/merchants/{handle}/endpoints/{interface}/replay/{job}/cancel"),
        does: "Cancel the replay".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/endpoints/{interface}/replay/{job}"),
        command: format!("backhaul endpoint cancel-replay --merchant {handle} {job}"),
    }
    .show()
}

pub(super) async fn cancel(
    by: By<Manager>,
    Path((handle, interface, job)): Path<(String, String, Uuid)>,
) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &(handle, interface)).await?;
    cancel_replay(&by.app, &by.actor(), merchant.id, job).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{}/endpoints/{interface}/replay/{job}", merchant.handle)))
}
