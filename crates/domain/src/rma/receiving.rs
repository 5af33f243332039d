//! Whether a unit has arrived at the warehouse; only with managed receiving.

use super::Step;
pub use super::word::Receiving;

/// What the warehouse reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivingEvent {
    /// The unit is there.
    Arrived,
    /// Nothing more is expected for the return.
    Closed,
}

impl Receiving {
    /// What the unit's receiving is after `event`. A unit that arrives late has arrived; none that is there gets lost again.
    #[must_use]
    pub const fn on(self, event: ReceivingEvent) -> Step<Self> {
        match (self, event) {
            (Self::Pending | Self::NotReceived, ReceivingEvent::Arrived) => Step::Moved(Self::Received),
            (Self::Pending, ReceivingEvent::Closed) => Step::Moved(Self::NotReceived),
            (Self::Received, ReceivingEvent::Arrived | ReceivingEvent::Closed) | (Self::NotReceived, ReceivingEvent::Closed) => {
                Step::Unchanged
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_has_arrived_does_not_get_lost() {
        assert_eq!(Receiving::Pending.on(ReceivingEvent::Arrived), Step::Moved(Receiving::Received));
        assert_eq!(Receiving::Received.on(ReceivingEvent::Closed), Step::Unchanged);
        assert_eq!(Receiving::Pending.on(ReceivingEvent::Closed), Step::Moved(Receiving::NotReceived));
        assert_eq!(Receiving::NotReceived.on(ReceivingEvent::Arrived), Step::Moved(Receiving::Received));
    }
}
