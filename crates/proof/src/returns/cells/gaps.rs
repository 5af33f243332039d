//! The longest times in which a cell accepted no order and delivered no message.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use sqlx::PgConnection;

use super::super::pulse::Pulse;
use super::super::record::Record;
use crate::citus::CELLS;
use crate::stage::Stage;

/// The order of the first cell's pulse, whose merchant is in that cell and has no returns. The next cell's has the next number.
const FIRST_ORDER: u64 = 50;
/// The timeout for the first delivery after a kill.
const DELIVERS_WITHIN: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The longest gaps of a cell within some time.
#[derive(Clone, Copy, Default)]
pub(super) struct Gaps {
    /// Between two accepted orders.
    pub(super) orders: Duration,
    /// Between two deliveries.
    pub(super) deliveries: Duration,
}

impl Gaps {
    /// The longer gaps of both.
    pub(super) fn or_longer(self, other: Self) -> Self {
        Self { orders: self.orders.max(other.orders), deliveries: self.deliveries.max(other.deliveries) }
    }

    /// The parts of these gaps that go beyond the normal ones.
    pub(super) const fn beyond(self, normal: Self) -> Self {
        Self { orders: self.orders.saturating_sub(normal.orders), deliveries: self.deliveries.saturating_sub(normal.deliveries) }
    }
}

/// A cell whose gaps are measured.
pub(super) struct Watched {
    pub(super) name: &'static str,
    /// Its place among the cells, to which merchants are assigned in turn.
    place: usize,
    pulse: Pulse,
    record: Arc<Record>,
    since: Instant,
}

impl Watched {
    /// Begins to measure every cell.
    pub(super) fn all(stage: &Stage, record: &Arc<Record>, address: SocketAddr) -> Vec<Self> {
        let watch = |((place, name), order)| Self {
            name,
            place,
            pulse: Pulse::start(stage, address, order),
            record: Arc::clone(record),
            since: Instant::now(),
        };
        CELLS.into_iter().enumerate().zip(FIRST_ORDER..).map(watch).collect()
    }

    fn has(&self, shop: usize) -> bool {
        shop % CELLS.len() == self.place
    }

    /// Forgets the gaps so far.
    pub(super) fn reset(&mut self) {
        self.pulse.reset();
        self.since = Instant::now();
    }

    /// The longest gaps since the last reset.
    pub(super) async fn gaps(&self) -> anyhow::Result<Gaps> {
        let orders = self.pulse.longest_gap().await?;
        Ok(Gaps { orders, deliveries: self.record.longest_silence(|shop| self.has(shop), self.since, Instant::now()) })
    }

    /// Waits until the cell accepts orders and delivers again after a kill at that time.
    pub(super) async fn recover(&self, killed: Instant) -> anyhow::Result<()> {
        self.pulse.longest_gap().await?;
        let restarted = Instant::now();
        while !self.record.has_accepted(|shop| self.has(shop), restarted) {
            ensure!(killed.elapsed() < DELIVERS_WITHIN, "the cell {} has delivered nothing since a kill", self.name);
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Stops its orders. Returns whether the last acknowledged one is stored in the cell of this connection.
    pub(super) async fn end(self, cell: &mut PgConnection) -> anyhow::Result<bool> {
        self.pulse.end(cell).await
    }
}
