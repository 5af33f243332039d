//! `GET /system`: whether the installation is sound: checks, processes, our own work that fails, limits, and a sandbox's clock.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::merchants::operator::Role;
use domain::node::mode::Mode;
use serde::Deserialize;
use store::messages::health::Process;
use store::messages::troubles::FailingEndpoint;
use store::node::installation;
use store::node::limits;

use super::by::{By, Manager, Viewer};
use super::count::{Count, grouped};
use super::error::ConsoleError;
use super::form::{Form, Path, Query};
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::stamp::Stamp;
use super::system_cells::{self, CellRow};
use super::system_keys::{KeyRow, key_rows, rotatable};
use crate::flow::node::advance_clock::{AdvanceClockError, advance_clock};
use crate::flow::node::set_limit::{SetLimitError, reset_limit, set_limit};
use crate::node::health::{self, Check};
use crate::node::limits::Name;
use crate::node::{certificate, database, proxies};
use crate::platform::clock::Span;

/// The buckets of endpoints in each cell.
const BUCKETS: usize = 256;

/// Our own work for a merchant that fails.
struct Failing {
    endpoint: FailingEndpoint,
    since: Stamp,
    waiting: Count,
    given_up: Count,
}

/// A limit that can be lowered.
struct LimitRow {
    name: Name,
    means: &'static str,
    value: String,
    default: String,
    changed: Option<(String, Stamp)>,
}

/// How far a sandbox's clock is ahead.
struct Clock {
    ahead: String,
    changed: Option<(String, Stamp)>,
}

#[derive(Template)]
#[template(path = "console/system.html")]
struct Page {
    frame: Frame,
    version: &'static str,
    checks: Vec<Check>,
    wrong: usize,
    /// There are several cells, so what belongs to one names it.
    in_cells: bool,
    cells: Vec<CellRow>,
    buckets: usize,
    processes: Vec<(String, Process)>,
    nobodys: i64,
    failing: Vec<Failing>,
    more_failing: bool,
    limits: Vec<LimitRow>,
    clock: Option<Clock>,
    keys: Vec<KeyRow>,
    /// The kinds of keys that can be rotated, if this person may ask for it.
    rotatable: Vec<&'static str>,
    may_change: bool,
}

/// What was done before the page is shown.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> Option<Notice> {
        match self.done.as_str() {
            "limit" => Some(Notice::ok("The limit is changed.", "Every node follows within 5 seconds.")),
            "clock" => Some(Notice::ok("The clock is moved.", "Every node follows within a second.")),
            _ => None,
        }
    }
}

pub(super) async fn show(by: By<Viewer>, Query(done): Query<Done>) -> Result<Response, ConsoleError> {
    let app = &by.app;
    let mut checks = health::examine_all(app).await;
    checks.extend(app.cells().iter().map(|cell| database::protection(&app.settings, cell).of(cell)));
    checks.extend(proxies::examine(app).await);
    checks.extend(certificate::examine(&app.settings, app.clock.wall()));
    let found = system_cells::find(app, &checks).await?;
    let failing = found.failing.into_iter().map(|endpoint| Failing {
        since: by.ago(endpoint.failing_since),
        waiting: Count::of(endpoint.waiting),
        given_up: Count::of(endpoint.given_up),
        endpoint,
    });
    let page = Page {
        frame: by.frame(Section::System, "System").with(done.notice()),
        version: env!("CARGO_PKG_VERSION"),
        wrong: checks.iter().filter(|check| !check.ok).count(),
        checks,
        in_cells: app.has_several_cells(),
        buckets: BUCKETS * app.cells().len(),
        cells: found.cells,
        processes: found.processes,
        nobodys: found.nobodys,
        failing: failing.collect(),
        more_failing: found.more_failing,
        limits: limit_rows(&by).await?,
        clock: clock(&by).await?,
        // What depends on a key is counted in every cell.
        keys: if found.is_incomplete { Vec::new() } else { key_rows(&by).await? },
        rotatable: if found.is_incomplete { Vec::new() } else { rotatable(&by).await? },
        may_change: by.may(Role::Manager),
    };
    render(&page)
}

async fn limit_rows(by: &By<Viewer>) -> Result<Vec<LimitRow>, ConsoleError> {
    let set = limits::list(by.app.home()).await?;
    let row = |name: Name| {
        let set = set.iter().find(|set| set.name == name.as_str());
        LimitRow {
            name,
            means: means(name),
            value: grouped(by.app.limits.value_of(name, set.and_then(|set| set.value)).into()),
            default: grouped(by.app.limits.default_of(name).into()),
            changed: set.map(|set| (set.set_by.clone(), by.ago(set.set_at))),
        }
    };
    Ok(Name::ALL.into_iter().map(row).collect())
}

/// What a limit bounds.
const fn means(name: Name) -> &'static str {
    match name {
        Name::RequestsPerMinute => "Requests of one address within a minute",
        Name::MessagesInFlight => "Order messages that a node works on at once",
    }
}

/// The clock of a sandbox; production has none that could be moved.
async fn clock(by: &By<Viewer>) -> Result<Option<Clock>, ConsoleError> {
    if by.app.settings.mode != Mode::Sandbox {
        return Ok(None);
    }
    let clock = installation::clock(by.app.home()).await?;
    let changed = clock.moved_by.zip(clock.moved_at).map(|(who, at)| (who, by.ago(at)));
    Ok(Some(Clock { ahead: Span::of(clock.ahead).to_string(), changed }))
}

#[derive(Template)]
#[template(path = "console/system_limit.html")]
struct LimitPage {
    frame: Frame,
    name: &'static str,
    means: &'static str,
    value: String,
    default: String,
    fault: Option<String>,
    command: String,
}

#[derive(Deserialize)]
pub(super) struct NewLimit {
    /// Empty to reset it.
    #[serde(default)]
    value: String,
}

fn limit_of(name: &str) -> Result<Name, ConsoleError> {
    Name::ALL.into_iter().find(|known| known.as_str() == name).ok_or(ConsoleError::NotFound)
}

fn limit_page(by: &By<Manager>, name: Name, value: String, fault: Option<String>) -> Result<Response, ConsoleError> {
    render(&LimitPage {
        frame: by.frame(Section::System, "Lower a limit"),
        name: name.as_str(),
        means: means(name),
        value,
        default: grouped(by.app.limits.default_of(name).into()),
        fault,
        command: format!("backhaul limit set {} VALUE", name.as_str()),
    })
}

/// Asks for the new value, and says what it will do.
pub(super) async fn ask_for_limit(by: By<Manager>, Path(name): Path<String>) -> Result<Response, ConsoleError> {
    limit_page(&by, limit_of(&name)?, String::new(), None)
}

pub(super) async fn change_limit(by: By<Manager>, Path(name): Path<String>, Form(form): Form<NewLimit>) -> Result<Response, ConsoleError> {
    let name = limit_of(&name)?;
    let value = form.value.trim();
    if value.is_empty() {
        reset_limit(&by.app, &by.actor(), name).await?;
        return Ok(Redirect::to("/system?done=limit").into_response());
    }
    let Ok(number) = value.parse() else {
        return limit_page(&by, name, value.to_owned(), Some("A limit is a whole number.".to_owned()));
    };
    match set_limit(&by.app, &by.actor(), name, number).await {
        Ok(()) => Ok(Redirect::to("/system?done=limit").into_response()),
        Err(SetLimitError::Failed(failed)) => Err(failed.into()),
        Err(refused) => limit_page(&by, name, value.to_owned(), Some(refused.to_string())),
    }
}

#[derive(Template)]
#[template(path = "console/system_clock.html")]
struct ClockPage {
    frame: Frame,
    by: String,
    fault: Option<String>,
    command: String,
}

#[derive(Deserialize)]
pub(super) struct Advance {
    by: String,
}

fn clock_page(by: &By<Manager>, far: &str, fault: Option<String>) -> Result<Response, ConsoleError> {
    let frame = by.frame(Section::System, "Move the clock");
    render(&ClockPage { frame, by: far.to_owned(), fault, command: format!("backhaul clock advance {far}") })
}

/// Asks how far the clock is moved, and says what that does.
pub(super) async fn ask_for_clock(by: By<Manager>) -> Result<Response, ConsoleError> {
    clock_page(&by, "1d", None)
}

pub(super) async fn move_clock(by: By<Manager>, Form(form): Form<Advance>) -> Result<Response, ConsoleError> {
    let far = form.by.trim();
    let span: Span = match far.parse() {
        Ok(span) => span,
        Err(error) => return clock_page(&by, far, Some(error.to_string())),
    };
    match advance_clock(&by.app, &by.actor(), span).await {
        Ok(_) => Ok(Redirect::to("/system?done=clock").into_response()),
        Err(AdvanceClockError::Failed(failed)) => Err(failed.into()),
        Err(refused) => clock_page(&by, far, Some(refused.to_string())),
    }
}
