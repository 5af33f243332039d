//! Connections that go to whichever server holds a cell at the time.

use std::mem;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use sqlx::Error;
use sqlx::postgres::{PgConnectOptions, PgPool};

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

/// Connections to the server that holds a cell.
pub(super) struct Following {
    finding: Finding,
    /// The connections to the server that was found as this one.
    current: RwLock<(u64, PgPool)>,
}

impl Following {
    /// Connections like those of `pool`, which is not used itself.
    pub(super) fn new(finding: Finding, pool: PgPool) -> Self {
        Self { finding, current: RwLock::new((0, pool)) }
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
