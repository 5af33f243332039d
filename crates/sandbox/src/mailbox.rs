//! A mailbox: a real SMTP server on a loopback port with configurable answers and a record of its mails.
//!
//! - Its answers (`answer.rs`): it accepts a mail, refuses it, disconnects or hangs.
//! - The mails received (`received.rs`), with headers and text decoded (`encoding.rs`).
//! - The session with one client (`session.rs`), line by line (`lines.rs`), and the shared state (`state.rs`).
//!
//! It is deterministic. Mails, lines, recipients and waits are bounded.

mod answer;
mod encoding;
mod lines;
mod received;
mod session;
mod state;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

pub use self::answer::Answer;
pub use self::received::Received;
use self::state::{Security, State};
use crate::tls;

/// A running mailbox. Dropping it stops it and ends all its connections.
pub struct Mailbox {
    address: SocketAddr,
    scheme: &'static str,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

/// The timeout error of [`Mailbox::wait_for`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only {came} of {wanted} mails arrived within {within:?}")]
pub struct TooFew {
    pub wanted: usize,
    pub came: usize,
    pub within: Duration,
}

impl Mailbox {
    /// Starts a mailbox on a free port, without TLS. By default it accepts every mail.
    pub async fn start() -> io::Result<Self> {
        Self::listen(Security::Plain).await
    }

    /// Starts a mailbox with TLS from the first byte on, with this certificate and key.
    pub async fn start_tls(certificate_pem: &[u8], key_pem: &[u8]) -> io::Result<Self> {
        Self::listen(Security::Always(tls::acceptor(certificate_pem, key_pem)?)).await
    }

    /// Starts a mailbox that offers STARTTLS, with this certificate and key.
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

    /// Stops the mailbox. When this returns, the port refuses connections.
    pub async fn stop(mut self) {
        self.listening.abort();
        // An aborted task always ends with an error.
        let _ = (&mut self.listening).await;
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The mailbox's URL: `smtp://` or `smtps://`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Requires this login from now on. Before that, anyone may send.
    pub fn expect_login(&self, user: &str, password: &str) {
        self.state.settings().login = Some((user.to_owned(), password.to_owned()));
    }

    /// Answers mails with this from now on.
    pub fn answer(&self, answer: Answer) {
        self.state.settings().standing = answer;
    }

    /// Answers the next mails with these, one each. After them the standing answer applies again.
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.settings().queued.extend(answers);
    }

    /// All mails in order of arrival: every one that was sent completely, whatever the answer.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.state.received().clone()
    }

    /// The number of mails received.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state.received().len()
    }

    /// Waits for at least `count` mails and returns all of them.
    pub async fn wait_for(&self, count: usize, within: Duration) -> Result<Vec<Received>, TooFew> {
        let mut changes = self.state.changes.subscribe();
        let enough = async { while self.count() < count && changes.changed().await.is_ok() {} };
        match tokio::time::timeout(within, enough).await {
            Ok(()) => Ok(self.received()),
            Err(_) => Err(TooFew { wanted: count, came: self.count(), within }),
        }
    }

    /// Removes all mails.
    pub fn clear(&self) {
        self.state.received().clear();
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Accepts connections for as long as it is polled. Dropping the future ends them all.
async fn accept(listener: TcpListener, security: Security, state: Arc<State>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => _ = connections.spawn(session::serve(stream, security.clone(), Arc::clone(&state))),
                // Out of file descriptors, or the client has left; the other connections continue.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
