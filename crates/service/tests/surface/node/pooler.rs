//! PgBouncer between the service and its database.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use backhaul::node::database::examine;
use backhaul::node::health::Check;
use tokio::net::TcpStream;

use crate::world::{Database, World, message, order};

/// A running PgBouncer.
struct Pooler {
    child: Child,
    dir: PathBuf,
    port: u16,
}

impl Pooler {
    /// Starts one in front of the database's server. It accepts no unusual settings.
    async fn start(database: &Database, mode: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("backhaul-pooler-{:032x}", rand::random::<u128>()));
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let (settings, server) = (dir.join("pgbouncer.ini"), database.server());
        let text = format!(
            "[databases]\n* = {server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = {mode}\nmax_client_conn = 100\ndefault_pool_size = 50\n"
        );
        fs::write(&settings, text).unwrap();
        let as_root = fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
        let child = Command::new("pgbouncer")
            .env("PATH", format!("{}:/usr/sbin", std::env::var("PATH").unwrap()))
            .args(if as_root { &["-u", "nobody"][..] } else { &[] })
            .arg(&settings)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("PgBouncer does not start ({error}): run `make setup`"));
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            tokio::task::yield_now().await;
        }
        Self { child, dir, port }
    }

    fn url(&self, database: &Database) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{}", self.port, database.name())
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn found(checks: &[Check]) -> Vec<(&str, bool)> {
    checks.iter().map(|check| (check.name, check.ok)).collect()
}

#[tokio::test]
async fn everything_works_through_a_pooler_in_session_mode() {
    let database = Database::create_alone().await;
    let pooler = Pooler::start(&database, "session").await;
    let url = pooler.url(&database);
    let world = World::at(database, &url).await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);
    let receiver = world.receiver("other").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1"]);
    let checks = examine(&world.app).await;
    assert_eq!(found(&checks), [("sessions", true), ("notifications", true), ("commit warnings", true)], "{checks:?}");
}

#[tokio::test]
async fn a_pooler_in_transaction_mode_is_recognised() {
    let database = Database::create_alone().await;
    let pooler = Pooler::start(&database, "transaction").await;
    let url = pooler.url(&database);
    let world = World::at(database, &url).await;
    let checks = examine(&world.app).await;
    assert!(
        checks.iter().any(|check| check.name == "sessions" && !check.ok && check.mend.as_ref().unwrap().contains("session")),
        "{checks:?}"
    );
}
