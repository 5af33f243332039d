//! The handle of the delivery engine: everything that calling out and settling need, on top of the node.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use store::messages::leases;
use store::messages::outbox::Signal;
use store::{Failed, Tx};

use super::client::{Client, NoClient};
use super::signal::{self, Signals};
use crate::delivery::secrets::authentication::TokenCache;
use crate::delivery::transports::mail::{Mailer, NoMailer};
use crate::delivery::transports::operator_hook::{NoHook, OperatorHook};
use crate::node::Node;
use crate::platform::keys::sealing::{Keyring, NoKeyring};

/// A handle to what delivering needs; cheap to clone.
#[derive(Clone)]
pub struct Delivery(Arc<Parts>);

/// The parts behind a [`Delivery`].
pub struct Parts {
    node: Node,
    /// The keys that seal merchants' secrets.
    pub keyring: Keyring,
    /// The only HTTP client.
    pub client: Client,
    pub mailer: Mailer,
    /// The operator's webhook, if one is set.
    pub operator_hook: Option<OperatorHook>,
    /// The OAuth tokens with which endpoints are called.
    pub tokens: TokenCache,
    pub(crate) signals: Signals,
}

/// The reasons nothing can be delivered with the given settings.
#[derive(Debug, thiserror::Error)]
pub enum NoDelivery {
    #[error("keys.sealing: {0}")]
    Keyring(#[from] NoKeyring),
    #[error(transparent)]
    Client(#[from] NoClient),
    #[error(transparent)]
    Mailer(#[from] NoMailer),
    #[error(transparent)]
    Hook(#[from] NoHook),
}

/// The time for which signals to other processes gather before one statement sends them.
const GATHER: Duration = Duration::from_millis(2);

impl Delivery {
    /// Everything that delivering needs, by the node's settings. It does not connect to anything yet.
    pub fn new(node: Node) -> Result<Self, NoDelivery> {
        let client = Client::new(&node.settings, node.clock.clone())?;
        let parts = Parts {
            keyring: node.settings.keyring()?,
            mailer: Mailer::new(&node.settings, node.clock.clone())?,
            operator_hook: OperatorHook::new(&node.settings, &client)?,
            client,
            tokens: TokenCache::default(),
            signals: Signals::default(),
            node,
        };
        Ok(Self(Arc::new(parts)))
    }

    /// Commits `tx` and signals what it owes. Every transaction ends here, so that nobody can forget a signal or give it early.
    pub async fn commit(&self, tx: Tx) -> Result<(), Failed> {
        tx.commit().await?.into_iter().for_each(|signal| self.signal(signal));
        Ok(())
    }

    /// Signals work that no new message brought: a retry was released, or an endpoint resumed. Call it after the commit.
    pub fn signal(&self, signal: Signal) {
        self.signals.give(signal);
    }

    /// Passes the signals given so far on to other processes, for a command that is about to end.
    pub async fn forward_signals_now(&self) {
        self.notify_others(&self.signals.take()).await;
    }

    /// Notifies other processes of `signals`. If that fails, their poller finds the work.
    pub(super) async fn notify_others(&self, signals: &[Signal]) {
        let lines: Vec<String> = signals.iter().map(signal::write).collect();
        if let Err(failed) = leases::notify(self.cell(), &lines).await {
            tracing::debug!(%failed, signals = lines.len(), "notifying other processes failed; their pollers find the work");
        }
    }
}

/// Passes signals on to other processes without end, for a process that does not deliver itself.
pub async fn forward_signals(delivery: impl Deref<Target = impl Deref<Target = Delivery>>) {
    loop {
        delivery.signals.arrived().await;
        tokio::time::sleep(GATHER).await;
        delivery.forward_signals_now().await;
    }
}

impl Deref for Delivery {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Deref for Parts {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}
