//! The Citus cluster that `scripts/citus` has started, with databases of this run on its nodes.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use anyhow::{Context as _, ensure};
use sandbox::postgres::{self, Cluster, Halt};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

/// The cells on the workers.
pub(crate) const CELLS: [&str; 2] = ["b", "c"];

/// The port of the node that holds the schema of a connection to the coordinator.
const HOLDER: &str = "select nodeport from citus_shards where table_name = 'merchant'::regclass";

/// The cluster, with a database that all of its nodes have.
pub(crate) struct Citus {
    /// The URL of the coordinator's database.
    pub(crate) url: String,
    coordinator: Node,
    workers: Vec<Node>,
}

/// A server of the cluster. Workers hold cells.
pub(crate) struct Node {
    host: String,
    port: u16,
    /// The URL of a database in which nothing happens.
    url: String,
    dir: PathBuf,
}

impl Citus {
    /// Makes a database of this run on every node of the cluster; its name begins with `name`. The databases know each other, because
    /// the one that is copied does.
    pub(crate) async fn find(name: &str) -> anyhow::Result<Self> {
        let (urls, dirs) = (variable("CITUS_NODES")?, variable("CITUS_DIRS")?);
        let (template, programs) = (variable("CITUS_TEMPLATE")?, variable("CITUS_PROGRAMS")?);
        // The server of another version could not start with the data.
        ensure!(postgres::installed()?.parent() == Some(Path::new(&programs)), "{programs} is not the first directory of the PATH");
        let mut found = Vec::new();
        for (url, dir) in urls.split_whitespace().zip(dirs.split_whitespace()) {
            let node = Node::new(url, dir)?;
            // The cluster of a test is careless about a loss of power. Everything here is measured with durable commits.
            node.run(&["alter system set fsync = on", "select pg_reload_conf()"]).await?;
            found.push((node.create_database(name, &template).await?, node));
        }
        let mut found = found.into_iter();
        let (url, coordinator) = found.next().context("CITUS_NODES names no node")?;
        let workers: Vec<Node> = found.map(|(_, worker)| worker).collect();
        ensure!(workers.len() > 1, "a cell needs two workers to move between them");
        Ok(Self { url, coordinator, workers })
    }

    /// The coordinator.
    pub(crate) fn coordinator(&self) -> &Node {
        &self.coordinator
    }

    /// The workers.
    pub(crate) fn workers(&self) -> &[Node] {
        &self.workers
    }

    /// All nodes, the coordinator first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.coordinator).chain(&self.workers)
    }

    /// A worker that does not hold the cell of this connection to the coordinator.
    pub(crate) async fn other_worker(&self, cell: &mut PgConnection) -> anyhow::Result<&Node> {
        let holder = holder(cell).await?;
        self.workers.iter().find(|worker| i32::from(worker.port) != holder).context("every worker holds the cell")
    }
}

impl Node {
    fn new(url: &str, dir: &str) -> anyhow::Result<Self> {
        let server = PgConnectOptions::from_str(url)?;
        Ok(Self { host: server.get_host().to_owned(), port: server.get_port(), url: url.to_owned(), dir: dir.into() })
    }

    /// The address by which the cluster knows it.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns whether it holds the cell of this connection to the coordinator.
    pub(crate) async fn holds(&self, cell: &mut PgConnection) -> anyhow::Result<bool> {
        Ok(holder(cell).await? == i32::from(self.port))
    }

    /// Runs statements on the server, each by itself.
    pub(crate) async fn run(&self, statements: &[&str]) -> anyhow::Result<()> {
        let mut connection = PgConnectOptions::from_str(&self.url)?.connect().await?;
        for statement in statements {
            sqlx::raw_sql(AssertSqlSafe((*statement).to_owned())).execute(&mut connection).await?;
        }
        Ok(connection.close().await?)
    }

    /// Makes a database of this run on this server, as a copy of `template`. Returns its URL.
    pub(crate) async fn create_database(&self, name: &str, template: &str) -> anyhow::Result<String> {
        let database = format!("{name}_{}", std::process::id());
        let create = format!("create database {database} template {template}");
        self.run(&[create.as_str()]).await?;
        let (server, _) = self.url.rsplit_once('/').with_context(|| format!("{} names no database", self.url))?;
        Ok(format!("{server}/{database}"))
    }

    /// The id of the server's first process.
    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        Cluster::left_in(&self.dir).pid().with_context(|| format!("the server at {} does not run", self.address()))
    }

    /// Kills the server, and starts it again.
    pub(crate) async fn restart(&self) -> anyhow::Result<()> {
        let server = Cluster::left_in(&self.dir);
        let restarting = tokio::task::spawn_blocking(move || {
            server.halt(Halt::Immediate)?;
            server.run()
        });
        Ok(restarting.await??)
    }
}

async fn holder(cell: &mut PgConnection) -> anyhow::Result<i32> {
    Ok(sqlx::query_scalar(HOLDER).fetch_one(cell).await?)
}

fn variable(name: &str) -> anyhow::Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set; `scripts/citus COMMAND` starts a Citus cluster and sets it"))
}
