//! The cells on the System page: the processes of each and our own work that fails, and where there are several, a row on each.

use store::messages::health::{self as processes, Process};
use store::messages::troubles::{self, FailingEndpoint};
use store::node::{cells, directory};
use store::{Failed, Store};

use super::count::{MOST_COUNTED, grouped};
use super::retention::size;
use crate::app::App;
use crate::node::each_cell::{self, Answers};
use crate::node::health::Check;
use crate::platform::config::HOME;

/// The pieces of failing work that are named one by one.
const MOST_NAMED: usize = 10;

/// A cell, as it is drawn.
pub(super) struct CellRow {
    pub(super) name: String,
    pub(super) class: &'static str,
    pub(super) state: String,
    pub(super) database: String,
    pub(super) schema: String,
    pub(super) clock: String,
    /// The rest is told by the cell itself; `None` if it does not answer.
    pub(super) told: Option<Told>,
}

/// The facts that a cell tells of itself.
pub(super) struct Told {
    pub(super) merchants: String,
    pub(super) size: String,
    pub(super) deliverers: usize,
    pub(super) nobodys: i64,
}

/// Everything that was found in all cells.
pub(super) struct Found {
    /// The processes that deliver, each with its cell.
    pub(super) processes: Vec<(String, Process)>,
    /// The buckets that nobody holds.
    pub(super) nobodys: i64,
    pub(super) failing: Vec<FailingEndpoint>,
    pub(super) more_failing: bool,
    /// A row for each cell where there are several.
    pub(super) cells: Vec<CellRow>,
    /// A cell did not answer.
    pub(super) is_incomplete: bool,
}

/// Everything that was found in a cell.
struct InCell {
    processes: Vec<Process>,
    nobodys: i64,
    failing: Vec<FailingEndpoint>,
    more_failing: bool,
    /// The number of merchants and the bytes, asked where there are several cells.
    contents: Option<(i64, i64)>,
}

async fn look_into(store: &Store, is_one_of_several: bool) -> Result<InCell, Failed> {
    let (processes, nobodys) = processes::processes(store).await?;
    let most = i64::try_from(MOST_NAMED).unwrap_or(i64::MAX);
    let (failing, more_failing) = troubles::failing(store, true, most, MOST_COUNTED).await?;
    let contents = if is_one_of_several { Some((directory::count_merchants(store).await?, cells::size(store).await?)) } else { None };
    Ok(InCell { processes, nobodys, failing, more_failing, contents })
}

/// Looks into all cells. `checks` are those of all of them.
pub(super) async fn find(app: &App, checks: &[Check]) -> Result<Found, Failed> {
    let several = app.has_several_cells();
    let Answers { found: in_cells, silent } = each_cell::answering(app, |store| look_into(store, several)).await?;
    let mut found = Found {
        processes: Vec::new(),
        nobodys: 0,
        failing: Vec::new(),
        more_failing: false,
        cells: silent.iter().map(|cell| row(cell.name(), checks, None)).collect(),
        is_incomplete: !silent.is_empty(),
    };
    let mut failing = Vec::new();
    for (cell, InCell { processes, nobodys, failing: of_cell, more_failing, contents }) in in_cells {
        found.cells.extend(contents.map(|(merchants, bytes)| {
            let told = Told { merchants: grouped(merchants), size: size(bytes), deliverers: processes.len(), nobodys };
            row(cell.name(), checks, Some(told))
        }));
        found.processes.extend(processes.into_iter().map(|process| (cell.name().to_owned(), process)));
        found.nobodys += nobodys;
        found.more_failing |= more_failing;
        failing.push(of_cell);
    }
    found.failing = each_cell::merge(failing, |endpoint| (endpoint.failing_since, endpoint.merchant, endpoint.endpoint));
    found.more_failing |= found.failing.len() > MOST_NAMED;
    found.failing.truncate(MOST_NAMED);
    Ok(found)
}

/// The row of a cell. Checks of the first cell do not name it.
fn row(name: &str, checks: &[Check], told: Option<Told>) -> CellRow {
    let own = |check: &&Check| check.cell.as_deref().unwrap_or(HOME) == name;
    let found = |of: &str| {
        checks.iter().filter(own).find(|check| check.name == of).map_or_else(|| "not known".to_owned(), |check| check.found.clone())
    };
    let wrong = checks.iter().filter(own).filter(|check| !check.ok).count();
    let (class, state) = match (&told, wrong) {
        (None, _) => ("bad", "Does not answer".to_owned()),
        (Some(_), 0) => ("ok", "Sound".to_owned()),
        (Some(_), 1) => ("bad", "1 check fails".to_owned()),
        (Some(_), wrong) => ("bad", format!("{wrong} checks fail")),
    };
    CellRow { name: name.to_owned(), class, state, database: found("database"), schema: found("schema"), clock: found("clock"), told }
}
