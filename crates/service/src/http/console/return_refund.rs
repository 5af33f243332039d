//! The answer to "Where is my refund?" in one sentence.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::money::Cents;
use domain::returns::rma::{ExchangeState, Method, RefundType, Status, Unit};
use store::orders::refunds::Recorded;
use store::returns::rmas::{Item, Return};

use super::amount::{Currency, sum};
use super::return_timeline::cancelled_because;
use super::stamp::Stamp;
use super::view::View;

/// The sentence: bold words with a day, and the rest after a semicolon.
pub(super) struct Answer {
    /// `ok`, `warn`, `bad` or nothing; the class of the notice.
    pub(super) class: &'static str,
    pub(super) bold: &'static str,
    pub(super) day: Option<Stamp>,
    pub(super) rest: String,
}

/// What the answer is made of.
pub(super) struct Facts<'a> {
    pub(super) kept: &'a Return,
    /// The merchant's promise for what came back.
    pub(super) due: Option<DateTime<Utc>>,
    /// Every refund of the order.
    pub(super) refunds: &'a [Recorded],
    /// The days within which the merchant promises refunds.
    pub(super) days: i32,
    pub(super) currency: &'a Currency,
}

/// The refunds that cover units of the return.
pub(super) fn covering<'a>(kept: &Return, refunds: &'a [Recorded]) -> Vec<&'a Recorded> {
    let named: BTreeSet<&str> = kept.items.iter().filter_map(|item| item.refund.as_deref()).collect();
    refunds.iter().filter(|refund| named.contains(refund.identifier.as_str())).collect()
}

impl Facts<'_> {
    pub(super) fn answer(&self, view: &View) -> Answer {
        let rma = &self.kept.rma;
        let is_refund = |unit: &Unit| unit.refund_type == RefundType::Refund;
        let answer = |class, bold, day: Option<DateTime<Utc>>, rest| Answer { class, bold, day: day.map(|at| view.day(at)), rest };
        if rma.status == Status::Cancelled {
            let why = cancelled_because(self.kept.cancel_reason.as_deref());
            return answer("", "No refund", None, format!("the return was cancelled: {why}."));
        }
        if rma.is_in_question() {
            let rest = "the merchant reported one while the exchange order was owed. Somebody must confirm that it is the shopper's money.";
            return answer("warn", "Refund in question", None, rest.to_owned());
        }
        if !rma.units.iter().any(is_refund) {
            return answer("", "No refund", None, self.exchanged());
        }
        let open = self.sum(|unit| is_refund(unit) && !unit.refunded);
        if rma.units.iter().filter(|unit| is_refund(unit)).all(|unit| unit.refunded) {
            let last = covering(self.kept, self.refunds).iter().map(|refund| refund.refund.refunded_at).max();
            return answer("ok", if last.is_some() { "Refunded on" } else { "Refunded" }, last, self.paid());
        }
        let owes = format!("{}{}", self.currency.tell(open), self.before());
        match (self.due, rma.method) {
            (Some(due), _) if due <= view.now => {
                answer("bad", "Refund overdue since", Some(due), format!("the goods have come back, and the merchant still owes {owes}"))
            }
            (Some(due), _) => answer("warn", "Refund due by", Some(due), format!("the goods have come back, and the merchant owes {owes}")),
            (None, Method::CustomerKeep) => {
                let rest = format!("the shopper keeps the goods, so the merchant refunds without waiting: {owes} No day is promised.");
                answer("", "Refund to come", None, rest)
            }
            (None, Method::MailBack | Method::ExpressReturns) => {
                let days = self.days;
                let rest =
                    format!("the goods have not come back. Once a carrier has scanned them, the merchant has {days} days to refund {owes}");
                answer("", "No refund is due yet", None, rest)
            }
        }
    }

    /// What the shopper gets for these units.
    fn sum(&self, wanted: impl Fn(&Unit) -> bool) -> Cents {
        sum(self.kept.units().filter(|(unit, _)| wanted(unit)).map(|(_, item): (&Unit, &Item)| item.financials.shopper))
    }

    /// The end of a sentence on what is owed: what was refunded before.
    fn before(&self) -> String {
        let refunds = covering(self.kept, self.refunds);
        if refunds.is_empty() {
            return ".".to_owned();
        }
        let total = sum(refunds.iter().map(|refund| refund.refund.total));
        format!("; {} was refunded before, with {}.", self.currency.tell(total), names(&refunds))
    }

    fn paid(&self) -> String {
        let refunds = covering(self.kept, self.refunds);
        let exchange = match self.kept.rma.exchange() {
            Some(ExchangeState::Pending) => " The exchange order is still owed.",
            Some(ExchangeState::Placed | ExchangeState::Converted) | None => "",
        };
        if refunds.is_empty() {
            return format!("the merchant has settled the return.{exchange}");
        }
        let total = self.currency.tell(sum(refunds.iter().map(|refund| refund.refund.total)));
        format!("the merchant paid {total} with {}.{exchange}", names(&refunds))
    }

    fn exchanged(&self) -> String {
        match self.kept.rma.exchange() {
            Some(ExchangeState::Pending) => "the shopper gets an exchange, which the merchant has not placed yet.".to_owned(),
            Some(ExchangeState::Placed | ExchangeState::Converted) | None => {
                match self.kept.items.iter().find_map(|item| item.exchange_order.as_deref()) {
                    Some(order) => format!("the shopper gets an exchange, the order {order}."),
                    None => "the shopper gets an exchange, whose order the merchant has not named.".to_owned(),
                }
            }
        }
    }
}

/// The identifiers of refunds, after one another.
fn names(refunds: &[&Recorded]) -> String {
    refunds.iter().map(|refund| refund.identifier.as_str()).collect::<Vec<_>>().join(", ")
}
