//! Returns: units of an order on their way back, and what becomes of them.
//!
//! A return has three axes, each with its own state machine: the [`Status`] of the whole, and for every unit where its
//! [`Parcel`] is and whether it has arrived ([`Receiving`]). [`Rma`] takes what happens and answers with a [`Step`]: what
//! moved owes the merchant one message, named by its [`Event`]; what did not move owes none.

pub mod allocation;
pub mod choice;
pub mod eligibility;
pub mod identifier;
pub mod money;
pub mod parcel;
pub mod policy;
pub mod receiving;
mod refusal;
pub mod sale;
mod unit;
pub(crate) mod word;

use std::collections::BTreeMap;

pub use parcel::{CarrierEvent, Parcel, TrackingNumber};
pub use receiving::{Receiving, ReceivingEvent};
pub use refusal::{Held, Refused};
pub use unit::Unit;
pub use word::{Event, ExchangeState, Method, NoWord, RefundType, Status};

/// What came of something that was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<To = Event> {
    /// It changed something: the new state, or the event that tells of it.
    Moved(To),
    /// A repeat, or known better already. No error, and no message.
    Unchanged,
    /// It is about a label that is not there yet: to be kept, and replayed when the label is.
    TooEarly,
}

/// Which units of a return something is about, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// Whatever travels under the label: all units but those left out of a drop-off.
    All,
    /// These, even if they were left out before.
    Units(&'a [usize]),
}

/// A return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rma {
    /// Where it stands.
    pub status: Status,
    /// How the goods come back.
    pub method: Method,
    /// Whether nothing more is expected to arrive.
    pub receiving_closed: bool,
    /// What is returned.
    pub units: Vec<Unit>,
}

impl Rma {
    /// A new return; it owes [`Event::Created`].
    #[must_use]
    pub const fn new(method: Method, units: Vec<Unit>) -> Self {
        Self { status: Status::Created, method, receiving_closed: false, units }
    }

    /// Whether it is still to be settled.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        match self.status {
            Status::Created | Status::PartialRefund => true,
            Status::Refunded | Status::Canceled => false,
        }
    }

    /// Whether the shopper has let go of any unit.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.units.iter().any(|unit| unit.parcel.has_moved())
    }

    /// Whether waiting too long calls it off: a parcel is waited for, and nothing else has happened.
    #[must_use]
    pub fn may_expire(&self) -> bool {
        let travels = match self.method {
            Method::MailBack | Method::ExpressReturns => true,
            Method::CustomerKeep => false,
        };
        travels && self.is_live() && self.held().is_none()
    }

    /// How far its exchange has come, if units of it are exchanged.
    #[must_use]
    pub fn exchange(&self) -> Option<ExchangeState> {
        if self.units.iter().any(|unit| unit.exchange_owed) {
            return Some(ExchangeState::Pending);
        }
        self.units.iter().any(|unit| unit.refund_type != RefundType::Refund).then_some(ExchangeState::Placed)
    }

    /// The units that no refund covers yet, by line; of a return that was called off, none. Those to be refunded come before those exchanged, so that the shopper's
    /// refund is not taken for the merchant settling an exchange.
    #[must_use]
    pub fn open(&self) -> BTreeMap<String, Vec<usize>> {
        let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if self.status == Status::Canceled {
            return open;
        }
        let of =
            |exchanged: bool| self.units.iter().enumerate().filter(move |(_, unit)| (unit.refund_type != RefundType::Refund) == exchanged);
        for (at, unit) in of(false).chain(of(true)).filter(|(_, unit)| !unit.refunded) {
            open.entry(unit.line.clone()).or_default().push(at);
        }
        open
    }

    /// The status that follows from the units; it only goes forward, and what is final stays.
    #[must_use]
    pub fn settle_status(&self) -> Status {
        match self.status {
            Status::Refunded | Status::Canceled => return self.status,
            Status::Created | Status::PartialRefund => {}
        }
        let some_refunded = self.units.iter().any(|unit| unit.refunded);
        let all_refunded = self.units.iter().all(|unit| unit.refunded || unit.refund_type != RefundType::Refund);
        let exchange_owed = self.units.iter().any(|unit| unit.exchange_owed);
        match (some_refunded, all_refunded) {
            (true, true) if !exchange_owed => Status::Refunded,
            (true, false) if self.receiving_closed => Status::PartialRefund,
            // A part that was refunded does not become less by the rest: only an exchange is missing then.
            (true | false, true | false) => self.status,
        }
    }

    /// A carrier reports.
    pub fn carry(&mut self, event: &CarrierEvent, which: Which<'_>) -> Result<Step, Refused> {
        match which {
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

    /// The shopper drops these units off, and leaves the others out, in one step.
    pub fn drop_off(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if units.is_empty() {
            return Ok(Step::Unchanged);
        }
        self.report(|at, _| Some(if units.contains(&at) { &CarrierEvent::Accepted } else { &CarrierEvent::LeftOut }))
    }

    /// Moves every parcel on which there is something to report, or none.
    fn report<'e>(&mut self, event_of: impl Fn(usize, &Unit) -> Option<&'e CarrierEvent>) -> Result<Step, Refused> {
        if self.status == Status::Canceled {
            return Ok(Step::Unchanged);
        }
        let mut moved = Vec::new();
        for (at, unit) in self.units.iter_mut().enumerate() {
            let Some(event) = event_of(at, unit) else { continue };
            match unit.parcel.on(event)? {
                Step::Moved(parcel) => moved.push((unit, parcel)),
                Step::Unchanged => {}
                Step::TooEarly => return Ok(Step::TooEarly),
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

    /// Units arrive at the warehouse.
    pub fn receive(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if self.arrive(ReceivingEvent::Arrived, |at| units.contains(&at))? { Ok(Step::Moved(Event::Received)) } else { Ok(Step::Unchanged) }
    }

    /// Nothing more is expected to arrive.
    pub fn close_receiving(&mut self) -> Result<Step, Refused> {
        self.arrive(ReceivingEvent::Closed, |_| true)?;
        if self.receiving_closed {
            return Ok(Step::Unchanged);
        }
        self.receiving_closed = true;
        Ok(Step::Moved(self.settle().unwrap_or(Event::ReceivingClosed)))
    }

    /// Whether the event of the warehouse changed anything about the units that it is about.
    fn arrive(&mut self, event: ReceivingEvent, about: impl Fn(usize) -> bool) -> Result<bool, Refused> {
        if self.status == Status::Canceled {
            return Err(Refused::Canceled);
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

    /// A refund of the merchant's covers these units. Once the return is settled, it may still cover exchanged ones.
    pub fn refund(&mut self, units: &[usize]) -> Result<Step, Refused> {
        self.know(units)?;
        if self.status == Status::Canceled {
            return Err(Refused::Canceled);
        }
        let mut moved = false;
        for (_, unit) in self.units.iter_mut().enumerate().filter(|(at, unit)| !unit.refunded && units.contains(at)) {
            unit.refunded = true;
            moved = true;
        }
        if moved { Ok(Step::Moved(self.settle().unwrap_or(Event::RefundRecorded))) } else { Ok(Step::Unchanged) }
    }

    /// The merchant has placed the exchange order. The second time nothing happens.
    pub fn place_exchange(&mut self) -> Step {
        self.end_exchange(|_| {}, Event::ExchangePlaced)
    }

    /// There is no exchange order after all: what was to be exchanged is refunded. What was placed stays.
    pub fn convert_exchange(&mut self) -> Step {
        self.end_exchange(|unit| unit.refund_type = RefundType::Refund, Event::ExchangeConverted)
    }

    fn end_exchange(&mut self, end: impl Fn(&mut Unit), event: Event) -> Step {
        let mut moved = false;
        for unit in self.units.iter_mut().filter(|unit| unit.exchange_owed) {
            unit.exchange_owed = false;
            end(unit);
            moved = true;
        }
        if moved { Step::Moved(self.settle().unwrap_or(event)) } else { Step::Unchanged }
    }

    /// Calls the return off; its units can be returned anew.
    pub fn cancel(&mut self) -> Result<Step, Refused> {
        match self.status {
            Status::Canceled => return Ok(Step::Unchanged),
            Status::Refunded => return Err(Refused::NotCancelable(Held::Settled)),
            Status::Created | Status::PartialRefund => {}
        }
        if let Some(held) = self.held() {
            return Err(Refused::NotCancelable(held));
        }
        self.status = Status::Canceled;
        Ok(Step::Moved(Event::Canceled))
    }

    fn held(&self) -> Option<Held> {
        self.units.iter().find_map(Unit::held)
    }

    /// Takes the status over that follows from the units; the event if it is another one.
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
            Status::Canceled => Some(Event::Canceled),
        }
    }

    fn know(&self, units: &[usize]) -> Result<(), Refused> {
        units.iter().find(|at| **at >= self.units.len()).map_or(Ok(()), |at| Err(Refused::NoSuchUnit(*at)))
    }
}

#[cfg(test)]
mod tests;
