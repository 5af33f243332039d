//! Where the parcel of a returned unit is.
//!
//! Carriers repeat themselves, report late and skip steps. So a parcel only goes forward: what it has already passed changes
//! nothing, and a step that nobody reported is passed over.

use std::fmt;
use std::str::FromStr;

use super::{Method, Refused, Step};

/// A carrier's name for a parcel: 1 to 255 characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackingNumber(String);

/// Why a text is no [`TrackingNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tracking number is 1 to 255 characters, none of them a control character")]
pub struct NoTrackingNumber;

impl TrackingNumber {
    /// The number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TrackingNumber {
    type Err = NoTrackingNumber;

    fn from_str(text: &str) -> Result<Self, NoTrackingNumber> {
        let text = text.trim();
        let fits = (1..=255).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.to_owned())) } else { Err(NoTrackingNumber) }
    }
}

impl fmt::Display for TrackingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a carrier, or a partner who collects, reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarrierEvent {
    /// There is a label.
    LabelIssued(TrackingNumber),
    /// Dropped off or collected.
    Accepted,
    /// Not among what was dropped off.
    LeftOut,
    /// Scanned on its way.
    Scanned,
    /// Arrived at the merchant.
    Delivered,
    /// Sent back to the shopper.
    Returned,
    /// The carrier has trouble with it.
    Failed,
}

/// Where the parcel of a unit is. A tracking number exists exactly when a label does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parcel {
    /// The shopper keeps the goods: there is none, and never will be.
    Kept,
    /// No label yet.
    AwaitingLabel,
    /// The label is there, the parcel is still with the shopper.
    PreTransit(TrackingNumber),
    /// Dropped off or collected.
    Accepted(TrackingNumber),
    /// On its way.
    Transit(TrackingNumber),
    /// At the merchant.
    Delivered(TrackingNumber),
    /// Back at the shopper.
    Returned(TrackingNumber),
    /// The carrier has trouble with it.
    Failure(TrackingNumber),
    /// Still with the shopper, while other units of the return are not.
    NotDroppedOff(TrackingNumber),
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

    /// The parcel as it was stored: its word and its tracking number are both there or both absent.
    #[must_use]
    pub fn restore(method: Method, word: Option<&str>, number: Option<TrackingNumber>) -> Option<Self> {
        match (word, number) {
            (None, None) => Some(Self::new(method)),
            (Some("PRE_TRANSIT"), Some(number)) => Some(Self::PreTransit(number)),
            (Some("ACCEPTED"), Some(number)) => Some(Self::Accepted(number)),
            (Some("TRANSIT"), Some(number)) => Some(Self::Transit(number)),
            (Some("DELIVERED"), Some(number)) => Some(Self::Delivered(number)),
            (Some("RETURNED"), Some(number)) => Some(Self::Returned(number)),
            (Some("FAILURE"), Some(number)) => Some(Self::Failure(number)),
            (Some("NOT_DROPPED_OFF"), Some(number)) => Some(Self::NotDroppedOff(number)),
            (Some(_), _) | (None, Some(_)) => None,
        }
    }

    /// The contract's word for it; none before the label.
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
            Self::PreTransit(number)
            | Self::Accepted(number)
            | Self::Transit(number)
            | Self::Delivered(number)
            | Self::Returned(number)
            | Self::Failure(number)
            | Self::NotDroppedOff(number) => Some(number),
        }
    }

    /// Whether the shopper has let go of it.
    #[must_use]
    pub const fn has_moved(&self) -> bool {
        match self {
            Self::Kept | Self::AwaitingLabel | Self::PreTransit(_) | Self::NotDroppedOff(_) => false,
            Self::Accepted(_) | Self::Transit(_) | Self::Delivered(_) | Self::Returned(_) | Self::Failure(_) => true,
        }
    }

    /// Where the parcel is after `event`.
    ///
    /// The first end stands: a parcel that went back to the shopper is "delivered" there too, and a merchant who refunds at
    /// delivery must not take that for an arrival; one that was delivered and is then refused at the door shows in receiving.
    pub fn on(&self, event: &CarrierEvent) -> Result<Step<Self>, Refused> {
        use CarrierEvent as E;
        match (self, event) {
            (Self::Kept, E::LabelIssued(_) | E::Accepted | E::LeftOut | E::Scanned | E::Delivered | E::Returned | E::Failed) => {
                Err(Refused::NoParcel)
            }
            (Self::AwaitingLabel, E::LabelIssued(number)) => Ok(Step::Moved(Self::PreTransit(number.clone()))),
            // It overtook the label: the flow keeps it and replays it when the label commits.
            (Self::AwaitingLabel, E::Accepted | E::LeftOut | E::Scanned | E::Delivered | E::Returned | E::Failed) => Ok(Step::TooEarly),
            (
                Self::PreTransit(has)
                | Self::Accepted(has)
                | Self::Transit(has)
                | Self::Delivered(has)
                | Self::Returned(has)
                | Self::Failure(has)
                | Self::NotDroppedOff(has),
                E::LabelIssued(offered),
            ) => {
                if has == offered {
                    Ok(Step::Unchanged)
                } else {
                    Err(Refused::AnotherLabel { has: has.clone(), offered: offered.clone() })
                }
            }
            (Self::PreTransit(number) | Self::NotDroppedOff(number), E::Accepted) => Ok(Step::Moved(Self::Accepted(number.clone()))),
            (Self::PreTransit(number), E::LeftOut) => Ok(Step::Moved(Self::NotDroppedOff(number.clone()))),
            (Self::PreTransit(number) | Self::Accepted(number) | Self::Failure(number) | Self::NotDroppedOff(number), E::Scanned) => {
                Ok(Step::Moved(Self::Transit(number.clone())))
            }
            (
                Self::PreTransit(number)
                | Self::Accepted(number)
                | Self::Transit(number)
                | Self::Failure(number)
                | Self::NotDroppedOff(number),
                E::Delivered,
            ) => Ok(Step::Moved(Self::Delivered(number.clone()))),
            (
                Self::PreTransit(number)
                | Self::Accepted(number)
                | Self::Transit(number)
                | Self::Failure(number)
                | Self::NotDroppedOff(number),
                E::Returned,
            ) => Ok(Step::Moved(Self::Returned(number.clone()))),
            (Self::PreTransit(number) | Self::Accepted(number) | Self::Transit(number) | Self::NotDroppedOff(number), E::Failed) => {
                Ok(Step::Moved(Self::Failure(number.clone())))
            }
            // Repeats, and what comes after it is known to be further.
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
