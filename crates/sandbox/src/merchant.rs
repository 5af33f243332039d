//! A simulated merchant: a real HTTP/1.1 server on a loopback port with configurable answers and a record of its requests.
//!
//! - Its answers (`answer.rs`): a status, a slow body, no response, or a broken connection.
//! - The choice of an answer by path (`rules.rs`, `paths.rs`): queued answers first, then the standing one of the longest
//!   matching path.
//! - The requests received (`received.rs`, recorded by `record.rs`) and the check of their signatures (`signature.rs`).
//! - A receiver that checks what it is sent, or fails to in one way (`careful.rs`).
//! - Its token endpoint (`tokens.rs`), its variants (`variants.rs`) and its exchange orders (`exchange_orders.rs`).
//! - The handling of a request (`handler.rs`), and the bodies of replies (`content.rs`).
//!
//! It is deterministic and adds no delays of its own. It uses the machine's clock only to record times of arrival.

mod answer;
mod careful;
mod content;
mod exchange_orders;
mod handler;
mod paths;
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
pub use self::careful::{Careful, Demand, Flaw};
pub use self::exchange_orders::{ExchangeOrder, ExchangeOrders, Mood};
use self::handler::State;
pub use self::paths::TOKEN_PATH;
pub use self::received::Received;
pub use self::record::TooFew;
pub use self::signature::WrongSignature;
pub use self::tokens::Tokens;
pub use self::variants::OnShelf;
use crate::{connection, tls};

/// A running merchant. Dropping it stops it and ends all its connections.
///
/// A path stands for itself and everything below it: `/returns` includes `/returns/1`, but not `/returns_portal`.
pub struct Merchant {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

impl Merchant {
    /// Starts a merchant on a free port. By default it answers 200 with `{}`, or with its variants where they are asked for.
    pub async fn start() -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// Starts a merchant at this address, for instance that of one that has stopped.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        Self::listen(address, None).await
    }

    /// Starts a merchant on a free port that serves HTTPS with this certificate and key.
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

    /// Stops the merchant. When this returns, the port refuses connections.
    pub async fn stop(mut self) {
        self.listening.abort();
        // An aborted task always ends with an error.
        let _ = (&mut self.listening).await;
    }

    /// The URL of a path on this merchant.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/{}", self.scheme, self.address, path.trim_start_matches('/'))
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers `path` with this from now on.
    pub fn answer(&self, path: &str, answer: Answer) {
        self.state.rules.stand(path, answer);
    }

    /// Answers the next requests to `path` with these, one each. After them the standing answer applies again.
    pub fn answer_next(&self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        self.state.rules.queue(path, answers);
    }

    /// Lets `decide` choose the answer to each request to `path` from now on.
    pub fn answer_by(&self, path: &str, decide: impl Fn(&Received) -> Answer + Send + Sync + 'static) {
        self.state.rules.decide(path, decide);
    }

    /// Releases all answers that are held now.
    pub fn release(&self) {
        self.state.release.send_replace(());
    }

    /// All requests in order of arrival, except token requests.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.state.record.list()
    }

    /// The requests at this path and below it. Token requests are at [`TOKEN_PATH`].
    #[must_use]
    pub fn received_at(&self, path: &str) -> Vec<Received> {
        self.state.record.list_at(path)
    }

    /// The number of requests received, except token requests.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.record.count()
    }

    /// Waits for at least `count` requests and returns all of them, except token requests.
    pub async fn wait_for(&self, count: usize, timeout: Duration) -> Result<Vec<Received>, TooFew> {
        self.state.record.wait_for(count, timeout, || self.count()).await?;
        Ok(self.received())
    }

    /// Waits for at least `count` requests at this path or below it, and returns all of those.
    pub async fn wait_for_at(&self, path: &str, count: usize, timeout: Duration) -> Result<Vec<Received>, TooFew> {
        self.state.record.wait_for(count, timeout, || self.state.record.count_at(path)).await?;
        Ok(self.received_at(path))
    }

    /// Clears the record and the peak of concurrent requests. The numbering of requests continues.
    pub fn clear(&self) {
        self.state.record.clear();
        self.state.at_once.reset();
    }

    /// Sets whether the record keeps headers and bodies. Without them a request takes little memory: only the message's id, the
    /// sequence, the attempt and the body's digest are kept. Callbacks still see the whole request.
    pub fn keep_bodies(&self, keep: bool) {
        self.state.record.keep_bodies(keep);
    }

    /// Calls `observe` for every request from now on, before the request is recorded.
    pub fn on_request(&self, observe: impl Fn(&Received) + Send + Sync + 'static) {
        self.state.record.observe(observe);
    }

    /// The number of requests in progress: arrived, and neither answered nor abandoned by the caller. An answered request may
    /// still be sending its body.
    #[must_use]
    pub fn at_once(&self) -> usize {
        self.state.at_once.now()
    }

    /// The peak number of requests in progress.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.state.at_once.most()
    }

    /// The number of connections accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.accepted.load(Relaxed)
    }

    /// The token endpoint.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens { url: self.url(TOKEN_PATH), issuer: &self.state.issuer, rules: &self.state.rules }
    }

    /// Adds a client that may have tokens. Until the first is added, every client gets one.
    pub fn expect_client(&self, id: &str, secret: &str) {
        self.state.issuer.expect_client(id, secret);
    }

    /// Answers 401 at this path and below it from now on, unless the newest unrevoked token is presented.
    pub fn requires_token(&self, path: &str) {
        self.state.rules.require_token(path);
    }

    /// Revokes all tokens issued so far.
    pub fn revoke_tokens(&self) {
        self.state.issuer.revoke();
    }

    /// The number of requests to the token endpoint, whatever it answered.
    #[must_use]
    pub fn token_fetches(&self) -> usize {
        self.state.record.token_fetches()
    }

    /// The requests to the token endpoint, whatever it answered.
    #[must_use]
    pub fn token_requests(&self) -> Vec<Received> {
        self.state.record.token_requests()
    }

    /// Receives with care at `path` from now on.
    pub fn receives(&self, path: &str, careful: Careful) {
        let issuer = Arc::clone(&self.state.issuer);
        self.answer_by(path, move |received| careful.decide(&issuer, received));
    }

    /// Places exchange orders at `path` from now on.
    #[must_use]
    pub fn places_exchange_orders(&self, path: &str) -> ExchangeOrders {
        let orders = ExchangeOrders::default();
        let deciding = orders.clone();
        self.answer_by(path, move |received| deciding.decide(received));
        orders
    }

    /// Sets the variants of `identifier`, served below any path as `/sku/<identifier>/variants`.
    pub fn has_variants(&self, identifier: &str, variants: impl IntoIterator<Item = OnShelf>) {
        self.state.shelf.put(identifier, variants);
    }

    /// Sets whether variants are wrapped in an object instead of sent as a bare list.
    pub fn wraps_variants(&self, wrapped: bool) {
        self.state.shelf.wrap(wrapped);
    }
}

impl Drop for Merchant {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
