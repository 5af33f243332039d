//! Counts of the work that a warehouse has reported.

use std::ops::AddAssign;

/// Counts of reported work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Drop shipments that left.
    pub shipments: u32,
    /// Reports that cancelled some units of an order.
    pub items_cancelled: u32,
    /// Drop-ship orders cancelled as a whole.
    pub cancelled: u32,
    /// Drop-ship orders rejected.
    pub rejected: u32,
    /// Units received.
    pub received: u32,
    /// Units received that were not expected.
    pub exceptions: u32,
    pub asns_closed: u32,
    pub pallets_announced: u32,
    pub pallets_shipped: u32,
    pub pallets_delivered: u32,
    pub pallets_cancelled: u32,
}

impl Tally {
    /// Returns whether nothing was reported.
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
