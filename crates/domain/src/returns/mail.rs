//! The mails to shoppers, and which of them a change of a return sends.

use chrono::TimeDelta;

use super::rma::word::words;
use super::rma::{RefundType, Rma, Status};

/// A link in a mail about a return works this long.
pub const LINK_LASTS: TimeDelta = TimeDelta::days(90);
/// A label that comes within this time of the confirmation is not announced by a mail of its own: the confirmation leads to it.
pub const LABEL_IS_EXPECTED: TimeDelta = TimeDelta::minutes(10);

words! {
    /// A mail to a shopper; the name of its message.
    Mail, "mail" {
        /// The return is confirmed.
        Confirmed = "mail.confirmed",
        /// The label came later than the confirmation said.
        LabelReady = "mail.label_ready",
        /// The carrier has the goods.
        OnItsWay = "mail.on_its_way",
        /// The goods are still with the shopper, and the return expires soon.
        Reminder = "mail.reminder",
        /// The merchant has refunded units.
        Refunded = "mail.refunded",
        Cancelled = "mail.cancelled",
        /// Cancelled because the goods were not handed over in time.
        Expired = "mail.expired",
        /// The merchant has placed the exchange order.
        ExchangePlaced = "mail.exchange_placed",
        /// The exchange was not placed; its units are refunded.
        ExchangeSoldOut = "mail.exchange_sold_out",
        /// The link to all orders that a shopper asked for.
        SignInLink = "mail.sign_in_link",
        /// A statement of withdrawal has arrived.
        Withdrawal = "mail.withdrawal",
    }
}

impl Mail {
    /// The name without its prefix, as operators write it.
    #[must_use]
    pub fn short(self) -> &'static str {
        self.as_str().trim_start_matches("mail.")
    }

    /// True if a merchant may switch it off. A shopper who asks for a link waits for it, and the law wants a withdrawal acknowledged.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        match self {
            Self::SignInLink | Self::Withdrawal => false,
            Self::Confirmed
            | Self::LabelReady
            | Self::OnItsWay
            | Self::Reminder
            | Self::Refunded
            | Self::Cancelled
            | Self::Expired
            | Self::ExchangePlaced
            | Self::ExchangeSoldOut => true,
        }
    }
}

/// The mails that the change of a return from `before` to `after` sends, besides that on a refund, which is about the merchant's own
/// amount. `expired` tells an expiry from a cancellation, `expected` that the label was promised a moment ago.
#[must_use]
pub fn news(before: &Rma, after: &Rma, expired: bool, expected: bool) -> Vec<Mail> {
    if after.status == Status::Cancelled {
        let ended = if expired { Mail::Expired } else { Mail::Cancelled };
        return if before.status == Status::Cancelled { Vec::new() } else { vec![ended] };
    }
    let handed_over = |rma: &Rma| rma.units.iter().any(|unit| unit.parcel.has_moved());
    let pairs = || before.units.iter().zip(&after.units);
    let placed = pairs().any(|(was, is)| was.exchange_owed && !is.exchange_owed && is.refund_type != RefundType::Refund);
    let sold_out = pairs().any(|(was, is)| was.refund_type != RefundType::Refund && is.refund_type == RefundType::Refund);
    let labelled = !before.is_labelled() && after.is_labelled() && !after.has_moved() && !expected;
    [
        (placed, Mail::ExchangePlaced),
        (sold_out, Mail::ExchangeSoldOut),
        (labelled, Mail::LabelReady),
        (!handed_over(before) && handed_over(after), Mail::OnItsWay),
    ]
    .into_iter()
    .filter_map(|(happened, mail)| happened.then_some(mail))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::rma::{CarrierEvent, Method, TrackingNumber, Unit, Which};
    use super::*;

    fn rma(of: &[RefundType]) -> Rma {
        let unit = |(at, refund_type): (usize, &RefundType)| {
            let number = u32::try_from(at).expect("few units") + 1;
            Unit::new("L-1".to_owned(), number, *refund_type, Method::MailBack, false)
        };
        Rma::new(Method::MailBack, of.iter().enumerate().map(unit).collect())
    }

    /// The mails of a change that `change` makes.
    fn after(before: &Rma, expected: bool, change: impl FnOnce(&mut Rma)) -> (Rma, Vec<Mail>) {
        let mut after = before.clone();
        change(&mut after);
        let mails = news(before, &after, false, expected);
        (after, mails)
    }

    fn number() -> TrackingNumber {
        "1Z999".parse().expect("a tracking number")
    }

    #[test]
    fn a_label_is_announced_unless_it_was_expected_and_a_scan_once() {
        let new = rma(&[RefundType::Refund]);
        let label = |rma: &mut Rma| drop(rma.carry(&CarrierEvent::LabelIssued(number()), Which::All));
        assert_eq!(after(&new, true, label).1, []);
        let (labelled, mails) = after(&new, false, label);
        assert_eq!(mails, [Mail::LabelReady]);
        let (accepted, mails) = after(&labelled, false, |rma| drop(rma.carry(&CarrierEvent::Accepted, Which::All)));
        assert_eq!(mails, [Mail::OnItsWay]);
        let scan = |rma: &mut Rma| drop(rma.carry(&CarrierEvent::Scanned, Which::All));
        assert_eq!(after(&accepted, false, scan).1, [], "the shopper knows");
    }

    #[test]
    fn an_exchange_is_placed_or_sold_out() {
        let new = rma(&[RefundType::EvenExchange, RefundType::Refund]);
        assert_eq!(after(&new, false, |rma| _ = rma.place_exchange()).1, [Mail::ExchangePlaced]);
        assert_eq!(after(&new, false, |rma| _ = rma.convert_exchange()).1, [Mail::ExchangeSoldOut]);
    }

    #[test]
    fn the_end_of_a_return_is_told_once() {
        let new = rma(&[RefundType::Refund]);
        let (cancelled, mails) = after(&new, false, |rma| drop(rma.cancel()));
        assert_eq!(mails, [Mail::Cancelled]);
        assert_eq!(news(&new, &cancelled, true, false), [Mail::Expired]);
        assert_eq!(news(&cancelled, &cancelled, false, false), []);
    }

    #[test]
    fn a_change_that_tells_the_shopper_nothing_sends_nothing() {
        let new = rma(&[RefundType::Refund]);
        assert_eq!(news(&new, &new, false, false), []);
        let (_, mails) = after(&new, false, |rma| drop(rma.refund(&[0])));
        assert_eq!(mails, [], "the mail on a refund needs the merchant's amount");
    }

    #[test]
    fn what_was_asked_for_or_the_law_wants_cannot_be_switched_off() {
        let fixed: Vec<Mail> = Mail::ALL.iter().copied().filter(|mail| !mail.is_optional()).collect();
        assert_eq!(fixed, [Mail::SignInLink, Mail::Withdrawal]);
        assert_eq!(Mail::LabelReady.short(), "label_ready");
    }
}
