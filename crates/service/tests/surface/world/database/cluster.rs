//! A Citus cluster that `scripts/citus` has started. The database of a test is on each of its nodes, and has three cells.

use domain::node::mode::Mode;
use futures::future::join_all;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use store::node::{cells, installation};

use super::SECOND;
use super::server::{database_at, digest, execute, exists, new_name, options};
use crate::world::beginning;

/// The cells besides the first one. Each has a schema of its name, on a worker of its own.
pub(super) const CELLS: [&str; 2] = [SECOND, "c"];

/// The nodes of the cluster.
pub(super) struct Nodes {
    /// Their URLs, the coordinator's first.
    pub(super) urls: Vec<String>,
}

impl Nodes {
    /// `None` without a cluster.
    pub(super) fn find() -> Option<Self> {
        let urls = std::env::var("CITUS_NODES").ok()?;
        Some(Self { urls: urls.split_whitespace().map(str::to_owned).collect() })
    }

    /// Creates a migrated database with three cells, and returns its name.
    pub(super) async fn create(&self) -> String {
        let (template, name) = (self.template().await, new_name());
        self.copy(&template, &name).await;
        name
    }

    /// The URL of a database at the coordinator.
    pub(super) fn at_coordinator(&self, database: &str) -> String {
        database_at(&self.urls[0], database)
    }

    /// The template of this schema, created by whoever needs it first.
    async fn template(&self) -> String {
        let name = format!("backhaul_cells_{:016x}", digest());
        let mut coordinator = options(&self.urls[0]).connect().await.unwrap();
        execute(&mut coordinator, "select pg_advisory_lock(4711)".to_owned()).await;
        if !exists(&mut coordinator, &name).await {
            self.make(&mut coordinator, &name).await;
        }
        coordinator.close().await.unwrap();
        name
    }

    /// Makes the template. Its first cell is an ordinary schema at the coordinator, and the others are added as `backhaul cell add` does.
    async fn make(&self, coordinator: &mut PgConnection, name: &str) {
        let (making, empty) = (format!("{name}_making"), std::env::var("CITUS_TEMPLATE").unwrap());
        // What is left of an attempt that was broken off.
        on_each(&self.urls, &[making.as_str(), name].map(|left| format!("drop database if exists {left} with (force)"))).await;
        self.copy(&empty, &making).await;
        let home = self.at_coordinator(&making);
        installation::migrate(&home, Mode::Sandbox, beginning()).await.unwrap();
        // Two moves at once give their replication slots the same name.
        execute(coordinator, "select pg_advisory_lock(4712)".to_owned()).await;
        // Citus has placed the first one on the last worker so far, and then none has to move.
        for (cell, worker) in CELLS.into_iter().zip(&self.urls[1..]).rev() {
            let url = in_schema(&home, cell);
            cells::create_schema(&url, cell).await.unwrap();
            installation::migrate(&url, Mode::Sandbox, beginning()).await.unwrap();
            cells::distribute(&url).await.unwrap();
            place(&url, worker).await;
        }
        // A database to which somebody is connected, such as Citus' own maintenance, cannot be copied.
        let closed = format!("alter database {making} allow_connections false");
        let ended = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{making}'");
        on_each(&self.urls, &[closed, ended]).await;
        // The coordinator's is renamed last, because it is looked for there.
        let renamed = [format!("alter database {making} rename to {name}")];
        on_each(&self.urls[1..], &renamed).await;
        on_each(&self.urls[..1], &renamed).await;
    }

    /// Copies a database under a new name on every node. As the copies know the nodes, and look for databases of their own name there,
    /// they are a cluster.
    async fn copy(&self, template: &str, name: &str) {
        on_each(&self.urls, &[format!("create database {name} template {template}")]).await;
    }
}

/// The URL of a schema in the database at `url`.
pub(super) fn in_schema(url: &str, schema: &str) -> String {
    format!("{url}{}options[search_path]={schema}", if url.contains('?') { '&' } else { '?' })
}

/// Runs statements on each of these nodes, at all of them at the same time.
async fn on_each(nodes: &[String], statements: &[String]) {
    join_all(nodes.iter().map(|node| on(node, statements))).await;
}

async fn on(node: &str, statements: &[String]) {
    let mut connection = options(node).connect().await.unwrap();
    for statement in statements {
        execute(&mut connection, statement.clone()).await;
    }
    connection.close().await.unwrap();
}

/// Moves the cell at `url` to this worker, unless Citus has placed it there.
async fn place(url: &str, worker: &str) {
    let mut connection = options(url).connect().await.unwrap();
    let holder = "select nodeport from citus_shards where table_name = 'merchant'::regclass";
    let port: i32 = sqlx::query_scalar(holder).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let worker = options(worker);
    if port != i32::from(worker.get_port()) {
        cells::move_to_node(url, worker.get_host(), worker.get_port(), |_| ()).await.unwrap();
    }
}
