//! A PostgreSQL that survives the loss of a machine, on this machine: three servers managed by Patroni, one of them a
//! synchronous standby; etcd, in which they agree on the primary; and HAProxy, which leads clients to it.
//!
//! - The configuration files (`config.rs`).
//! - The states of the members as Patroni reports them (`state.rs`).
//!
//! Everything runs on loopback ports and in a temporary directory. If this process is root, it runs under an unprivileged
//! account.

mod config;
mod state;

use std::fs::{self, File, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::timeout;

use self::config::Ports;
pub use self::state::{MemberState, Role};
use crate::postgres::{Account, NoPostgres, locate};

/// The number of servers. With two, no write could be acknowledged until a lost one is replaced.
const MEMBERS: usize = 3;

/// The interval of the checks while waiting.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// An error from starting or managing the servers.
#[derive(Debug, thiserror::Error)]
pub enum NoPatroni {
    #[error("`{0}` could not be started: {1}; install Debian's packages patroni, python3-etcd, etcd-server and haproxy")]
    NotInstalled(&'static str, #[source] io::Error),
    #[error(transparent)]
    Postgres(#[from] NoPostgres),
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] io::Error),
    #[error("{what} did not happen within {} s; Patroni's last words: {log}", .within.as_secs())]
    TooLate { what: &'static str, within: Duration, log: String },
}

/// One server, with the Patroni that manages it.
struct Member {
    ports: Ports,
    /// `None` while its machine is lost.
    patroni: Option<Child>,
}

/// The running servers. Dropping them stops everything and removes the directory.
pub struct Patroni {
    dir: PathBuf,
    account: Option<Account>,
    address: SocketAddr,
    members: Vec<Member>,
    others: Vec<Child>,
}

impl Patroni {
    /// Starts everything in `dir`, which must not exist, and waits until there is a synchronous standby.
    pub async fn start(dir: &Path) -> Result<Self, NoPatroni> {
        let at = |error| NoPatroni::Io(dir.to_owned(), error);
        let account = Account::unprivileged()?;
        fs::create_dir(dir).map_err(at)?;
        fs::set_permissions(dir, Permissions::from_mode(0o755)).map_err(at)?;
        if let Some(Account { uid, gid }) = account {
            chown(dir, Some(uid), Some(gid)).map_err(at)?;
        }
        let [etcd, peer, proxy] = [free().map_err(at)?, free().map_err(at)?, free().map_err(at)?];
        let mut patroni = Self { dir: dir.to_owned(), account, address: proxy, members: Vec::new(), others: Vec::new() };
        for _ in 0..MEMBERS {
            let ports = Ports { postgres: free().map_err(at)?, rest: free().map_err(at)? };
            patroni.members.push(Member { ports, patroni: None });
        }
        patroni.run_others(etcd, peer)?;
        // A link to one of the programs need not have the others beside it.
        let server = locate("postgres")?.canonicalize().map_err(at)?;
        let programs = server.parent().unwrap_or(Path::new("/"));
        for number in 0..MEMBERS {
            if let Some(member) = patroni.members.get(number) {
                patroni.write(&format!("{number}.yml"), &config::patroni(number, &member.ports, etcd, dir, programs).to_string())?;
            }
            patroni.replace(number)?;
        }
        patroni.complete(Duration::from_mins(2)).await?;
        Ok(patroni)
    }

    /// Starts etcd and HAProxy.
    fn run_others(&mut self, etcd: SocketAddr, peer: SocketAddr) -> Result<(), NoPatroni> {
        let ports: Vec<&Ports> = self.members.iter().map(|member| &member.ports).collect();
        self.write("haproxy.cfg", &config::haproxy(self.address, &ports))?;
        let etcd = self.spawn("etcd", &config::etcd(etcd, peer, &self.dir))?;
        self.others.push(etcd);
        let proxy = self.spawn("haproxy", &["-db".to_owned(), "-f".to_owned(), self.dir.join("haproxy.cfg").display().to_string()])?;
        self.others.push(proxy);
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), NoPatroni> {
        let file = self.dir.join(name);
        fs::write(&file, text).map_err(|error| NoPatroni::Io(file, error))
    }

    /// Starts a program whose output goes to a log file.
    fn spawn(&self, program: &'static str, arguments: &[String]) -> Result<Child, NoPatroni> {
        let log = self.dir.join(format!("{program}.log"));
        let opened = File::options().append(true).create(true).open(&log).and_then(|out| Ok((out.try_clone()?, out)));
        let (out, err) = opened.map_err(|error| NoPatroni::Io(log, error))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.dir).env("HOME", &self.dir).stdin(Stdio::null()).stdout(out).stderr(err);
        // A group of its own, so that Ctrl-C does not stop it before the clean-up.
        command.process_group(0);
        if let Some(Account { uid, gid }) = self.account {
            command.uid(uid).gid(gid);
        }
        command.spawn().map_err(|error| NoPatroni::NotInstalled(program, error))
    }

    /// The address at which clients reach the primary.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of `database` on the primary.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@{}/{database}", self.address)
    }

    /// The states of the members, as one of them reports it. Empty if none answers.
    pub async fn states(&self) -> Vec<MemberState> {
        for member in self.members.iter().filter(|member| member.patroni.is_some()) {
            if let Ok(Some(states)) = timeout(Duration::from_secs(2), state::ask(member.ports.rest)).await {
                return states;
            }
        }
        Vec::new()
    }

    /// Loses the machine of the primary: all its processes are killed and its data is deleted. Returns its number.
    pub async fn lose_primary(&mut self) -> Result<usize, NoPatroni> {
        let primary = self.wait_for_primary(Duration::from_mins(1), None).await?;
        self.lose(primary)?;
        Ok(primary)
    }

    fn lose(&mut self, number: usize) -> Result<(), NoPatroni> {
        let data = self.dir.join(number.to_string());
        let Some(member) = self.members.get_mut(number) else { return Ok(()) };
        // Patroni first, so that it does not react to the end of its server.
        if let Some(mut patroni) = member.patroni.take() {
            end(&mut patroni);
        }
        let server = fs::read_to_string(data.join("postmaster.pid")).ok();
        if let Some(pid) = server.as_deref().and_then(|text| text.lines().next()).and_then(|line| line.parse().ok()) {
            kill_with_children(pid);
        }
        if data.exists() {
            fs::remove_dir_all(&data).map_err(|error| NoPatroni::Io(data, error))?;
        }
        Ok(())
    }

    /// Starts a member on a new machine, without data. Patroni copies the primary's.
    pub fn replace(&mut self, number: usize) -> Result<(), NoPatroni> {
        let config = self.dir.join(format!("{number}.yml")).display().to_string();
        let patroni = self.spawn("patroni", &[config])?;
        if let Some(member) = self.members.get_mut(number) {
            member.patroni = Some(patroni);
        }
        Ok(())
    }

    /// Waits until a member other than `lost` is the primary. Returns its number.
    pub async fn wait_for_primary(&self, within: Duration, lost: Option<usize>) -> Result<usize, NoPatroni> {
        let found = timeout(within, async {
            loop {
                let primary = self.states().await.into_iter().find(|state| state.role == Role::Primary && state.is_running);
                if let Some(primary) = primary.filter(|primary| Some(primary.number) != lost) {
                    return primary.number;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        found.await.map_err(|_| self.too_late("the promotion of a standby", within))
    }

    /// Waits until all members run, one as the primary and one as its synchronous standby.
    pub async fn complete(&self, within: Duration) -> Result<(), NoPatroni> {
        let complete = timeout(within, async {
            loop {
                let states = self.states().await;
                let has = |role| states.iter().any(|state| state.role == role);
                let running = states.len() == MEMBERS && states.iter().all(|state| state.is_running);
                if running && has(Role::Primary) && has(Role::SynchronousStandby) {
                    return;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        complete.await.map_err(|_| self.too_late("the start of all three members", within))
    }

    fn too_late(&self, what: &'static str, within: Duration) -> NoPatroni {
        let log = fs::read_to_string(self.dir.join("patroni.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(10).collect();
        NoPatroni::TooLate { what, within, log: lines.into_iter().rev().collect::<Vec<_>>().join("\n") }
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        for number in 0..self.members.len() {
            // The directory is removed below in any case.
            let _ = self.lose(number);
        }
        self.others.iter_mut().for_each(end);
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Kills a child and waits for its end.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Kills a server and all its processes with SIGKILL, and waits for their end.
fn kill_with_children(server: u32) {
    let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
    let mut doomed: Vec<String> = children.split_whitespace().map(str::to_owned).collect();
    doomed.push(server.to_string());
    let _ = Command::new("kill").arg("-9").args(&doomed).stderr(Stdio::null()).status();
    // A zombie counts as ended.
    let lives = |pid: &String| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while doomed.iter().any(lives) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An address with a free port.
fn free() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}
