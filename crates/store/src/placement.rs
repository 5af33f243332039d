//! The place of a cell: the node of a cluster that holds it, or the one server of its URL.
//!
//! On a cluster, the URL of a cell leads to the coordinator. Every node takes the statements of every cell and passes them on, at a
//! multiple of the cost, so connections are made to the node that holds the cell. The coordinator says which one that is. It is asked
//! again and again ([`Placement::look`]), and at once when a statement took long or failed as it may in a move ([`Hints`]). When the
//! cell has moved, new connections go to its new node; until then the old one passes everything on. A server without Citus is asked
//! once.

use std::future::pending;
use std::sync::Arc;

use futures::FutureExt as _;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Error, Row as _};
use tokio::sync::{Mutex, watch};

use crate::connection::{Finding, Found, Hints, Pool};
use crate::server::{at_node, target_of};

/// The node of the cluster that holds the schema. A schema is on one node as a whole, so one of its tables tells.
pub(crate) const HOLDER: &str = "
    select node.nodename, node.nodeport
    from pg_catalog.pg_dist_schema as cell
    join pg_catalog.pg_dist_partition as part on part.colocationid = cell.colocationid
    join pg_catalog.pg_dist_shard as shard on shard.logicalrelid = part.logicalrelid
    join pg_catalog.pg_dist_placement as placement on placement.shardid = shard.shardid
    join pg_catalog.pg_dist_node as node on node.groupid = placement.groupid
    where cell.schemaid = current_schema()::regnamespace and node.noderole = 'primary'
    limit 1";

/// All nodes of the cluster.
const NODES: &str = "select nodename, nodeport from pg_catalog.pg_dist_node where isactive and noderole = 'primary'";

/// The place of a cell, as far as it is known.
pub(crate) struct Placement {
    url: Arc<str>,
    /// Connections to the server of the URL.
    front: Pool,
    found: watch::Sender<Option<Found>>,
    pub(crate) hints: Arc<Hints>,
    /// Held by whoever looks for the first time.
    looking: Mutex<()>,
}

impl Placement {
    pub(crate) fn new(url: &str, front: Pool) -> Self {
        Self { url: url.into(), front, found: watch::Sender::new(None), hints: Arc::default(), looking: Mutex::default() }
    }

    /// [`Placement::found`] for connections that follow the cell.
    pub(crate) fn finding(self: &Arc<Self>) -> Finding {
        let placement = Arc::clone(self);
        Arc::new(move || {
            let placement = Arc::clone(&placement);
            async move { placement.found().await }.boxed()
        })
    }

    /// The server to connect to. It is looked for if it is not known yet.
    pub(crate) async fn found(&self) -> Result<Found, Error> {
        if let Some(found) = self.known() {
            return Ok(found);
        }
        let _looking = self.looking.lock().await;
        if let Some(found) = self.known() {
            return Ok(found);
        }
        self.look().await?;
        self.known().ok_or(Error::PoolClosed)
    }

    /// The server to connect to, if it was found.
    pub(crate) fn known(&self) -> Option<Found> {
        self.found.borrow().clone()
    }

    /// Looks for the server that holds the cell. Returns true if it is another one than before.
    pub(crate) async fn look(&self) -> Result<bool, Error> {
        let known = self.known();
        if known.as_ref().is_some_and(|known| !known.is_of_a_cluster) {
            return Ok(false);
        }
        let is_of_a_cluster = known.is_some() || self.has_citus().await?;
        let holder = if is_of_a_cluster { self.ask(HOLDER).await?.pop() } else { None };
        // A schema that is not distributed is on the server of the URL.
        let options = Arc::new(at_node(&self.url, holder.as_ref())?);
        let moved = self.found.send_if_modified(|found| {
            let before = found.as_ref().map_or(0, |found| found.number);
            if found.as_ref().is_some_and(|found| target_of(&found.options) == target_of(&options)) {
                return false;
            }
            *found = Some(Found { number: before + 1, options, is_of_a_cluster });
            true
        });
        Ok(moved && known.is_some())
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

    async fn has_citus(&self) -> Result<bool, Error> {
        let has_citus = sqlx::query_scalar!(r#"select to_regclass('pg_catalog.pg_dist_schema') is not null as "has_citus!""#);
        has_citus.fetch_one(&self.front).await
    }

    async fn ask(&self, nodes: &'static str) -> Result<Vec<(String, u16)>, Error> {
        #[expect(clippy::disallowed_methods, reason = "the tables of Citus, which are not there where statements are checked")]
        let rows = sqlx::query(nodes).fetch_all(&self.front).await?;
        let node = |port: i32| u16::try_from(port).map_err(|error| Error::Decode(error.into()));
        rows.iter().map(|row| Ok((row.try_get(0)?, node(row.try_get(1)?)?))).collect()
    }
}
