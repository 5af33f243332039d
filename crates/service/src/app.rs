//! The handle that flows, pages and commands are given.
//!
//! There are three handles, and each dereferences to the next: an [`App`] has everything, a [`Delivery`] has the delivery engine's
//! parts, and a [`Node`] has settings, store, clock, entropy and metrics. So `app.now()` and `app.commit(tx)` work everywhere, and a
//! module takes the smallest handle that it needs.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::delivery::photos::Photos;
use crate::delivery::variants::Variants;
use crate::delivery::{Delivery, NoDelivery};
use crate::grants::GrantCache;
use crate::intake::Intake;
use crate::node::limits::Limits;
use crate::node::log_lines::LogLines;
use crate::node::rate::Rates;
use crate::node::shares::Shares;
use crate::node::{NoNode, Node};
use crate::platform::clock::Clock;
use crate::platform::config::Settings;
use crate::platform::entropy::Entropy;
use crate::platform::keys::fingerprint::FingerprintKeys;
use crate::shops::ShopCache;

/// A handle to everything; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts behind an [`App`].
pub struct Parts {
    delivery: Delivery,
    pub fingerprints: FingerprintKeys,
    /// The queue of order messages that share an upsert.
    pub intake: Arc<Intake>,
    pub grants: GrantCache,
    pub shops: ShopCache,
    /// The variants that merchants offer for exchanges.
    pub variants: Arc<Variants>,
    /// The photos of goods.
    pub photos: Photos,
    pub limits: Limits,
    pub rates: Rates,
    /// The requests that are being worked on.
    pub requests: Arc<Shares>,
    /// The lines that the log may have about refused requests.
    pub log_lines: Arc<LogLines>,
    /// The memory of request bodies, in bytes.
    pub bodies: Arc<Shares>,
    /// The imports that callers run.
    pub imports: Arc<Shares>,
    /// The connections with which imports write, so that they leave the others to everybody else.
    pub import_writers: Arc<Semaphore>,
}

/// The reasons an app cannot be created from its settings.
#[derive(Debug, thiserror::Error)]
pub enum NoApp {
    #[error(transparent)]
    Node(#[from] NoNode),
    #[error(transparent)]
    Delivery(#[from] NoDelivery),
}

impl App {
    /// An app with these settings. It does not connect to anything yet.
    pub fn new(settings: Settings, clock: Clock, entropy: Entropy) -> Result<Self, NoApp> {
        let limits = Limits::new(&settings);
        let delivery = Delivery::new(Node::new(settings, clock, entropy)?)?;
        let fingerprints = delivery.keys.fingerprints.clone();
        let parts = Parts {
            imports: Arc::default(),
            log_lines: Arc::default(),
            import_writers: Arc::new(Semaphore::new(delivery.settings.import_writers())),
            requests: Arc::new(Shares::shown_by(delivery.metrics.requests_in_flight.clone())),
            bodies: Arc::new(Shares::shown_by(delivery.metrics.body_bytes.clone())),
            variants: Arc::new(Variants::new(delivery.settings.outbound.variants_timeout())),
            photos: Photos::default(),
            delivery,
            fingerprints,
            intake: Arc::default(),
            grants: GrantCache::default(),
            shops: ShopCache::default(),
            limits,
            rates: Rates::default(),
        };
        Ok(Self(Arc::new(parts)))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Deref for Parts {
    type Target = Delivery;

    fn deref(&self) -> &Delivery {
        &self.delivery
    }
}
