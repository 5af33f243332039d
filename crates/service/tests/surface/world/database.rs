//! The database of one test: a copy of a migrated template, created in a few milliseconds and dropped with the test.
//!
//! With `TEST_CELLS=2` it is the second cell of an installation, in which all merchants live, and its first cell is another database.

use std::process::Command;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use backhaul::platform::config::HOME;
use domain::node::mode::Mode;
use sandbox::fault_proxy::{FaultProxy, Upstream};
use sandbox::postgres::Cluster;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use store::node::installation;

use super::beginning;

pub struct Database {
    pub url: String,
    maintenance: String,
    name: String,
    /// The first cell of the installation, if this is its second one.
    home: Option<Arc<Database>>,
}

/// The name of the second cell.
pub const SECOND: &str = "b";

impl Database {
    /// Creates a migrated database for a sandbox.
    pub async fn create() -> Self {
        let database = Self::create_alone().await;
        if std::env::var("TEST_CELLS").is_ok_and(|cells| cells == "2") {
            let home = Arc::new(Self::create_alone().await);
            home.puts_merchants_into_the_second_cell().await;
            return database.beside(home);
        }
        database
    }

    /// Creates a migrated database for a sandbox with one cell.
    async fn create_alone() -> Self {
        let server = Server::find();
        let template = server.template().await;
        server.create(Some(&template)).await
    }

    /// Creates the databases of two cells, both of which take merchants.
    pub async fn create_two() -> (Arc<Self>, Arc<Self>) {
        let home = Arc::new(Self::create_alone().await);
        home.execute("insert into cell values ('b', 'open', now())").await;
        let second = Self::create_alone().await;
        (Arc::clone(&home), Arc::new(second.beside(home)))
    }

    fn beside(mut self, home: Arc<Self>) -> Self {
        self.home = Some(home);
        self
    }

    async fn puts_merchants_into_the_second_cell(&self) {
        self.execute("insert into cell values ('b', 'open', now()), ('main', 'draining', now())").await;
    }

    /// Runs a statement that bypasses the service.
    pub async fn execute(&self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&mut self.connect().await).await.unwrap();
    }

    /// The name of this cell.
    pub fn cell(&self) -> &'static str {
        if self.home.is_some() { SECOND } else { HOME }
    }

    /// The settings that lead to this database.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        match &self.home {
            Some(home) => {
                let cells = format!(r#"[{{ name = "{SECOND}", url = "{}" }}]"#, self.url);
                vec![("DATABASE_URL", home.url.clone()), ("BACKHAUL__CELLS", cells)]
            }
            None => vec![("DATABASE_URL", self.url.clone())],
        }
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
        let server = options(&self.url);
        let host = server.get_socket().map_or(server.get_host().to_owned(), |directory| directory.display().to_string());
        format!("host={host} port={} user={}", server.get_port(), server.get_username())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection that bypasses the service, to look at the stored data.
    pub async fn connect(&self) -> PgConnection {
        options(&self.url).connect().await.unwrap()
    }
}

impl Database {
    /// The number of rows in a table.
    pub async fn count(&self, table: &str) -> i64 {
        let mut connection = self.connect().await;
        sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}"))).fetch_one(&mut connection).await.unwrap()
    }

    /// The rows of a query with one text column.
    pub async fn texts(&self, query: &'static str) -> Vec<String> {
        sqlx::query_scalar(query).fetch_all(&mut self.connect().await).await.unwrap()
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
        options(&self.url).username(role).password(password)
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
        options(&self.maintenance).connect().await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("drop database if exists {} with (force)", self.name);
        // It must not wait for a standby that does not exist.
        let _ = Command::new("psql").env("PGOPTIONS", "-c synchronous_commit=off").args(["-qXc", &drop, &self.maintenance]).output();
    }
}

/// The server of `DATABASE_URL`, or the one that the tests of this run share.
struct Server {
    url: String,
}

impl Server {
    fn find() -> Self {
        let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| Cluster::shared().unwrap().url("postgres"));
        Self { url }
    }

    fn database(&self, name: &str) -> String {
        options(&self.url).database(name).to_url_lossy().to_string()
    }

    /// The template of this schema, created by whoever needs it first.
    async fn template(&self) -> String {
        let name = format!("backhaul_template_{:016x}", digest());
        let mut connection = options(&self.url).connect().await.unwrap();
        sqlx::query("select pg_advisory_lock(4711)").execute(&mut connection).await.unwrap();
        let known: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
            .bind(&name)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        if !known {
            let making = format!("{name}_making");
            execute(&mut connection, format!("drop database if exists {making}")).await;
            execute(&mut connection, format!("create database {making}")).await;
            installation::migrate(&self.database(&making), Mode::Sandbox, beginning()).await.unwrap();
            execute(&mut connection, format!("alter database {making} rename to {name}")).await;
        }
        connection.close().await.unwrap();
        name
    }

    async fn create(self, template: Option<&str>) -> Database {
        let name = format!("test_{:032x}", rand::random::<u128>());
        let mut connection = options(&self.url).connect().await.unwrap();
        execute(&mut connection, format!("create database {name} template {}", template.unwrap_or("template0"))).await;
        connection.close().await.unwrap();
        Database { url: self.database(&name), maintenance: self.url, name, home: None }
    }
}

fn options(url: &str) -> PgConnectOptions {
    PgConnectOptions::from_str(url).unwrap().disable_statement_logging()
}

async fn execute(connection: &mut PgConnection, statement: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(connection).await.unwrap();
}

/// Distinguishes one version of the migrations from another.
fn digest() -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};

    let mut hasher = DefaultHasher::new();
    let mut files: Vec<_> =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    hasher.finish()
}
