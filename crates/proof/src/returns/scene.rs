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

use super::SHOPS;
use super::client::Client;
use super::findings::History;
use super::gate::{Gate, Step};
use super::life::{Life, Run};
use super::record::Record;
use super::stored::Stored;
use crate::messages::owing::{Target, path};
use crate::stage::Stage;

/// Of 100 answers, the number usually lost on the client's side.
const UNHEARD: u32 = 20;

/// The running life cycles.
pub(super) type Lives = JoinSet<anyhow::Result<()>>;

/// A stage and the clients of all its returns.
pub(super) struct Scene {
    pub(super) stage: Arc<Stage>,
    pub(super) record: Arc<Record>,
    clients: Vec<Arc<Mutex<Client>>>,
    _systems: Merchant,
}

impl Scene {
    pub(super) async fn set(program: &Path) -> anyhow::Result<Self> {
        let stage = Stage::set(program).await?;
        let app = stage.app()?;
        let (systems, record) = (Merchant::start().await?, Arc::new(Record::default()));
        systems.keep_bodies(false);
        for shop in 0..SHOPS {
            record.watch(&systems, &path(shop), shop);
            let change = EndpointChange { waits: Some(vec![1, 1, 2, 3, 3]), ..EndpointChange::default() };
            Target::set(&app, &stage, shop, &systems, change).await?;
        }
        app.cell().close().await;
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

    /// The current state of the three records.
    pub(super) async fn history(&self, connection: &mut PgConnection) -> anyhow::Result<History> {
        Ok(History {
            clients: self.clients.iter().map(|client| client.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect(),
            receipts: self.record.receipts(),
            stored: Stored::read(connection, &self.stage.merchants).await?,
        })
    }
}
