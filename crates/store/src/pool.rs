//! The connections: one pool for flows, and pools of their own for limits, the delivery engine and the feed.

use std::str::FromStr;
use std::time::Duration;

use domain::id::MerchantId;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgPool};

use crate::failed::Failed;
use crate::tx::Tx;

/// How the pool of connections is bounded.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    /// The most connections at a time, beside the one for limits.
    pub connections: u32,
    /// How long a caller waits for a free one.
    pub acquire: Duration,
    /// How long one statement may run.
    pub statement: Duration,
    /// How long a statement may wait for a lock.
    pub lock: Duration,
}

/// How long a connection may be idle and still be handed out unasked.
const IDLE_UNASKED: Duration = Duration::from_millis(500);

/// The database.
#[derive(Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    /// One connection beside the pool, for limits: they are needed most when every other connection is busy.
    pub(crate) aside: PgPool,
    /// The connections of the delivery engine.
    pub(crate) engine: PgPool,
    /// Those with which it reads what is due.
    pub(crate) readers: PgPool,
    /// Those with which merchants read the feed.
    pub(crate) feed: PgPool,
}

/// How many connections the delivery engine has: for settling, leases and listening.
const ENGINE_CONNECTIONS: u32 = 10;

/// How many it has for reading what is due. The statement is small and names a table of many partitions, so that planning it
/// took five times as long as running it: here it is planned once. It leaves the planner no choice.
const READING_CONNECTIONS: u32 = 4;

/// How many there are for reading the feed: the many who follow it wait for each other, and not the others for them.
const FEED_CONNECTIONS: u32 = 4;

/// What every connection does first: see the function in the schema. Before the first migration there is none.
const NOTE_SYSTEM: &str = "do $$ begin if to_regprocedure('note_system()') is not null then perform note_system(); end if; end $$";

/// The planner's settings for the delivery engine. Its hot table is normally nearly empty, and a plan that was made for an
/// empty table collapses in a burst: so each statement is planned when it runs, and by its indexes only.
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
    /// A store for the database at `url`. Nothing is connected before the first use, so that a service may start before
    /// its database does.
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
                // Only a connection that has been idle for a while is asked whether it is still there: under load that
                // would be a round trip for nothing.
                .before_acquire(|connection, meta| {
                    Box::pin(async move { Ok(meta.idle_for < IDLE_UNASKED || connection.ping().await.is_ok()) })
                })
                .connect_lazy_with(options)
        };
        Ok(Self {
            engine: pool(ENGINE_CONNECTIONS, engine),
            readers: pool(READING_CONNECTIONS, readers),
            feed: pool(FEED_CONNECTIONS, feed),
            aside: pool(1, options.clone()),
            pool: pool(limits.connections, options),
        })
    }

    /// Opens a transaction on the data of `merchant`.
    pub async fn begin(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        Ok(Tx::new(self.pool.begin().await?, merchant))
    }

    /// Waits until every connection is given back, and closes them.
    pub async fn close(&self) {
        self.pool.close().await;
        self.aside.close().await;
        self.engine.close().await;
        self.readers.close().await;
        self.feed.close().await;
    }

    /// How many connections there are, and how many of them are idle.
    #[must_use]
    pub fn connections(&self) -> (u32, usize) {
        (self.pool.size(), self.pool.num_idle())
    }
}

pub(crate) fn connect_options(url: &str) -> Result<PgConnectOptions, Failed> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(options.application_name("backhaul").disable_statement_logging())
}
