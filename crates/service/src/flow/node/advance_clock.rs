//! Somebody moves a sandbox's clock, to see what time brings. The row itself says who did it, and when.

use domain::node::mode::Mode;
use store::messages::partitions;
use store::node::installation::{self, ClockAhead};

use crate::app::App;
use crate::platform::clock::Span;

/// Why the clock was not moved.
#[derive(Debug, thiserror::Error)]
pub enum AdvanceClockError {
    /// The clock of production is real time.
    #[error("this is a production installation: only the clock of a sandbox can be moved")]
    Production,
    /// Nothing was migrated yet.
    #[error("the database is empty; run `backhaul migrate`")]
    Empty,
    /// All moves together are too much.
    #[error("the clock is {ahead} ahead of real time and can be {} ahead at most", Span::MOST)]
    TooFar {
        /// How far it is ahead.
        ahead: Span,
    },
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Moves the clock of every process on this database, within a second; answers how far it is ahead then.
///
/// The days that the new time needs are made first. Whoever hears of the new time can write at once; and if this process
/// ends in between, there are days that nobody needs yet.
pub async fn advance_clock(app: &App, actor: &str, by: Span) -> Result<ClockAhead, AdvanceClockError> {
    match app.cell().mode().await? {
        Some(Mode::Sandbox) => {}
        Some(Mode::Production) => return Err(AdvanceClockError::Production),
        None => return Err(AdvanceClockError::Empty),
    }
    loop {
        let before = installation::clock(app.cell()).await?.ahead;
        let (ahead, moved_at) = (before + by.time(), app.clock.wall());
        if ahead > Span::MOST.time() {
            return Err(AdvanceClockError::TooFar { ahead: Span::of(before) });
        }
        partitions::make_around(app.cell(), moved_at + ahead).await?;
        // When somebody else has moved it meanwhile, both moves count, and other days are needed.
        if installation::move_clock(app.cell(), before, ahead, actor, moved_at).await? {
            app.clock.move_ahead(ahead);
            return Ok(ClockAhead { ahead, moved_by: Some(actor.to_owned()), moved_at: Some(moved_at) });
        }
    }
}
