//! Faults injected into the observed view: a check that has never failed proves nothing.

use super::view::View;

/// An injected fault.
#[derive(Clone, Copy, Debug)]
pub enum Tampering {
    DroppedMessage,
    RepeatedMessage,
    /// A unit is refunded by a refund that nobody stated.
    InventedRefund,
    /// The operator does not see that a refund is in question.
    LostQuestion,
    /// A unit is mistaken for its neighbour.
    SwappedUnit,
    /// A unit is in a return but not claimed.
    LostClaim,
    /// A final return becomes live again.
    Revived,
    /// An order has a second exchange order.
    SecondExchange,
    /// The merchant gets the same exchange order twice.
    AskedTwice,
    /// A unit is both exchanged and refunded.
    PaidTwice,
    /// The message about a placed exchange order is missing.
    UntoldPlacement,
    /// A placed exchange order is converted into refunds.
    Unplaced,
    /// An exchange order has one unit too many.
    OneTooMany,
}

impl Tampering {
    pub const ALL: [Self; 13] = [
        Self::DroppedMessage,
        Self::RepeatedMessage,
        Self::InventedRefund,
        Self::LostQuestion,
        Self::SwappedUnit,
        Self::LostClaim,
        Self::Revived,
        Self::SecondExchange,
        Self::AskedTwice,
        Self::PaidTwice,
        Self::UntoldPlacement,
        Self::Unplaced,
        Self::OneTooMany,
    ];

    /// Injects the fault; returns false if the view offers nothing to change.
    pub fn change(self, view: &mut View) -> bool {
        match self {
            Self::DroppedMessage => view.messages.pop().is_some(),
            Self::RepeatedMessage => repeat_last(&mut view.messages),
            Self::InventedRefund => {
                let open = view.returns.iter_mut().flat_map(|kept| &mut kept.units).find(|unit| unit.refund.is_none());
                open.map(|unit| unit.refund = Some("F-9999".to_owned())).is_some()
            }
            Self::LostQuestion => view.questions.pop_first().is_some(),
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
            Self::SecondExchange => repeat_last(&mut view.exchanges),
            Self::AskedTwice => repeat_last(&mut view.asked),
            Self::PaidTwice => {
                let exchanged = view.returns.iter_mut().flat_map(|kept| &mut kept.units).find(|unit| unit.got.is_exchange());
                exchanged.map(|unit| unit.got.shopper += 1).is_some()
            }
            Self::UntoldPlacement => {
                let placed = view.messages.iter().position(|message| message.event == "rma.exchange_placed");
                placed.map(|at| view.messages.remove(at)).is_some()
            }
            Self::Unplaced => {
                let placed = view.exchanges.iter_mut().find(|exchange| exchange.state == "placed");
                placed.map(|exchange| "converted".clone_into(&mut exchange.state)).is_some()
            }
            Self::OneTooMany => {
                let item = view.asked.first_mut().and_then(|asked| asked.items.first_mut());
                item.map(|item| item.lines[0].1 += 1).is_some()
            }
        }
    }
}

fn repeat_last<T: Clone>(of: &mut Vec<T>) -> bool {
    let last = of.last().cloned();
    of.extend(last.clone());
    last.is_some()
}
