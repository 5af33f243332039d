//! The state machine of a returned unit's parcel.
//!
//! Carriers repeat events, report late and skip steps. So a parcel only goes forward: an event that it has already passed changes
//! nothing, and skipped steps are passed over.

use super::refusal::Refused;
use super::step::Step;
pub use super::tracking::{NoTrackingNumber, TrackingNumber};
use super::word::Method;

/// An event from a carrier or a collection partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarrierEvent {
    LabelIssued(TrackingNumber),
    /// Dropped off or collected.
    Accepted,
    /// Not among the units dropped off.
    LeftOut,
    /// Scanned in transit.
    Scanned,
    Delivered,
    /// Returned to the shopper.
    Returned,
    /// The carrier reports a problem.
    Failed,
}

/// The state of a unit's parcel. A tracking number exists exactly when a label does; goods can be handed over before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parcel {
    /// The shopper keeps the goods, so there is no parcel.
    Kept,
    AwaitingLabel,
    /// Labelled, still with the shopper.
    PreTransit(TrackingNumber),
    /// Dropped off or collected, with or without a label.
    Accepted(Option<TrackingNumber>),
    Transit(TrackingNumber),
    /// Delivered to the merchant.
    Delivered(TrackingNumber),
    /// Returned to the shopper.
    Returned(TrackingNumber),
    /// The carrier reports a problem.
    Failure(TrackingNumber),
    /// Still with the shopper, although other units of the return were dropped off.
    NotDroppedOff(Option<TrackingNumber>),
}

impl Parcel {
    /// The parcel of a unit of a new return.
    #[must_use]
    pub const fn new(method: Method) -> Self {
        match method {
            Method::MailBack | Method::ExpressReturns => Self::AwaitingLabel,
            Method::CustomerKeep => Self::Kept,
        }
    }

    /// Restores a stored parcel.
    #[must_use]
    pub fn restore(method: Method, word: Option<&str>, number: Option<TrackingNumber>) -> Option<Self> {
        match (word, number) {
            (None, None) => Some(Self::new(method)),
            (Some("PRE_TRANSIT"), Some(number)) => Some(Self::PreTransit(number)),
            (Some("ACCEPTED"), number) => Some(Self::Accepted(number)),
            (Some("TRANSIT"), Some(number)) => Some(Self::Transit(number)),
            (Some("DELIVERED"), Some(number)) => Some(Self::Delivered(number)),
            (Some("RETURNED"), Some(number)) => Some(Self::Returned(number)),
            (Some("FAILURE"), Some(number)) => Some(Self::Failure(number)),
            (Some("NOT_DROPPED_OFF"), number) => Some(Self::NotDroppedOff(number)),
            (Some(_), _) | (None, Some(_)) => None,
        }
    }

    /// The contract's tracking status; `None` until there is a label or a drop-off.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'static str> {
        match self {
            Self::Kept | Self::AwaitingLabel => None,
            Self::PreTransit(_) => Some("PRE_TRANSIT"),
            Self::Accepted(_) => Some("ACCEPTED"),
            Self::Transit(_) => Some("TRANSIT"),
            Self::Delivered(_) => Some("DELIVERED"),
            Self::Returned(_) => Some("RETURNED"),
            Self::Failure(_) => Some("FAILURE"),
            Self::NotDroppedOff(_) => Some("NOT_DROPPED_OFF"),
        }
    }

    /// The tracking number, once there is a label.
    #[must_use]
    pub const fn number(&self) -> Option<&TrackingNumber> {
        match self {
            Self::Kept | Self::AwaitingLabel => None,
            Self::Accepted(number) | Self::NotDroppedOff(number) => number.as_ref(),
            Self::PreTransit(number) | Self::Transit(number) | Self::Delivered(number) | Self::Returned(number) | Self::Failure(number) => {
                Some(number)
            }
        }
    }

    /// True once the shopper has handed it over.
    #[must_use]
    pub const fn has_moved(&self) -> bool {
        match self {
            Self::Kept | Self::AwaitingLabel | Self::PreTransit(_) | Self::NotDroppedOff(_) => false,
            Self::Accepted(_) | Self::Transit(_) | Self::Delivered(_) | Self::Returned(_) | Self::Failure(_) => true,
        }
    }

    /// True once nothing moves it any more.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        match self {
            Self::Delivered(_) | Self::Returned(_) => true,
            Self::Kept
            | Self::AwaitingLabel
            | Self::PreTransit(_)
            | Self::Accepted(_)
            | Self::Transit(_)
            | Self::Failure(_)
            | Self::NotDroppedOff(_) => false,
        }
    }

    /// Applies `event`.
    ///
    /// The first final state stays. Carriers also report "delivered" for a parcel that went back to the shopper, and a merchant who
    /// refunds on delivery must not mistake that for an arrival. A parcel refused at the door after delivery shows up in receiving.
    pub fn on(&self, event: &CarrierEvent) -> Result<Step<Self>, Refused> {
        use CarrierEvent as E;
        match (self, event) {
            (Self::Kept, E::LabelIssued(_) | E::Accepted | E::LeftOut | E::Scanned | E::Delivered | E::Returned | E::Failed) => {
                Err(Refused::NoParcel)
            }
            (Self::AwaitingLabel, E::LabelIssued(number)) => Ok(Step::Moved(Self::PreTransit(number.clone()))),
            // Goods are handed over after or before their label, which then adds its number.
            (Self::PreTransit(number), E::Accepted) | (Self::Accepted(None), E::LabelIssued(number)) => {
                Ok(Step::Moved(Self::Accepted(Some(number.clone()))))
            }
            (Self::PreTransit(number), E::LeftOut) | (Self::NotDroppedOff(None), E::LabelIssued(number)) => {
                Ok(Step::Moved(Self::NotDroppedOff(Some(number.clone()))))
            }
            (
                Self::PreTransit(has)
                | Self::Accepted(Some(has))
                | Self::Transit(has)
                | Self::Delivered(has)
                | Self::Returned(has)
                | Self::Failure(has)
                | Self::NotDroppedOff(Some(has)),
                E::LabelIssued(offered),
            ) => {
                if has == offered {
                    Ok(Step::Unchanged)
                } else {
                    Err(Refused::AnotherLabel { has: has.clone(), offered: offered.clone() })
                }
            }
            (Self::AwaitingLabel, E::Accepted) => Ok(Step::Moved(Self::Accepted(None))),
            (Self::AwaitingLabel, E::LeftOut) => Ok(Step::Moved(Self::NotDroppedOff(None))),
            (Self::NotDroppedOff(number), E::Accepted) => Ok(Step::Moved(Self::Accepted(number.clone()))),
            // The scan overtook the label: the flow stores it and replays it when the label commits.
            (
                Self::AwaitingLabel | Self::Accepted(None) | Self::NotDroppedOff(None),
                E::Scanned | E::Delivered | E::Returned | E::Failed,
            ) => Ok(Step::TooEarly),
            (
                Self::PreTransit(number) | Self::Accepted(Some(number)) | Self::Failure(number) | Self::NotDroppedOff(Some(number)),
                E::Scanned,
            ) => Ok(Step::Moved(Self::Transit(number.clone()))),
            (
                Self::PreTransit(number)
                | Self::Accepted(Some(number))
                | Self::Transit(number)
                | Self::Failure(number)
                | Self::NotDroppedOff(Some(number)),
                E::Delivered,
            ) => Ok(Step::Moved(Self::Delivered(number.clone()))),
            (
                Self::PreTransit(number)
                | Self::Accepted(Some(number))
                | Self::Transit(number)
                | Self::Failure(number)
                | Self::NotDroppedOff(Some(number)),
                E::Returned,
            ) => Ok(Step::Moved(Self::Returned(number.clone()))),
            (
                Self::PreTransit(number) | Self::Accepted(Some(number)) | Self::Transit(number) | Self::NotDroppedOff(Some(number)),
                E::Failed,
            ) => Ok(Step::Moved(Self::Failure(number.clone()))),
            // Repeats, and events that the parcel has already passed.
            (
                Self::Accepted(_) | Self::Transit(_) | Self::Delivered(_) | Self::Returned(_) | Self::Failure(_),
                E::Accepted | E::LeftOut,
            )
            | (Self::NotDroppedOff(_), E::LeftOut)
            | (Self::Transit(_), E::Scanned)
            | (Self::Delivered(_) | Self::Returned(_), E::Scanned | E::Delivered | E::Returned | E::Failed)
            | (Self::Failure(_), E::Failed) => Ok(Step::Unchanged),
        }
    }
}

#[cfg(test)]
mod tests;
