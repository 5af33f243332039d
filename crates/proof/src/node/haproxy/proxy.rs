//! HAProxy with the configuration that the documentation proposes.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::stage::free;

/// The configuration for operators, as it is.
const CONFIGURATION: &str = include_str!("../../../../../ops/haproxy.cfg");

/// The longest wait for HAProxy to use all nodes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The place of a server's status in a line of HAProxy's statistics.
const STATUS: usize = 17;

/// A running HAProxy; ended when dropped.
pub(super) struct Proxy {
    child: Child,
    pub(super) address: SocketAddr,
    /// The socket at which it says what it knows.
    socket: PathBuf,
}

impl Proxy {
    /// Starts HAProxy in front of two nodes, each with its public and its admin address. Its files are in `dir`.
    pub(super) fn start(dir: &Path, nodes: [(SocketAddr, SocketAddr); 2]) -> anyhow::Result<Self> {
        let (address, socket) = (free()?, dir.join("haproxy.sock"));
        let (configuration, more) = (dir.join("haproxy.cfg"), dir.join("socket.cfg"));
        fs::write(&configuration, CONFIGURATION)?;
        fs::write(&more, format!("global\n    stats socket {} level user\n", socket.display()))?;
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&configuration).arg("-f").arg(&more).env("LISTEN", address.to_string());
        for (number, (public, admin)) in (1..).zip(nodes) {
            command.env(format!("NODE_{number}"), public.to_string()).env(format!("NODE_{number}_ADMIN"), admin.port().to_string());
        }
        let log = File::create(dir.join("haproxy.log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("`haproxy` could not be started; install Debian's package haproxy")?;
        Ok(Self { child, address, socket })
    }

    /// Waits until it sends requests to both nodes.
    pub(super) async fn knows_all(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.nodes_up().await.is_ok_and(|up| up == 2) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("HAProxy did not use both nodes after {} s", PATIENCE.as_secs())
    }

    /// The number of nodes that it sends requests to.
    async fn nodes_up(&self) -> std::io::Result<usize> {
        let mut stream = UnixStream::connect(&self.socket).await?;
        stream.write_all(b"show stat nodes 4 -1\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer.lines().filter(|line| line.split(',').nth(STATUS) == Some("UP")).count())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
