//! Returns and their state machines.
//!
//! A return has three state machines: the [`Status`] of the whole return, and for every unit its [`Parcel`] and its [`Receiving`]
//! status. [`Rma`] applies events and returns a [`Step`]: a change owes the merchant one message, named by its [`Event`]; no change
//! owes none.

pub mod allocation;
pub mod bill;
pub mod choice;
pub mod eligibility;
pub mod identifier;
pub mod money;
pub mod parcel;
pub mod policy;
pub mod receiving;
mod refusal;
pub mod sale;
mod step;
pub mod tag;
mod tracking;
mod unit;
pub(crate) mod word;

use std::collections::BTreeMap;

pub use parcel::{CarrierEvent, Parcel, TrackingNumber};
pub use receiving::{Receiving, ReceivingEvent};
pub use refusal::{Held, Refused};
pub use step::Step;
pub use unit::Unit;
pub use word::{Event, ExchangeState, Method, NoWord, RefundType, Status};

/// The units that an event is about, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The units under the label: all but those left out of a drop-off.
    All,
    /// These units, even if they were left out before.
    Units(&'a [usize]),
}

/// A return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rma {
    pub status: Status,
    pub method: Method,
    /// Nothing more is expected to arrive.
    pub receiving_closed: bool,
    /// A scan that names the return waits for its label, so the goods are with the carrier.
    pub scanned_early: bool,
    pub units: Vec<Unit>,
}

impl Rma {
    /// A new return; it owes [`Event::Created`].
    #[must_use]
    pub const fn new(method: Method, units: Vec<Unit>) -> Self {
        Self { status: Status::Created, method, receiving_closed: false, scanned_early: false, units }
    }

    /// True until the return is settled or cancelled.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        match self.status {
            Status::Created | Status::PartialRefund => true,
            Status::Refunded | Status::Cancelled => false,
        }
    }

    /// True once the shopper has handed over any unit.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.scanned_early || self.units.iter().any(|unit| unit.parcel.has_moved())
    }

    /// True once there is a label.
    #[must_use]
    pub fn is_labelled(&self) -> bool {
        self.units.iter().any(|unit| unit.parcel.number().is_some())
    }

    /// True once neither its parcel nor its status changes any more, so that a carrier can use its tracking number again.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.status {
            Status::Cancelled => true,
            Status::Refunded => self.units.iter().all(|unit| unit.parcel.has_ended()),
            Status::Created | Status::PartialRefund => false,
        }
    }

    /// True while the warehouse waits for a unit of the return.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        let awaited = |unit: &Unit| match unit.receiving {
            Some(Receiving::Pending | Receiving::NotReceived) => true,
            Some(Receiving::Received) | None => false,
        };
        self.status != Status::Cancelled && self.units.iter().any(awaited)
    }

    /// True while the merchant owes a refund for goods that came back: a carrier has them, or the warehouse has received them.
    #[must_use]
    pub fn awaits_refund(&self) -> bool {
        let is_back = |unit: &Unit| match unit.parcel {
            Parcel::Accepted(_) | Parcel::Transit(_) | Parcel::Delivered(_) => true,
            // Nobody knows where a parcel is that the carrier reports a problem with, unless the warehouse has it.
            Parcel::Kept
            | Parcel::AwaitingLabel
            | Parcel::PreTransit(_)
            | Parcel::Returned(_)
            | Parcel::Failure(_)
            | Parcel::NotDroppedOff(_) => unit.receiving == Some(Receiving::Received),
        };
        let is_owed = |unit: &Unit| match unit.refund_type {
            RefundType::Refund => !unit.refunded && !unit.exchange_owed,
            RefundType::EvenExchange | RefundType::UnevenExchange => false,
        };
        match self.status {
            Status::Created | Status::PartialRefund => self.units.iter().any(|unit| is_owed(unit) && is_back(unit)),
            Status::Refunded | Status::Cancelled => false,
        }
    }

    /// True if the return is cancelled after a while without a scan: it needs a parcel, and nothing has happened to it yet.
    #[must_use]
    pub fn may_expire(&self) -> bool {
        let travels = match self.method {
            Method::MailBack | Method::ExpressReturns => true,
            Method::CustomerKeep => false,
        };
        travels && self.is_live() && self.held().is_none()
    }

    /// The state of the exchange, if units are exchanged.
    #[must_use]
    pub fn exchange(&self) -> Option<ExchangeState> {
        if self.units.iter().any(|unit| unit.exchange_owed) {
            return Some(ExchangeState::Pending);
        }
        self.units.iter().any(|unit| unit.refund_type != RefundType::Refund).then_some(ExchangeState::Placed)
    }

    /// The units that no refund covers yet, by line; none if the return is cancelled. Units to be refunded come before exchanged
    /// ones, so that the shopper's refund is not mistaken for the merchant settling an exchange.
    #[must_use]
    pub fn open(&self) -> BTreeMap<String, Vec<usize>> {
        let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if self.status == Status::Cancelled {
            return open;
        }
        let of =
            |exchanged: bool| self.units.iter().enumerate().filter(move |(_, unit)| (unit.refund_type != RefundType::Refund) == exchanged);
        for (at, unit) in of(false).chain(of(true)).filter(|(_, unit)| !unit.refunded) {
            open.entry(unit.line.clone()).or_default().push(at);
        }
        open
    }

    /// The positions of the units that a refund by amount settles: those to be refunded, and without any the exchanged ones.
    #[must_use]
    pub fn open_by_amount(&self) -> Vec<usize> {
        let to_refund = self.open_refunds();
        if to_refund.is_empty() { self.open().into_values().flatten().collect() } else { to_refund }
    }

    /// The positions of the units to be refunded that no refund covers yet; none if the return is cancelled.
    #[must_use]
    pub fn open_refunds(&self) -> Vec<usize> {
        let open = |(at, unit): (usize, &Unit)| (unit.refund_type == RefundType::Refund && !unit.refunded).then_some(at);
        self.units.iter().enumerate().filter(|_| self.status != Status::Cancelled).filter_map(open).collect()
    }

    /// True if a refund was reported for a unit while its exchange order was owed, and nobody knows if it is the shopper's money.
    #[must_use]
    pub fn is_in_question(&self) -> bool {
        self.units.iter().any(|unit| unit.in_question)
    }

    /// The status that follows from the units. It only goes forward, and a final status stays.
    #[must_use]
    pub fn settle_status(&self) -> Status {
        match self.status {
            Status::Refunded | Status::Cancelled => return self.status,
            Status::Created | Status::PartialRefund => {}
        }
        let some_refunded = self.units.iter().any(|unit| unit.refunded);
        let all_refunded = self.units.iter().all(|unit| unit.refunded || unit.refund_type != RefundType::Refund);
        let exchange_owed = self.units.iter().any(|unit| unit.exchange_owed);
        match (some_refunded, all_refunded) {
            (true, true) if !exchange_owed => Status::Refunded,
            (true, false) if self.receiving_closed => Status::PartialRefund,
            // With an exchange still owed, the return is not settled even if every refund is paid.
            (true | false, true | false) => self.status,
        }
    }

    /// Applies a carrier's event.
    pub fn carry(&mut self, event: &CarrierEvent, which: Which<'_>) -> Result<Step, Refused> {
        match which {
            // A label is for all units, also for those that were left out of a drop-off before.
            Which::All if matches!(event, CarrierEvent::LabelIssued(_)) => self.report(|_, _| Some(event)),
            Which::All => {
                let all_left_out = self.units.iter().all(Unit::is_left_out);
                self.report(|_, unit| (all_left_out || !unit.is_left_out()).then_some(event))
            }
            Which::Units(units) => {
                self.know(units)?;
                if matches!(event, CarrierEvent::LabelIssued(_)) {
                    return Err(Refused::PartOfALabel);
                }
                self.report(|at, _| units.contains(&at).then_some(event))
            }
        }
    }

    /// The positions of the units in a partial drop-off, given as lines and quantities. Of each line, units that were not handed
    /// over before come first.
    pub fn to_hand_over(&self, lines: &[(String, u32)]) -> Result<Vec<usize>, Refused> {
        let mut positions = Vec::new();
        for (line, quantity) in lines {
            let of_line = |moved: bool| {
                let units = self.units.iter().enumerate();
                units.filter(move |(_, unit)| unit.line == *line && unit.parcel.has_moved() == moved).map(|(at, _)| at)
            };
            let quantity = usize::try_from(*quantity).unwrap_or(usize::MAX);
            let chosen: Vec<usize> = of_line(false).chain(of_line(true)).filter(|at| !positions.contains(at)).take(quantity).collect();
            if chosen.len() < quantity {
                return Err(Refused::NoSuchUnit(self.units.len()));
            }
            positions.extend(chosen);
        }
        Ok(positions)
    }

    /// Drops off these units and leaves out all others, in one step.
    pub fn drop_off(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if units.is_empty() {
            return Ok(Step::Unchanged);
        }
        self.report(|at, _| Some(if units.contains(&at) { &CarrierEvent::Accepted } else { &CarrierEvent::LeftOut }))
    }

    /// Applies the events to all their parcels, or to none if one is refused.
    fn report<'e>(&mut self, event_of: impl Fn(usize, &Unit) -> Option<&'e CarrierEvent>) -> Result<Step, Refused> {
        if self.status == Status::Cancelled {
            return Ok(Step::Unchanged);
        }
        let mut moved = Vec::new();
        for (at, unit) in self.units.iter_mut().enumerate() {
            let Some(event) = event_of(at, unit) else { continue };
            match unit.parcel.on(event)? {
                Step::Moved(parcel) => moved.push((unit, parcel)),
                Step::Unchanged => {}
                Step::TooEarly => {
                    self.scanned_early = true;
                    return Ok(Step::TooEarly);
                }
            }
        }
        if moved.is_empty() {
            return Ok(Step::Unchanged);
        }
        for (unit, parcel) in moved {
            unit.parcel = parcel;
        }
        Ok(Step::Moved(Event::TrackingUpdated))
    }

    /// Receives units at the warehouse.
    pub fn receive(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if self.arrive(ReceivingEvent::Arrived, |at| units.contains(&at))? { Ok(Step::Moved(Event::Received)) } else { Ok(Step::Unchanged) }
    }

    /// Closes receiving: nothing more is expected to arrive.
    pub fn close_receiving(&mut self) -> Result<Step, Refused> {
        self.arrive(ReceivingEvent::Closed, |_| true)?;
        if self.receiving_closed {
            return Ok(Step::Unchanged);
        }
        self.receiving_closed = true;
        Ok(Step::Moved(self.settle().unwrap_or(Event::ReceivingClosed)))
    }

    /// Applies a warehouse event; true if any unit changed.
    fn arrive(&mut self, event: ReceivingEvent, about: impl Fn(usize) -> bool) -> Result<bool, Refused> {
        if self.status == Status::Cancelled {
            return Err(Refused::Cancelled);
        }
        if self.units.iter().any(|unit| unit.receiving.is_none()) {
            return Err(Refused::NotReceiving);
        }
        let mut moved = false;
        for (_, unit) in self.units.iter_mut().enumerate().filter(|(at, _)| about(*at)) {
            match unit.receiving.map(|receiving| receiving.on(event)) {
                Some(Step::Moved(receiving)) => {
                    unit.receiving = Some(receiving);
                    moved = true;
                }
                Some(Step::Unchanged | Step::TooEarly) | None => {}
            }
        }
        Ok(moved)
    }

    /// Marks units as covered by a refund. Exchanged units may still be covered once the return is settled. While the exchange order
    /// is owed, the refund stays beside it: placing the order makes it the merchant's settlement with the service, and converting
    /// puts it in question.
    pub fn refund(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if self.status == Status::Cancelled {
            return Err(Refused::Cancelled);
        }
        let mut moved = false;
        for (_, unit) in self.units.iter_mut().enumerate().filter(|(at, unit)| !unit.refunded && units.contains(at)) {
            unit.refunded = true;
            unit.in_question = false;
            moved = true;
        }
        if moved { Ok(Step::Moved(self.settle().unwrap_or(Event::RefundRecorded))) } else { Ok(Step::Unchanged) }
    }

    /// Records that the merchant has placed the exchange order. A repeat does nothing.
    pub fn place_exchange(&mut self) -> Step {
        let mut moved = false;
        for unit in self.units.iter_mut().filter(|unit| unit.exchange_owed) {
            unit.exchange_owed = false;
            moved = true;
        }
        if moved { Step::Moved(self.settle().unwrap_or(Event::ExchangePlaced)) } else { Step::Unchanged }
    }

    /// Turns an exchange into refunds, unless the return is settled. A refund that was reported in the meantime may have been the
    /// merchant's settlement with the service, so it does not count as the shopper's until somebody confirms it.
    pub fn convert_exchange(&mut self) -> Step {
        if self.status == Status::Refunded {
            return Step::Unchanged;
        }
        let mut moved = false;
        for unit in self.units.iter_mut().filter(|unit| unit.refund_type != RefundType::Refund) {
            (unit.refund_type, unit.exchange_owed) = (RefundType::Refund, false);
            (unit.refunded, unit.in_question) = (false, unit.refunded);
            moved = true;
        }
        if moved { Step::Moved(self.settle().unwrap_or(Event::ExchangeConverted)) } else { Step::Unchanged }
    }

    /// Confirms that the refunds in question are the shopper's money.
    pub fn confirm_refund(&mut self) -> Step {
        let in_question: Vec<usize> = self.units.iter().enumerate().filter(|(_, unit)| unit.in_question).map(|(at, _)| at).collect();
        self.refund(&in_question).unwrap_or(Step::Unchanged)
    }

    /// Cancels the return; its units can be returned again.
    pub fn cancel(&mut self) -> Result<Step, Refused> {
        match self.status {
            Status::Cancelled => return Ok(Step::Unchanged),
            Status::Refunded => return Err(Refused::NotCancelable(Held::Settled)),
            Status::Created | Status::PartialRefund => {}
        }
        if let Some(held) = self.held() {
            return Err(Refused::NotCancelable(held));
        }
        self.status = Status::Cancelled;
        Ok(Step::Moved(Event::Cancelled))
    }

    fn held(&self) -> Option<Held> {
        self.units.iter().find_map(Unit::held).or_else(|| self.scanned_early.then_some(Held::Scanned))
    }

    /// Updates the status from the units; returns the event if it changed.
    fn settle(&mut self) -> Option<Event> {
        let status = self.settle_status();
        if status == self.status {
            return None;
        }
        self.status = status;
        match status {
            Status::Created => None,
            Status::PartialRefund => Some(Event::PartiallyRefunded),
            Status::Refunded => Some(Event::Refunded),
            Status::Cancelled => Some(Event::Cancelled),
        }
    }

    fn know(&self, units: &[usize]) -> Result<(), Refused> {
        units.iter().find(|at| **at >= self.units.len()).map_or(Ok(()), |at| Err(Refused::NoSuchUnit(*at)))
    }
}

#[cfg(test)]
mod tests;
