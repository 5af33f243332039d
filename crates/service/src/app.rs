//! The handle that flows, pages and commands are given.
//!
//! There are three handles, and each dereferences to the next: an [`App`] has everything, a [`Delivery`] has the delivery engine's
//! parts, and a [`Node`] has settings, store, clock, entropy and metrics. So `app.now()` and `app.commit(tx)` work everywhere, and a
//! module takes the smallest handle that it needs.
//!
//! An app works for the merchants of one cell. A process that serves several cells has an app for each of them, which share whatever
//! belongs to the process; the app of the first cell, the home, keeps the others.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use domain::id::{Handle, MerchantId};
use store::Failed;
use tokio::sync::Semaphore;

use crate::delivery::photos::Photos;
use crate::delivery::variants::Variants;
use crate::delivery::{Delivery, NoDelivery};
use crate::gathering::{Carried, Gathering, Wanted};
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
    /// The queue of carrier events that share a transaction.
    pub carrier_events: Arc<Gathering<Carried>>,
    /// The queue of new returns that share a transaction.
    pub new_returns: Arc<Gathering<Wanted>>,
    pub grants: GrantCache,
    pub shops: ShopCache,
    /// The variants that merchants offer for exchanges.
    pub variants: Arc<Variants>,
    /// The photos of goods.
    pub photos: Arc<Photos>,
    pub limits: Arc<Limits>,
    pub rates: Arc<Rates>,
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
    home: Weak<Parts>,
    /// The apps of the other cells; only that of the first cell has them.
    others: Vec<App>,
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
        let limits = Arc::new(Limits::new(&settings));
        let delivery = Delivery::new(Node::new(settings, clock, entropy)?)?;
        let fingerprints = delivery.keys.fingerprints.clone();
        let nodes = delivery.of_each_cell();
        Ok(Self(Arc::new_cyclic(|home| {
            let mut parts = Parts {
                imports: Arc::default(),
                log_lines: Arc::default(),
                import_writers: Arc::new(Semaphore::new(delivery.settings.import_writers())),
                requests: Arc::new(Shares::shown_by(delivery.metrics.requests_in_flight.clone())),
                bodies: Arc::new(Shares::shown_by(delivery.metrics.body_bytes.clone())),
                variants: Arc::new(Variants::new(delivery.settings.outbound.variants_timeout())),
                photos: Arc::default(),
                delivery,
                fingerprints,
                intake: Arc::default(),
                carrier_events: Arc::default(),
                new_returns: Arc::default(),
                grants: GrantCache::default(),
                shops: ShopCache::default(),
                limits,
                rates: Arc::default(),
                home: Weak::clone(home),
                others: Vec::new(),
            };
            parts.others = nodes.into_iter().skip(1).map(|node| parts.beside(node)).collect();
            parts
        })))
    }

    /// The apps of all cells of this process, that of the first cell first.
    #[must_use]
    pub fn of_each_cell(&self) -> Vec<Self> {
        match self.0.home.upgrade() {
            Some(home) => std::iter::once(Self(Arc::clone(&home))).chain(home.others.iter().cloned()).collect(),
            None => vec![self.clone()],
        }
    }

    /// The app of the cell in which a merchant lives. Where there is one cell, this one.
    pub async fn of(&self, merchant: MerchantId) -> Result<Self, Failed> {
        Ok(self.of_cell(self.cell_of(merchant).await?))
    }

    /// The app of the cell in which the merchant with this handle lives; that of the first cell if there is no such merchant.
    pub async fn of_handle(&self, handle: &Handle) -> Result<Self, Failed> {
        Ok(self.of_cell(self.cell_of_handle(handle).await?))
    }

    /// The app of the cell with this name, if the settings name it.
    #[must_use]
    pub fn of_name(&self, name: &str) -> Option<Self> {
        self.cells().iter().position(|cell| cell.name() == name).map(|number| self.of_cell(number))
    }

    /// The app of the cell with this number among those of the process.
    fn of_cell(&self, number: usize) -> Self {
        let Some(home) = self.0.home.upgrade() else { return self.clone() };
        number.checked_sub(1).and_then(|number| home.others.get(number).cloned()).unwrap_or(Self(home))
    }

    /// True if this process knows several cells.
    #[must_use]
    pub fn has_several_cells(&self) -> bool {
        self.cells().len() > 1
    }
}

impl Parts {
    /// The app of another cell: what goes with its merchants is its own, and everything else the process's.
    fn beside(&self, node: Node) -> App {
        App(Arc::new(Self {
            delivery: self.delivery.beside(node),
            fingerprints: self.fingerprints.clone(),
            intake: Arc::default(),
            carrier_events: Arc::default(),
            new_returns: Arc::default(),
            grants: GrantCache::default(),
            shops: ShopCache::default(),
            variants: Arc::clone(&self.variants),
            photos: Arc::clone(&self.photos),
            limits: Arc::clone(&self.limits),
            rates: Arc::clone(&self.rates),
            requests: Arc::clone(&self.requests),
            log_lines: Arc::clone(&self.log_lines),
            bodies: Arc::clone(&self.bodies),
            imports: Arc::clone(&self.imports),
            import_writers: Arc::new(Semaphore::new(self.settings.import_writers())),
            home: Weak::clone(&self.home),
            others: Vec::new(),
        }))
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
