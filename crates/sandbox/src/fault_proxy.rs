//! A TCP proxy on a loopback port that makes the network fail on purpose, for example between the service and PostgreSQL.
//!
//! - The faults (`fault.rs`) can be switched while connections are open, and [`FaultProxy::heal`] ends them.
//! - One direction of a connection (`pump.rs`) applies the fault of the moment to its bytes.
//!
//! TCP never delivers a stream with a gap. So a connection that has lost bytes stays silent in that direction even after the
//! network has healed, like one whose entry in a firewall has expired. Its peers can only give it up by a deadline of their own.

mod fault;
mod pump;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use self::fault::Faults;
pub use self::fault::{Direction, Fault};
use self::pump::{Pump, Reset};

/// The server behind a proxy.
#[derive(Clone, Debug)]
pub enum Upstream {
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl From<SocketAddr> for Upstream {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl From<PathBuf> for Upstream {
    fn from(socket: PathBuf) -> Self {
        Self::Unix(socket)
    }
}

/// The most connections at a time. Any more are reset at once.
const MOST_CONNECTIONS: usize = 2_000;

/// The connections that the kernel completes before the proxy accepts them.
const BACKLOG: i32 = 1_024;

/// A running proxy. Dropping it stops it and ends all its connections.
pub struct FaultProxy {
    address: SocketAddr,
    fault: watch::Sender<Option<Fault>>,
    listening: JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy on a free port. It passes everything on until a fault is injected.
    pub async fn start(upstream: impl Into<Upstream>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, fault) = (listener.local_addr()?, watch::Sender::new(None));
        let listening = tokio::spawn(accept(listener, address, Arc::new(upstream.into()), fault.subscribe()));
        Ok(Self { address, fault, listening })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets the network fail like this from now on, on open connections and on new ones.
    pub fn inject(&self, fault: Fault) {
        self.fault.send_replace(Some(fault));
    }

    /// Ends the fault.
    pub fn heal(&self) {
        self.fault.send_replace(None);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Accepts connections for as long as it is polled. Dropping the future ends them all.
async fn accept(listener: TcpListener, address: SocketAddr, upstream: Arc<Upstream>, mut faults: Faults) {
    let mut connections = JoinSet::new();
    loop {
        if *faults.borrow_and_update() == Some(Fault::Partition) {
            refuse_handshakes(&listener, address, &mut faults).await;
        }
        tokio::select! {
            // The sender is gone: the proxy was dropped.
            changed = faults.changed() => if changed.is_err() { return },
            accepted = listener.accept() => match accepted {
                Ok((client, _)) if connections.len() < MOST_CONNECTIONS => {
                    connections.spawn(attend(client, Arc::clone(&upstream), faults.clone()));
                }
                Ok((client, _)) => reset(&client),
                // Out of file descriptors, or the client has left; the other connections continue.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Lets new connections hang in their handshake until the partition ends. The kernel ignores handshakes while the queue of
/// connections to accept is full, and a queue of length zero is full with the one connection made here.
async fn refuse_handshakes(listener: &TcpListener, address: SocketAddr, faults: &mut Faults) {
    let queue = SockRef::from(listener);
    let _ = queue.listen(0);
    let filler = tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(address)).await;
    // Fails if the proxy was dropped.
    let _ = faults.wait_for(|fault| *fault != Some(Fault::Partition)).await;
    drop(filler);
    let _ = queue.listen(BACKLOG);
}

/// Passes a connection's bytes on until it ends or is reset.
async fn attend(mut client: TcpStream, upstream: Arc<Upstream>, faults: Faults) {
    let _ = client.set_nodelay(true);
    let mut resets = faults.clone();
    let ended = tokio::select! {
        _ = resets.wait_for(|fault| *fault == Some(Fault::Reset)) => Err(Reset),
        ended = connect(&mut client, &upstream, &faults) => ended,
    };
    if ended.is_err() {
        reset(&client);
    }
}

async fn connect(client: &mut TcpStream, upstream: &Upstream, faults: &Faults) -> Result<(), Reset> {
    match upstream {
        Upstream::Tcp(address) => {
            let upstream = TcpStream::connect(address).await?;
            upstream.set_nodelay(true)?;
            pass(client, upstream, faults).await
        }
        Upstream::Unix(socket) => pass(client, UnixStream::connect(socket).await?, faults).await,
    }
}

/// Passes bytes in both directions until both have ended, or one was reset.
async fn pass(client: &mut TcpStream, upstream: impl AsyncRead + AsyncWrite, faults: &Faults) -> Result<(), Reset> {
    let (from_client, to_client) = client.split();
    let (from_upstream, to_upstream) = tokio::io::split(upstream);
    tokio::try_join!(
        Pump::new(Direction::ToUpstream, faults.clone()).run(from_client, to_upstream),
        Pump::new(Direction::ToClient, faults.clone()).run(from_upstream, to_client),
    )?;
    Ok(())
}

/// Sets a linger time of zero, so that closing the socket resets the connection.
fn reset(client: &TcpStream) {
    let _ = SockRef::from(client).set_linger(Some(Duration::ZERO));
}

#[cfg(test)]
mod tests;
