//! What every part of the service is handed.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use chrono::{DateTime, Utc};
use store::{PoolLimits, Store};
use uuid::Uuid;

use crate::clock::Clock;
use crate::config::Settings;
use crate::entropy::Entropy;
use crate::flow::accept_orders::batch::Intake;
use crate::http::caller::GrantCache;
use crate::key::{FingerprintKey, NoKey};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::outbound::authentication::TokenCache;
use crate::outbound::client::{Client, NoClient};
use crate::outbound::mail::{Mailer, NoMailer};
use crate::outbound::operator_hook::{NoHook, OperatorHook};
use crate::outbound::seal::{Keyring, NoKeyring};
use crate::outbound::signal::Signals;
use crate::outbound::variants::Variants;
use crate::rate::Rates;

/// A handle to everything; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What is behind an [`App`].
pub struct Parts {
    /// The settings that it runs with.
    pub settings: Settings,
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub entropy: Entropy,
    /// The key of shoppers' fingerprints.
    pub fingerprints: FingerprintKey,
    /// The keys with which merchants' secrets are sealed.
    pub keyring: Keyring,
    /// The only HTTP client.
    pub client: Client,
    /// Sends mails.
    pub mailer: Mailer,
    /// Where the operator's systems are told of things, if anywhere.
    pub operator_hook: Option<OperatorHook>,
    /// The tokens with which endpoints are called.
    pub tokens: TokenCache,
    /// The variants that merchants offer for an exchange.
    pub variants: Variants,
    /// Tells deliverers that something is owed.
    pub signals: Signals,
    /// What is counted.
    pub metrics: Metrics,
    /// Where order messages meet that share an upsert.
    pub intake: Intake,
    /// What tokens granted a moment ago.
    pub grants: GrantCache,
    /// The limits in force.
    pub limits: Limits,
    /// What was counted by address in the last minute.
    pub rates: Rates,
    /// Which node this is among those that share a database.
    pub node: Uuid,
    phase: AtomicU8,
}

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It waits for its database.
    Starting,
    /// It accepts work.
    Serving,
    /// It finishes what it has begun.
    Leaving,
}

/// Why there is no app.
#[derive(Debug, thiserror::Error)]
pub enum NoApp {
    /// The key of the fingerprints.
    #[error("keys.fingerprint: {0}")]
    Key(#[from] NoKey),
    /// The keys that seal.
    #[error("keys.sealing: {0}")]
    Keyring(#[from] NoKeyring),
    /// How others are called.
    #[error(transparent)]
    Client(#[from] NoClient),
    /// How mails are sent.
    #[error(transparent)]
    Mailer(#[from] NoMailer),
    /// The operator's webhook.
    #[error(transparent)]
    Hook(#[from] NoHook),
    /// The database's address.
    #[error("database.url: {0}")]
    Store(#[from] store::Failed),
}

impl App {
    /// An app with these settings. It connects to nothing yet.
    pub fn new(settings: Settings, clock: Clock, entropy: Entropy) -> Result<Self, NoApp> {
        let limits = PoolLimits {
            connections: settings.database.connections,
            acquire: settings.database.acquire_timeout(),
            statement: settings.database.statement_timeout(),
            lock: settings.database.lock_timeout(),
        };
        let client = Client::new(&settings, clock.clone())?;
        let parts = Parts {
            store: Store::new(settings.database.url(), limits)?,
            fingerprints: settings.fingerprint_key()?,
            keyring: settings.keyring()?,
            mailer: Mailer::new(&settings, clock.clone())?,
            operator_hook: OperatorHook::new(&settings, &client)?,
            client,
            tokens: TokenCache::default(),
            variants: Variants::new(settings.outbound.variants_timeout()),
            signals: Signals::default(),
            limits: Limits::new(&settings),
            rates: Rates::default(),
            node: entropy.mint(clock.now()),
            settings,
            clock,
            entropy,
            metrics: Metrics::default(),
            intake: Intake::default(),
            grants: GrantCache::default(),
            phase: AtomicU8::new(Phase::Starting as u8),
        };
        Ok(Self(Arc::new(parts)))
    }
}

impl Parts {
    /// The time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// A new id.
    #[must_use]
    pub fn mint(&self) -> Uuid {
        self.entropy.mint(self.now())
    }

    /// Says where the process is in its life, so that work is sent to it when it is ready for it.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::SeqCst);
    }

    /// Whether the process is in `phase`.
    #[must_use]
    pub fn is_in(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::SeqCst) == phase as u8
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
