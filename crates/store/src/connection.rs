//! Connections to the database, each with a deadline on our side for everything it does.
//!
//! The server's own limits (`statement_timeout` and others) end work that takes too long, but only while the server can be
//! heard. If its host vanishes, nothing arrives any more: no answer, no error, no end of the connection. So every statement,
//! `begin`, `commit` and `rollback` has a deadline here too. When it passes, the connection is closed at once, and its place
//! in the pool is free again. The same happens when the caller drops a statement half way: nobody knows in which state the
//! server is then, so no other caller gets that connection.
//!
//! [`Pool`] and [`Connection`] are used in place of those of `sqlx`; statements run on both.

mod attempt;
mod deferred;
mod following;
mod notices;

use std::fmt::{self, Write as _};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::id::MerchantId;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{AssertSqlSafe, Describe, Either, Error, Execute, Executor, PgConnection, PgPool, Postgres, SqlSafeStr as _, SqlStr};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use self::attempt::Attempt;
use self::deferred::Deferred;
pub(crate) use self::following::{Finding, Found, Hints};
use self::following::{Following, is_of_another_node};

/// The time after the server's own limit until a statement is given up.
pub const MARGIN: Duration = Duration::from_millis(500);

/// Has a transaction at the node of a cluster see the tables of the cell, and not its local views.
const SEE_TABLES: &str = "select set_config('search_path', current_setting('backhaul.path'), true)";

tokio::task_local! {
    /// Set while work runs that must not take connections from the others.
    static CONFINED: ();
}

/// Runs `work` on the connections that are set apart for the console: few, and with a shorter time for each statement. Whatever the
/// console does, deliveries and callers keep theirs.
pub async fn confined<F: Future>(work: F) -> F::Output {
    CONFINED.scope((), work).await
}

/// A pool of connections with the same settings; cheap to clone.
#[derive(Clone)]
pub(crate) struct Pool {
    all: Connections,
    /// The connections of [`confined`] work, if there are any.
    set_apart: Option<Connections>,
}

#[derive(Clone)]
struct Connections {
    server: Server,
    /// The time within which every statement must be answered.
    limit: Duration,
}

/// The server to which connections go.
#[derive(Clone)]
enum Server {
    Same(PgPool),
    /// The one that holds a cell at the time.
    Holder(Arc<Following>),
}

impl Connections {
    fn new(server: Server, statement: Duration) -> Self {
        Self { server, limit: statement + MARGIN }
    }

    /// The connections to the server, if it need not be looked for.
    fn known(&self) -> PgPool {
        match &self.server {
            Server::Same(pool) => pool.clone(),
            Server::Holder(following) => following.last(),
        }
    }

    /// The connections to the server, and the number of the node if the cell is to be held there.
    async fn pool(&self) -> Result<(PgPool, Option<u64>), Error> {
        match &self.server {
            Server::Same(pool) => Ok((pool.clone(), None)),
            Server::Holder(following) => following.pool().await,
        }
    }

    /// Looks for the cell, which has left the node with this number. If it is not known to be on another one yet, waits for a moment.
    async fn leave(&self, node: u64) -> Result<(), Error> {
        match &self.server {
            Server::Same(_) => Ok(()),
            Server::Holder(following) => following.leave(node).await,
        }
    }

    /// Whoever follows the cell, if it may move.
    fn hints(&self) -> Option<Arc<Hints>> {
        match &self.server {
            Server::Same(_) => None,
            Server::Holder(following) => Some(following.hints()),
        }
    }

    /// True if connections are not taken from `pool` any more.
    fn has_moved_on(&self, pool: &PgPool) -> bool {
        pool.is_closed() && !self.known().is_closed()
    }

    async fn close(&self) {
        let _ = timeout(self.limit, self.known().close()).await;
    }
}

impl Pool {
    /// A pool whose statements are ended by the server after `statement`.
    pub(crate) fn new(connections: PgPool, statement: Duration) -> Self {
        Self { all: Connections::new(Server::Same(connections), statement), set_apart: None }
    }

    /// This pool, with connections that go to wherever the cell is.
    pub(crate) fn following(self, finding: &Finding, hints: &Arc<Hints>) -> Self {
        let follow = |Connections { server, limit }| {
            let server = match server {
                Server::Same(pool) => Server::Holder(Arc::new(Following::new(Arc::clone(finding), Arc::clone(hints), pool))),
                holder @ Server::Holder(_) => holder,
            };
            Connections { server, limit }
        };
        Self { all: follow(self.all), set_apart: self.set_apart.map(follow) }
    }

    /// This pool, with connections of their own for confined work.
    pub(crate) fn setting_apart(self, connections: PgPool, statement: Duration) -> Self {
        Self { set_apart: Some(Connections::new(Server::Same(connections), statement)), ..self }
    }

    /// The connections of the work that asks.
    fn connections(&self) -> &Connections {
        self.set_apart.as_ref().filter(|_| CONFINED.try_with(|()| ()).is_ok()).unwrap_or(&self.all)
    }

    /// Waits for a free connection, for what uses no table.
    pub(crate) async fn acquire(&self) -> Result<Connection, Error> {
        let asked_at = Instant::now();
        let connections = self.connections();
        let (mut pool, mut node) = connections.pool().await?;
        let held = loop {
            match pool.acquire().await {
                // The cell has moved to another node meanwhile, so wait there.
                Err(Error::PoolClosed) if connections.has_moved_on(&pool) => (pool, node) = connections.pool().await?,
                // Nothing was in use: the server was not there.
                Err(Error::PoolTimedOut) if pool.size() == 0 => {
                    return Err(Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "no connection could be made in time")));
                }
                held => break held?,
            }
        };
        let (hints, limit) = (connections.hints(), connections.limit);
        Ok(Connection { held: Some(held), node, is_whole: true, in_transaction: false, deferred: None, hints, asked_at, limit })
    }

    /// Waits for a free connection for single statements. [`Connection::end`] ends its work.
    pub(crate) async fn single(&self) -> Result<Connection, Error> {
        let connection = self.acquire().await?;
        if connection.node.is_none() { Ok(connection) } else { self.open(connection, "").await }
    }

    /// Waits for a free connection and opens a transaction. Dropping the connection without [`Connection::commit`] undoes it.
    pub(crate) async fn begin(&self) -> Result<Connection, Error> {
        self.open(self.acquire().await?, "").await
    }

    /// Opens a transaction that reads the tables of the cell themselves, for what a view of one does not have: the transaction that wrote a
    /// row, the keys of a table. It does not hold the cell, so it may take long.
    pub(crate) async fn begin_on_tables(&self) -> Result<Connection, Error> {
        let mut connection = self.acquire().await?;
        connection.in_transaction = true;
        let begin = if connection.node.is_some() { format!("begin; {SEE_TABLES}") } else { "begin".to_owned() };
        connection.control(AssertSqlSafe(begin).into_sql_str(), Instant::now() + connection.limit).await?;
        Ok(connection)
    }

    /// Opens a transaction that begins with these `statements`, in one round trip. At the node of a cluster that holds the cell, it holds
    /// it there. If the cell has left the node, nothing was done, and the transaction is opened where it is now.
    async fn open(&self, mut connection: Connection, statements: &str) -> Result<Connection, Error> {
        let until = connection.asked_at + connection.limit;
        loop {
            // The transaction is open even if it is refused, and then dropping the connection ends it.
            connection.in_transaction = true;
            let hold = if connection.node.is_some() { "; select hold_cell()" } else { "" };
            let begin = AssertSqlSafe(format!("begin{hold}{statements}")).into_sql_str();
            match (connection.control(begin, Instant::now() + connection.limit).await, connection.node) {
                (Err(error), Some(node)) if is_of_another_node(&error) && Instant::now() < until => {
                    drop(connection);
                    match timeout_at(until, self.connections().leave(node)).await {
                        Ok(found) => found?,
                        Err(_) => return Err(error),
                    }
                }
                (done, _) => return done.map(|()| connection),
            }
            connection = self.acquire().await?;
        }
    }

    /// [`Pool::begin`] for a transaction that writes data of `merchant`. It is refused if the merchant lives in another cell. Both are one
    /// round trip.
    pub(crate) async fn begin_for(&self, merchant: MerchantId) -> Result<Connection, Error> {
        // A UUID has nothing to escape.
        let statement = format!("; select must_live_here('{}')", merchant.0);
        self.open(self.acquire().await?, &statement).await
    }

    /// [`Pool::begin_for`] for a transaction that these merchants share. It is short: it waits for a lock and is idle for no longer than
    /// the counters of the feed may be held.
    pub(crate) async fn begin_shared(&self, merchants: &[MerchantId]) -> Result<Connection, Error> {
        let mut statement = "; select set_config('lock_timeout', '200ms', true), \
            set_config('idle_in_transaction_session_timeout', '2s', true); select must_live_here(merchant) from unnest(array["
            .to_owned();
        for (at, merchant) in merchants.iter().enumerate() {
            // A UUID has nothing to escape.
            let _ = write!(statement, "{}'{}'", if at == 0 { "" } else { ", " }, merchant.0);
        }
        statement.push_str("]::uuid[]) as merchant");
        self.open(self.acquire().await?, &statement).await
    }

    /// Closes the connections, and waits for those in use until their deadlines have passed.
    pub(crate) async fn close(&self) {
        self.all.close().await;
        if let Some(set_apart) = &self.set_apart {
            set_apart.close().await;
        }
    }

    /// The number of connections, and the number of idle ones.
    pub(crate) fn size(&self) -> (u32, usize) {
        let pool = self.all.known();
        (pool.size(), pool.num_idle())
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// A connection in use. Dropping it returns it to its pool, unless something on it was given up.
pub(crate) struct Connection {
    held: Option<PoolConnection<Postgres>>,
    /// The number of the node that it leads to, if the cell is to be held there.
    node: Option<u64>,
    /// False while a statement runs. It stays false if that statement is given up or the connection fails.
    is_whole: bool,
    in_transaction: bool,
    /// Runs before the next statement.
    deferred: Option<Deferred>,
    hints: Option<Arc<Hints>>,
    asked_at: Instant,
    limit: Duration,
}

impl Connection {
    /// Ends what [`Pool::single`] began.
    pub(crate) async fn end(self) -> Result<(), Error> {
        if self.in_transaction { self.commit().await } else { Ok(()) }
    }

    /// Has the rest of the transaction see the tables of the cell themselves, for what a view of one does not have: the place of a row.
    pub(crate) async fn see_tables(&mut self) -> Result<(), Error> {
        if self.node.is_none() {
            return Ok(());
        }
        self.control(SEE_TABLES.into_sql_str(), Instant::now() + self.limit).await
    }

    /// Commits. After an error the outcome may be unknown: the transaction may have been committed.
    pub(crate) async fn commit(mut self) -> Result<(), Error> {
        self.flush().await?;
        self.control("commit".into_sql_str(), self.single()).await?;
        self.in_transaction = false;
        Ok(())
    }

    /// Undoes the transaction.
    pub(crate) async fn rollback(mut self) -> Result<(), Error> {
        self.control("rollback".into_sql_str(), Instant::now() + self.limit).await?;
        self.in_transaction = false;
        Ok(())
    }

    async fn control(&mut self, statement: SqlStr, deadline: Instant) -> Result<(), Error> {
        let (connection, attempt) = self.start(deadline)?;
        attempt.run(connection.execute(statement)).await.map(drop)
    }

    /// Runs `work`, which is not a single statement, on the connection itself.
    pub(crate) async fn work<T>(&mut self, work: impl FnOnce(&mut PgConnection) -> BoxFuture<'_, Result<T, Error>>) -> Result<T, Error> {
        self.flush().await?;
        let (connection, attempt) = self.start(Instant::now() + self.limit)?;
        attempt.run(work(connection)).await
    }

    /// Lets `statement` wait for the next one, or for the commit. A rollback drops it.
    pub(crate) async fn defer(&mut self, statement: Deferred) -> Result<(), Error> {
        self.flush().await?;
        self.deferred = Some(statement);
        Ok(())
    }

    /// Takes the waiting statement, whose work the caller does. Returns false if none is waiting.
    pub(crate) fn take_over(&mut self) -> bool {
        self.deferred.take().is_some()
    }

    /// Runs the waiting statement, if there is one.
    async fn flush(&mut self) -> Result<(), Error> {
        let Some(statement) = self.deferred.take() else { return Ok(()) };
        let (connection, attempt) = self.start(Instant::now() + self.limit)?;
        attempt.run(statement(connection)).await
    }

    /// The deadline of something that commits. A caller who had to wait for the connection does not wait the whole time again,
    /// so that it has an answer soon even while no standby confirms commits.
    fn single(&self) -> Instant {
        (self.asked_at + self.limit).max(Instant::now() + self.limit / 2)
    }

    fn deadline(&self) -> Instant {
        if self.in_transaction { Instant::now() + self.limit } else { self.single() }
    }

    /// The connection itself, and the attempt to run one thing on it.
    fn start(&mut self, deadline: Instant) -> Result<(&mut PgConnection, Attempt<'_>), Error> {
        match &mut self.held {
            Some(held) if self.is_whole => Ok((held, Attempt::new(&mut self.is_whole, deadline, self.hints.as_deref()))),
            _ => Err(attempt::given_up()),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(mut held) = self.held.take() else { return };
        match Handle::try_current() {
            Ok(runtime) if self.is_whole => {
                let (in_transaction, limit) = (self.in_transaction, self.limit);
                // `sqlx` tests each connection before its pool takes it back, and would wait for ever.
                runtime.spawn(async move {
                    if in_transaction && !matches!(timeout(limit, held.execute("rollback")).await, Ok(Ok(_))) {
                        drop(held.detach());
                    } else {
                        let _ = timeout(limit, held.return_to_pool()).await;
                    }
                });
            }
            _ => drop(held.detach()),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl<'c> Executor<'c> for &'c mut Connection {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        if self.deferred.is_some() {
            let flushed = async move {
                self.flush().await?;
                let (connection, attempt) = self.start(self.deadline())?;
                Ok::<_, Error>(attempt.stream(connection.fetch_many(query)))
            };
            return stream::once(flushed).try_flatten().boxed();
        }
        match self.start(self.deadline()) {
            Ok((connection, attempt)) => attempt.stream(connection.fetch_many(query)).boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(async move {
            self.flush().await?;
            let (connection, attempt) = self.start(self.deadline())?;
            attempt.run(connection.fetch_optional(query)).await
        })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        Box::pin(async move {
            let (connection, attempt) = self.start(self.deadline())?;
            attempt.run(connection.prepare_with(sql, parameters)).await
        })
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        Box::pin(async move {
            let (connection, attempt) = self.start(self.deadline())?;
            attempt.run(connection.describe(sql)).await
        })
    }
}

impl<'p> Executor<'p> for &'p Pool {
    type Database = Postgres;

    /// Collects everything first, so that the connection is back in its pool before the rows are read.
    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let collected = async move {
            let mut connection = self.single().await?;
            let results: Vec<_> = connection.fetch_many(query).try_collect().await?;
            connection.end().await?;
            Ok::<_, Error>(stream::iter(results.into_iter().map(Ok)))
        };
        stream::once(collected).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(async move {
            let mut connection = self.single().await?;
            let row = connection.fetch_optional(query).await?;
            connection.end().await?;
            Ok(row)
        })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'p: 'e,
    {
        Box::pin(async move { self.acquire().await?.prepare_with(sql, parameters).await })
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'p: 'e,
    {
        Box::pin(async move { self.acquire().await?.describe(sql).await })
    }
}
