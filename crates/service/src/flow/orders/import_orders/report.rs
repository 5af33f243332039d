//! Describes an import for the API and the command line.

use chrono::{DateTime, Utc};
use store::orders::imports::{Counts, Import, State};
use wire::orders::import::{AcceptedCounts, ImportState, OrderImport};

/// The import as of `now`.
#[must_use]
pub fn describe(import: &Import, now: DateTime<Utc>) -> OrderImport {
    let Counts { lines, created, updated, unchanged, stale, refused } = import.counts;
    let accepted = AcceptedCounts {
        created: created.unsigned_abs(),
        updated: updated.unsigned_abs(),
        unchanged: unchanged.unsigned_abs(),
        stale: stale.unsigned_abs(),
    };
    let state = match import.state {
        State::Done => ImportState::Done,
        // The process that ran it ended without releasing the lease.
        State::Running if import.leased_until.is_some_and(|until| until <= now) => ImportState::Interrupted,
        State::Running => ImportState::Running,
        State::Interrupted => ImportState::Interrupted,
    };
    let id = import.id;
    let accepted_orders = created + updated + unchanged + stale;
    let progress = match state {
        ImportState::Done => "Every line has been read",
        ImportState::Running => "Lines are being read",
        ImportState::Interrupted => "The import was interrupted",
    };
    let report = if refused == 0 { String::new() } else { format!("; GET /v1/order_imports/{id}/refusals lists the reasons") };
    let resume = match state {
        ImportState::Interrupted => format!(" Send the same file again to POST /v1/order_imports?resume={id}."),
        ImportState::Running | ImportState::Done => String::new(),
    };
    OrderImport {
        import_id: id.to_string(),
        state,
        lines: lines.unsigned_abs(),
        accepted,
        refused: refused.unsigned_abs(),
        message: format!(
            "{progress}: {} accepted, {} refused{report}.{resume}",
            counted(accepted_orders, "order"),
            counted(refused, "line")
        ),
        started_at: wire::time::write(import.started_at),
        updated_at: wire::time::write(import.updated_at),
    }
}

fn counted(count: i64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
