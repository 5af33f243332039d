//! A mailbox: a real SMTP server on a loopback port that takes every mail, answers as it is told and keeps what it was sent.
//!
//! - What it answers (`answer.rs`): it takes a mail, refuses it, hangs up or hangs.
//! - What came (`received.rs`), with its headers and text decoded (`encoding.rs`).
//! - A conversation with one client (`session.rs`), line by line (`lines.rs`).
//!
//! It decides nothing by chance. Mails, lines and recipients are bounded, and no wait lasts for ever.

mod answer;
mod encoding;
mod lines;
mod received;
mod session;

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

pub use self::answer::Answer;
pub use self::received::Received;
use crate::tls;

/// A mailbox that listens; it stops, with all its connections, when it is dropped.
pub struct Mailbox {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

/// Fewer mails came than were waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{came} of {wanted} mails came within {within:?}")]
pub struct TooFew {
    /// How many were waited for.
    pub wanted: usize,
    /// How many came.
    pub came: usize,
    /// How long they were waited for.
    pub within: Duration,
}

/// Whether it speaks TLS.
#[derive(Clone)]
enum Security {
    /// Never.
    Plain,
    /// When the client asks for it (STARTTLS).
    Offered(TlsAcceptor),
    /// From the first byte on.
    Always(TlsAcceptor),
}

/// What the mailbox was told, and what came.
#[derive(Default)]
struct State {
    told: Mutex<Told>,
    received: Mutex<Vec<Received>>,
    /// Changes when a mail came.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Told {
    queued: VecDeque<Answer>,
    standing: Answer,
    login: Option<(String, String)>,
}

impl Mailbox {
    /// A mailbox on a free port, without TLS. It takes every mail until it is told otherwise.
    pub async fn start() -> io::Result<Self> {
        Self::listen(Security::Plain).await
    }

    /// The same that speaks TLS from the first byte on, with this certificate and its key.
    pub async fn start_tls(certificate_pem: &[u8], key_pem: &[u8]) -> io::Result<Self> {
        Self::listen(Security::Always(tls::acceptor(certificate_pem, key_pem)?)).await
    }

    /// The same that offers TLS by STARTTLS, with this certificate and its key.
    pub async fn start_offering_tls(certificate_pem: &[u8], key_pem: &[u8]) -> io::Result<Self> {
        Self::listen(Security::Offered(tls::acceptor(certificate_pem, key_pem)?)).await
    }

    async fn listen(security: Security) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let scheme = match security {
            Security::Plain | Security::Offered(_) => "smtp",
            Security::Always(_) => "smtps",
        };
        let state = Arc::new(State::default());
        let listening = tokio::spawn(accept(listener, security, Arc::clone(&state)));
        Ok(Self { address, scheme, state, listening })
    }

    /// Stops, and is gone when this returns: the port refuses connections.
    pub async fn stop(mut self) {
        self.listening.abort();
        // It was told to stop, and that is how it ends.
        let _ = (&mut self.listening).await;
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL: `smtp://` or `smtps://`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// From now on, mails are taken only from this user. Before that, from everybody.
    pub fn expect_login(&self, user: &str, password: &str) {
        self.state.told().login = Some((user.to_owned(), password.to_owned()));
    }

    /// From now on, mails are answered with this.
    pub fn answer(&self, answer: Answer) {
        self.state.told().standing = answer;
    }

    /// The next mails are answered with these, one each, before the standing answer counts again.
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.told().queued.extend(answers);
    }

    /// What was received, in order of arrival: every mail whose text was sent to its end, whatever the answer.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.state.received().clone()
    }

    /// How many mails were received.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.received().len()
    }

    /// Waits until at least `count` mails were received, and gives all of them.
    pub async fn wait_for(&self, count: usize, within: Duration) -> Result<Vec<Received>, TooFew> {
        let mut changes = self.state.changes.subscribe();
        let enough = async { while self.count() < count && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, enough).await {
            Ok(()) => Ok(self.received()),
            Err(_) => Err(TooFew { wanted: count, came: self.count(), within }),
        }
    }

    /// Forgets what was received.
    pub fn clear(&self) {
        self.state.received().clear();
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl State {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer for the next mail; a queued one is used up.
    fn choose(&self) -> Answer {
        let mut told = self.told();
        told.queued.pop_front().unwrap_or(told.standing)
    }

    /// Whether these are the user and the password; nothing when everybody may send.
    fn knows(&self, user: &str, password: &str) -> bool {
        self.told().login.as_ref().is_none_or(|login| (login.0.as_str(), login.1.as_str()) == (user, password))
    }

    fn asks_for_login(&self) -> bool {
        self.told().login.is_some()
    }

    /// Keeps what arrived, and tells those who wait.
    fn keep(&self, received: Received) {
        self.received().push(received);
        self.changes.send_replace(());
    }
}

/// Accepts connections for as long as it is polled; they end with it.
async fn accept(listener: TcpListener, security: Security, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => _ = connections.spawn(session::attend(stream, security.clone(), Arc::clone(&state))),
                // Out of file descriptors, or the client is gone already; the others may go on.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
