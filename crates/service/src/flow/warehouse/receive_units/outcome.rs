//! The outcome of each scanned unit of a message.

use domain::warehouse::inbound::{Exception, State};
use store::warehouse::inbound_asns::StoredAsn;
use store::warehouse::receipts::{Known, Placed, Receipt};
use uuid::Uuid;

use super::scan::Scanned;
use crate::show::warehouse::inbound::scanned;

/// The outcome of a scanned unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitOutcome {
    Received(Known),
    /// Received earlier, for the same ASN or return.
    AlreadyReceived(Known),
    /// Received earlier, for another ASN or return.
    Conflict(Known),
    Exception(Exception),
}

/// The thing that a unit is received against.
pub(super) enum Against<'a> {
    /// A line of an ASN.
    Line(&'a StoredAsn, &'a Placed),
    /// An order line of a return.
    Return { id: Uuid, identifier: &'a str, line: String },
}

/// A unit that is received.
pub(super) struct MatchedUnit<'a> {
    pub(super) scanned: &'a Scanned<'a>,
    pub(super) against: Against<'a>,
}

impl MatchedUnit<'_> {
    /// The ASN and the line, if the ASN is closed already.
    pub(super) fn late(&self) -> Option<(&str, &str)> {
        match &self.against {
            Against::Line(asn, placed) => {
                (asn.state == State::Closed).then_some((asn.asn.number.as_str(), placed.line.identifier.as_str()))
            }
            Against::Return { .. } => None,
        }
    }

    pub(super) fn receipt(&self) -> Receipt<'_> {
        match &self.against {
            Against::Line(asn, placed) => scanned::receipt(self.scanned.unit, asn, placed),
            Against::Return { id, line, .. } => scanned::receipt_of_return(self.scanned.unit, *id, line),
        }
    }

    fn known(&self) -> Known {
        let unit = self.scanned.unit.unit_identifier.0.to_string();
        match &self.against {
            Against::Line(asn, placed) => Known {
                unit,
                asn_number: Some(asn.asn.number.clone()),
                rma: placed.line.rma().map(ToOwned::to_owned),
                line: placed.line.identifier.clone(),
            },
            Against::Return { identifier, line, .. } => {
                Known { unit, asn_number: None, rma: Some((*identifier).to_owned()), line: line.clone() }
            }
        }
    }
}

/// The assignment of a scanned unit.
pub(super) enum Assignment<'a> {
    Received(MatchedUnit<'a>),
    /// Received earlier, or earlier in the same message.
    AlreadyReceived(Known),
    Conflict(Known),
    Exception(&'a Scanned<'a>, Exception),
    /// The same exception as for an earlier scan in the same message.
    RepeatedException(Exception),
}

impl<'a> Assignment<'a> {
    pub(super) const fn received(&self) -> Option<&MatchedUnit<'a>> {
        match self {
            Self::Received(matched) => Some(matched),
            Self::AlreadyReceived(_) | Self::Conflict(_) | Self::Exception(..) | Self::RepeatedException(_) => None,
        }
    }

    pub(super) const fn exception(&self) -> Option<(&'a Scanned<'a>, Exception)> {
        match self {
            Self::Exception(scanned, exception) => Some((scanned, *exception)),
            Self::Received(_) | Self::AlreadyReceived(_) | Self::Conflict(_) | Self::RepeatedException(_) => None,
        }
    }

    pub(super) fn outcome(&self) -> UnitOutcome {
        match self {
            Self::Received(matched) => UnitOutcome::Received(matched.known()),
            Self::AlreadyReceived(known) => UnitOutcome::AlreadyReceived(known.clone()),
            Self::Conflict(known) => UnitOutcome::Conflict(known.clone()),
            Self::Exception(_, exception) | Self::RepeatedException(exception) => UnitOutcome::Exception(*exception),
        }
    }

    /// The assignment of a unit that was received before.
    pub(super) fn of_known(scanned: &Scanned<'_>, known: Known) -> Self {
        if scanned.is_for(&known) { Self::AlreadyReceived(known) } else { Self::Conflict(known) }
    }

    /// The assignment of the same unit when it is scanned again in the same message.
    pub(super) fn again(&self, scanned: &Scanned<'_>) -> Self {
        match self {
            Self::Received(matched) => Self::of_known(scanned, matched.known()),
            Self::AlreadyReceived(known) | Self::Conflict(known) => Self::of_known(scanned, known.clone()),
            Self::Exception(_, exception) | Self::RepeatedException(exception) => Self::RepeatedException(*exception),
        }
    }
}
