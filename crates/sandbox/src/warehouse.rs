//! A simulated warehouse: it asks the service for work over HTTP and reports what a real warehouse would.
//!
//! - The client for the service's API (`service.rs`), and counts of the work (`tally.rs`).
//! - Drop-ship orders (`drop_shipping.rs`), with the steps of each (`drop_shipping/plan.rs`).
//! - Inbound ASNs (`receiving.rs`), with the units found in each (`receiving/plan.rs`).
//! - Pallets (`shipping.rs`), with the steps of each (`shipping/plan.rs`).
//!
//! Each kind of work has its own module with a function for one round, and [`Warehouse::work`] calls them in turn. The
//! warehouse is deterministic: a word in an order's comments, a shipment's name or a pallet's number decides the outcome, and
//! the same round over the same orders reports the same. It uses the machine's clock, and its waits are bounded.

mod drop_shipping;
mod receiving;
mod service;
mod shipping;
mod tally;

use std::net::IpAddr;
use std::time::Duration;

use self::service::Service;
pub use self::service::{NoService, Trouble};
pub use self::shipping::Pallet;
pub use self::tally::Tally;

/// A warehouse that works for one merchant.
pub struct Warehouse {
    service: Service,
    /// Its internal id; `None` if it does not receive.
    receives_at: Option<String>,
    pallets: Vec<Pallet>,
}

impl Warehouse {
    /// Creates a client of the service at `base`, such as `http://127.0.0.1:8080`. The credential needs the scope `warehouse`.
    pub fn new(base: &str, client_id: &str, client_secret: &str) -> Result<Self, NoService> {
        Ok(Self { service: Service::new(base, client_id, client_secret)?, receives_at: None, pallets: Vec::new() })
    }

    /// Makes it call through a proxy that names `address` as the caller.
    #[must_use]
    pub fn calls_from(self, address: IpAddr) -> Self {
        Self { service: self.service.called_from(address), ..self }
    }

    /// Makes it receive announced goods, as the merchant's warehouse with this internal id.
    #[must_use]
    pub fn receives_at(self, identifier: &str) -> Self {
        Self { receives_at: Some(identifier.to_owned()), ..self }
    }

    /// Sets the pallets to create and send.
    #[must_use]
    pub fn sends(self, pallets: Vec<Pallet>) -> Self {
        Self { pallets, ..self }
    }

    /// Does one round of all work. The next round continues with the rest, such as the remainder of an order.
    pub async fn work(&self) -> Result<Tally, Trouble> {
        let mut tally = drop_shipping::work(&self.service).await?;
        if let Some(at) = &self.receives_at {
            tally += receiving::work(&self.service, at).await?;
        }
        tally += shipping::work(&self.service, &self.pallets).await?;
        Ok(tally)
    }

    /// Works until nothing is left to do, for at most `most` rounds.
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

    /// Works for as long as it is polled, with a pause before every round. The next round retries what failed.
    pub async fn keep_working(&self, pause: Duration) {
        loop {
            tokio::time::sleep(pause).await;
            // The next round retries after any error.
            let _ = self.work().await;
        }
    }
}
