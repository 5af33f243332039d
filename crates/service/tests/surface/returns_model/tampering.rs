//! Faults put into what is seen: a check that has never failed is no evidence.

use super::view::View;

/// What is tampered with.
#[derive(Clone, Copy, Debug)]
pub enum Tampering {
    /// A message is missing.
    DroppedMessage,
    /// A message is there twice.
    RepeatedMessage,
    /// A refund covers a unit more than it says.
    DoubleRefund,
    /// A unit is taken for its neighbour.
    SwappedUnit,
    /// A unit is in a return and free.
    LostClaim,
    /// What is final goes on.
    Revived,
}

impl Tampering {
    pub const ALL: [Self; 6] =
        [Self::DroppedMessage, Self::RepeatedMessage, Self::DoubleRefund, Self::SwappedUnit, Self::LostClaim, Self::Revived];

    /// Changes what is seen, and answers whether there was anything to change.
    pub fn change(self, view: &mut View) -> bool {
        match self {
            Self::DroppedMessage => view.told.pop().is_some(),
            Self::RepeatedMessage => {
                let last = view.told.last().cloned();
                view.told.extend(last.clone());
                last.is_some()
            }
            Self::DoubleRefund => view.returns.iter_mut().any(|kept| {
                let refund = kept.units.iter().find_map(|unit| unit.refund.clone());
                let open = kept.units.iter_mut().find(|unit| unit.refund.is_none());
                open.zip(refund).map(|(unit, refund)| unit.refund = Some(refund)).is_some()
            }),
            Self::SwappedUnit => view.returns.iter_mut().filter(|kept| kept.status != "CANCELED").any(|kept| {
                let [first, second, ..] = kept.units.as_mut_slice() else { return false };
                first.number = second.number;
                first.line.clone_from(&second.line);
                true
            }),
            Self::LostClaim => view.claims.pop_first().is_some(),
            Self::Revived => {
                let ended = view.returns.iter_mut().find(|kept| kept.status == "CANCELED");
                ended.map(|kept| "CREATED".clone_into(&mut kept.status)).is_some()
            }
        }
    }
}
