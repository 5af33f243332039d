//! The connection pools: one for flows, and separate ones for limits, issuing tokens, the delivery engine and the feed.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgPool};
use tokio::time::timeout;

use crate::connection::{Found, Pool};
use crate::failed::Failed;
use crate::placement::Placement;
use crate::server::{Protection, Target, connect_options, connect_with, protection_of, target_of};
use crate::session;
use crate::shared_tx::SharedTx;
use crate::turns::Turns;
use crate::tx::Tx;

/// The limits of the connection pools.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    pub sizes: PoolSizes,
    /// The time a caller waits for a free connection.
    pub acquire: Duration,
    /// The time one statement may run.
    pub statement: Duration,
    /// The time a statement may wait for a lock.
    pub lock: Duration,
    /// The connections of the console, besides the others; 0 if this process has none.
    pub console: u32,
}

/// The sizes of the pools. One more connection is reserved for limits, and one for listening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSizes {
    pub flows: u32,
    /// Connections of the delivery engine for settling and leases.
    pub engine: u32,
    /// Connections of the delivery engine for reading due messages. The statement is small but names a table with many
    /// partitions, so planning it took five times as long as running it. Here it is planned only once, and it leaves the
    /// planner no choice.
    pub readers: u32,
    /// Connections for reading the feed. Its many followers wait for each other, and nobody else waits for them.
    pub feed: u32,
    /// Connections for messages that the delivery engine settles apart: those with a reaction, and those whose rows somebody
    /// else has locked. They may wait for long, and nobody else waits for them.
    pub apart: u32,
    /// Connections for issuing access tokens. Strangers can ask for them without end, and nobody else waits for that.
    pub tokens: u32,
}

/// The connections that no pool shares: one for limits, one for listening.
const RESERVED: u32 = 2;

impl PoolSizes {
    /// The fewest connections that suffice for all pools.
    pub const FEWEST: u32 = 10;

    /// Divides the connections of one process. `None` if there are too few.
    #[must_use]
    pub fn divide(connections: u32) -> Option<Self> {
        let (engine, tenth, tokens) = ((connections / 4).max(2), (connections / 10).max(1), (connections / 20).max(1));
        let flows = connections.checked_sub(RESERVED + engine + 3 * tenth + tokens)?;
        (connections >= Self::FEWEST).then_some(Self { flows, engine, readers: tenth, feed: tenth, apart: tenth, tokens })
    }

    /// The number of all connections.
    #[must_use]
    pub fn total(self) -> u32 {
        RESERVED + self.flows + self.engine + self.readers + self.feed + self.apart + self.tokens
    }
}

/// The time a connection may be idle and still be handed out without a ping.
const IDLE_WITHOUT_PING: Duration = Duration::from_millis(500);

/// The time for that ping. A connection that does not answer is replaced, and the caller has time left for that.
const PING: Duration = Duration::from_secs(1);

/// The connection pools of the database; cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) pool: Pool,
    /// One separate connection for limits, which are needed most when all others are busy.
    pub(crate) aside: Pool,
    pub(crate) engine: Pool,
    /// The connections with which the delivery engine reads due messages.
    pub(crate) readers: Pool,
    pub(crate) feed: Pool,
    /// The connections with which the delivery engine settles messages apart, in their merchants' transactions.
    pub(crate) apart: Pool,
    /// The connections with which access tokens are issued.
    pub(crate) tokens: Pool,
    /// The transactions of each merchant that may hold a connection for flows.
    turns: Arc<Turns>,
    /// The server of the URL.
    options: PgConnectOptions,
    /// The place of a cell that may be on a cluster.
    pub(crate) placement: Option<Arc<Placement>>,
    /// The channel on which processes signal work to each other.
    pub(crate) channel: Arc<str>,
    pub(crate) limits: PoolLimits,
}

/// The channel of the first cell, and of a database that has no others.
const CHANNEL: &str = "backhaul_owed";

/// The connections with which a cell is looked for, and its schema changed where that is done by another server.
const IN_FRONT: u32 = 2;

/// The longest run time of a statement of the console.
const CONSOLE_STATEMENT: Duration = Duration::from_secs(2);

/// The longest wait for a lock of what is settled apart. It holds its bucket meanwhile, whose lease has to be renewed.
const APART_LOCK_TIMEOUT: Duration = Duration::from_millis(500);

impl Store {
    /// Connects once, beside the pools. They try again until their time is over, and do not say why they failed.
    pub async fn reach(&self) -> Result<(), Failed> {
        connect_with(&self.options).await?.close().await?;
        match &self.placement {
            Some(placement) => Ok(connect_with(&placement.found().await?.options).await?.close().await?),
            None => Ok(()),
        }
    }

    /// A store for the database at `url`. It connects on first use, so a service can start before its database.
    pub fn new(url: &str, limits: PoolLimits) -> Result<Self, Failed> {
        let options = connect_options(url)?;
        let pool = |most, lock, plans: &[(&str, &str)]| {
            let settings = session::statement(limits.statement, lock, plans);
            Pool::new(connections(most, limits.acquire, settings).connect_lazy_with(options.clone()), limits.statement)
        };
        let mut flows = pool(limits.sizes.flows, limits.lock, &session::FLOW_PLANS);
        if limits.console > 0 {
            let statement = limits.statement.min(CONSOLE_STATEMENT);
            let settings = session::statement(statement, limits.lock, &[]);
            let set_apart = connections(limits.console, limits.acquire, settings).connect_lazy_with(options.clone());
            flows = flows.setting_apart(set_apart, statement);
        }
        Ok(Self {
            pool: flows,
            engine: pool(limits.sizes.engine, limits.lock, &session::ENGINE_PLANS),
            readers: pool(limits.sizes.readers, limits.lock, &session::READER_PLANS),
            feed: pool(limits.sizes.feed, limits.lock, &session::FEED_PLANS),
            aside: pool(1, limits.lock, &[]),
            apart: pool(limits.sizes.apart, limits.lock.min(APART_LOCK_TIMEOUT), &session::FLOW_PLANS),
            tokens: pool(limits.sizes.tokens, limits.lock, &[]),
            turns: Arc::new(Turns::quartered(limits.sizes.flows)),
            options,
            placement: None,
            channel: CHANNEL.into(),
            limits,
        })
    }

    /// A store for the cell `name`, whose processes signal apart from those of other cells in the same database. If `url` leads to the
    /// coordinator of a cluster, it connects to the node that holds the cell.
    pub fn of_cell(name: &str, url: &str, limits: PoolLimits) -> Result<Self, Failed> {
        let store = Self::new(url, limits)?;
        let front = connections(IN_FRONT, limits.acquire, session::settings(limits.statement, limits.lock, &[]));
        let front = Pool::new(front.connect_lazy_with(store.options.clone()), limits.statement);
        let placement = Arc::new(Placement::new(url, front));
        let (finding, hints) = (placement.finding(), Arc::clone(&placement.hints));
        Ok(Self {
            pool: store.pool.following(&finding, &hints),
            aside: store.aside.following(&finding, &hints),
            engine: store.engine.following(&finding, &hints),
            readers: store.readers.following(&finding, &hints),
            feed: store.feed.following(&finding, &hints),
            apart: store.apart.following(&finding, &hints),
            tokens: store.tokens.following(&finding, &hints),
            placement: Some(placement),
            channel: format!("{CHANNEL}_{name}").into(),
            ..store
        })
    }

    /// Looks on which node of its cluster the cell is. Returns the server if it is another one than before; new connections go there.
    pub async fn follow(&self) -> Result<Option<Target>, Failed> {
        let Some(placement) = &self.placement else { return Ok(None) };
        Ok(placement.look().await?.then(|| self.target()))
    }

    /// Waits until the cell may just have moved to another node.
    pub async fn may_have_moved(&self) {
        match &self.placement {
            Some(placement) => placement.hints.next().await,
            None => pending().await,
        }
    }

    /// The server that holds the cell, as far as it is known.
    #[must_use]
    pub fn target(&self) -> Target {
        target_of(&self.known())
    }

    /// The protection of the connections to it.
    #[must_use]
    pub fn protection(&self) -> Protection {
        protection_of(&self.known())
    }

    /// True if the server of the URL is the coordinator of a cluster.
    pub async fn is_on_a_cluster(&self) -> Result<bool, Failed> {
        match &self.placement {
            Some(placement) => Ok(placement.coordinator().await?.is_some()),
            None => Ok(false),
        }
    }

    fn known(&self) -> PgConnectOptions {
        let found = self.placement.as_ref().and_then(|placement| placement.known());
        found.map_or_else(|| self.options.clone(), |found| found.options.as_ref().clone())
    }

    /// The connections through which the schema is changed: on a cluster those to its coordinator.
    pub(crate) async fn of_schema(&self) -> Result<&Pool, Failed> {
        let Some(placement) = &self.placement else { return Ok(&self.engine) };
        Ok(placement.coordinator().await?.unwrap_or(&self.engine))
    }

    /// One connection to each server through which somebody may work in this cell: on a cluster all nodes, because each passes on what
    /// is of another one.
    pub(crate) async fn of_each_node(&self) -> Result<Vec<Pool>, Failed> {
        let servers = match &self.placement {
            Some(placement) => placement.nodes().await?,
            None => vec![self.options.clone()],
        };
        let settings = session::settings(self.limits.statement, self.limits.lock, &[]);
        let one =
            |server| Pool::new(connections(1, self.limits.acquire, settings.clone()).connect_lazy_with(server), self.limits.statement);
        Ok(servers.into_iter().map(one).collect())
    }

    /// Opens a transaction on the data of `merchant`. It waits for its turn among the merchant's, and then for a connection. Fails with
    /// [`Failed::Moved`] if the merchant lives in another cell.
    pub async fn begin(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        let turn = self.turns.take(merchant, self.limits.acquire).await.ok_or(sqlx::Error::PoolTimedOut)?;
        Ok(Tx::new(self.pool.begin_for(merchant).await?, merchant).in_turn(turn))
    }

    /// Opens a transaction that changes returns of several merchants, each with a message. Fails with [`Failed::Moved`] if one of them
    /// lives in another cell.
    pub async fn begin_shared(&self, merchants: &[MerchantId]) -> Result<SharedTx, Failed> {
        Ok(SharedTx::new(self.pool.begin_shared(merchants).await?))
    }

    /// Opens a transaction in which the delivery engine settles a message of `merchant` apart.
    pub async fn begin_apart(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        Ok(Tx::new(self.apart.begin_for(merchant).await?, merchant))
    }

    /// Opens a transaction in which a system of `merchant` is issued an access token.
    pub async fn begin_token(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        Ok(Tx::new(self.tokens.begin_for(merchant).await?, merchant))
    }

    /// A pool with the connection for listening, which is opened on first use, and the place at which it listens to a cell that may move.
    pub(crate) async fn listening(&self) -> Result<(PgPool, Option<(Arc<Placement>, Found)>), Failed> {
        let settings = session::statement(self.limits.statement, self.limits.lock, &[]);
        let pool = connections(1, self.limits.acquire, settings).max_lifetime(None).idle_timeout(None);
        Ok(match &self.placement {
            Some(placement) => {
                let found = placement.found().await?;
                (pool.connect_lazy_with(found.options.as_ref().clone()), Some((Arc::clone(placement), found)))
            }
            None => (pool.connect_lazy_with(self.options.clone()), None),
        })
    }

    /// Waits until every connection has been returned, and closes them.
    pub async fn close(&self) {
        self.pool.close().await;
        self.aside.close().await;
        self.engine.close().await;
        self.readers.close().await;
        self.feed.close().await;
        self.apart.close().await;
        self.tokens.close().await;
        if let Some(placement) = &self.placement {
            placement.close().await;
        }
    }

    /// The number of connections in the pool for flows, and the number of idle ones.
    #[must_use]
    pub fn connections(&self) -> (u32, usize) {
        self.pool.size()
    }
}

/// A pool of at most `most` connections, each with these `settings`.
fn connections(most: u32, acquire: Duration, settings: String) -> PgPoolOptions {
    let settings: Arc<str> = settings.into();
    let ping = PING.min(acquire / 2);
    PgPoolOptions::new()
        .max_connections(most)
        .acquire_timeout(acquire)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let settings = AssertSqlSafe(Arc::clone(&settings));
            Box::pin(async move { connection.execute(settings).await.map(drop) })
        })
        // Ping only connections that have been idle for a while; under load it would be a wasted round trip.
        .before_acquire(move |connection, meta| {
            Box::pin(async move { Ok(meta.idle_for < IDLE_WITHOUT_PING || matches!(timeout(ping, connection.ping()).await, Ok(Ok(())))) })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_are_divided_among_the_pools() {
        for connections in PoolSizes::FEWEST..200 {
            let sizes = PoolSizes::divide(connections).unwrap();
            assert_eq!(sizes.total(), connections);
            assert!(
                sizes.flows >= 2 && sizes.engine >= 2 && sizes.readers >= 1 && sizes.feed >= 1 && sizes.apart >= 1 && sizes.tokens >= 1,
                "{sizes:?}"
            );
        }
        assert_eq!(PoolSizes::divide(40), Some(PoolSizes { flows: 14, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 2 }));
        assert_eq!(PoolSizes::divide(PoolSizes::FEWEST - 1), None);
    }
}
