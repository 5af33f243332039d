//! The database of one test: a copy of a migrated template, created in a few milliseconds and dropped with the test.
//!
//! With `TEST_CELLS=2` it is the second cell of an installation, in which all merchants live, and its first cell is another database, on a
//! server of its own if `HOME_DATABASE_URL` names one. On a Citus cluster (`scripts/citus`) it is the second of three cells, each on a
//! node of its own.

mod cluster;
mod server;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use backhaul::platform::config::HOME;
use domain::node::mode::Mode;
use sandbox::fault_proxy::{FaultProxy, Upstream};
use sandbox::postgres::Cluster;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use store::node::installation;

use self::cluster::{CELLS, Nodes, in_schema};
use self::server::{Server, execute, options};
use super::beginning;

pub struct Database {
    /// The address of this cell; on a cluster it leads to the coordinator.
    pub url: String,
    /// The server with the rows of this cell; on a cluster the node that holds it.
    server: String,
    name: String,
    cell: &'static str,
    /// The schema of this cell, if it is not the ordinary one.
    schema: Option<&'static str>,
    /// The rest of the installation, if this is its second cell.
    others: Option<Others>,
    /// The servers that it is dropped from at the end of the test.
    servers: Vec<String>,
}

/// The rest of the installation of a second cell.
struct Others {
    home: Arc<Database>,
    /// The setting that names the cells besides the first one.
    setting: String,
    /// The most connections of a process.
    connections: u32,
}

/// The name of the second cell.
pub const SECOND: &str = "b";

/// The most connections of a process with one cell.
const CONNECTIONS: u32 = 40;

/// The tables of what belongs to no merchant. Those of the first cell are used.
const OF_HOME: [&str; 18] = [
    "cell",
    "directory",
    "home_audit",
    "home_audit_head",
    "installation_key",
    "merchant_cell",
    "merchant_move",
    "node_pulse",
    "operator",
    "operator_device",
    "operator_invitation",
    "operator_limit",
    "operator_recovery_code",
    "operator_request",
    "operator_session",
    "operator_token",
    "rate_count",
    "sign_in_trouble",
];

/// The words before the name of a table.
const NAMING: [&str; 6] = ["from", "join", "into", "update", "table", "truncate"];

impl Database {
    /// Creates a migrated database for a sandbox.
    pub async fn create() -> Self {
        if let Some(nodes) = Nodes::find() {
            let (home, second) = Self::create_cells(&nodes, &CELLS).await;
            home.execute("insert into cell values ('main', 'draining', now()), ('b', 'open', now()), ('c', 'draining', now())").await;
            return second;
        }
        let database = Self::create_alone().await;
        if std::env::var("TEST_CELLS").is_ok_and(|cells| cells == "2") {
            let home = Arc::new(Self::copy_on(Server::of_home()).await);
            home.puts_merchants_into_the_second_cell().await;
            return database.beside(home);
        }
        database
    }

    /// Creates a migrated database for a sandbox with one cell, even where others have several.
    pub async fn create_alone() -> Self {
        Self::copy_on(Server::find()).await
    }

    async fn copy_on(server: Server) -> Self {
        let template = server.template().await;
        server.create(Some(&template)).await
    }

    /// Creates the databases of two cells, both of which take merchants.
    pub async fn create_two() -> (Arc<Self>, Arc<Self>) {
        let (home, second) = if let Some(nodes) = Nodes::find() {
            Self::create_cells(&nodes, &[SECOND]).await
        } else {
            let home = Arc::new(Self::create_alone().await);
            (Arc::clone(&home), Self::create_alone().await.beside(home))
        };
        home.execute("insert into cell values ('b', 'open', now())").await;
        (home, Arc::new(second))
    }

    /// Creates a database on every node of a cluster. Returns its first and its second cell; the settings name the first one and `named`.
    async fn create_cells(nodes: &Nodes, named: &[&str]) -> (Arc<Self>, Self) {
        let name = nodes.create().await;
        let (url, servers) = (nodes.at_coordinator(&name), nodes.urls.clone());
        let setting = named.iter().map(|cell| format!(r#"{{ name = "{cell}", url = "{url}", schema = "{cell}" }}"#)).collect::<Vec<_>>();
        // Each cell has as many connections as it would have alone.
        let connections = CONNECTIONS * (1 + u32::try_from(named.len()).unwrap());
        let second = in_schema(&url, SECOND);
        let home = Self { url, server: servers[0].clone(), name: name.clone(), cell: HOME, schema: None, others: None, servers };
        let (home, server) = (Arc::new(home), nodes.urls[1].clone());
        let others = Others { home: Arc::clone(&home), setting: format!("[{}]", setting.join(", ")), connections };
        // It is dropped with the first cell.
        let second = Self { url: second, server, name, cell: SECOND, schema: Some(SECOND), others: Some(others), servers: Vec::new() };
        (home, second)
    }

    fn beside(mut self, home: Arc<Self>) -> Self {
        let setting = format!(r#"[{{ name = "{SECOND}", url = "{}" }}]"#, self.url);
        self.cell = SECOND;
        self.others = Some(Others { home, setting, connections: CONNECTIONS });
        self
    }

    async fn puts_merchants_into_the_second_cell(&self) {
        self.execute("insert into cell values ('b', 'open', now()), ('main', 'draining', now())").await;
    }

    /// Runs statements that bypass the service, such as changes of the schema, one after another. On a cluster they go through the
    /// coordinator, which takes no two changes of a schema at once.
    pub async fn execute(&self, statements: &str) {
        let mut connection = options(&self.url).connect().await.unwrap();
        if self.is_on_a_cluster() {
            execute(&mut connection, "set citus.enable_unsafe_triggers = on".to_owned()).await;
        }
        for statement in statements.split(';') {
            execute(&mut connection, statement.to_owned()).await;
        }
    }

    /// Runs statements as only the owner of a table could, with its triggers off.
    pub async fn execute_without_triggers(&self, table: &str, statements: &str) {
        if self.is_on_a_cluster() {
            // A cluster switches no triggers of a table off, so the session does without any.
            let mut connection = self.connect().await;
            for statement in format!("set session_replication_role = replica; {statements}").split(';') {
                execute(&mut connection, statement.to_owned()).await;
            }
        } else {
            self.execute(&format!("alter table {table} disable trigger user; {statements}; alter table {table} enable trigger user")).await;
        }
    }

    /// True if this is a cell that a cluster has distributed.
    pub fn is_on_a_cluster(&self) -> bool {
        self.schema.is_some()
    }

    /// The name of this cell.
    pub fn cell(&self) -> &'static str {
        self.cell
    }

    /// The schema of this cell.
    pub fn schema(&self) -> &'static str {
        self.schema.unwrap_or("public")
    }

    /// The first cell of the installation, which may be this one.
    pub fn home(&self) -> &Self {
        self.others.as_ref().map_or(self, |others| others.home.as_ref())
    }

    /// The settings that lead to this database.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![("DATABASE_URL", self.home().url.clone())];
        settings.extend(self.others.as_ref().map(|others| ("BACKHAUL__CELLS", others.setting.clone())));
        if self.is_on_a_cluster() {
            // Its nodes do without `fsync`, because they are thrown away.
            settings.push(("BACKHAUL__DATABASE__DURABILITY", "provider".to_owned()));
        }
        settings
    }

    /// The most connections of a process on this database.
    pub fn connections(&self) -> u32 {
        self.others.as_ref().map_or(CONNECTIONS, |others| others.connections)
    }

    /// Creates an empty database.
    pub async fn create_empty() -> Self {
        Server::find().create(None).await
    }

    /// Creates a migrated database for a sandbox on a server of the test's own.
    pub async fn create_on(cluster: &Cluster) -> Self {
        let database = Server { url: cluster.url("postgres") }.create(None).await;
        installation::migrate(&database.url, Mode::Sandbox, beginning()).await.unwrap();
        database
    }

    /// The server's address for a pooler.
    pub fn server(&self) -> String {
        let server = self.options();
        let host = server.get_socket().map_or(server.get_host().to_owned(), |directory| directory.display().to_string());
        format!("host={host} port={} user={}", server.get_port(), server.get_username())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection that bypasses the service, to look at the stored data.
    pub async fn connect(&self) -> PgConnection {
        self.options().connect().await.unwrap()
    }

    /// [`Database::connect`] to what the service works on. In a cell of a cluster that is its local views, which lead to the tables as they
    /// are stored; whoever locks one locks what is stored.
    pub async fn connect_beside_the_service(&self) -> PgConnection {
        let options = match self.schema {
            Some(schema) => self.options().options([("search_path", format!("{schema}_local,{schema}"))]),
            None => self.options(),
        };
        options.connect().await.unwrap()
    }

    /// Renames a table, with its local view in a cell of a cluster, so that no statement finds it by its former name.
    pub async fn rename(&self, table: &str, to: &str) {
        self.execute(&format!("alter table {table} rename to {to}")).await;
        if let Some(schema) = self.schema {
            let mut holder = self.connect().await;
            execute(&mut holder, "set citus.enable_ddl_propagation = off".to_owned()).await;
            execute(&mut holder, format!("alter view {schema}_local.{table} rename to {to}")).await;
        }
    }

    /// [`Database::connect`] to the cell whose tables a statement names: those of what belongs to no merchant are in the first one.
    pub async fn connect_for(&self, statement: &str) -> PgConnection {
        let is_between = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words: Vec<&str> = statement.split(is_between).filter(|word| !word.is_empty()).collect();
        let is_of_home = |pair: &[&str]| NAMING.contains(&pair[0]) && OF_HOME.contains(&pair[1]);
        let database = if words.windows(2).any(is_of_home) { self.home() } else { self };
        database.connect().await
    }

    /// The options for connecting to the rows of this cell.
    fn options(&self) -> PgConnectOptions {
        let database = options(&self.server).database(&self.name);
        match self.schema {
            Some(schema) => database.options([("search_path", schema)]),
            None => database,
        }
    }
}

impl Database {
    /// The number of rows in a table.
    pub async fn count(&self, table: &str) -> i64 {
        let count = format!("select count(*) from {table}");
        let mut connection = self.connect_for(&count).await;
        sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&mut connection).await.unwrap()
    }

    /// The rows of a query with one text column.
    pub async fn texts(&self, query: &'static str) -> Vec<String> {
        sqlx::query_scalar(query).fetch_all(&mut self.connect_for(query).await).await.unwrap()
    }

    /// Waits until a query returns these rows.
    pub async fn becomes(&self, query: &'static str, expected: &[&str]) {
        let asking = async {
            while self.texts(query).await != expected {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(30), asking).await.is_err() {
            assert_eq!(self.texts(query).await, expected);
        }
    }

    /// The options for connecting as `role`.
    pub fn options_as(&self, role: &str, password: &str) -> PgConnectOptions {
        self.options().username(role).password(password)
    }

    /// A network between the service and this database that can fail, and the database's URL beyond it.
    pub async fn over_a_network(&self) -> (FaultProxy, String) {
        let server = options(&self.url);
        let upstream: Upstream = match server.get_socket() {
            Some(directory) => directory.join(format!(".s.PGSQL.{}", server.get_port())).into(),
            None => tokio::net::lookup_host((server.get_host(), server.get_port())).await.unwrap().next().unwrap().into(),
        };
        let network = FaultProxy::start(upstream).await.unwrap();
        let url = format!("postgres://{}@{}/{}", server.get_username(), network.address(), self.name);
        (network, url)
    }

    /// A connection to another database on the same server.
    pub async fn connect_elsewhere(&self) -> PgConnection {
        options(&self.server).connect().await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("drop database if exists {} with (force)", self.name);
        let psql = |server: &String| {
            let mut command = Command::new("psql");
            // It must not wait for a standby that does not exist.
            command.env("PGOPTIONS", "-c synchronous_commit=off").args(["-qXc", &drop, server]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        // The nodes of a cluster do it at the same time.
        let dropping: Vec<_> = self.servers.iter().map(psql).collect();
        for mut dropping in dropping.into_iter().flatten() {
            let _ = dropping.wait();
        }
    }
}
