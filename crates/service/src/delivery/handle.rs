//! The handle of delivery: everything that calls and settling need, on top of the node.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use store::messages::leases;
use store::messages::outbox::{Announced, Signal};
use store::{Failed, HomeTx, SharedTx, Tx};
use wire::node::otlp::Attribute;

use super::client::{Client, NoClient};
use super::collector::{Collector, NoCollector};
use super::secrets::authentication::TokenCache;
use super::signal::{self, Signals};
use super::subscribers::Subscribers;
use super::transports::mail::{Mailer, NoMailer};
use super::transports::operator_hook::{NoHook, OperatorHook};
use crate::node::Node;
use crate::platform::keys::sealing::Keyring;

/// A handle to everything that delivery needs; cheap to clone.
#[derive(Clone)]
pub struct Delivery(Arc<Parts>);

/// The parts behind a [`Delivery`].
pub struct Parts {
    node: Node,
    pub keyring: Keyring,
    pub client: Client,
    pub mailer: Arc<Mailer>,
    pub operator_hook: Option<Arc<OperatorHook>>,
    /// The collector of traces, if there is one.
    pub collector: Option<Arc<Collector>>,
    /// OAuth tokens for calls to endpoints.
    pub tokens: Arc<TokenCache>,
    pub(crate) signals: Signals,
}

/// The settings with which delivery cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NoDelivery {
    #[error(transparent)]
    Client(#[from] NoClient),
    #[error(transparent)]
    Mailer(#[from] NoMailer),
    #[error(transparent)]
    Hook(#[from] NoHook),
    #[error(transparent)]
    Collector(#[from] NoCollector),
}

/// The time between two statements that send signals to other processes. What arrives meanwhile gathers.
const GATHER: Duration = Duration::from_millis(2);

impl Delivery {
    /// Creates the parts from the node's settings. It does not connect to anything yet.
    pub fn new(node: Node) -> Result<Self, NoDelivery> {
        let client = Client::new(&node.settings, node.clock.clone())?;
        let parts = Parts {
            keyring: node.keys.sealing.clone(),
            mailer: Arc::new(Mailer::new(&node.settings, node.clock.clone())?),
            operator_hook: OperatorHook::new(&node.settings, &client)?.map(Arc::new),
            collector: Collector::new(&node.settings, node.clock.clone())?.map(Arc::new),
            client,
            tokens: Arc::default(),
            signals: Signals::default(),
            node,
        };
        Ok(Self(Arc::new(parts)))
    }

    /// The same for another cell of this process: its own signals, and everything else in common.
    #[must_use]
    pub fn beside(&self, node: Node) -> Self {
        Self(Arc::new(Parts {
            keyring: self.keyring.clone(),
            client: self.client.clone(),
            mailer: Arc::clone(&self.mailer),
            operator_hook: self.operator_hook.clone(),
            collector: self.collector.clone(),
            tokens: Arc::clone(&self.tokens),
            signals: Signals::default(),
            node,
        }))
    }

    /// Commits `tx` and announces the messages it owes. Every transaction ends here, so no signal is forgotten or sent too early.
    pub async fn commit(&self, tx: Tx) -> Result<(), Failed> {
        let span = tx.trace().filter(|_| tx.owed() > 0).map(|ids| self.traces.begin_write(ids));
        let (merchant, owed) = (tx.merchant(), tx.owed());
        let committed = tx.commit().await;
        if let Some(span) = span {
            let attributes = vec![Attribute::Merchant(merchant), Attribute::Messages(owed)];
            self.traces.end(span, "write messages".to_owned(), attributes, committed.is_err());
        }
        self.announce(committed?);
        Ok(())
    }

    /// [`Delivery::commit`] for a transaction that several merchants share.
    pub async fn commit_shared(&self, tx: SharedTx) -> Result<(), Failed> {
        let begin = |(merchant, ids): (_, Option<_>)| Some((self.traces.begin_write(ids?), merchant));
        let spans: Vec<_> = tx.messages().into_iter().filter_map(begin).collect();
        let committed = tx.commit().await;
        for (span, merchant) in spans {
            let attributes = vec![Attribute::Merchant(merchant), Attribute::Messages(1)];
            self.traces.end(span, "write messages".to_owned(), attributes, committed.is_err());
        }
        self.announce(committed?);
        Ok(())
    }

    fn announce(&self, announced: Announced) {
        let Announced { signals, next } = announced;
        signals.into_iter().for_each(|signal| self.signal(signal));
        next.into_iter().for_each(|message| self.signals.hand_over(message));
    }

    /// Commits a transaction on what belongs to no merchant. It owes nothing.
    pub async fn commit_home(&self, tx: HomeTx) -> Result<(), Failed> {
        tx.commit().await
    }

    /// The live readers of the feed on this node.
    #[must_use]
    pub fn subscribers(&self) -> &Arc<Subscribers> {
        &self.signals.subscribers
    }

    /// Signals work that does not come from a new message, such as a released retry or a resumed endpoint. Call it after the commit.
    pub fn signal(&self, signal: Signal) {
        self.signals.give(signal);
    }

    /// Forwards all waiting signals to other processes, for a command that is about to end.
    pub async fn forward_signals_now(&self) {
        self.notify_others(&self.signals.take_all()).await;
    }

    /// Forwards `signals` to other processes. If that fails, their pollers find the work.
    pub(super) async fn notify_others(&self, signals: &[Signal]) {
        let lines: Vec<String> = signals.iter().map(signal::write).collect();
        if let Err(failed) = leases::notify(self.cell(), &lines).await {
            tracing::debug!(%failed, signals = lines.len(), "forwarding signals to other processes failed, their pollers will find the work");
        }
    }
}

/// Forwards signals to other processes forever, for a process that does not deliver itself. The first one after a pause goes at once;
/// the next ones gather.
pub async fn forward_signals(delivery: impl Deref<Target = impl Deref<Target = Delivery>>) {
    let mut forwarded_at = None;
    loop {
        delivery.signals.arrived().await;
        let next = forwarded_at.map_or(Duration::ZERO, |at: Duration| at + GATHER);
        let wait = next.saturating_sub(delivery.clock.uptime()).min(GATHER);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        delivery.forward_signals_now().await;
        forwarded_at = Some(delivery.clock.uptime());
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
