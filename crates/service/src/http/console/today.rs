//! `GET /`: what needs a person now, the worst first. Everything that is counted is counted up to a bound, or by the deliverers.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::merchants::operator::Role;
use domain::returns::work::WorkKind;
use store::merchants::operator_requests;
use store::messages::troubles::FailingEndpoint;

use super::by::{By, Viewer};
use super::cases;
use super::count::Count;
use super::error::ConsoleError;
use super::frame::{Frame, Section};
use super::needs::{self, COUNTED_OF_EACH, Needs};
use super::page::render;
use super::stamp::Stamp;
use super::stuck::Stuck;
use crate::node::each_cell::{self, Answers};

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
    /// The cells that do not answer.
    silent: Vec<String>,
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
        self.silent.len()
            + self.failing.len()
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
    let Answers { found, silent } = each_cell::answering(&by.app, |store| needs::find(&by, store)).await?;
    let needs = found.into_iter().map(|(_, needs)| needs).reduce(Needs::and).ok_or(ConsoleError::NotFound)?;
    let requests = if by.may(Role::Admin) { operator_requests::count_open(by.app.home(), by.operator.id, by.now).await? } else { 0 };
    let ago = |at: Option<DateTime<Utc>>| at.map(|at| by.ago(at));
    let waiting = |needs::Waiting { count, oldest }| Waiting { count, oldest: ago(oldest) };
    let cases = needs.cases.into_iter().filter(|(_, open)| !open.count.is_none()).map(|(kind, open)| {
        let Waiting { count, oldest } = waiting(open);
        Cases { kind, count, what: cases::what(kind, count.is_one()), oldest }
    });
    let page = Page {
        as_of: by.log_time(by.now),
        day: by.today(),
        silent: silent.into_iter().map(|cell| cell.name().to_owned()).collect(),
        failing: needs
            .failing
            .into_iter()
            .map(|endpoint| Failing {
                since: by.ago(endpoint.failing_since),
                waiting: Count { count: endpoint.waiting, bound: COUNTED_OF_EACH },
                given_up: Count { count: endpoint.given_up, bound: COUNTED_OF_EACH },
                endpoint,
            })
            .collect(),
        more_failing: needs.more_failing,
        past_due: needs.late.count,
        oldest_due: ago(needs.late.oldest_due_at),
        open_failures: needs.open_failures,
        overdue: waiting(needs.overdue),
        requests,
        stuck: needs.stuck,
        cases: cases.collect(),
        exceptions: waiting(needs.exceptions),
        frame: by.frame(Section::Today, "Today").renewing(10),
    };
    render(&page)
}
