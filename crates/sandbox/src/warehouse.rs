//! A simulated warehouse: it knows the service by HTTP alone, asks it for work, and plays what a warehouse does with it.
//!
//! - The service, as a warehouse's system calls it (`service.rs`).
//! - Drop-ship orders (`drop_shipping.rs`), and what becomes of each (`drop_shipping/plan.rs`).
//! - Inbound ASNs (`receiving.rs`), and what is found when they are unpacked (`receiving/plan.rs`).
//! - Pallets (`shipping.rs`), and what becomes of each (`shipping/plan.rs`).
//!
//! Every kind of work is a module of its own with a function that goes through it once, and [`Warehouse::work`] calls one after
//! the other. Nothing is left to chance: a word in an order's comments, in a shipment's name or in a pallet's number says what
//! becomes of it, and the same round over the same orders reports the same. Its clock is the machine's, and no wait lasts for
//! ever.

mod drop_shipping;
mod receiving;
mod service;
mod shipping;

use std::ops::AddAssign;
use std::time::Duration;

use self::service::Service;
pub use self::service::{NoService, Trouble};
pub use self::shipping::Pallet;

/// A warehouse that works for one merchant.
pub struct Warehouse {
    service: Service,
    /// Its internal id, if it receives.
    receives_at: Option<String>,
    /// What it is to send.
    pallets: Vec<Pallet>,
}

/// What was reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Drop shipments that left.
    pub shipments: u32,
    /// Times that some units of an order were called off.
    pub items_cancelled: u32,
    /// Orders that were called off.
    pub cancelled: u32,
    /// Orders that were refused.
    pub rejected: u32,
    /// Units that were received.
    pub received: u32,
    /// Units that were not expected.
    pub exceptions: u32,
    /// ASNs of which nothing more is expected.
    pub asns_closed: u32,
    /// Pallets that are to leave.
    pub pallets_announced: u32,
    /// Pallets that left.
    pub pallets_shipped: u32,
    /// Pallets that arrived.
    pub pallets_delivered: u32,
    /// Pallets that were called off.
    pub pallets_cancelled: u32,
}

impl Tally {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Self) {
        self.shipments += more.shipments;
        self.items_cancelled += more.items_cancelled;
        self.cancelled += more.cancelled;
        self.rejected += more.rejected;
        self.received += more.received;
        self.exceptions += more.exceptions;
        self.asns_closed += more.asns_closed;
        self.pallets_announced += more.pallets_announced;
        self.pallets_shipped += more.pallets_shipped;
        self.pallets_delivered += more.pallets_delivered;
        self.pallets_cancelled += more.pallets_cancelled;
    }
}

impl Warehouse {
    /// A warehouse that calls the service at `base`, such as `http://127.0.0.1:8080`, with a credential that opens `warehouse`.
    pub fn new(base: &str, client_id: &str, client_secret: &str) -> Result<Self, NoService> {
        Ok(Self { service: Service::new(base, client_id, client_secret)?, receives_at: None, pallets: Vec::new() })
    }

    /// From now on, it receives what is announced, under this internal id of a warehouse of the merchant's.
    #[must_use]
    pub fn receives_at(self, identifier: &str) -> Self {
        Self { receives_at: Some(identifier.to_owned()), ..self }
    }

    /// From now on, it has these pallets to make and to send.
    #[must_use]
    pub fn sends(self, pallets: Vec<Pallet>) -> Self {
        Self { pallets, ..self }
    }

    /// Goes through all work once. What it leaves for later, such as the rest of an order, is done by the next round.
    pub async fn work(&self) -> Result<Tally, Trouble> {
        let mut tally = drop_shipping::work(&self.service).await?;
        if let Some(at) = &self.receives_at {
            tally += receiving::work(&self.service, at).await?;
        }
        tally += shipping::work(&self.service, &self.pallets).await?;
        Ok(tally)
    }

    /// Works until nothing is left to do, at most so many rounds.
    pub async fn work_off(&self, most: usize) -> Result<Tally, Trouble> {
        let mut all = Tally::default();
        for _ in 0..most {
            let round = self.work().await?;
            if round.is_idle() {
                break;
            }
            all += round;
        }
        Ok(all)
    }

    /// Works for as long as it is polled, with a pause after every round. A round that fails is tried again with the next.
    pub async fn keep_working(&self, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            // Whatever the service refuses or fails to answer now, it is asked again.
            let _ = self.work().await;
        }
    }
}
