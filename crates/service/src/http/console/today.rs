//! `GET /`: what needs a person now, the worst first. Everything that is counted is counted up to a bound, or by the deliverers.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::merchants::operator::Role;
use domain::returns::work::WorkKind;
use store::merchants::operator_requests;
use store::messages::troubles::{self, FailingEndpoint};
use store::returns::{open_cases, overdue_refunds};
use store::warehouse::exception_pages;
use uuid::Uuid;

use super::by::{By, Viewer};
use super::cases;
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::failures;
use super::frame::{Frame, Section};
use super::late;
use super::page::render;
use super::stamp::Stamp;
use super::stuck::{self, Stuck};

/// Endpoints that are named one by one; the others are behind a link.
const MOST_NAMED: i64 = 5;
/// The most messages counted of each of them.
const COUNTED_OF_EACH: i64 = 20;

/// A failing endpoint as the page tells it.
struct Failing {
    endpoint: FailingEndpoint,
    since: Stamp,
    waiting: Count,
    given_up: Count,
}

/// Open cases of one kind.
struct Cases {
    kind: WorkKind,
    count: Count,
    what: &'static str,
    oldest: Option<Stamp>,
}

/// Something that waits, and since when.
struct Waiting {
    count: Count,
    oldest: Option<Stamp>,
}

#[derive(Template)]
#[template(path = "console/today.html")]
struct Page {
    frame: Frame,
    as_of: Stamp,
    day: String,
    failing: Vec<Failing>,
    more_failing: bool,
    past_due: Count,
    oldest_due: Option<Stamp>,
    open_failures: Count,
    overdue: Waiting,
    requests: i64,
    stuck: Vec<Stuck>,
    cases: Vec<Cases>,
    exceptions: Waiting,
}

impl Page {
    /// Nothing needs anybody.
    fn is_quiet(&self) -> bool {
        self.needs() == 0
    }

    /// The number of entries in the list.
    fn needs(&self) -> usize {
        let one = |needed: bool| usize::from(needed);
        self.failing.len()
            + self.stuck.len()
            + self.cases.len()
            + one(!self.past_due.is_none())
            + one(!self.open_failures.is_none())
            + one(!self.overdue.count.is_none())
            + one(self.requests > 0)
            + one(!self.exceptions.count.is_none())
    }
}

pub(super) async fn show(by: By<Viewer>) -> Result<Response, ConsoleError> {
    let store = by.app.cell();
    let (failing, more_failing) = troubles::failing(store, false, MOST_NAMED, COUNTED_OF_EACH).await?;
    let late::Standing { count: past_due, oldest_due_at } = late::standing(&by).await?;
    let overdue = overdue_refunds::count(store, by.now, MOST_COUNTED).await?;
    let first_overdue = overdue_refunds::list(store, by.now, (DateTime::UNIX_EPOCH, Uuid::nil()), 1).await?;
    let (exceptions, oldest_exception) = exception_pages::count(store, None, MOST_COUNTED).await?;
    let requests = if by.may(Role::Admin) { operator_requests::count_open(store, by.operator.id, by.now).await? } else { 0 };
    let ago = |at: Option<DateTime<Utc>>| at.map(|at| by.ago(at));
    let page = Page {
        as_of: by.log_time(by.now),
        day: by.today(),
        failing: failing
            .into_iter()
            .map(|endpoint| Failing {
                since: by.ago(endpoint.failing_since),
                waiting: Count { count: endpoint.waiting, bound: COUNTED_OF_EACH },
                given_up: Count { count: endpoint.given_up, bound: COUNTED_OF_EACH },
                endpoint,
            })
            .collect(),
        more_failing,
        past_due,
        oldest_due: ago(oldest_due_at),
        open_failures: failures::count(&by).await?,
        overdue: Waiting { count: Count::of(overdue), oldest: ago(first_overdue.first().map(|refund| refund.due_at)) },
        requests,
        stuck: stuck::list(&by).await?,
        cases: open_cases_of(&by).await?,
        exceptions: Waiting { count: Count::of(exceptions), oldest: ago(oldest_exception) },
        frame: by.frame(Section::Today, "Today").renewing(10),
    };
    render(&page)
}

async fn open_cases_of(by: &By<Viewer>) -> Result<Vec<Cases>, ConsoleError> {
    let mut all = Vec::new();
    for kind in WorkKind::ALL.iter().copied() {
        let (count, oldest) = open_cases::count(by.app.cell(), kind, MOST_COUNTED).await?;
        if count > 0 {
            let count = Count::of(count);
            all.push(Cases { kind, count, what: cases::what(kind, count.is_one()), oldest: oldest.map(|at| by.ago(at)) });
        }
    }
    Ok(all)
}
