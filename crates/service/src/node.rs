//! A node: one process of the installation, with what every other part needs. It works for the merchants of one cell; a process that
//! serves several cells has a node for each of them.

pub mod cell;
pub mod certificate;
pub mod database;
pub mod directory;
pub mod disk;
pub mod each_cell;
pub mod following;
pub mod health;
pub mod keys;
pub mod limits;
pub mod loaded_keys;
pub mod log_lines;
pub mod places;
pub mod proxies;
pub mod rate;
pub mod security;
pub mod shares;
pub mod skew;
pub mod traces;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use chrono::{DateTime, Utc};
use domain::id::{Handle, MerchantId};
use domain::node::mode::Mode;
use store::node::{cells, installation};
use store::{Failed, HomeTx, Store, Tx};
use uuid::Uuid;

use self::cell::Cell;
use self::directory::Directory;
use self::loaded_keys::{NoNodeKeys, NodeKeys};
use self::traces::Traces;
use crate::platform::clock::Clock;
use crate::platform::config::{NoSettings, Settings};
use crate::platform::entropy::Entropy;
use crate::platform::metrics::Metrics;

/// A handle to the node's parts; cheap to clone.
#[derive(Clone)]
pub struct Node(Arc<Parts>);

/// The parts behind a [`Node`].
pub struct Parts {
    process: Arc<Process>,
    /// The cell whose merchants this node works for.
    cell: Cell,
    home: Store,
}

/// The parts that the nodes of a process share.
pub struct Process {
    pub settings: Settings,
    pub clock: Clock,
    pub entropy: Entropy,
    pub metrics: Metrics,
    /// The spans of this node's work.
    pub traces: Traces,
    /// The keys of the settings.
    pub keys: NodeKeys,
    /// Distinguishes this node from others on the same database.
    pub id: Uuid,
    cells: Vec<Cell>,
    /// The cells of merchants, where there are several cells.
    pub directory: Directory,
    phase: AtomicU8,
}

/// The settings with which a node cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NoNode {
    #[error("keys.{0}: {1}")]
    Keys(&'static str, NoNodeKeys),
    #[error("{0}: {1}")]
    Store(String, Failed),
    #[error(transparent)]
    Settings(#[from] NoSettings),
    #[error("the settings name no database; set database.url")]
    NoCell,
}

/// The phases of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It waits for its database.
    Starting,
    /// It accepts work.
    Serving,
    /// It finishes the work it has begun, and accepts no more.
    Leaving,
}

impl Node {
    /// A node with these settings. It does not connect to anything yet.
    pub fn new(settings: Settings, clock: Clock, entropy: Entropy) -> Result<Self, NoNode> {
        let open = |address| Cell::open(address, settings.pool_limits()).map_err(|(setting, failed)| NoNode::Store(setting, failed));
        let cells = settings.cell_addresses()?.into_iter().map(open).collect::<Result<Vec<Cell>, NoNode>>()?;
        let Some(cell) = cells.first().cloned() else { return Err(NoNode::NoCell) };
        let metrics = Metrics::default();
        metrics.security_events.expect(&security::WATCHED);
        cells.iter().filter_map(Cell::label).for_each(|cell| metrics.delivery.expect(cell));
        let process = Process {
            cells,
            directory: Directory::default(),
            keys: NodeKeys::load(&settings).map_err(|(kind, error)| NoNode::Keys(kind.as_str(), error))?,
            id: entropy.mint(clock.now()),
            traces: Traces::new(&settings.traces, clock.clone(), entropy.clone(), metrics.spans.clone()),
            settings,
            clock,
            entropy,
            metrics,
            phase: AtomicU8::new(Phase::Starting as u8),
        };
        let home = cell.store.clone();
        Ok(Self(Arc::new(Parts { process: Arc::new(process), cell, home })))
    }

    /// The nodes of all cells of this process, that of the first cell first.
    #[must_use]
    pub fn of_each_cell(&self) -> Vec<Self> {
        let node = |cell: &Cell| Self(Arc::new(Parts { process: Arc::clone(&self.process), cell: cell.clone(), home: self.home.clone() }));
        self.cells.iter().map(node).collect()
    }
}

impl Deref for Parts {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl Parts {
    /// The current time; in a sandbox it can be ahead of real time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// The time that retention and expiry go by: that of the database, so that a node whose clock is wrong ends nothing early. With a
    /// fixed clock it is [`Parts::now`].
    pub async fn shared_now(&self) -> Result<DateTime<Utc>, Failed> {
        if self.clock.is_the_machines() { installation::shared_now(self.cell()).await } else { Ok(self.now()) }
    }

    /// A new id (UUID version 7).
    #[must_use]
    pub fn mint(&self) -> Uuid {
        self.entropy.mint(self.now())
    }

    /// The store that holds the data of `merchant`.
    #[must_use]
    pub fn store(&self, _merchant: MerchantId) -> &Store {
        &self.cell.store
    }

    /// The store of this node's cell, for data that belongs to no single merchant: leases, credentials, partitions.
    #[must_use]
    pub fn cell(&self) -> &Store {
        &self.cell.store
    }

    /// This node's cell: its name and where it is.
    #[must_use]
    pub fn place(&self) -> &Cell {
        &self.cell
    }

    /// All cells of this process, the first one first.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The number of the cell in which a merchant lives, among [`Parts::cells`]. Where there is one cell, nothing is looked up.
    pub async fn cell_of(&self, merchant: MerchantId) -> Result<usize, Failed> {
        self.directory.find(&self.cells, merchant).await
    }

    /// The number of the cell in which the merchant with this handle lives; the first one if there is no such merchant.
    pub async fn cell_of_handle(&self, handle: &Handle) -> Result<usize, Failed> {
        self.directory.find_by_handle(&self.cells, handle).await
    }

    /// True if the merchant lives in this node's cell.
    pub async fn is_cell_of(&self, merchant: MerchantId) -> Result<bool, Failed> {
        let number = self.cell_of(merchant).await?;
        Ok(self.cells.get(number).is_some_and(|cell| cell.name() == self.cell.name()))
    }

    /// The store of what belongs to no merchant and to no cell: operators, their sessions and requests, limits. It is that of the first
    /// cell.
    #[must_use]
    pub fn home(&self) -> &Store {
        &self.home
    }

    /// Opens a transaction on what belongs to no merchant.
    pub async fn begin_home(&self) -> Result<HomeTx, Failed> {
        self.home().begin_home().await
    }

    /// Opens a transaction on the data of `merchant`.
    pub async fn begin(&self, merchant: MerchantId) -> Result<Tx, Failed> {
        let begun = self.store(merchant).begin(merchant).await.inspect_err(|failed| self.forget_moved(merchant, failed))?;
        Ok(self.traced(begun))
    }

    /// Has the merchant's cell looked up again if a write failed because the merchant lives in another one.
    pub(crate) fn forget_moved(&self, merchant: MerchantId, failed: &Failed) {
        if matches!(failed, Failed::Moved) {
            self.directory.forget(merchant);
        }
    }

    /// [`Parts::begin`] for work that comes due with time. `None` if the merchant lives in another cell, which does that work.
    pub async fn begin_here(&self, merchant: MerchantId) -> Result<Option<Tx>, Failed> {
        match self.begin(merchant).await {
            Err(Failed::Moved) => Ok(None),
            begun => begun.map(Some),
        }
    }

    /// Lets the messages of a transaction carry their place in the trace of the work that opened it.
    #[must_use]
    pub fn traced(&self, mut tx: Tx) -> Tx {
        if let Some(ids) = self.traces.ids_to_write() {
            tx.carry(ids);
        }
        tx
    }

    /// Moves the clock of this node's cell as far ahead as that of the first cell.
    pub async fn follow_clock(&self) -> Result<(), Failed> {
        match self.settings.mode {
            Mode::Sandbox if !self.cell.is_home() => cells::follow_clock(self.cell(), &installation::clock(self.home()).await?).await,
            Mode::Sandbox | Mode::Production => Ok(()),
        }
    }

    /// Moves the clock as far ahead as the sandbox's clock was moved. In production it never moves.
    pub async fn renew_clock(&self) -> Result<(), Failed> {
        match self.settings.mode {
            Mode::Production => {}
            Mode::Sandbox => self.clock.move_ahead(installation::clock(self.home()).await?.ahead),
        }
        Ok(())
    }

    /// Enters `phase`; readiness follows it.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::SeqCst);
    }

    /// Returns `true` while the process is in `phase`.
    #[must_use]
    pub fn is_in(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::SeqCst) == phase as u8
    }
}

impl Deref for Node {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
