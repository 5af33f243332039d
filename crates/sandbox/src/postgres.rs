//! A temporary PostgreSQL, started from the installed binaries.
//!
//! It listens only on a Unix socket in its own directory, so any number of them can run side by side. PostgreSQL's default
//! durability settings stay in force. If this process is root, the server runs under an unprivileged account, because
//! PostgreSQL refuses to run as root.

mod error;
mod programs;

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::{CommandExt as _, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use self::error::NoPostgres;
pub use self::programs::installed;
use self::programs::run;
pub(crate) use self::programs::{Account, locate};

/// The ways to stop a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Rolls back open transactions and shuts down cleanly.
    Fast,
    /// Stops without a checkpoint; the next start goes through recovery.
    Immediate,
}

/// A running temporary cluster.
pub struct Cluster {
    dir: PathBuf,
}

impl Cluster {
    /// Creates a cluster in `dir`, which must not exist, and starts it.
    pub fn start(dir: &Path) -> Result<Self, NoPostgres> {
        Self::start_with(dir, "")
    }

    /// Like [`Self::start`], with additional lines for `postgresql.conf`.
    pub fn start_with(dir: &Path, settings: &str) -> Result<Self, NoPostgres> {
        let account = Account::unprivileged()?;
        locate("initdb")?;
        locate("pg_ctl")?;
        let cluster = Self::make(dir, account)?;
        match cluster.fill(account, settings) {
            Ok(()) => Ok(cluster),
            Err(error) => {
                // Remove the incomplete cluster. The first error matters more than one from the clean-up.
                let _ = cluster.stop();
                Err(error)
            }
        }
    }

    /// The cluster that another process left in `dir`.
    #[must_use]
    pub fn left_in(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    fn fill(&self, account: Option<Account>, settings: &str) -> Result<(), NoPostgres> {
        let data = self.data();
        let data: &OsStr = data.as_ref();
        run(
            "initdb",
            account,
            [
                "-D".as_ref(),
                data,
                "-U".as_ref(),
                "postgres".as_ref(),
                "--auth=trust".as_ref(),
                "--no-sync".as_ref(),
                "--encoding=UTF8".as_ref(),
                "--locale=C".as_ref(),
            ],
        )?;
        self.set(&format!("listen_addresses = ''\nmax_connections = 300\n{settings}\n"))?;
        self.run()
    }

    /// Creates a cluster's directory, owned by `account`.
    fn make(dir: &Path, account: Option<Account>) -> Result<Self, NoPostgres> {
        let at = |error| NoPostgres::Io(dir.to_owned(), error);
        fs::create_dir(dir).map_err(at)?;
        fs::set_permissions(dir, Permissions::from_mode(0o755)).map_err(at)?;
        if let Some(Account { uid, gid }) = account {
            chown(dir, Some(uid), Some(gid)).map_err(at)?;
        }
        Ok(Self { dir: dir.to_owned() })
    }

    /// Appends the socket's directory and these settings to `postgresql.conf`.
    fn set(&self, settings: &str) -> Result<(), NoPostgres> {
        let settings = format!("unix_socket_directories = '{}'\n{settings}", self.dir.display());
        let file = self.data().join("postgresql.conf");
        let written = fs::OpenOptions::new().append(true).open(&file).and_then(|mut file| file.write_all(settings.as_bytes()));
        written.map_err(|error| NoPostgres::Io(file, error))
    }

    /// Restarts the server with TLS, listening at these addresses besides the Unix socket.
    pub fn serve_tls(&self, addresses: &str, certificate: &str, key: &str) -> Result<(), NoPostgres> {
        let account = Account::unprivileged()?;
        for (name, pem) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.data().join(name);
            let written = fs::write(&file, pem).and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o600)));
            let owned = written.and_then(|()| account.map_or(Ok(()), |Account { uid, gid }| chown(&file, Some(uid), Some(gid))));
            owned.map_err(|error| NoPostgres::Io(file, error))?;
        }
        self.halt(Halt::Fast)?;
        self.set(&format!("listen_addresses = '{addresses}'\nssl = on\n"))?;
        self.run()
    }

    /// Starts a synchronous standby of this cluster in `dir`, which must not exist. From now on every commit waits for it.
    pub fn standby(&self, dir: &Path) -> Result<Self, NoPostgres> {
        let account = Account::unprivileged()?;
        let standby = Self::make(dir, account)?;
        let (data, from) = (standby.data(), format!("host={} user=postgres", self.dir.display()));
        let data: &OsStr = data.as_ref();
        run(
            "pg_basebackup",
            account,
            ["-D".as_ref(), data, "-d".as_ref(), from.as_ref(), "-R".as_ref(), "--checkpoint=fast".as_ref(), "--no-sync".as_ref()],
        )?;
        standby.set("")?;
        standby.run()?;
        for statement in [
            "alter system set synchronous_standby_names = '*'",
            "select pg_reload_conf()",
            "do $$ begin while not exists (select from pg_stat_replication where sync_state = 'sync') loop \
                perform pg_sleep(0.01); end loop; end $$",
        ] {
            run("psql", account, ["-qXc".as_ref(), statement.as_ref(), self.url("postgres").as_ref()])?;
        }
        Ok(standby)
    }

    /// Promotes a standby to a primary that accepts writes.
    pub fn promote(&self) -> Result<(), NoPostgres> {
        let data = self.data();
        run("pg_ctl", Account::unprivileged()?, ["-D".as_ref(), data.as_ref(), "-w".as_ref(), "promote".as_ref()])
    }

    /// Restores a backup of `database` into the database of the same name in `other`.
    pub fn restore_into(&self, other: &Self, database: &str) -> Result<(), NoPostgres> {
        let (account, backup) = (Account::unprivileged()?, other.dir.join("backup"));
        let backup: &OsStr = backup.as_ref();
        run("pg_dump", account, ["-Fc".as_ref(), "-f".as_ref(), backup, self.url(database).as_ref()])?;
        run("pg_restore", account, ["-d".as_ref(), other.url(database).as_ref(), backup])
    }

    /// Starts a server that was stopped or killed.
    pub fn run(&self) -> Result<(), NoPostgres> {
        // A killed server that is still a zombie keeps its process id, and a new server would think it is alive.
        if let Some(pid) = self.pid()
            && fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
        {
            for file in [self.data().join("postmaster.pid"), self.dir.join(".s.PGSQL.5432.lock")] {
                fs::remove_file(&file).map_err(|error| NoPostgres::Io(file, error))?;
            }
        }
        let (data, log) = (self.data(), self.dir.join("log"));
        run(
            "pg_ctl",
            Account::unprivileged()?,
            ["-D".as_ref(), data.as_ref(), "-l".as_ref(), log.as_ref(), "-w".as_ref(), "start".as_ref()],
        )
    }

    /// The server's process id, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.data().join("postmaster.pid")).ok()?.lines().next()?.parse().ok()
    }

    /// The URL of `database` in this cluster.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.dir.display())
    }

    /// The path of its Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir.join(".s.PGSQL.5432")
    }

    /// Stops the server; [`Self::run`] starts it again.
    pub fn halt(&self, manner: Halt) -> Result<(), NoPostgres> {
        let data = self.data();
        let manner = match manner {
            Halt::Fast => "fast",
            Halt::Immediate => "immediate",
        };
        run(
            "pg_ctl",
            Account::unprivileged()?,
            ["-D".as_ref(), data.as_ref(), "-m".as_ref(), manner.as_ref(), "-w".as_ref(), "stop".as_ref()],
        )
    }

    /// Stops the server immediately and removes the cluster's directory.
    pub fn stop(&self) -> Result<(), NoPostgres> {
        if self.pid().is_some() {
            self.halt(Halt::Immediate)?;
        }
        fs::remove_dir_all(&self.dir).map_err(|error| NoPostgres::Io(self.dir.clone(), error))
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// The cluster that all tests of one run share. The first test starts it; it is removed when the test runner (this process'
    /// parent) has ended.
    pub fn shared() -> Result<Self, NoPostgres> {
        let runner = parent_id();
        let dir = std::env::temp_dir().join(format!("backhaul-tests-{runner}"));
        let lock_path = dir.with_extension("lock");
        let at = |error| NoPostgres::Io(lock_path.clone(), error);
        let lock = File::create(&lock_path).map_err(at)?;
        lock.lock().map_err(at)?;
        if dir.exists() {
            return Ok(Self { dir });
        }
        let cluster = Self::start(&dir)?;
        // The shell outlives the test that started it. It holds none of the test's pipes and ends with the run.
        let script = r#"while kill -0 "$1" 2>/dev/null; do sleep 1; done; kill -QUIT "$(head -n 1 "$2/data/postmaster.pid")"; sleep 1; rm -rf "$2" "$2.lock""#;
        Command::new("sh")
            .args(["-c", script, "sh", &runner.to_string()])
            .arg(&dir)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(at)?;
        Ok(cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_comes_and_goes() {
        let dir = std::env::temp_dir().join(format!("backhaul-cluster-{}", std::process::id()));
        let cluster = Cluster::start(&dir).expect("starts");
        let answer =
            Command::new("psql").args(["-Atc", "select current_setting('fsync')", &cluster.url("postgres")]).output().expect("psql runs");
        assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "on");
        cluster.stop().expect("stops");
        assert!(!dir.exists());
    }
}
