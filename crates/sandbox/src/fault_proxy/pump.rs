//! One direction of a connection: reads bytes and passes them on, as far as the network lets them.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::fault::{Direction, Fault, Faults};

/// The most bytes that are underway at a time.
const CHUNK: usize = 16 * 1024;

/// The time for one byte of a trickle.
const DRIP: Duration = Duration::from_secs(1);

/// A connection that must be reset: a peer has broken it, its upstream is unreachable, or the proxy was dropped.
pub(super) struct Reset;

impl From<io::Error> for Reset {
    fn from(_: io::Error) -> Self {
        Self
    }
}

pub(super) struct Pump {
    direction: Direction,
    faults: Faults,
    /// Whether bytes have vanished. Then nothing arrives in this direction any more.
    has_gap: bool,
}

impl Pump {
    pub(super) fn new(direction: Direction, faults: Faults) -> Self {
        Self { direction, faults, has_gap: false }
    }

    /// Passes bytes on until the sender has ended the connection, and then passes that on too.
    pub(super) async fn run(mut self, mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> Result<(), Reset> {
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = from.read(&mut buffer).await?;
            let chunk = buffer.get(..read).unwrap_or_default();
            if self.swallows() {
                self.has_gap = true;
            }
            if !self.has_gap && !chunk.is_empty() {
                self.send(chunk, &mut to).await?;
            } else if !self.has_gap {
                self.wait_for_passage().await?;
                return Ok(to.shutdown().await?);
            } else if chunk.is_empty() {
                // The other side learns of the end once the network has healed, as from a repeated packet.
                self.faults.wait_for(Option::is_none).await.map_err(|_| Reset)?;
                return Err(Reset);
            }
        }
    }

    fn swallows(&self) -> bool {
        self.faults.borrow().is_some_and(|fault| fault.swallows(self.direction))
    }

    /// Waits until the network is not partitioned.
    async fn wait_for_passage(&mut self) -> Result<(), Reset> {
        self.faults.wait_for(|fault| *fault != Some(Fault::Partition)).await.map_err(|_| Reset)?;
        Ok(())
    }

    /// Sends a chunk at the pace of the moment. A fault that begins meanwhile applies to the rest of it.
    async fn send(&mut self, mut chunk: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> Result<(), Reset> {
        while !chunk.is_empty() {
            self.wait_for_passage().await?;
            let fault = *self.faults.borrow_and_update();
            if self.swallows() {
                self.has_gap = true;
                return Ok(());
            }
            let (wait, size) = match fault {
                Some(Fault::Delay(late)) => (late, chunk.len()),
                Some(Fault::Trickle) => (DRIP, 1),
                _ => (Duration::ZERO, chunk.len()),
            };
            if !wait.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    changed = self.faults.changed() => {
                        changed.map_err(|_| Reset)?;
                        continue;
                    }
                }
            }
            let (now, later) = chunk.split_at_checked(size).unwrap_or_default();
            to.write_all(now).await?;
            to.flush().await?;
            chunk = later;
        }
        Ok(())
    }
}
