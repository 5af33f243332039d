//! A simulated carrier: a real HTTP/1.1 server on a loopback port that speaks the shape of the `EasyPost` API (v2), makes real
//! labels and tells of its scans by signed webhooks.
//!
//! - What can be asked of it (`api.rs`, answered by `reply.rs`), and its book (`book.rs`) of shipments (`shipment.rs`) and
//!   trackers (`tracker.rs`).
//! - Its labels (`label.rs`), which are PDFs (`pdf.rs`).
//! - The webhooks that wait (`webhooks.rs`), and one on its way (`sending.rs`).
//! - How it fails (`faults.rs`), and a request on its way through it all (`exchange.rs`).
//!
//! Some parcels play themselves: with `SIM-TRANSIT`, `SIM-DELIVERED` or `SIM-LOST` in the name or the street of the shopper, the
//! tracking number begins with that word, and as soon as the label is bought the parcel is scanned, then delivered or lost.
//! Others wait for [`Carrier::scan`], or for `curl -d '{"tracking_code": "…", "status": "in_transit"}' …/sim/scan`.
//!
//! What it remembers is bounded, and no wait lasts for ever. Its clock is the machine's.

mod api;
mod book;
mod exchange;
mod faults;
mod label;
mod pdf;
mod reply;
mod sending;
mod shipment;
mod tracker;
mod webhooks;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use self::book::Book;
use self::exchange::State;
use self::faults::Fortune;
pub use self::faults::{Failure, Faults, Operation, Outage};
pub use self::sending::NoTarget;
use self::sending::Target;
pub use self::tracker::{NoStatus, Status};
pub use self::webhooks::{Sending, Tally};
use crate::connection;

/// The key that it wants to be shown.
const KEY: &str = "EZTK-simulated";
/// How many shipments, and how many trackers, it remembers.
const MOST: usize = 50_000;
/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// A carrier that listens; it stops, with all its connections, when it is dropped.
pub struct Carrier {
    address: SocketAddr,
    state: Arc<State>,
    port: Mutex<Port>,
    sending: JoinHandle<()>,
}

/// The port of a carrier: listened on, or kept for it while it refuses connections.
#[derive(Default)]
struct Port {
    listening: Option<JoinHandle<()>>,
    kept: Option<TcpSocket>,
}

/// A shipment that the carrier has on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipment {
    /// The carrier's name for it.
    pub id: String,
    /// The caller's name for it.
    pub reference: Option<String>,
    /// Whether it takes something back.
    pub is_return: bool,
    /// The number of its parcel; there is one once a label was bought.
    pub tracking_code: Option<String>,
    /// How often a label was bought.
    pub bought: u32,
    /// How often its label was taken back.
    pub refunded: u32,
}

/// There is no parcel of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no parcel of that number")]
pub struct NoParcel;

/// Fewer labels were bought than were waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bought} of {wanted} labels were bought within {within:?}")]
pub struct TooFew {
    /// How many were waited for.
    pub wanted: usize,
    /// How many were bought.
    pub bought: usize,
    /// How long they were waited for.
    pub within: Duration,
}

impl Carrier {
    /// A carrier on a free port.
    pub async fn start() -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// A carrier at this address, for instance that of one that has stopped. It knows nothing of its predecessor.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let salt = format!("{address} {:?} {}", now(), std::process::id());
        let url = format!("http://{address}");
        let state = State::new(KEY.to_owned(), url, Book::new(salt.as_bytes(), MOST), Fortune::new(Faults::default()));
        let state = Arc::new(state);
        let listening = tokio::spawn(connection::accept(listener, None, Arc::clone(&state)));
        let sending = tokio::spawn(webhooks::send_all(Arc::clone(&state)));
        let port = Mutex::new(Port { listening: Some(listening), kept: None });
        Ok(Self { address, state, port, sending })
    }

    /// Stops, and is gone when this returns: the port refuses connections.
    pub async fn stop(self) {
        self.port.lock().await.close().await;
    }

    /// Its URL, without a slash at the end; the API is below `/v2`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.state.url
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The key that callers show as the user of basic authorisation.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.state.key
    }

    /// From now on, every scan is told to this URL, signed with this secret.
    pub fn sends_webhooks_to(&self, url: &str, secret: &str) -> Result<(), NoTarget> {
        self.state.webhooks.aim(Target::new(url, secret)?);
        Ok(())
    }

    /// From now on, webhooks are sent like this.
    pub fn sends_webhooks_like(&self, sending: Sending) {
        self.state.webhooks.send_like(sending);
    }

    /// From now on, webhooks wait. One that is on its way already goes on.
    pub fn holds_webhooks(&self) {
        self.state.webhooks.hold(true);
    }

    /// Lets the webhooks go that wait, and those after them.
    pub fn releases_webhooks(&self) {
        self.state.webhooks.hold(false);
    }

    /// What became of the webhooks so far.
    #[must_use]
    pub fn webhooks(&self) -> Tally {
        self.state.webhooks.tally()
    }

    /// Waits until no webhook waits; if that takes too long, what is the case then is the error.
    pub async fn webhooks_settled(&self, within: Duration) -> Result<Tally, Tally> {
        self.state.webhooks.settled(within).await
    }

    /// Scans a parcel, and tells of it. Nothing keeps a parcel from being scanned again, or out of order.
    pub fn scan(&self, tracking_code: &str, status: Status) -> Result<(), NoParcel> {
        self.state.scan(tracking_code, status).then_some(()).ok_or(NoParcel)
    }

    /// Its shipments, oldest first.
    #[must_use]
    pub fn shipments(&self) -> Vec<Shipment> {
        self.state.book().shipments().map(Shipment::of).collect()
    }

    /// How many labels were bought under this reference, those included that were taken back.
    #[must_use]
    pub fn bought(&self, reference: &str) -> usize {
        let book = self.state.book();
        book.shipments().filter(|shipment| shipment.reference.as_deref() == Some(reference) && shipment.purchase.is_some()).count()
    }

    /// Waits until at least `count` labels were bought, and gives all shipments.
    pub async fn wait_for_labels(&self, count: usize, within: Duration) -> Result<Vec<Shipment>, TooFew> {
        let mut changes = self.state.changes.subscribe();
        let bought = || self.state.book().shipments().filter(|shipment| shipment.purchase.is_some()).count();
        let enough = async { while bought() < count && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, enough).await {
            Ok(()) => Ok(self.shipments()),
            Err(_) => Err(TooFew { wanted: count, bought: bought(), within }),
        }
    }

    /// From now on, this is wrong with it; [`Faults::default`] ends all of it. What it knows stays. When it refuses connections,
    /// those that there are end, and its port stays its own.
    pub async fn faults(&self, faults: Faults) -> io::Result<()> {
        let is_open = faults.outage != Some(Outage::Refuses);
        let mut port = self.port.lock().await;
        self.state.fortune().turn(faults);
        match (is_open, &port.listening) {
            (true, None) => {
                let socket = port.kept.take().map_or_else(|| keep(self.address), Ok)?;
                let listener = socket.listen(BACKLOG)?;
                port.listening = Some(tokio::spawn(connection::accept(listener, None, Arc::clone(&self.state))));
            }
            (false, Some(_)) => {
                port.close().await;
                port.kept = Some(keep(self.address)?);
            }
            (true, Some(_)) | (false, None) => {}
        }
        Ok(())
    }

    /// The next calls of this kind fail in these ways, one each, whatever else is wrong.
    pub fn fails_next(&self, operation: Operation, failures: impl IntoIterator<Item = Failure>) {
        self.state.fortune().queue(operation, failures);
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.sending.abort();
        if let Some(listening) = &self.port.get_mut().listening {
            listening.abort();
        }
    }
}

impl Port {
    /// Closes the port, and is done when this returns.
    async fn close(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.abort();
            // It was told to stop, and that is how it ends.
            let _ = listening.await;
        }
    }
}

impl Shipment {
    fn of(shipment: &shipment::Shipment) -> Self {
        Self {
            id: shipment.id.clone(),
            reference: shipment.reference.clone(),
            is_return: shipment.is_return,
            tracking_code: shipment.purchase.as_ref().map(|purchase| purchase.tracking_code.clone()),
            bought: shipment.purchase.is_some().into(),
            refunded: shipment.is_refunded.into(),
        }
    }
}

/// Takes the port without listening on it: it refuses connections, and nobody else gets it.
fn keep(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[expect(clippy::disallowed_methods, reason = "a carrier is another machine, with a clock of its own")]
fn now() -> SystemTime {
    SystemTime::now()
}
