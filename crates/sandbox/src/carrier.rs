//! A simulated carrier: a real HTTP/1.1 server on a loopback port with the shape of the `EasyPost` API (v2), real labels, QR codes
//! and signed tracking webhooks.
//!
//! - Its API (`api.rs`, `reply.rs`), and its book (`book.rs`) of shipments (`shipment.rs`) and trackers (`tracker.rs`).
//! - Its labels (`label.rs`), which are PDFs (`pdf.rs`), and their QR codes (`qr_code.rs`), which are PNGs.
//! - The queue of webhooks (`webhooks.rs`), and the sending of one (`sending.rs`).
//! - Its faults (`faults.rs`), and the handling of a request (`handler.rs`).
//!
//! Some parcels move by themselves. With `SIM-TRANSIT`, `SIM-DELIVERED` or `SIM-LOST` in the shopper's name or street, the
//! tracking number begins with that word, and as soon as the label is bought the parcel is scanned, then delivered or lost.
//! Others wait for [`Carrier::scan`], or for `curl -d '{"tracking_code": "…", "status": "in_transit"}' …/sim/scan`. With
//! `SIM-NO-CODE` in the same places, there is a label but no QR code.
//!
//! Its memory and its waits are bounded. It uses the machine's clock.

mod api;
mod book;
mod faults;
mod handler;
mod label;
mod pdf;
mod qr_code;
mod reply;
mod sending;
mod shipment;
mod time;
mod tracker;
mod webhooks;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use self::book::Book;
use self::faults::FaultInjector;
pub use self::faults::{Failure, Faults, Operation, Outage};
use self::handler::State;
pub use self::sending::NoTarget;
use self::sending::Target;
pub use self::tracker::{NoStatus, Status};
pub use self::webhooks::{Sending, Tally};
use crate::connection;

/// The API key it accepts.
const KEY: &str = "EZTK-simulated";
/// The most shipments, and the most trackers, it remembers.
const MOST: usize = 50_000;
/// The most connections waiting to be accepted.
const BACKLOG: u32 = 1024;

/// A running carrier. Dropping it stops it and ends all its connections.
pub struct Carrier {
    address: SocketAddr,
    state: Arc<State>,
    port: Mutex<Port>,
    sending: JoinHandle<()>,
}

/// The carrier's port: listened on, or reserved while it refuses connections.
#[derive(Default)]
struct Port {
    listening: Option<JoinHandle<()>>,
    reserved: Option<TcpSocket>,
}

/// A shipment in the carrier's book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipment {
    pub id: String,
    /// The caller's name for it.
    pub reference: Option<String>,
    pub is_return: bool,
    /// Set once a label has been bought.
    pub tracking_code: Option<String>,
    /// The number of labels bought.
    pub bought: u32,
    /// The number of labels refunded.
    pub refunded: u32,
    /// The number of forms asked for.
    pub forms: usize,
}

/// The error for an unknown tracking number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no parcel with that tracking number")]
pub struct NoParcel;

/// The timeout error of [`Carrier::wait_for_labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only {bought} of {wanted} labels were bought within {within:?}")]
pub struct TooFew {
    pub wanted: usize,
    pub bought: usize,
    pub within: Duration,
}

impl Carrier {
    /// Starts a carrier on a free port.
    pub async fn start() -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// Starts a carrier at this address, for instance that of one that has stopped. It starts with an empty book.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let salt = format!("{address} {:?} {}", now(), std::process::id());
        let url = format!("http://{address}");
        let state = State::new(KEY.to_owned(), url, Book::new(salt.as_bytes(), MOST), FaultInjector::new(Faults::default()));
        let state = Arc::new(state);
        let listening = tokio::spawn(connection::accept(listener, None, Arc::clone(&state)));
        let sending = tokio::spawn(webhooks::send_all(Arc::clone(&state.webhooks)));
        let port = Mutex::new(Port { listening: Some(listening), reserved: None });
        Ok(Self { address, state, port, sending })
    }

    /// Stops the carrier. When this returns, the port refuses connections.
    pub async fn stop(self) {
        self.port.lock().await.close().await;
    }

    /// The carrier's URL, without a slash at the end; the API is below `/v2`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.state.url
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The API key, which callers send as the user of basic authorisation.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.state.key
    }

    /// Sends a webhook for every scan to this URL from now on, signed with this secret.
    pub fn sends_webhooks_to(&self, url: &str, secret: &str) -> Result<(), NoTarget> {
        self.state.webhooks.aim(Target::new(url, secret)?);
        Ok(())
    }

    /// The same, through a proxy that names `address` as the sender.
    pub fn sends_webhooks_from(&self, address: IpAddr, url: &str, secret: &str) -> Result<(), NoTarget> {
        self.state.webhooks.aim(Target::new(url, secret)?.called_from(address));
        Ok(())
    }

    /// Sets the way webhooks are sent from now on.
    pub fn sends_webhooks_like(&self, sending: Sending) {
        self.state.webhooks.send_like(sending);
    }

    /// Holds webhooks back from now on. One that is being sent is not held.
    pub fn holds_webhooks(&self) {
        self.state.webhooks.hold(true);
    }

    /// Sends the webhooks held back, and no longer holds new ones.
    pub fn releases_webhooks(&self) {
        self.state.webhooks.hold(false);
    }

    /// The outcome of the webhooks so far.
    #[must_use]
    pub fn webhooks(&self) -> Tally {
        self.state.webhooks.tally()
    }

    /// Waits until no webhook is left to send. On a timeout, the error holds the current counts.
    pub async fn webhooks_settled(&self, within: Duration) -> Result<Tally, Tally> {
        self.state.webhooks.settled(within).await
    }

    /// Scans a parcel and sends a webhook. A parcel may be scanned repeatedly and out of order.
    pub fn scan(&self, tracking_code: &str, status: Status) -> Result<(), NoParcel> {
        self.state.scan(tracking_code, status).then_some(()).ok_or(NoParcel)
    }

    /// All shipments, oldest first.
    #[must_use]
    pub fn shipments(&self) -> Vec<Shipment> {
        self.state.book().shipments().map(Shipment::of).collect()
    }

    /// The number of labels bought under this reference, including refunded ones.
    #[must_use]
    pub fn bought(&self, reference: &str) -> usize {
        let book = self.state.book();
        book.shipments().filter(|shipment| shipment.reference.as_deref() == Some(reference) && shipment.purchase.is_some()).count()
    }

    /// Waits until at least `count` labels have been bought, and returns all shipments.
    pub async fn wait_for_labels(&self, count: usize, within: Duration) -> Result<Vec<Shipment>, TooFew> {
        let mut changes = self.state.changes.subscribe();
        let bought = || self.state.book().shipments().filter(|shipment| shipment.purchase.is_some()).count();
        let enough = async { while bought() < count && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, enough).await {
            Ok(()) => Ok(self.shipments()),
            Err(_) => Err(TooFew { wanted: count, bought: bought(), within }),
        }
    }

    /// Injects these faults from now on; [`Faults::default`] ends them. The book is kept. When the carrier refuses connections,
    /// the open ones end, and the port stays reserved.
    pub async fn faults(&self, faults: Faults) -> io::Result<()> {
        let is_open = faults.outage != Some(Outage::Refuses);
        let mut port = self.port.lock().await;
        self.state.injector().set(faults);
        match (is_open, &port.listening) {
            (true, None) => {
                let socket = port.reserved.take().map_or_else(|| reserve(self.address), Ok)?;
                let listener = socket.listen(BACKLOG)?;
                port.listening = Some(tokio::spawn(connection::accept(listener, None, Arc::clone(&self.state))));
            }
            (false, Some(_)) => {
                port.close().await;
                port.reserved = Some(reserve(self.address)?);
            }
            (true, Some(_)) | (false, None) => {}
        }
        Ok(())
    }

    /// Makes the next calls of this kind fail in these ways, one each, regardless of other faults.
    pub fn fails_next(&self, operation: Operation, failures: impl IntoIterator<Item = Failure>) {
        self.state.injector().queue(operation, failures);
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
    /// Closes the port. When this returns, it refuses connections.
    async fn close(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.abort();
            // An aborted task always ends with an error.
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
            forms: shipment.forms.len(),
        }
    }
}

/// Binds the port without listening on it, so that it refuses connections and nobody else can take it.
fn reserve(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

#[expect(clippy::disallowed_methods, reason = "a carrier is another machine, with a clock of its own")]
fn now() -> SystemTime {
    SystemTime::now()
}
