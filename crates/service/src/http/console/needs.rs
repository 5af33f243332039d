//! The needs of a person's attention: those of one cell's merchants, and those of all cells together.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::returns::work::WorkKind;
use store::messages::troubles::{self, FailingEndpoint};
use store::returns::{open_cases, overdue_refunds};
use store::warehouse::exception_pages;
use store::{Failed, Store};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::failures;
use super::late::{self, Standing};
use super::stuck::{self, Stuck};
use crate::node::each_cell;

/// Endpoints that are named one by one; the others are behind a link.
const MOST_NAMED: usize = 5;
/// The most messages counted of each of them.
pub(super) const COUNTED_OF_EACH: i64 = 20;

/// A number of things, and since when the oldest of them waits.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) count: Count,
    pub(super) oldest: Option<DateTime<Utc>>,
}

impl Waiting {
    fn of((count, oldest): (i64, Option<DateTime<Utc>>)) -> Self {
        Self { count: Count::of(count), oldest }
    }

    fn and(self, other: Self) -> Self {
        Self { count: self.count.and(other.count), oldest: self.oldest.into_iter().chain(other.oldest).min() }
    }
}

/// Everything that needs a person.
pub(super) struct Needs {
    pub(super) failing: Vec<FailingEndpoint>,
    pub(super) more_failing: bool,
    pub(super) late: Standing,
    pub(super) overdue: Waiting,
    pub(super) exceptions: Waiting,
    pub(super) open_failures: Count,
    pub(super) stuck: Vec<Stuck>,
    pub(super) cases: Vec<(WorkKind, Waiting)>,
}

/// Finds everything that needs a person in a cell.
pub(super) async fn find(by: &By<Viewer>, store: &Store) -> Result<Needs, Failed> {
    let most = i64::try_from(MOST_NAMED).unwrap_or(i64::MAX);
    let (failing, more_failing) = troubles::failing(store, false, most, COUNTED_OF_EACH).await?;
    let late = late::standing_in(store, by.now).await?;
    let overdue = overdue_refunds::count(store, by.now, MOST_COUNTED).await?;
    let first_overdue = overdue_refunds::list(store, by.now, (DateTime::UNIX_EPOCH, Uuid::nil()), 1).await?;
    let exceptions = exception_pages::count(store, None, MOST_COUNTED).await?;
    let mut cases = Vec::new();
    for kind in WorkKind::ALL.iter().copied() {
        cases.push((kind, Waiting::of(open_cases::count(store, kind, MOST_COUNTED).await?)));
    }
    Ok(Needs {
        failing,
        more_failing,
        late,
        overdue: Waiting::of((overdue, first_overdue.first().map(|refund| refund.due_at))),
        exceptions: Waiting::of(exceptions),
        open_failures: failures::count_in(store).await?,
        stuck: stuck::list(by, store).await?,
        cases,
    })
}

impl Needs {
    /// The needs of two cells as one list.
    pub(super) fn and(self, other: Self) -> Self {
        let place = |endpoint: &FailingEndpoint| -> (DateTime<Utc>, MerchantId, EndpointId) {
            (endpoint.failing_since, endpoint.merchant, endpoint.endpoint)
        };
        let mut failing = each_cell::merge(vec![self.failing, other.failing], place);
        let more_failing = self.more_failing || other.more_failing || failing.len() > MOST_NAMED;
        failing.truncate(MOST_NAMED);
        Self {
            failing,
            more_failing,
            late: self.late.and(other.late),
            overdue: self.overdue.and(other.overdue),
            exceptions: self.exceptions.and(other.exceptions),
            open_failures: self.open_failures.and(other.open_failures),
            stuck: stuck::first(vec![self.stuck, other.stuck]),
            cases: self.cases.into_iter().zip(other.cases).map(|((kind, one), (_, two))| (kind, one.and(two))).collect(),
        }
    }
}
