//! Connections that go to whichever server holds a cell at the time.

use std::mem;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::Error;
use sqlx::postgres::{PgConnectOptions, PgPool};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::failed::LEFT;

/// A server at which a cell was found.
#[derive(Clone)]
pub(crate) struct Found {
    /// The number of servers at which it was found so far.
    pub(crate) number: u64,
    pub(crate) options: Arc<PgConnectOptions>,
    /// False if the server has no Citus. Then the cell stays where it is.
    pub(crate) is_of_a_cluster: bool,
    /// True if it is a node of a cluster that holds the cell, which has to be held there by whoever works in it.
    pub(crate) is_holder: bool,
}

/// Finds the server that holds a cell. Given the number of one that it has left, looks anew.
pub(crate) type Finding = Arc<dyn Fn(Option<u64>) -> BoxFuture<'static, Result<Found, Error>> + Send + Sync>;

/// The pause before another look for a cell that has left its node, and is not known to be on another one yet.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// True if the cell is not on this node any more. Nothing was done there.
pub(super) fn is_of_another_node(error: &Error) -> bool {
    matches!(error, Error::Database(error) if error.code().as_deref() == Some(LEFT))
}

/// The duration of a statement that may have waited for its cell to move.
const WAITED: Duration = Duration::from_millis(50);

/// Hints that a cell may just have moved: a statement took long, because writes wait at the end of a move, or failed in a way in which
/// it may fail then.
#[derive(Default)]
pub(crate) struct Hints {
    given: Notify,
}

impl Hints {
    /// Looks at a statement that has ended.
    pub(super) fn take(&self, took: Duration, error: Option<&Error>) {
        if took >= WAITED || error.is_some_and(may_be_of_a_move) {
            self.given.notify_one();
        }
    }

    /// Waits for the next hint.
    pub(crate) async fn next(&self) {
        self.given.notified().await;
    }
}

/// True for an error that is not about the statement itself: the connection broke, a table is gone, or an error of Citus, which has no
/// code of its own.
fn may_be_of_a_move(error: &Error) -> bool {
    match error {
        Error::Database(error) => error.code().is_some_and(|code| ["08", "42P01", "XX"].iter().any(|class| code.starts_with(class))),
        Error::Io(_) | Error::Protocol(_) => true,
        _ => false,
    }
}

/// Connections to the server that holds a cell.
pub(super) struct Following {
    finding: Finding,
    hints: Arc<Hints>,
    current: RwLock<Current>,
}

/// The connections to the server that was found as the one with this number.
#[derive(Clone)]
struct Current {
    number: u64,
    is_holder: bool,
    pool: PgPool,
}

impl Current {
    /// The number of the node, if the cell is to be held there.
    fn node(&self) -> Option<u64> {
        self.is_holder.then_some(self.number)
    }
}

impl Following {
    /// Connections like those of `pool`, which is not used itself.
    pub(super) fn new(finding: Finding, hints: Arc<Hints>, pool: PgPool) -> Self {
        Self { finding, hints, current: RwLock::new(Current { number: 0, is_holder: false, pool }) }
    }

    pub(super) fn hints(&self) -> Arc<Hints> {
        Arc::clone(&self.hints)
    }

    /// The connections to the server that holds the cell now, and its number if the cell is to be held there.
    pub(super) async fn pool(&self) -> Result<(PgPool, Option<u64>), Error> {
        let found = (self.finding)(None).await?;
        let known = self.current();
        if known.number >= found.number {
            return Ok((known.pool.clone(), known.node()));
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.number < found.number {
            let pool = current.pool.options().clone().connect_lazy_with(found.options.as_ref().clone());
            let next = Current { number: found.number, is_holder: found.is_holder, pool };
            let former = mem::replace(&mut *current, next);
            // What runs there ends there.
            tokio::spawn(async move { former.pool.close().await });
        }
        Ok((current.pool.clone(), current.node()))
    }

    /// Looks for the cell, which has left the node with this number. If it is not known to be on another one yet, waits for a moment.
    pub(super) async fn leave(&self, node: u64) -> Result<(), Error> {
        if (self.finding)(Some(node)).await?.number <= node {
            sleep(LOOK_AGAIN_AFTER).await;
        }
        Ok(())
    }

    /// The connections that were used last.
    pub(super) fn last(&self) -> PgPool {
        self.current().pool
    }

    fn current(&self) -> Current {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures::FutureExt as _;

    use super::*;

    fn is_hint(took: Duration, error: Option<&Error>) -> bool {
        let hints = Hints::default();
        hints.take(took, error);
        hints.next().now_or_never().is_some()
    }

    #[test]
    fn a_statement_that_took_long_or_lost_its_connection_may_have_met_a_move() {
        assert!(is_hint(WAITED, None));
        assert!(is_hint(Duration::ZERO, Some(&Error::Io(io::ErrorKind::ConnectionReset.into()))));
        assert!(!is_hint(Duration::from_millis(1), None));
        assert!(!is_hint(Duration::from_millis(1), Some(&Error::RowNotFound)));
    }
}
