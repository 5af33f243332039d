//! The time line of a return: every change with its time and its cause, newest first.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::returns::rma::policy::{BY_MERCHANT, BY_SHOPPER, BY_SUPPORT, EXPIRED, EXPIRES_AFTER};
use domain::returns::rma::{Event, Status};
use store::orders::refunds::Recorded;
use store::returns::rma_events::Change;
use store::returns::rmas::Return;

use super::amount::Currency;
use super::stamp::Stamp;
use super::view::View;
use crate::flow::returns::cancel_return::BY_OPERATOR;

/// A step of the time line.
pub(super) struct Step {
    /// `ok`, `warn`, `next` for what is still to come, or nothing.
    pub(super) class: &'static str,
    pub(super) at: Stamp,
    pub(super) what: String,
    /// The status that the return has from then on, if it changed.
    pub(super) status: Option<Status>,
    pub(super) cause: String,
}

/// The people and systems who made changes, by the change and its time.
pub(super) type Actors = BTreeMap<(Event, DateTime<Utc>), String>;

/// What the time line is made of.
pub(super) struct Facts<'a> {
    pub(super) kept: &'a Return,
    /// Newest first.
    pub(super) changes: &'a [Change],
    pub(super) actors: Actors,
    pub(super) refunds: &'a [Recorded],
    pub(super) due: Option<DateTime<Utc>>,
    pub(super) currency: &'a Currency,
    /// All changes are there, so that the return was started before the oldest.
    pub(super) is_complete: bool,
}

/// The reason for cancelling a return, in words.
pub(super) fn cancelled_because(reason: Option<&str>) -> String {
    match reason {
        Some(EXPIRED) => "nothing was sent within 30 days".to_owned(),
        Some(BY_MERCHANT) => "the merchant cancelled it".to_owned(),
        Some(BY_SHOPPER) => "the shopper cancelled it".to_owned(),
        Some(BY_SUPPORT) => "somebody of the merchant cancelled it for the shopper".to_owned(),
        Some(BY_OPERATOR) => "an operator cancelled it".to_owned(),
        Some(other) => other.to_owned(),
        None => "no reason is known".to_owned(),
    }
}

impl Facts<'_> {
    /// The steps, newest first, after what is still to come.
    pub(super) fn steps(&self, view: &View) -> Vec<Step> {
        let mut steps = self.to_come(view);
        steps.extend(self.changes.iter().filter(|change| change.event != Event::Created).map(|change| self.step(view, change)));
        if self.is_complete {
            steps.push(self.start(view));
        }
        steps
    }

    fn to_come(&self, view: &View) -> Vec<Step> {
        let next = |at, what: &str, cause: &str| Step {
            class: "next",
            at: view.time(at),
            what: what.to_owned(),
            status: None,
            cause: cause.to_owned(),
        };
        let expires = self
            .kept
            .wakes_at
            .map(|_| next(self.kept.created_at + EXPIRES_AFTER, "Cancelled by itself", "unless a carrier scans the goods before"));
        let due = self.due.filter(|due| *due > view.now).map(|due| next(due, "The refund is due", "as the merchant promises"));
        expires.into_iter().chain(due).collect()
    }

    fn start(&self, view: &View) -> Step {
        let mut reasons: Vec<&str> = self.kept.items.iter().map(|item| item.reason.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let at = self.kept.created_at;
        let who = self.actors.get(&(Event::Created, at)).map(|actor| format!(" · {actor}")).unwrap_or_default();
        let cause = format!("{}{who}", reasons.join(", "));
        Step { class: "", at: view.time(at), what: "Return started".to_owned(), status: Some(Status::Created), cause }
    }

    fn step(&self, view: &View, change: &Change) -> Step {
        let (class, what, status) = match change.event {
            Event::Created => ("", "Return started".to_owned(), Some(Status::Created)),
            Event::TrackingUpdated => (parcel_class(&change.parcels), parcels_in_words(&change.parcels), None),
            Event::Received => ("ok", "Units received".to_owned(), None),
            Event::ReceivingClosed => ("", "Receiving closed: nothing more is expected".to_owned(), None),
            Event::RefundRecorded => ("ok", "Refund recorded".to_owned(), None),
            Event::PartiallyRefunded => ("ok", "Some units are refunded".to_owned(), Some(Status::PartialRefund)),
            Event::Refunded => ("ok", "Refunded".to_owned(), Some(Status::Refunded)),
            Event::Cancelled => ("warn", "Cancelled".to_owned(), Some(Status::Cancelled)),
            Event::ExchangePlaced => ("ok", "The merchant placed the exchange".to_owned(), None),
            Event::ExchangeIdentified => ("ok", "The exchange order is named".to_owned(), None),
            Event::ExchangeConverted => ("warn", "The exchange was converted into refunds".to_owned(), None),
            Event::Resent => ("", "The state was sent to the merchant again".to_owned(), None),
        };
        Step { class, at: view.time(change.happened_at), what, status, cause: self.cause(change) }
    }

    fn cause(&self, change: &Change) -> String {
        let actor = self.actors.get(&(change.event, change.happened_at));
        let by = |otherwise: &str| actor.cloned().unwrap_or_else(|| otherwise.to_owned());
        match change.event {
            Event::Created | Event::Resent => by("on request"),
            Event::TrackingUpdated => "the carrier".to_owned(),
            Event::Received | Event::ReceivingClosed => "the warehouse".to_owned(),
            Event::RefundRecorded | Event::PartiallyRefunded | Event::Refunded => {
                let refunds: Vec<String> = self.arrived_at(change.happened_at).collect();
                if refunds.is_empty() { by("the merchant's order") } else { format!("the merchant: {}", refunds.join(", ")) }
            }
            Event::Cancelled => {
                let why = cancelled_because(self.kept.cancel_reason.as_deref());
                actor.map_or_else(|| why.clone(), |actor| format!("{why} · {actor}"))
            }
            Event::ExchangePlaced | Event::ExchangeIdentified => {
                let order = self.kept.items.iter().find_map(|item| item.exchange_order.as_deref());
                order.map_or_else(|| by("the merchant"), |order| format!("{order} · {}", by("the merchant")))
            }
            Event::ExchangeConverted => by("the merchant refused the exchange order for good"),
        }
    }

    /// The refunds that arrived at this moment, with their amounts.
    fn arrived_at(&self, at: DateTime<Utc>) -> impl Iterator<Item = String> {
        let arrived = self.refunds.iter().filter(move |refund| refund.received_at == at);
        arrived.map(|refund| format!("{}, {}", refund.identifier, self.currency.tell(refund.refund.total)))
    }
}

fn parcel_class(parcels: &[String]) -> &'static str {
    let is = |wanted: &str| parcels.iter().any(|parcel| parcel == wanted);
    match (is("FAILURE") || is("RETURNED"), is("DELIVERED")) {
        (true, _) => "warn",
        (false, true) => "ok",
        (false, false) => "",
    }
}

/// The states of parcels in words.
fn parcels_in_words(parcels: &[String]) -> String {
    let words: Vec<&str> = parcels.iter().map(|parcel| parcel_in_words(parcel)).collect();
    if words.is_empty() { "The parcel has changed".to_owned() } else { words.join("; ") }
}

fn parcel_in_words(parcel: &str) -> &str {
    match parcel {
        "PRE_TRANSIT" => "There is a label",
        "ACCEPTED" => "Handed in",
        "TRANSIT" => "In transit",
        "DELIVERED" => "Delivered",
        "RETURNED" => "On its way back to the shopper",
        "FAILURE" => "The carrier reports a problem",
        "NOT_DROPPED_OFF" => "Some units were not dropped off",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parcels_are_told_in_words_and_problems_stand_out() {
        let parcels = ["ACCEPTED".to_owned(), "NOT_DROPPED_OFF".to_owned()];
        assert_eq!(parcels_in_words(&parcels), "Handed in; Some units were not dropped off");
        assert_eq!(parcels_in_words(&[]), "The parcel has changed");
        assert_eq!(parcel_class(&["FAILURE".to_owned(), "DELIVERED".to_owned()]), "warn");
        assert_eq!(parcel_class(&["DELIVERED".to_owned()]), "ok");
    }
}
