//! A simulated merchant: a real HTTP/1.1 receiver on a loopback port that answers as it is told and keeps what it was sent.
//!
//! - What it answers (`answer.rs`): a status, slowly, not at all, or a broken connection.
//! - Which answer a path gets (`rules.rs`): queued ones first, then the standing one of the longest path that fits.
//! - What came (`received.rs`, kept by `record.rs`), and whether it is signed rightly (`signature.rs`).
//! - Its token endpoint (`tokens.rs`), the variants that it has (`variants.rs`), and where it places exchange orders
//!   (`exchange_orders.rs`).
//! - A request from its arrival to the answer (`exchange.rs`), and the bodies that go out (`content.rs`).
//!
//! It decides nothing by chance and waits for nothing but the delays it was told. Its clock is the machine's: it only says
//! when something arrived.

mod answer;
mod content;
mod exchange;
mod exchange_orders;
mod received;
mod record;
mod rules;
mod signature;
mod tokens;
mod variants;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub use self::answer::Answer;
use self::exchange::State;
pub use self::exchange_orders::{ExchangeOrder, ExchangeOrders, Mood};
pub use self::received::Received;
pub use self::record::TooFew;
pub use self::signature::WrongSignature;
pub use self::tokens::{TOKEN_PATH, Tokens};
pub use self::variants::OnShelf;
use crate::{connection, tls};

/// A merchant that listens; it stops, with all its connections, when it is dropped.
///
/// A path stands for itself and everything below it: `/returns` is also `/returns/1`, but not `/returns_portal`.
pub struct Merchant {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

impl Merchant {
    /// A merchant on a free port. It answers 200 with `{}`, or with the variants that it has, until it is told otherwise.
    pub async fn start() -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// A merchant at this address, for instance that of one that has stopped.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        Self::listen(address, None).await
    }

    /// A merchant on a free port that speaks HTTPS with this certificate and its key.
    pub async fn start_tls(certificate_pem: &[u8], key_pem: &[u8]) -> io::Result<Self> {
        Self::listen((Ipv4Addr::LOCALHOST, 0).into(), Some(tls::acceptor(certificate_pem, key_pem)?)).await
    }

    async fn listen(address: SocketAddr, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let state = Arc::new(State::default());
        let listening = tokio::spawn(connection::accept(listener, tls, Arc::clone(&state)));
        Ok(Self { address, scheme, state, listening })
    }

    /// Stops, and is gone when this returns: the port refuses connections.
    pub async fn stop(mut self) {
        self.listening.abort();
        // It was told to stop, and that is how it ends.
        let _ = (&mut self.listening).await;
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/{}", self.scheme, self.address, path.trim_start_matches('/'))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, `path` is answered with this.
    pub fn answer(&self, path: &str, answer: Answer) {
        self.state.rules.stand(path, answer);
    }

    /// The next requests of `path` are answered with these, one each, before its standing answer counts again.
    pub fn answer_next(&self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        self.state.rules.queue(path, answers);
    }

    /// From now on, `path` is answered with what `decide` makes of the request.
    pub fn answer_by(&self, path: &str, decide: impl Fn(&Received) -> Answer + Send + Sync + 'static) {
        self.state.rules.decide(path, decide);
    }

    /// Lets all requests go on that are held or hang now.
    pub fn release(&self) {
        self.state.release.send_replace(());
    }

    /// What was received, in order of arrival; requests for tokens aside.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.state.record.list()
    }

    /// What was received at this path and below; requests for tokens are at [`TOKEN_PATH`].
    #[must_use]
    pub fn received_at(&self, path: &str) -> Vec<Received> {
        self.state.record.list_at(path)
    }

    /// How many requests were received; requests for tokens aside.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.record.count()
    }

    /// Waits until at least `count` requests were received, and gives all of them; requests for tokens aside.
    pub async fn wait_for(&self, count: usize, timeout: Duration) -> Result<Vec<Received>, TooFew> {
        self.state.record.wait_for(count, timeout, || self.count()).await?;
        Ok(self.received())
    }

    /// Waits until at least `count` requests were received at this path and below, and gives all of them.
    pub async fn wait_for_at(&self, path: &str, count: usize, timeout: Duration) -> Result<Vec<Received>, TooFew> {
        self.state.record.wait_for(count, timeout, || self.state.record.count_at(path)).await?;
        Ok(self.received_at(path))
    }

    /// Forgets what was received, and how many were at work at once. The numbers of what arrives go on.
    pub fn clear(&self) {
        self.state.record.clear();
        self.state.at_once.reset();
    }

    /// Whether the headers and bodies of what arrives are kept. Without them, a request takes little room: of its content, the
    /// id, the sequence, the attempt and the body's digest are left. Whoever decides or observes still sees all of it.
    pub fn keep_bodies(&self, keep: bool) {
        self.state.record.keep_bodies(keep);
    }

    /// From now on, `observe` sees every request when it has arrived and before it counts as received.
    pub fn on_request(&self, observe: impl Fn(&Received) + Send + Sync + 'static) {
        self.state.record.observe(observe);
    }

    /// How many requests are at work now: begun, and neither answered nor given up by the caller. A body may still be on its
    /// way out.
    #[must_use]
    pub fn at_once(&self) -> usize {
        self.state.at_once.now()
    }

    /// The most requests that were ever at work at once.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.state.at_once.most()
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.accepted.load(Relaxed)
    }

    /// The token endpoint.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens { merchant: self }
    }

    /// Tokens are issued to this client. Before the first is named, they are issued to everybody.
    pub fn expect_client(&self, id: &str, secret: &str) {
        self.state.issuer.expect_client(id, secret);
    }

    /// From now on, this path and those below it answer 401 to anything but the newest token that was issued and not revoked.
    pub fn requires_token(&self, path: &str) {
        self.state.rules.require_token(path);
    }

    /// Revokes all tokens issued so far.
    pub fn revoke_tokens(&self) {
        self.state.issuer.revoke();
    }

    /// How often the token endpoint was asked, whatever it answered.
    #[must_use]
    pub fn token_fetches(&self) -> usize {
        self.state.record.token_fetches()
    }
}

impl Drop for Merchant {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
