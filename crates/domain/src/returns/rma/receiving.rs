//! The receiving status of a unit at the warehouse; only with managed receiving.

use super::step::Step;
pub use super::word::Receiving;

/// An event from the warehouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivingEvent {
    Arrived,
    /// Nothing more is expected for the return.
    Closed,
}

impl Receiving {
    /// True until the unit has arrived, also after receiving was closed.
    #[must_use]
    pub const fn is_expected(self) -> bool {
        match self {
            Self::Pending | Self::NotReceived => true,
            Self::Received => false,
        }
    }

    /// Applies `event`. A unit that arrives late is still received; a received unit stays received.
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
    fn a_unit_is_expected_until_it_has_arrived_even_after_receiving_was_closed() {
        let expected: Vec<Receiving> = Receiving::ALL.iter().copied().filter(|receiving| receiving.is_expected()).collect();
        assert_eq!(expected, [Receiving::Pending, Receiving::NotReceived]);
    }

    #[test]
    fn a_unit_that_has_arrived_does_not_get_lost() {
        assert_eq!(Receiving::Pending.on(ReceivingEvent::Arrived), Step::Moved(Receiving::Received));
        assert_eq!(Receiving::Received.on(ReceivingEvent::Closed), Step::Unchanged);
        assert_eq!(Receiving::Pending.on(ReceivingEvent::Closed), Step::Moved(Receiving::NotReceived));
        assert_eq!(Receiving::NotReceived.on(ReceivingEvent::Arrived), Step::Moved(Receiving::Received));
    }
}
