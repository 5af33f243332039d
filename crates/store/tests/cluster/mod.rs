//! A Citus cluster that `scripts/citus` has started, and a cell in it.

use std::str::FromStr as _;
use std::time::Duration;

use domain::node::mode::Mode;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use store::node::installation;
use store::{PoolLimits, PoolSizes, Store};
use tokio::sync::OnceCell;

/// The last migration that is applied before a cell is distributed. Some of those up to here are refused afterwards, and the ones
/// that follow must not be.
const PLAIN: i64 = 121;

/// Unlogged tables, which cannot move to another node. They are of the installation and not of its merchants.
pub const OUTSIDE: [&str; 2] = ["node_pulse", "rate_count"];

/// The database on each node that is copied for every test, once it is there.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// The URLs of the nodes, the coordinator's first; `None` without a cluster.
fn nodes() -> Option<Vec<String>> {
    let Ok(nodes) = std::env::var("CITUS_NODES") else {
        println!("There is no Citus cluster, so nothing was tried: run `make probe-citus`.");
        return None;
    };
    Some(nodes.split_whitespace().map(str::to_owned).collect())
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

/// A cell in a database of its own.
pub struct Cell {
    nodes: Vec<String>,
    database: String,
}

impl Cell {
    /// Creates a cell, with all migrations and in a database named after `of`. `None` without a cluster.
    pub async fn create(of: &str) -> Option<Self> {
        let nodes = nodes()?;
        let template = TEMPLATE.get_or_init(|| Self::make_template(&nodes)).await;
        Some(Self::copy(nodes, template, of).await)
    }

    /// Copies a database under a new name on every node. As the copies know the nodes, and look for databases of their own name there,
    /// they are a cluster.
    async fn copy(nodes: Vec<String>, template: &str, of: &str) -> Self {
        let database = format!("{of}_{}", std::process::id());
        for node in &nodes {
            let mut connection = PgConnectOptions::from_str(node).unwrap().connect().await.unwrap();
            run(&mut connection, &format!("create database {database} template {template}")).await.unwrap();
            connection.close().await.unwrap();
        }
        Self { nodes, database }
    }

    /// Makes a cell that the others are copies of: an ordinary schema, which is distributed as a whole once it is migrated. Later
    /// migrations find a cell that is distributed already.
    async fn make_template(nodes: &[String]) -> String {
        let empty = std::env::var("CITUS_TEMPLATE").unwrap();
        let cell = Self::copy(nodes.to_vec(), &empty, "cell").await;
        let mut connection = cell.connect_to_coordinator().await;
        run(&mut connection, "create schema cell; create schema home").await.unwrap();
        let (url, now) = (cell.url(0, "cell"), "2026-03-01T12:00:00Z".parse().unwrap());
        installation::migrate_to(&url, Mode::Sandbox, now, Some(PLAIN)).await.unwrap();
        for table in OUTSIDE {
            run(&mut connection, &format!("alter table cell.{table} set schema home")).await.unwrap();
        }
        // Whatever the triggers touch is in the same cell, and so on the same node.
        run(&mut connection, "set citus.enable_unsafe_triggers = on; select citus_schema_distribute('cell')").await.unwrap();
        installation::migrate(&url, Mode::Sandbox, now).await.unwrap();
        connection.close().await.unwrap();
        // A database to which somebody is connected, such as Citus' own maintenance, cannot be copied.
        let database = cell.database;
        for node in nodes {
            let mut connection = PgConnectOptions::from_str(node).unwrap().connect().await.unwrap();
            let end = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{database}'");
            for statement in [format!("alter database {database} allow_connections false"), end] {
                run(&mut connection, &statement).await.unwrap();
            }
            connection.close().await.unwrap();
        }
        database
    }

    /// The URL of this database on a node, where names are looked for in `schemas`.
    fn url(&self, node: usize, schemas: &str) -> String {
        let (server, _) = self.nodes[node].rsplit_once('/').unwrap();
        format!("{server}/{}?options[search_path]={schemas}", self.database)
    }

    async fn connect(&self, node: usize) -> PgConnection {
        PgConnectOptions::from_str(&self.url(node, "cell,home")).unwrap().connect().await.unwrap()
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
        Store::of_cell("cell", &self.url(0, "cell,home"), limits()).unwrap()
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
        let port = PgConnectOptions::from_str(&self.nodes[other]).unwrap().get_port();
        let mut connection = self.connect_to_coordinator().await;
        // Two moves at once give their replication slots the same name.
        let mut alone = PgConnectOptions::from_str(&self.nodes[0]).unwrap().connect().await.unwrap();
        run(&mut alone, "select pg_advisory_lock(4712)").await.unwrap();
        run(&mut connection, &format!("select citus_schema_move('cell', '127.0.0.1', {port})")).await.unwrap();
        assert_eq!(self.place().await, other);
        alone.close().await.unwrap();
    }
}
