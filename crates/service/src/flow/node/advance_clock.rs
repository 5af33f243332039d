//! Moves a sandbox's clock ahead, to test what happens later. The clock's row records by whom and when, and so does the audit.

use chrono::{DateTime, Utc};
use domain::node::mode::Mode;
use store::Failed;
use store::merchants::audit::Entry;
use store::merchants::home_audit;
use store::messages::partitions;
use store::node::cells;
use store::node::installation::{self, ClockAhead};

use crate::app::App;
use crate::platform::clock::Span;

/// The reasons the clock cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum AdvanceClockError {
    #[error("this is a production installation: only the clock of a sandbox can be moved")]
    Production,
    #[error("the database is empty; run `backhaul migrate`")]
    Empty,
    #[error("the clock is {ahead} ahead of real time and can be {} ahead at most", Span::MOST)]
    TooFar { ahead: Span },
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The number of attempts to create the partitions.
const TRIES: usize = 3;

/// Moves the clock of every process on this database, within a second. Returns how far it is ahead then.
///
/// The partitions that the new time needs are created first, so that every process can write as soon as it sees the new time. If
/// this process ends in between, the unused partitions do no harm.
pub async fn advance_clock(app: &App, actor: &str, by: Span) -> Result<ClockAhead, AdvanceClockError> {
    match app.home().mode().await? {
        Some(Mode::Sandbox) => {}
        Some(Mode::Production) => return Err(AdvanceClockError::Production),
        None => return Err(AdvanceClockError::Empty),
    }
    let mut tries = 1;
    loop {
        let before = installation::clock(app.home()).await?.ahead;
        let (ahead, moved_at) = (before + by.time(), app.clock.wall());
        if ahead > Span::MOST.time() {
            return Err(AdvanceClockError::TooFar { ahead: Span::of(before) });
        }
        match make_partitions(app, moved_at + ahead).await {
            // Creating a partition locks its table, and may deadlock with statements of running processes.
            Err(Failed::Collided(_)) if tries < TRIES => {
                tries += 1;
                continue;
            }
            made => made?,
        }
        // If the clock was moved concurrently, both moves add up and need other partitions: start over.
        let mut tx = app.home().begin_home_aside().await?;
        if installation::move_clock(&mut tx, before, ahead, actor, moved_at).await? {
            let detail = format!("{by}, to {} ahead", Span::of(ahead));
            let entry = Entry { id: app.mint(), actor, action: "clock.moved", detail: &detail, done_at: app.now() };
            home_audit::record(&mut tx, entry).await?;
            app.commit_home(tx).await?;
            app.clock.move_ahead(ahead);
            let clock = ClockAhead { ahead, moved_by: Some(actor.to_owned()), moved_at: Some(moved_at) };
            // Functions in the other cells go by their own copy. A process that starts brings a copy up to date too.
            for cell in app.cells().iter().filter(|cell| !cell.is_home()) {
                cells::follow_clock(&cell.store, &clock).await?;
            }
            return Ok(clock);
        }
    }
}

/// Creates the partitions around `now` in every cell.
async fn make_partitions(app: &App, now: DateTime<Utc>) -> Result<(), Failed> {
    for cell in app.cells() {
        partitions::make_around(&cell.store, now).await?;
    }
    Ok(())
}
