//! A stage with the merchants' systems and all its returns.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::EndpointChange;
use backhaul::platform::clock::Clock;
use sandbox::merchant::Merchant;
use sqlx::PgConnection;
use tokio::task::JoinSet;

use super::client::Client;
use super::findings::History;
use super::gate::{Gate, Step};
use super::life::{Life, Run};
use super::record::Record;
use super::stored::Stored;
use super::{REFUSED, SHOPS};
use crate::messages::owing::{Target, path};
use crate::stage::{Stage, close};

/// Of 100 answers, the number usually lost on the client's side.
const UNHEARD: u32 = 20;

/// The running life cycles.
pub(super) type Lives = JoinSet<anyhow::Result<()>>;

/// The way to the merchants' systems.
pub(super) struct Network {
    /// The address at which the service reaches them.
    pub(super) reached_at: SocketAddr,
    /// Of 100 calls, the number they refuse.
    pub(super) refused: u8,
    /// The seconds between attempts.
    pub(super) waits: [i64; 5],
}

/// A stage and the clients of all its returns.
pub(super) struct Scene {
    pub(super) stage: Arc<Stage>,
    pub(super) record: Arc<Record>,
    clients: Vec<Arc<Mutex<Client>>>,
    _systems: Merchant,
}

impl Scene {
    /// A scene in which merchants' systems refuse some calls.
    pub(super) async fn set(program: &Path) -> anyhow::Result<Self> {
        let systems = Merchant::start().await?;
        let reached_at = systems.address();
        Self::set_with(Stage::set(program).await?, systems, &Network { reached_at, refused: REFUSED, waits: [1, 1, 2, 3, 3] }).await
    }

    /// A scene on this stage, with these systems and this way to them.
    pub(super) async fn set_with(stage: Stage, systems: Merchant, network: &Network) -> anyhow::Result<Self> {
        let app = stage.app()?;
        let record = Arc::new(Record::default());
        systems.keep_bodies(false);
        for shop in 0..SHOPS {
            record.watch(&systems, &path(shop), shop, network.refused);
            let url = Some(format!("http://{}{}", network.reached_at, path(shop)));
            let change = EndpointChange { url, waits: Some(network.waits.to_vec()), ..EndpointChange::default() };
            Target::set(&app, &stage, shop, &systems, change).await?;
        }
        close(&app).await;
        Ok(Self { stage: Arc::new(stage), record, clients: Vec::new(), _systems: systems })
    }

    /// The settings for complete life cycles of about this length, with the gate open.
    pub(super) fn run(&self, address: SocketAddr, span: Duration) -> Run {
        Run {
            stage: Arc::clone(&self.stage),
            record: Arc::clone(&self.record),
            address,
            began: Clock::system().now(),
            span,
            unheard: UNHEARD,
            gate: Gate::open_to(Step::Wake),
            forgotten: false,
        }
    }

    /// Starts `count` more returns.
    pub(super) fn live(&mut self, count: u64, run: &Arc<Run>) -> Lives {
        let mut lives = JoinSet::new();
        for number in (self.clients.len() as u64..).take(usize::try_from(count).unwrap_or_default()) {
            let life = Life::new(number, run);
            self.clients.push(life.client());
            lives.spawn(life.live());
        }
        lives
    }

    /// Returns whether the merchants of the last `count` returns know of them.
    pub(super) fn are_told(&self, count: usize) -> bool {
        self.clients.iter().rev().take(count).all(|client| {
            let client = client.lock().unwrap_or_else(PoisonError::into_inner);
            client.rma.as_ref().is_some_and(|rma| self.record.is_told(client.shop, rma))
        })
    }

    /// The current state of the three records.
    pub(super) async fn history(&self, connection: &mut PgConnection) -> anyhow::Result<History> {
        self.history_of_cells(std::slice::from_mut(connection)).await
    }

    /// The same where there are several cells, each with its connection.
    pub(super) async fn history_of_cells(&self, cells: &mut [PgConnection]) -> anyhow::Result<History> {
        let mut stored = Stored::default();
        for connection in cells {
            stored.add(Stored::read(connection, &self.stage.merchants).await?);
        }
        Ok(History {
            clients: self.clients.iter().map(|client| client.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect(),
            receipts: self.record.receipts(),
            stored,
        })
    }
}
