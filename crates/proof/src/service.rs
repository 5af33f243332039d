//! A running process of the service.

use std::net::SocketAddr;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::bail;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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
    /// A process that listens at these addresses.
    pub(crate) fn new(child: Child, address: SocketAddr, admin: SocketAddr) -> Self {
        Self { child, address, admin }
    }

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
