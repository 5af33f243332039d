//! A scanned unit of a message.

use std::collections::HashMap;

use domain::returns::rma::{Method, Status};
use domain::warehouse::inbound::Target;
use store::returns::rmas::Return;
use store::warehouse::receipts::Known;
use wire::warehouse::receiving::ReceivedUnitIn;

/// A scanned unit, with the ASN or the return that it was scanned for.
pub(super) struct Scanned<'a> {
    pub(super) unit: &'a ReceivedUnitIn<'a>,
    pub(super) target: Target<'a>,
}

impl<'a> Scanned<'a> {
    pub(super) const fn asn_number(&self) -> Option<&'a str> {
        match self.target {
            Target::Asn(number) => Some(number),
            Target::Return(_) | Target::Parcel(_) => None,
        }
    }

    pub(super) const fn rma(&self) -> Option<&'a str> {
        match self.target {
            Target::Return(identifier) => Some(identifier),
            Target::Asn(_) | Target::Parcel(_) => None,
        }
    }

    /// True if it names a return that the warehouse is not to receive.
    pub(super) fn is_unmanaged(&self, returns: &HashMap<String, Return>) -> bool {
        self.rma().and_then(|identifier| returns.get(identifier)).is_some_and(is_unmanaged)
    }

    /// True if the unit was received for the ASN or the return that it is scanned for.
    pub(super) fn is_for(&self, known: &Known) -> bool {
        match self.target {
            Target::Asn(number) => known.asn_number.as_deref() == Some(number),
            Target::Return(identifier) => known.rma.as_deref() == Some(identifier),
            Target::Parcel(_) => false,
        }
    }
}

/// True if the warehouse is not to receive the return, because it was started without managed receiving.
fn is_unmanaged(kept: &Return) -> bool {
    let travels = match kept.rma.method {
        Method::MailBack | Method::ExpressReturns => true,
        Method::CustomerKeep => false,
    };
    travels && kept.rma.status != Status::Cancelled && kept.rma.units.iter().all(|unit| unit.receiving.is_none())
}
