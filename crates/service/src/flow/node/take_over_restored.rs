//! Takes over a database that was restored from a backup: ends the leases that were restored, and begins a new epoch, by which messages
//! are ordered that have no position in the feed yet.

use store::Failed;
use store::messages::leases;
use store::node::installation;

use crate::app::App;

/// The reasons a restored database cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    #[error("the database is empty; restore the backup first, or run `backhaul migrate` for a new installation")]
    Empty,
    #[error("the service is running on this database: {0} processes deliver; stop it, then run this again")]
    Running(i64),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The state of the database that was taken over.
pub struct Restored {
    /// The newest one, if there are several cells.
    pub feed_epoch: i32,
    /// The number of messages that are owed, up to 10,000.
    pub owed: i64,
}

/// Prepares the databases of all cells for the service. A repeat begins another epoch, which does no harm.
pub async fn take_over_restored(app: &App) -> Result<Restored, TakeOverError> {
    for cell in app.cells() {
        if cell.store.mode().await?.is_none() {
            return Err(TakeOverError::Empty);
        }
        match leases::count_live(&cell.store).await? {
            0 => {}
            running => return Err(TakeOverError::Running(running)),
        }
    }
    let mut restored = Restored { feed_epoch: 0, owed: 0 };
    for cell in app.cells() {
        let feed_epoch = installation::begin_epoch(&cell.store).await?;
        leases::end_all(&cell.store).await?;
        restored.feed_epoch = restored.feed_epoch.max(feed_epoch);
        restored.owed += leases::count_owed(&cell.store).await?;
    }
    Ok(restored)
}
