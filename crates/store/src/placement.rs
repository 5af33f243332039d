//! The place of a cell: the node of a cluster that holds it, or the one server of its URL.
//!
//! On a cluster, the URL of a cell leads to the coordinator. Every node takes the statements of every cell and passes them on, at a
//! multiple of the cost, so connections are made to the node that holds the cell. There they see the cell's own tables through its local
//! views (`crates/store/src/node/cells/local.rs`). The coordinator says which node that is. It is asked again and again
//! ([`Placement::look`]), and at once when a statement took long or failed as it may in a move ([`Hints`]), or a transaction found that
//! the cell had left. When the cell has moved, new connections go to its new node. A server without Citus is asked once.

use std::future::pending;
use std::sync::Arc;

use futures::FutureExt as _;
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{Error, PgExecutor, Row as _};
use tokio::sync::{Mutex, watch};

use crate::connection::{Finding, Found, Hints, Pool};
use crate::server::{at_node, target_of};

/// The node of the cluster that holds the schema. A schema is on one node as a whole, so one of its tables tells.
const HOLDER: &str = "
    select node.nodename, node.nodeport, current_schema()::text, current_setting('search_path')
    from pg_catalog.pg_dist_schema as cell
    join pg_catalog.pg_dist_partition as part on part.colocationid = cell.colocationid
    join pg_catalog.pg_dist_shard as shard on shard.logicalrelid = part.logicalrelid
    join pg_catalog.pg_dist_placement as placement on placement.shardid = shard.shardid
    join pg_catalog.pg_dist_node as node on node.groupid = placement.groupid
    where cell.schemaid = current_schema()::regnamespace and node.noderole = 'primary'
    limit 1";

/// All nodes of the cluster.
const NODES: &str = "select nodename, nodeport from pg_catalog.pg_dist_node where isactive and noderole = 'primary'";

/// The schema of the local views of a cell in `schema`.
pub(crate) fn local_views_of(schema: &str) -> String {
    format!("{schema}_local")
}

/// The place of a cell, as far as it is known.
pub(crate) struct Placement {
    url: Arc<str>,
    /// Connections to the server of the URL.
    front: Pool,
    found: watch::Sender<Option<Found>>,
    pub(crate) hints: Arc<Hints>,
    /// Held by whoever looks. The number of the server that [`Placement::look`] found last.
    looking: Mutex<Option<u64>>,
}

impl Placement {
    pub(crate) fn new(url: &str, front: Pool) -> Self {
        Self { url: url.into(), front, found: watch::Sender::new(None), hints: Arc::default(), looking: Mutex::default() }
    }

    /// [`Placement::found`] for connections that follow the cell.
    pub(crate) fn finding(self: &Arc<Self>) -> Finding {
        let placement = Arc::clone(self);
        Arc::new(move |left| {
            let placement = Arc::clone(&placement);
            async move {
                match left {
                    Some(number) => placement.found_after(number).await,
                    None => placement.found().await,
                }
            }
            .boxed()
        })
    }

    /// The server to connect to, which is looked for unless another one has been found since the one with this number.
    async fn found_after(&self, number: u64) -> Result<Found, Error> {
        let _looking = self.looking.lock().await;
        match self.known() {
            Some(found) if found.number > number => Ok(found),
            _ => self.look_now().await,
        }
    }

    /// The server to connect to. It is looked for if it is not known yet.
    pub(crate) async fn found(&self) -> Result<Found, Error> {
        if let Some(found) = self.known() {
            return Ok(found);
        }
        let mut looking = self.looking.lock().await;
        if let Some(found) = self.known() {
            return Ok(found);
        }
        let found = self.look_now().await?;
        *looking = Some(found.number);
        Ok(found)
    }

    /// The server to connect to, if it was found.
    pub(crate) fn known(&self) -> Option<Found> {
        self.found.borrow().clone()
    }

    /// Looks for the server that holds the cell. Returns true if it is another one than the last time.
    pub(crate) async fn look(&self) -> Result<bool, Error> {
        // Of two looks at once, the slower one could bring back where the cell was.
        let mut looking = self.looking.lock().await;
        let now = self.look_now().await?.number;
        Ok(looking.replace(now).is_some_and(|before| before != now))
    }

    /// [`Placement::look`] for whoever holds `looking`.
    async fn look_now(&self) -> Result<Found, Error> {
        let known = self.known();
        if known.as_ref().is_some_and(|known| !known.is_of_a_cluster) {
            return known.ok_or(Error::PoolClosed);
        }
        let is_of_a_cluster = known.is_some() || has_citus(&self.front).await?;
        let holder = if is_of_a_cluster { holder(&self.front).await? } else { None };
        let is_holder = holder.is_some();
        // A schema that is not distributed is on the server of the URL.
        let options = Arc::new(match holder {
            Some(Holder { node, schema, path }) => with_local_views(at_node(&self.url, Some(&node))?, &schema, &path),
            None => at_node(&self.url, None)?,
        });
        self.found.send_if_modified(|found| {
            let before = found.as_ref().map_or(0, |found| found.number);
            let is_there = |found: &Found| found.is_holder == is_holder && target_of(&found.options) == target_of(&options);
            if found.as_ref().is_some_and(is_there) {
                return false;
            }
            *found = Some(Found { number: before + 1, options, is_of_a_cluster, is_holder });
            true
        });
        self.known().ok_or(Error::PoolClosed)
    }

    /// The servers through which somebody may work in this cell: the one of the URL, and on a cluster all nodes.
    pub(crate) async fn nodes(&self) -> Result<Vec<PgConnectOptions>, Error> {
        let nodes = if self.found().await?.is_of_a_cluster { self.ask(NODES).await? } else { Vec::new() };
        let mut servers = vec![at_node(&self.url, None)?];
        for node in &nodes {
            let server = at_node(&self.url, Some(node))?;
            if !servers.iter().any(|known| target_of(known) == target_of(&server)) {
                servers.push(server);
            }
        }
        Ok(servers)
    }

    /// The connections to the coordinator, through which a schema is changed. `None` if the server has no Citus.
    pub(crate) async fn coordinator(&self) -> Result<Option<&Pool>, Error> {
        Ok(self.found().await?.is_of_a_cluster.then_some(&self.front))
    }

    /// Waits until the cell is found at another server than `found`.
    pub(crate) async fn leaves(&self, found: &Found) {
        let mut finding = self.found.subscribe();
        if finding.wait_for(|now| now.as_ref().is_some_and(|now| now.number != found.number)).await.is_err() {
            pending::<()>().await;
        }
    }

    pub(crate) async fn close(&self) {
        self.front.close().await;
    }

    async fn ask(&self, nodes: &'static str) -> Result<Vec<(String, u16)>, Error> {
        #[expect(clippy::disallowed_methods, reason = "the tables of Citus, which are not there where statements are checked")]
        let rows = sqlx::query(nodes).fetch_all(&self.front).await?;
        rows.iter().map(node).collect()
    }
}

/// The host and port of a node.
fn node(row: &PgRow) -> Result<(String, u16), Error> {
    let port: i32 = row.try_get(1)?;
    Ok((row.try_get(0)?, u16::try_from(port).map_err(|error| Error::Decode(error.into()))?))
}

/// The node that holds a cell, the cell's schema, and the schemas in which names are looked for.
pub(crate) struct Holder {
    pub(crate) node: (String, u16),
    pub(crate) schema: String,
    path: String,
}

/// The holder of the schema of this connection, which leads to the coordinator. A schema that is not distributed has none.
pub(crate) async fn holder(coordinator: impl PgExecutor<'_>) -> Result<Option<Holder>, Error> {
    #[expect(clippy::disallowed_methods, reason = "the tables of Citus, which are not there where statements are checked")]
    let row = sqlx::query(HOLDER).fetch_optional(coordinator).await?;
    row.map(|row| Ok(Holder { node: node(&row)?, schema: row.try_get(2)?, path: row.try_get(3)? })).transpose()
}

/// True if the server has Citus.
pub(crate) async fn has_citus(server: impl PgExecutor<'_>) -> Result<bool, Error> {
    let has_citus = sqlx::query_scalar!(r#"select to_regclass('pg_catalog.pg_dist_schema') is not null as "has_citus!""#);
    has_citus.fetch_one(server).await
}

/// The options of connections to the node that holds the cell in `schema`. They see its local views first, and where those are missing,
/// the tables that the node passes on. Whoever needs the tables finds the way to them in a setting.
fn with_local_views(options: PgConnectOptions, schema: &str, path: &str) -> PgConnectOptions {
    let views = local_views_of(schema).replace('"', "\"\"");
    options.options([("search_path", format!("\"{views}\", {path}").as_str()), ("backhaul.path", path)])
}
