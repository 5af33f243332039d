//! A Citus cluster that `scripts/citus` has started, and a cell in it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::Command;
use std::str::FromStr as _;
use std::time::Duration;

use domain::node::mode::Mode;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use store::node::cells::{self, NotMoved};
use store::node::installation;
use store::{PoolLimits, PoolSizes, Store};

/// The last migration that is applied before a cell is distributed. Some of those up to here are refused afterwards, and the ones
/// that follow must not be.
const PLAIN: i64 = 121;

/// Unlogged tables, which cannot move to another node. They are of the installation and not of its merchants.
pub const OUTSIDE: [&str; 2] = ["node_pulse", "rate_count"];

/// The URLs of the nodes, the coordinator's first; `None` without a cluster.
fn nodes() -> Option<Vec<String>> {
    let nodes = std::env::var("CITUS_NODES").ok()?;
    Some(nodes.split_whitespace().map(str::to_owned).collect())
}

/// The URL of a database on a node, where names are looked for in `schemas`.
fn url(node: &str, database: &str, schemas: &str) -> String {
    let (server, _) = node.rsplit_once('/').unwrap();
    format!("{server}/{database}?options[search_path]={schemas}")
}

/// Runs statements on a node, outside of any test's database.
async fn run_on(node: &str, statements: &[String]) {
    let mut connection = PgConnectOptions::from_str(node).unwrap().connect().await.unwrap();
    for statement in statements {
        run(&mut connection, statement).await.unwrap();
    }
    connection.close().await.unwrap();
}

/// Copies a database under a new name on every node. As the copies know the nodes, and look for databases of their own name there, they
/// are a cluster.
async fn copy(nodes: &[String], template: &str, database: &str) {
    for node in nodes {
        run_on(node, &[format!("create database {database} template {template}")]).await;
    }
}

/// The database with the cell that the others are copies of, made by whoever needs it first.
async fn template(nodes: &[String]) -> String {
    let database = format!("cell_{:016x}", digest());
    let mut coordinator = PgConnectOptions::from_str(&nodes[0]).unwrap().connect().await.unwrap();
    run(&mut coordinator, "select pg_advisory_lock(4713)").await.unwrap();
    // It is closed once it is complete.
    let known = "select exists (select from pg_database where datname = $1 and not datallowconn)";
    let known: bool = sqlx::query_scalar(known).bind(&database).fetch_one(&mut coordinator).await.unwrap();
    if !known {
        make(nodes, &database).await;
    }
    coordinator.close().await.unwrap();
    database
}

/// Makes a cell as an ordinary schema, which is distributed as a whole once it is migrated. Later migrations find a cell that is
/// distributed already.
async fn make(nodes: &[String], database: &str) {
    let empty = std::env::var("CITUS_TEMPLATE").unwrap();
    // What is left of an attempt that was broken off.
    for node in nodes {
        run_on(node, &[format!("drop database if exists {database} with (force)")]).await;
    }
    copy(nodes, &empty, database).await;
    let (url, now) = (url(&nodes[0], database, "cell"), "2026-03-01T12:00:00Z".parse().unwrap());
    let mut connection = PgConnectOptions::from_str(&url).unwrap().connect().await.unwrap();
    run(&mut connection, "create schema cell; create schema home").await.unwrap();
    installation::migrate_to(&url, Mode::Sandbox, now, Some(PLAIN)).await.unwrap();
    for table in OUTSIDE {
        run(&mut connection, &format!("alter table cell.{table} set schema home")).await.unwrap();
    }
    // Whatever the triggers touch is in the same cell, and so on the same node.
    run(&mut connection, "set citus.enable_unsafe_triggers = on; select citus_schema_distribute('cell')").await.unwrap();
    installation::migrate(&url, Mode::Sandbox, now).await.unwrap();
    cells::distribute(&url).await.unwrap();
    connection.close().await.unwrap();
    // A database to which somebody is connected, such as Citus' own maintenance, cannot be copied. The coordinator's is closed last,
    // because it is looked for there.
    let closed = format!("alter database {database} allow_connections false");
    let ended = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{database}'");
    for node in nodes.iter().rev() {
        run_on(node, &[closed.clone(), ended.clone()]).await;
    }
}

/// Distinguishes one version of the migrations from another.
fn digest() -> u64 {
    let mut hasher = DefaultHasher::new();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    hasher.finish()
}

/// Runs a statement as it is.
pub async fn run(connection: &mut PgConnection, statement: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(connection).await.map(drop)
}

/// The limits of a store.
pub fn limits() -> PoolLimits {
    let patience = Duration::from_secs(10);
    let sizes = PoolSizes { flows: 2, engine: 2, readers: 1, feed: 1, apart: 1, tokens: 1 };
    PoolLimits { sizes, acquire: patience, statement: patience, lock: patience, console: 0 }
}

/// A cell in a database of its own, which is dropped with it.
pub struct Cell {
    nodes: Vec<String>,
    database: String,
}

impl Cell {
    /// Creates a cell, with all migrations and in a database named after `of`. `None` without a cluster.
    pub async fn create(of: &str) -> Option<Self> {
        let nodes = nodes()?;
        let (template, database) = (template(&nodes).await, format!("{of}_{}", std::process::id()));
        copy(&nodes, &template, &database).await;
        Some(Self { nodes, database })
    }

    /// The URL of this database on a node.
    fn url(&self, node: usize) -> String {
        url(&self.nodes[node], &self.database, "cell,home")
    }

    async fn connect(&self, node: usize) -> PgConnection {
        PgConnectOptions::from_str(&self.url(node)).unwrap().connect().await.unwrap()
    }

    /// A connection to the coordinator, through which a schema is changed.
    pub async fn connect_to_coordinator(&self) -> PgConnection {
        self.connect(0).await
    }

    /// A connection to a node, by its number; the coordinator has 0.
    pub async fn connect_to(&self, node: usize) -> PgConnection {
        self.connect(node).await
    }

    /// The cell's store.
    pub fn store(&self) -> Store {
        self.store_with(limits())
    }

    /// The same with these limits.
    pub fn store_with(&self, limits: PoolLimits) -> Store {
        Store::of_cell("cell", &self.url(0), limits).unwrap()
    }

    /// The number of the node that holds the cell.
    pub async fn place(&self) -> usize {
        let mut connection = self.connect_to_coordinator().await;
        let ports: Vec<i32> = sqlx::query_scalar("select distinct nodeport from citus_shards").fetch_all(&mut connection).await.unwrap();
        assert_eq!(ports.len(), 1, "a cell is on one node");
        self.nodes.iter().position(|node| node.contains(&format!(":{}/", ports[0]))).unwrap()
    }

    /// A connection to the node that holds the cell.
    pub async fn connect_to_holder(&self) -> PgConnection {
        self.connect(self.place().await).await
    }

    /// Moves the cell to the other worker.
    pub async fn move_on(&self) {
        let other = 3 - self.place().await;
        let port = self.port(other);
        let mut connection = self.connect_to_coordinator().await;
        let alone = self.alone().await;
        run(&mut connection, &format!("select citus_schema_move('cell', '127.0.0.1', {port})")).await.unwrap();
        assert_eq!(self.place().await, other);
        alone.close().await.unwrap();
    }
}

impl Cell {
    /// Waits until nobody else moves a cell, and keeps others from it: two moves at once give their replication slots the same name.
    async fn alone(&self) -> PgConnection {
        let mut alone = PgConnectOptions::from_str(&self.nodes[0]).unwrap().connect().await.unwrap();
        run(&mut alone, "select pg_advisory_lock(4712)").await.unwrap();
        alone
    }

    /// Moves the cell to the node at this port, as an operator does.
    pub async fn move_to(&self, port: u16) -> Result<(), NotMoved> {
        let alone = self.alone().await;
        let moved = cells::move_to_node(&self.url(0), "127.0.0.1", port, |_| {}).await;
        alone.close().await.unwrap();
        moved
    }

    /// Makes what is missing of the cell's local views, as `backhaul migrate` does.
    pub async fn make_views(&self) {
        cells::distribute(&self.url(0)).await.unwrap();
    }

    /// The port of a node.
    pub fn port(&self, node: usize) -> u16 {
        PgConnectOptions::from_str(&self.nodes[node]).unwrap().get_port()
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let drop = format!("drop database if exists {} with (force)", self.database);
        for node in &self.nodes {
            let _ = Command::new("psql").args(["-qXc", &drop, node]).output();
        }
    }
}
