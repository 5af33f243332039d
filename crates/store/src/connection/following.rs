//! Connections that go to whichever server holds a cell at the time.

use std::mem;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::Error;
use sqlx::postgres::{PgConnectOptions, PgPool};
use tokio::sync::Notify;

/// A server at which a cell was found.
#[derive(Clone)]
pub(crate) struct Found {
    /// The number of servers at which it was found so far.
    pub(crate) number: u64,
    pub(crate) options: Arc<PgConnectOptions>,
    /// False if the server has no Citus. Then the cell stays where it is.
    pub(crate) is_of_a_cluster: bool,
}

/// Finds the server that holds a cell.
pub(crate) type Finding = Arc<dyn Fn() -> BoxFuture<'static, Result<Found, Error>> + Send + Sync>;

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
    /// The connections to the server that was found as this one.
    current: RwLock<(u64, PgPool)>,
}

impl Following {
    /// Connections like those of `pool`, which is not used itself.
    pub(super) fn new(finding: Finding, hints: Arc<Hints>, pool: PgPool) -> Self {
        Self { finding, hints, current: RwLock::new((0, pool)) }
    }

    pub(super) fn hints(&self) -> Arc<Hints> {
        Arc::clone(&self.hints)
    }

    /// The connections to the server that holds the cell now.
    pub(super) async fn pool(&self) -> Result<PgPool, Error> {
        let found = (self.finding)().await?;
        let (number, pool) = self.current();
        if number >= found.number {
            return Ok(pool);
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.0 < found.number {
            let next = current.1.options().clone().connect_lazy_with(found.options.as_ref().clone());
            let (_, former) = mem::replace(&mut *current, (found.number, next));
            // What runs there ends there.
            tokio::spawn(async move { former.close().await });
        }
        Ok(current.1.clone())
    }

    /// The connections that were used last.
    pub(super) fn last(&self) -> PgPool {
        self.current().1
    }

    fn current(&self) -> (u64, PgPool) {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        (current.0, current.1.clone())
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
