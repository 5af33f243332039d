//! The connection pools: one for flows, and separate ones for limits, the delivery engine and the feed.

use std::str::FromStr;
use std::time::Duration;

use domain::id::MerchantId;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgPool};

use crate::failed::Failed;
use crate::tx::Tx;

/// The limits of the connection pools.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    /// The size of the pool for flows.
    pub connections: u32,
    /// The time a caller waits for a free connection.
    pub acquire: Duration,
    /// The time one statement may run.
    pub statement: Duration,
    /// The time a statement may wait for a lock.
    pub lock: Duration,
}

/// The time a connection may be idle and still be handed out without a ping.
const IDLE_WITHOUT_PING: Duration = Duration::from_millis(500);

/// The connection pools of the database; cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    /// One separate connection for limits, which are needed most when all others are busy.
    pub(crate) aside: PgPool,
    pub(crate) engine: PgPool,
    /// The connections with which the delivery engine reads due messages.
    pub(crate) readers: PgPool,
    pub(crate) feed: PgPool,
    /// The connections with which the delivery engine settles messages apart, in their merchants' transactions.
    pub(crate) apart: PgPool,
}

/// Connections of the delivery engine for settling, leases and listening.
const ENGINE_CONNECTIONS: u32 = 10;

/// Connections of the delivery engine for reading due messages. The statement is small but names a table with many partitions, so
/// planning it took five times as long as running it. Here it is planned only once, and it leaves the planner no choice.
const READING_CONNECTIONS: u32 = 4;

/// Connections for reading the feed. Its many followers wait for each other, and nobody else waits for them.
const FEED_CONNECTIONS: u32 = 4;

/// Connections for messages that the delivery engine settles apart: those with a reaction, and those whose rows somebody else has
/// locked. They may wait for long, and nobody else waits for them.
pub const APART_CONNECTIONS: u32 = 4;

/// The longest wait of these for a lock. They hold their buckets meanwhile, whose leases have to be renewed.
const APART_LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// The first statement of every connection. The function exists in the schema from the first migration on.
const NOTE_SYSTEM: &str = "do $$ begin if to_regprocedure('note_system()') is not null then perform note_system(); end if; end $$";

/// The planner's settings for the delivery engine. Its hot table is normally almost empty, and a plan made for an empty table
/// is disastrous in a burst. So each statement is planned when it runs, using indexes only.
const ENGINE_PLANS: [(&str, &str); 6] = [
    ("plan_cache_mode", "force_custom_plan"),
    ("jit", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// The planner's settings for reading the feed. A page is the start of an index range, so nothing needs sorting. The query
/// names a table with many partitions, so it is planned only once.
pub const FEED_PLANS: [(&str, &str); 5] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("jit", "off"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_sort", "off"),
];

impl Store {
    /// A store for the database at `url`. It connects on first use, so a service can start before its database.
    pub fn new(url: &str, limits: PoolLimits) -> Result<Self, Failed> {
        let millis = |time: Duration| format!("{}ms", time.as_millis());
        let options = connect_options(url)?.options([
            ("statement_timeout", millis(limits.statement)),
            ("lock_timeout", millis(limits.lock)),
            ("idle_in_transaction_session_timeout", millis(limits.statement * 2)),
            ("timezone", "UTC".to_owned()),
        ]);
        let engine = options.clone().options(ENGINE_PLANS);
        let readers = engine.clone().options([("plan_cache_mode", "force_generic_plan")]);
        let feed = options.clone().options(FEED_PLANS);
        let pool = |most, options: PgConnectOptions| {
            PgPoolOptions::new()
                .max_connections(most)
                .acquire_timeout(limits.acquire)
                .test_before_acquire(false)
                .after_connect(|connection, _| Box::pin(async move { connection.execute(NOTE_SYSTEM).await.map(drop) }))
                // Ping only connections that have been idle for a while; under load it would be a wasted round trip.
                .before_acquire(|connection, meta| {
                    Box::pin(async move { Ok(meta.idle_for < IDLE_WITHOUT_PING || connection.ping().await.is_ok()) })
                })
                .connect_lazy_with(options)
        };
        Ok(Self {
            engine: pool(ENGINE_CONNECTIONS, engine),
            readers: pool(READING_CONNECTIONS, readers),
            feed: pool(FEED_CONNECTIONS, feed),
            aside: pool(1, options.clone()),
            apart: pool(APART_CONNECTIONS, options.clone().options([("lock_timeout", millis(limits.lock.min(APART_LOCK_TIMEOUT)))])),
            pool: pool(limits.connections, options),
        })
    }

    /// Opens a transaction on the data of `merchant`.
    pub async fn begin(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        Ok(Tx::new(self.pool.begin().await?, merchant))
    }

    /// Opens a transaction in which the delivery engine settles a message of `merchant` apart.
    pub async fn begin_apart(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        Ok(Tx::new(self.apart.begin().await?, merchant))
    }

    /// Waits until every connection has been returned, and closes them.
    pub async fn close(&self) {
        self.pool.close().await;
        self.aside.close().await;
        self.engine.close().await;
        self.readers.close().await;
        self.feed.close().await;
        self.apart.close().await;
    }

    /// The number of connections in the pool for flows, and the number of idle ones.
    #[must_use]
    pub fn connections(&self) -> (u32, usize) {
        (self.pool.size(), self.pool.num_idle())
    }
}

pub(crate) fn connect_options(url: &str) -> Result<PgConnectOptions, Failed> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(options.application_name("backhaul").disable_statement_logging())
}
