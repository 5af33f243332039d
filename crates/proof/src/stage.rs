//! The test environment: a temporary PostgreSQL, the service as a separate process, and a hundred merchants.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use backhaul::app::App;
use backhaul::flow::merchants::add_merchant::{NewMerchant, add_merchant_to};
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use backhaul::platform::entropy::Entropy;
use backhaul::platform::keys::bearer;
use domain::id::{Handle, MerchantId};
use domain::merchants::access::Scopes;
use domain::node::mode::Mode;
use sandbox::postgres::Cluster;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::time::timeout;

use crate::orders::order::MERCHANTS;
pub(crate) use crate::service::{Service, is_ready};

/// The timeout of a command; the longest ones move cells.
const CALLED_WITHIN: Duration = Duration::from_mins(5);

/// PostgreSQL's settings. Durability is untouched (fsync, `full_page_writes` and `synchronous_commit` are on by default); only
/// memory and checkpoints are sized for the load, for the baseline and the service alike.
const SETTINGS: &str = "shared_buffers = '1GB'\nmax_wal_size = '8GB'\ncheckpoint_timeout = '30min'\n";

/// The service may call this machine, where the simulated systems of merchants run.
const ALLOWED: &str = r#"["127.0.0.0/8"]"#;

/// The setting of the connections of a process, and the number of them by default.
const CONNECTIONS_OF_A_PROCESS: &str = "BACKHAUL__DATABASE__CONNECTIONS";
const CONNECTIONS: u32 = 40;

/// Counts the stages, because several may run at the same time.
static STAGES: AtomicUsize = AtomicUsize::new(0);

/// The database with its merchants.
pub(crate) struct Stage {
    /// Its own PostgreSQL, unless it uses another one.
    own: Option<Cluster>,
    url: String,
    /// The cells in which the merchants are, in turn. Without any, they are in the first one.
    cells: Vec<String>,
    /// The connections of a process to each cell, if those of its settings are not to be shared by all of them.
    connections_per_cell: Option<u32>,
    pub(crate) merchants: Vec<uuid::Uuid>,
    pub(crate) tokens: Vec<String>,
    program: PathBuf,
}

impl Stage {
    /// A stage with a PostgreSQL of its own.
    pub(crate) async fn set(program: &Path) -> anyhow::Result<Self> {
        Self::set_before(program, None).await
    }

    /// The same with the schema of an earlier version, whose last migration was `last`.
    pub(crate) async fn set_before(program: &Path, last: Option<i64>) -> anyhow::Result<Self> {
        let cluster = start_cluster()?;
        let url = cluster.url("postgres");
        Self::bare(Some(cluster), url, program).fill(last).await
    }

    /// A stage with a PostgreSQL of its own, and with its merchants in these cells in turn: schemas of the same database. A process has
    /// as many connections to each cell as it otherwise has in all.
    pub(crate) async fn set_with_cells(program: &Path, cells: &[&str]) -> anyhow::Result<Self> {
        let cluster = start_cluster()?;
        let url = cluster.url("postgres");
        let mut stage = Self::bare(Some(cluster), url, program).with_connections_to_each_cell();
        stage.cells = names(cells);
        stage.fill(None).await
    }

    /// A stage with a PostgreSQL of its own, and without merchants.
    pub(crate) async fn set_empty(program: &Path) -> anyhow::Result<Self> {
        let cluster = start_cluster()?;
        let url = cluster.url("postgres");
        store::node::installation::migrate_to(&url, Mode::Sandbox, Clock::system().now(), None).await?;
        Ok(Self::bare(Some(cluster), url, program))
    }

    /// A stage on the empty database at `url`.
    pub(crate) async fn set_at(program: &Path, url: String) -> anyhow::Result<Self> {
        Self::bare(None, url, program).fill(None).await
    }

    /// A stage on the empty database at `url`, that of a cluster's coordinator, with its merchants in these cells in turn.
    pub(crate) async fn set_in_cells(program: &Path, url: String, cells: &[&str]) -> anyhow::Result<Self> {
        let mut stage = Self::bare(None, url, program);
        stage.cells = names(cells);
        stage.fill(None).await
    }

    /// From now on, a process has as many connections to each cell as it otherwise has in all.
    pub(crate) fn with_connections_to_each_cell(mut self) -> Self {
        self.connections_per_cell = Some(CONNECTIONS);
        self
    }

    fn bare(own: Option<Cluster>, url: String, program: &Path) -> Self {
        Self {
            own,
            url,
            cells: Vec::new(),
            connections_per_cell: None,
            merchants: Vec::new(),
            tokens: Vec::new(),
            program: program.to_owned(),
        }
    }

    async fn fill(mut self, last: Option<i64>) -> anyhow::Result<Self> {
        if !self.program.exists() {
            bail!("{} does not exist; build it with `make build`", self.program.display());
        }
        store::node::installation::migrate_to(&self.url, Mode::Sandbox, Clock::system().now(), last).await?;
        for cell in &self.cells {
            self.call(&["cell", "add", cell]).await?;
        }
        let app = self.app()?;
        let mut connections = self.connect_to_cells().await?;
        for number in 0..usize::try_from(MERCHANTS)? {
            // The first connection leads to the first cell.
            let place = if self.cells.is_empty() { 0 } else { 1 + number % self.cells.len() };
            let cell = place.checked_sub(1).and_then(|at| self.cells.get(at)).map(String::as_str);
            let connection = connections.get_mut(place).context("there is no such cell")?;
            let handle: Handle = format!("merchant-{number}").parse()?;
            let merchant = if last.is_some() {
                // The program itself writes what only the newest schema has.
                insert_merchant(&app, connection, handle.as_str()).await?
            } else {
                let new = NewMerchant { handle: &handle, name: "A merchant", technical_contact: None, cell };
                add_merchant_to(&app, "proof", &new).await?
            };
            self.tokens.push(grant(&app, connection, merchant).await?.expose_secret().to_owned());
            self.merchants.push(merchant.0);
        }
        close(&app).await;
        Ok(self)
    }

    /// An app in this process on the same database.
    pub(crate) fn app(&self) -> anyhow::Result<App> {
        app(&self.url, &self.cell_settings(), self.connections())
    }

    /// The cells in which the merchants are, in turn. None if they are in the first one.
    pub(crate) fn cells(&self) -> &[String] {
        &self.cells
    }

    /// The setting of the connections of a process. All cells share them, the first one included.
    fn connections(&self) -> Option<String> {
        let cells = u32::try_from(self.cells.len()).ok()?.saturating_add(1);
        Some(self.connections_per_cell?.saturating_mul(cells).to_string())
    }

    /// The setting of the cells: schemas in the same database.
    fn cell_settings(&self) -> String {
        let cells: Vec<String> = self.cells.iter().map(|cell| format!(r#"{{ name = "{cell}", schema = "{cell}" }}"#)).collect();
        format!("[{}]", cells.join(", "))
    }

    /// The database's URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its own PostgreSQL.
    pub(crate) fn cluster(&self) -> anyhow::Result<&Cluster> {
        self.own.as_ref().context("this stage has no PostgreSQL of its own")
    }

    pub(crate) async fn connect(&self) -> anyhow::Result<PgConnection> {
        self.connect_to(None).await
    }

    /// A connection to a cell; without a name, to the first one.
    pub(crate) async fn connect_to(&self, cell: Option<&str>) -> anyhow::Result<PgConnection> {
        let options = self.database()?;
        let options = match cell {
            Some(cell) => options.options([("search_path", cell)]),
            None => options,
        };
        Ok(options.connect().await?)
    }

    /// A connection to each cell, that to the first one first.
    pub(crate) async fn connect_to_cells(&self) -> anyhow::Result<Vec<PgConnection>> {
        let mut connections = vec![self.connect().await?];
        for cell in &self.cells {
            connections.push(self.connect_to(Some(cell)).await?);
        }
        Ok(connections)
    }

    /// The options for connecting to the database.
    pub(crate) fn database(&self) -> anyhow::Result<PgConnectOptions> {
        let options: PgConnectOptions = self.url.parse()?;
        Ok(options.disable_statement_logging())
    }

    /// The token of the merchant that has the order `number`.
    pub(crate) fn token(&self, number: u64) -> &str {
        usize::try_from(number % MERCHANTS).ok().and_then(|at| self.tokens.get(at)).map_or("", String::as_str)
    }

    /// Deletes all orders in every cell, so that every measurement starts from the same state.
    pub(crate) async fn clear(&self) -> anyhow::Result<()> {
        for mut connection in self.connect_to_cells().await? {
            sqlx::raw_sql("truncate customer_order, refund_line, refund, intake_refusal").execute(&mut connection).await?;
            sqlx::raw_sql("vacuum analyze customer_order").execute(&mut connection).await?;
            sqlx::raw_sql("checkpoint").execute(&mut connection).await?;
        }
        Ok(())
    }

    /// Swaps this stage's own PostgreSQL with `other`.
    pub(crate) fn move_to(&mut self, other: &mut Elsewhere) {
        self.url = other.0.url("postgres");
        if let Some(own) = &mut self.own {
            std::mem::swap(own, &mut other.0);
        }
    }

    /// Starts the service on free ports.
    pub(crate) fn serve(&self) -> anyhow::Result<Service> {
        self.serve_on(free()?, free()?)
    }

    pub(crate) fn serve_on(&self, address: SocketAddr, admin: SocketAddr) -> anyhow::Result<Service> {
        self.serve_with(address, admin, &[])
    }

    /// The same, with additional environment variables.
    pub(crate) fn serve_with(&self, address: SocketAddr, admin: SocketAddr, variables: &[(&str, &str)]) -> anyhow::Result<Service> {
        self.start(&["serve"], address, admin, variables)
    }

    /// Starts a process that only delivers.
    pub(crate) fn deliver(&self) -> anyhow::Result<Service> {
        self.deliver_with(&[])
    }

    /// The same, with additional environment variables.
    pub(crate) fn deliver_with(&self, variables: &[(&str, &str)]) -> anyhow::Result<Service> {
        self.start(&["serve", "--role", "deliver"], free()?, free()?, variables)
    }

    /// Starts a process that only serves the console, at `address`.
    pub(crate) fn serve_console(&self, address: SocketAddr) -> anyhow::Result<Service> {
        self.start(&["serve", "--role", "console"], free()?, free()?, &[("BACKHAUL__CONSOLE__LISTEN", &address.to_string())])
    }

    /// Starts a test of the endpoint of the stage's merchant `number`: a process that owes one message.
    pub(crate) fn try_endpoint(&self, number: usize, variables: &[(&str, &str)]) -> anyhow::Result<Service> {
        let merchant = format!("merchant-{number}");
        self.start(&["endpoint", "test", "--merchant", &merchant, "rma"], free()?, free()?, variables)
    }

    /// Runs a command of the program to its end.
    pub(crate) async fn call(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = tokio::process::Command::from(self.command(arguments));
        let output = timeout(CALLED_WITHIN, command.stdin(Stdio::null()).kill_on_drop(true).output()).await;
        let output = output.with_context(|| format!("`backhaul {}` took too long", arguments.join(" ")))?;
        let output = output.context("the program could not be started")?;
        if !output.status.success() {
            bail!("`backhaul {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }

    /// The program with these arguments, on the database of the stage.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("DATABASE_URL", &self.url).env("BACKHAUL__MODE", "sandbox");
        if !self.cells.is_empty() {
            command.env("BACKHAUL__CELLS", self.cell_settings());
        }
        if let Some(connections) = self.connections() {
            command.env(CONNECTIONS_OF_A_PROCESS, connections);
        }
        command
    }

    fn start(&self, arguments: &[&str], address: SocketAddr, admin: SocketAddr, variables: &[(&str, &str)]) -> anyhow::Result<Service> {
        let child = self
            .command(arguments)
            .env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "0")
            .env("BACKHAUL__HTTP__LISTEN", address.to_string())
            .env("BACKHAUL__HTTP__ADMIN_LISTEN", admin.to_string())
            .env("BACKHAUL__CONSOLE__LISTEN", "")
            .env("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000000")
            .env("BACKHAUL__OUTBOUND__ALLOWED", ALLOWED)
            .envs(variables.iter().copied())
            .stdout(File::create("/dev/null")?)
            .stderr(Stdio::inherit())
            .spawn()
            .context("the service could not be started")?;
        Ok(Service::new(child, address, admin))
    }
}

/// An additional PostgreSQL; stopped when dropped.
pub(crate) struct Elsewhere(pub(crate) Cluster);

impl Elsewhere {
    /// A directory for one.
    pub(crate) fn dir(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("backhaul-proof-{name}-{}", std::process::id()))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Err(error) = self.0.stop() {
            eprintln!("stopping a temporary PostgreSQL failed: {error}");
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.own.as_ref().map(Cluster::stop) {
            eprintln!("stopping the temporary PostgreSQL failed: {error}");
        }
    }
}

/// Closes the connections of an app.
pub(crate) async fn close(app: &App) {
    for cell in app.cells() {
        cell.store.close().await;
    }
}

/// Starts a PostgreSQL in a directory of its own.
fn start_cluster() -> anyhow::Result<Cluster> {
    let number = STAGES.fetch_add(1, Ordering::SeqCst);
    let dir = std::env::temp_dir().join(format!("backhaul-proof-{}-{number}", std::process::id()));
    Ok(Cluster::start_with(&dir, SETTINGS)?)
}

fn names(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// An app in this process on the database at `url`, with these cells, and with this many connections if they are not the usual ones.
fn app(url: &str, cells: &str, connections: Option<String>) -> anyhow::Result<App> {
    let variables = [
        ("DATABASE_URL", url),
        ("BACKHAUL__CELLS", cells),
        ("BACKHAUL__MODE", "sandbox"),
        ("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000000"),
        ("BACKHAUL__OUTBOUND__ALLOWED", ALLOWED),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let connections = connections.map(|connections| (CONNECTIONS_OF_A_PROCESS.to_owned(), connections));
    let settings = Settings::load(None, variables.chain(connections))?;
    Ok(App::new(settings, Clock::system(), Entropy::system())?)
}

/// A new merchant, written with the columns that every version has.
async fn insert_merchant(app: &App, connection: &mut PgConnection, handle: &str) -> anyhow::Result<MerchantId> {
    let merchant = MerchantId(app.mint());
    sqlx::query("insert into merchant (merchant_id, handle, name, created_at) values ($1, $2, 'A merchant', $3)")
        .bind(merchant.0)
        .bind(handle)
        .bind(app.now())
        .execute(&mut *connection)
        .await?;
    // Earlier versions number no messages.
    let numbers: bool = sqlx::query_scalar("select to_regclass('feed_counter') is not null").fetch_one(&mut *connection).await?;
    if numbers {
        let start = "insert into feed_counter (merchant_id, last, floor, live) values ($1, 0, 0, true)";
        sqlx::query(start).bind(merchant.0).execute(connection).await?;
    }
    Ok(merchant)
}

/// A token of a new credential of the merchant, written with the columns that every version has.
async fn grant(app: &App, connection: &mut PgConnection, merchant: MerchantId) -> anyhow::Result<SecretString> {
    let (client, secret) = bearer::new_credential(&app.entropy);
    let token = bearer::new_token(merchant, &app.entropy, &app.fingerprints);
    sqlx::query("insert into credential (client_id, merchant_id, secret_hash, scopes, label, issued_at) values ($1, $2, $3, $4, '', $5)")
        .bind(client.clone())
        .bind(merchant.0)
        .bind(bearer::hash(secret.expose_secret()))
        .bind(Scopes::all().to_string())
        .bind(app.now())
        .execute(&mut *connection)
        .await?;
    let issue =
        "insert into access_token (merchant_id, token_hash, client_id, scopes, issued_at, expires_at) values ($1, $2, $3, $4, $5, $6)";
    sqlx::query(issue)
        .bind(merchant.0)
        .bind(bearer::hash(token.expose_secret()))
        .bind(client)
        .bind(Scopes::all().to_string())
        .bind(app.now())
        .bind(app.now() + bearer::LIFETIME)
        .execute(connection)
        .await?;
    Ok(token)
}

/// An address with a free port.
pub(crate) fn free() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
