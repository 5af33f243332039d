//! The test environment: a temporary PostgreSQL, the service as a separate process, and a hundred merchants.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use backhaul::app::App;
use backhaul::flow::merchants::add_merchant::add_merchant;
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use backhaul::platform::entropy::Entropy;
use backhaul::platform::keys::bearer;
use domain::id::MerchantId;
use domain::merchants::access::Scopes;
use domain::node::mode::Mode;
use sandbox::postgres::Cluster;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::orders::order::MERCHANTS;

/// PostgreSQL's settings. Durability is untouched (fsync, `full_page_writes` and `synchronous_commit` are on by default); only
/// memory and checkpoints are sized for the load, for the baseline and the service alike.
const SETTINGS: &str = "shared_buffers = '1GB'\nmax_wal_size = '8GB'\ncheckpoint_timeout = '30min'\n";

/// The service may call this machine, where the simulated systems of merchants run.
const ALLOWED: &str = r#"["127.0.0.0/8"]"#;

/// Counts the stages, because several may run at the same time.
static STAGES: AtomicUsize = AtomicUsize::new(0);

/// The database with its merchants.
pub(crate) struct Stage {
    /// Its own PostgreSQL, unless it uses another one.
    own: Option<Cluster>,
    url: String,
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
        let number = STAGES.fetch_add(1, Ordering::SeqCst);
        let dir = std::env::temp_dir().join(format!("backhaul-proof-{}-{number}", std::process::id()));
        let cluster = Cluster::start_with(&dir, SETTINGS)?;
        let url = cluster.url("postgres");
        Self::fill(Some(cluster), url, program, last).await
    }

    /// A stage with a PostgreSQL of its own, and without merchants.
    pub(crate) async fn set_empty(program: &Path) -> anyhow::Result<Self> {
        let number = STAGES.fetch_add(1, Ordering::SeqCst);
        let dir = std::env::temp_dir().join(format!("backhaul-proof-{}-{number}", std::process::id()));
        let cluster = Cluster::start_with(&dir, SETTINGS)?;
        let url = cluster.url("postgres");
        store::node::installation::migrate_to(&url, Mode::Sandbox, Clock::system().now(), None).await?;
        Ok(Self { own: Some(cluster), url, merchants: Vec::new(), tokens: Vec::new(), program: program.to_owned() })
    }

    /// A stage on the empty database at `url`.
    pub(crate) async fn set_at(program: &Path, url: String) -> anyhow::Result<Self> {
        Self::fill(None, url, program, None).await
    }

    async fn fill(own: Option<Cluster>, url: String, program: &Path, last: Option<i64>) -> anyhow::Result<Self> {
        let mut stage = Self { own, url, merchants: Vec::new(), tokens: Vec::new(), program: program.to_owned() };
        if !program.exists() {
            bail!("{} does not exist; build it with `make build`", program.display());
        }
        store::node::installation::migrate_to(&stage.url, Mode::Sandbox, Clock::system().now(), last).await?;
        let app = stage.app()?;
        let mut connection = stage.connect().await?;
        for number in 0..MERCHANTS {
            let handle = format!("merchant-{number}");
            let merchant = match last {
                // The program itself writes what only the newest schema has.
                Some(_) => insert_merchant(&app, &mut connection, &handle).await?,
                None => add_merchant(&app, "proof", &handle.parse()?, "A merchant", None).await?,
            };
            stage.tokens.push(grant(&app, &mut connection, merchant).await?.expose_secret().to_owned());
            stage.merchants.push(merchant.0);
        }
        app.cell().close().await;
        Ok(stage)
    }

    /// An app in this process on the same database.
    pub(crate) fn app(&self) -> anyhow::Result<App> {
        app(&self.url)
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
        Ok(self.database()?.connect().await?)
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

    /// Deletes all orders, so that every measurement starts from the same state.
    pub(crate) async fn clear(&self) -> anyhow::Result<()> {
        let mut connection = self.connect().await?;
        sqlx::raw_sql("truncate customer_order, refund_line, refund, intake_refusal").execute(&mut connection).await?;
        sqlx::raw_sql("vacuum analyze customer_order").execute(&mut connection).await?;
        sqlx::raw_sql("checkpoint").execute(&mut connection).await?;
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

    fn start(&self, arguments: &[&str], address: SocketAddr, admin: SocketAddr, variables: &[(&str, &str)]) -> anyhow::Result<Service> {
        let child = Command::new(&self.program)
            .args(arguments)
            .env("BACKHAUL__HTTP__LEAVE_NOTICE_MS", "0")
            .env("DATABASE_URL", &self.url)
            .env("BACKHAUL__MODE", "sandbox")
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
        Ok(Service { child, address, admin })
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

/// An app in this process on the database at `url`.
fn app(url: &str) -> anyhow::Result<App> {
    let variables = [
        ("DATABASE_URL", url),
        ("BACKHAUL__MODE", "sandbox"),
        ("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000000"),
        ("BACKHAUL__OUTBOUND__ALLOWED", ALLOWED),
    ];
    let settings = Settings::load(None, variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))?;
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
    sqlx::query(
        "with issued as (
             insert into credential (client_id, merchant_id, secret_hash, scopes, label, issued_at) values ($1, $2, $3, $4, '', $6)
         )
         insert into access_token (merchant_id, token_hash, client_id, scopes, issued_at, expires_at) values ($2, $5, $1, $4, $6, $7)",
    )
    .bind(client)
    .bind(merchant.0)
    .bind(bearer::hash(secret.expose_secret()))
    .bind(Scopes::all().to_string())
    .bind(bearer::hash(token.expose_secret()))
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

/// Asks `/readyz` at the admin address of a node whether it is ready.
pub(crate) async fn is_ready(admin: SocketAddr) -> bool {
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(admin).await.ok()?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer.starts_with("HTTP/1.1 200").then_some(())
    };
    tokio::time::timeout(Duration::from_secs(5), ask).await.ok().flatten().is_some()
}

/// A process of the service; killed when dropped.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Service {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it is ready. Returns the time that took.
    pub(crate) async fn ready(&self) -> anyhow::Result<Duration> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(30) {
            if is_ready(self.admin).await {
                return Ok(started.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bail!("the service was not ready after 30 s")
    }

    /// Sends it a signal: `-STOP`, `-CONT`.
    pub(crate) fn signal(&self, signal: &str) -> anyhow::Result<()> {
        Command::new("kill").args([signal, &self.pid().to_string()]).status()?;
        Ok(())
    }

    /// Returns whether it has ended.
    pub(crate) fn is_gone(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Sends SIGTERM, which lets it finish its work, and waits up to half a minute for its end.
    pub(crate) async fn leave(&mut self) -> anyhow::Result<()> {
        self.signal("-TERM")?;
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(30) {
            if self.is_gone()? {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("the service did not stop within 30 s")
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
    }
}
