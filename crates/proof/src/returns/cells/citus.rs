//! The Citus cluster that `scripts/citus` has started, with a database of this run on each of its nodes.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use anyhow::{Context as _, ensure};
use sandbox::postgres::{self, Cluster, Halt};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

/// The cells on the workers.
pub(super) const CELLS: [&str; 2] = ["b", "c"];

/// The port of the node that holds the schema of a connection to the coordinator.
const HOLDER: &str = "select nodeport from citus_shards where table_name = 'merchant'::regclass";

/// The cluster.
pub(super) struct Citus {
    /// The URL of the coordinator's database.
    pub(super) url: String,
    workers: Vec<Worker>,
}

/// A node that holds cells.
pub(super) struct Worker {
    pub(super) host: String,
    pub(super) port: u16,
    dir: PathBuf,
}

impl Citus {
    /// Makes a database of this run on every node of the cluster. The databases know each other, because the one that is copied does.
    pub(super) async fn find() -> anyhow::Result<Self> {
        let (nodes, dirs) = (variable("CITUS_NODES")?, variable("CITUS_DIRS")?);
        let (template, programs) = (variable("CITUS_TEMPLATE")?, variable("CITUS_PROGRAMS")?);
        // The server of another version could not start with the data.
        ensure!(postgres::installed()?.parent() == Some(Path::new(&programs)), "{programs} is not the first directory of the PATH");
        let database = format!("chaos_{}", std::process::id());
        for node in nodes.split_whitespace() {
            // The cluster of a test is careless about a loss of power. Gaps are measured with durable commits.
            let durable = ["alter system set fsync = on", "select pg_reload_conf()"].map(str::to_owned);
            let copy = format!("create database {database} template {template}");
            let mut connection = PgConnectOptions::from_str(node)?.connect().await?;
            for statement in durable.into_iter().chain([copy]) {
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
            }
            connection.close().await?;
        }
        let coordinator = nodes.split_whitespace().next().and_then(|url| url.rsplit_once('/')).context("CITUS_NODES names no node")?;
        let url = format!("{}/{database}", coordinator.0);
        let mut workers = Vec::new();
        for (node, dir) in nodes.split_whitespace().zip(dirs.split_whitespace()).skip(1) {
            let server = PgConnectOptions::from_str(node)?;
            workers.push(Worker { host: server.get_host().to_owned(), port: server.get_port(), dir: dir.into() });
        }
        ensure!(workers.len() > 1, "a cell needs two workers to move between them");
        Ok(Self { url, workers })
    }

    /// The workers.
    pub(super) fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// A worker that does not hold the cell of this connection to the coordinator.
    pub(super) async fn other_worker(&self, cell: &mut PgConnection) -> anyhow::Result<&Worker> {
        let holder: i32 = sqlx::query_scalar(HOLDER).fetch_one(cell).await?;
        self.workers.iter().find(|worker| i32::from(worker.port) != holder).context("every worker holds the cell")
    }
}

impl Worker {
    /// Kills the server, and starts it again.
    pub(super) async fn restart(&self) -> anyhow::Result<()> {
        let server = Cluster::left_in(&self.dir);
        let restarting = tokio::task::spawn_blocking(move || {
            server.halt(Halt::Immediate)?;
            server.run()
        });
        Ok(restarting.await??)
    }
}

fn variable(name: &str) -> anyhow::Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set; `make chaos-cells` starts a Citus cluster and sets it"))
}
