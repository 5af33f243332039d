//! What is kept: every statement that Backhaul sends to PostgreSQL, one module per thing that is kept.
//!
//! A [`Store`] is a pool of connections; reads go through it. Writes take a [`Tx`], which carries the merchant whose
//! data it touches; only a flow opens one. What belongs to no merchant ([`rates`], [`limits`], [`leases`], [`installation`])
//! is written without, and so is what the owner of a bucket settles ([`settlements`]). Times and ids are parameters: no
//! statement reads a clock or makes an id, so that tests are deterministic and every statement runs on a Citus cluster as
//! well; leases alone go by the database's clock.

pub mod attempts;
pub mod audit;
pub mod backlog;
pub mod carrier_accounts;
pub mod carrier_events;
pub mod carrier_webhooks;
pub mod crash;
pub mod credentials;
pub mod deliveries;
pub mod drop_ship_cancellations;
pub mod drop_ship_orders;
pub mod drop_shipments;
pub mod endpoints;
pub mod erasures;
pub mod exchange_orders;
pub mod failures;
pub mod feed;
pub mod health;
pub mod idempotency;
pub mod imports;
pub mod inbound_asn_pages;
pub mod inbound_asns;
pub mod installation;
pub mod labels;
pub mod leases;
pub mod limits;
pub mod merchants;
pub mod message_pages;
pub mod messages;
pub mod notices;
pub mod orders;
pub mod outbox;
pub mod parcels;
pub mod partitions;
pub mod places;
pub mod rates;
pub mod receipts;
pub mod receiving_exceptions;
pub mod refunds;
pub mod refusals;
pub mod reports;
pub mod retries;
pub mod retry_jobs;
pub mod return_policies;
pub mod rma_pages;
pub mod rmas;
pub mod settlements;
pub mod shipment_units;
pub mod shipments;
pub mod tokens;
pub mod unit_claims;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use domain::id::MerchantId;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgConnection, PgPool, Postgres, Transaction};

use crate::crash::Point;

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
    pool: PgPool,
    /// One connection beside the pool, for limits: they are needed most when every other connection is busy.
    aside: PgPool,
    /// The connections of the delivery engine.
    engine: PgPool,
    /// Those with which it reads what is due.
    readers: PgPool,
    /// Those with which merchants read the feed.
    feed: PgPool,
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
        let feed = options.clone().options(feed::PLANS);
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
        Ok(Tx { transaction: self.pool.begin().await?, merchant })
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

fn connect_options(url: &str) -> Result<PgConnectOptions, Failed> {
    let options = PgConnectOptions::from_str(url)?;
    Ok(options.application_name("backhaul").disable_statement_logging())
}

/// A transaction on one merchant's data. Dropped without [`Tx::commit`], it changes nothing.
pub struct Tx {
    transaction: Transaction<'static, Postgres>,
    merchant: MerchantId,
}

impl Tx {
    /// Whose data this transaction touches.
    #[must_use]
    pub fn merchant(&self) -> MerchantId {
        self.merchant
    }

    /// Marks this moment: what is done from here on can be undone without the rest. One mark at a time.
    pub async fn mark(&mut self) -> Result<(), Failed> {
        self.connection().execute("savepoint mark").await?;
        Ok(())
    }

    /// Keeps what was done since the mark, and forgets the mark.
    pub async fn keep(&mut self) -> Result<(), Failed> {
        self.connection().execute("release savepoint mark").await?;
        Ok(())
    }

    /// Undoes what was done since the mark, and forgets the mark.
    pub async fn undo(&mut self) -> Result<(), Failed> {
        self.connection().execute("rollback to savepoint mark; release savepoint mark").await?;
        Ok(())
    }

    /// Makes everything done in here durable.
    pub async fn commit(self) -> Result<(), Failed> {
        crash::point(Point::Commit);
        self.transaction.commit().await?;
        crash::point(Point::Committed);
        Ok(())
    }

    /// Undoes everything done in here.
    pub async fn rollback(self) -> Result<(), Failed> {
        Ok(self.transaction.rollback().await?)
    }

    fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}

/// The database did not do what was asked. What it prints holds codes and names of the schema, never a row's data.
#[derive(Clone, thiserror::Error)]
pub enum Failed {
    /// It cannot be reached, or did not answer in time.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// Two transactions stood in each other's way; the same again may go through.
    #[error("the transaction collided with another one (SQLSTATE {0})")]
    Collided(String),
    /// A rule of the schema was broken.
    #[error("the constraint {0} was violated")]
    Constraint(String),
    /// Anything else.
    #[error("the database refused a statement: {0}")]
    Refused(String),
}

impl Failed {
    /// Whether the named constraint was violated.
    #[must_use]
    pub fn violates(&self, constraint: &str) -> bool {
        matches!(self, Self::Constraint(violated) if violated == constraint)
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default().into_owned();
                match (code.as_str(), error.constraint()) {
                    ("40001" | "40P01", _) => Self::Collided(code),
                    // The server gave up waiting, takes no writes, or takes no connections.
                    ("55P03" | "25006" | "55000", _) => Self::Unreachable(format!("SQLSTATE {code}")),
                    // The connection broke, the server is out of something, is going down or coming up, or its disk fails.
                    (trouble, _) if ["08", "53", "57", "58"].iter().any(|class| trouble.starts_with(class)) => {
                        Self::Unreachable(format!("SQLSTATE {code}"))
                    }
                    (_, Some(constraint)) => Self::Constraint(constraint.to_owned()),
                    (_, None) => Self::Refused(format!("SQLSTATE {code}")),
                }
            }
            sqlx::Error::Io(error) => Self::Unreachable(error.to_string()),
            sqlx::Error::Tls(_) => Self::Unreachable("TLS failed".to_owned()),
            sqlx::Error::PoolTimedOut => Self::Unreachable("no connection became free in time".to_owned()),
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => Self::Unreachable("the pool is closed".to_owned()),
            sqlx::Error::Configuration(_) => Self::Refused("the database's address is not understood".to_owned()),
            sqlx::Error::RowNotFound => Self::Refused("a row that must be there is absent".to_owned()),
            sqlx::Error::ColumnDecode { index, .. } => Self::Refused(format!("the column {index} does not decode")),
            _ => Self::Refused("unexpected answer".to_owned()),
        }
    }
}

/// Scopes as they are kept: words with a space between them.
fn scopes(words: &str) -> Result<domain::access::Scopes, Failed> {
    words.parse().map_err(|_| Failed::Refused("a stored scope is unknown".to_owned()))
}
