//! Follows cells that move to another node of their cluster: this process connects to them there from then on. A transaction that
//! finds its cell gone looks for it by itself.

use std::mem;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::Node;
use super::cell::Cell;

/// The interval between two looks at where a cell is.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The shortest pause between two looks. A process looks early when a statement took long, as it does at the end of a move, and on a busy
/// cluster that happens often.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);
/// The timeout of a look.
const DEADLINE: Duration = Duration::from_secs(2);

/// Follows the cells of this process forever. The first cell stays where it is.
pub async fn watch(node: Node) {
    join_all(node.cells().iter().filter(|cell| !cell.is_home()).map(follow)).await;
}

async fn follow(cell: &Cell) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Log a failure when it begins and when it ends, not every second.
    let mut failing = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = cell.store.may_have_moved() => {}
        }
        let failed = match timeout(DEADLINE, cell.store.follow()).await {
            Ok(Ok(None)) => None,
            Ok(Ok(Some(server))) => {
                tracing::info!(cell = cell.name(), server = server.host, "the cell has moved to another node, following it");
                None
            }
            Ok(Err(failed)) => Some(failed.to_string()),
            Err(_) => Some("it did not answer in time".to_owned()),
        };
        let is_failing = failed.is_some();
        match (failed, mem::replace(&mut failing, is_failing)) {
            (Some(why), false) => {
                tracing::warn!(why, cell = cell.name(), "looking for the node that holds the cell failed, using the one last known");
            }
            (None, true) => tracing::info!(cell = cell.name(), "looking for the node that holds the cell works again"),
            (Some(_), true) | (None, false) => {}
        }
        sleep(LOOK_AGAIN_AFTER).await;
    }
}
