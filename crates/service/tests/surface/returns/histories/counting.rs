//! Counts what happened in the histories, so that a case that never occurs is noticed.

use std::collections::BTreeMap;

use super::invariants::Record;
use super::step::Step;
use super::view::View;

/// Every outcome that must occur: the first word of a step's result, and what can happen to exchanges and refunds, and before a label.
pub const OUTCOMES: [&str; 55] = [
    "created",
    "updated",
    "unchanged",
    "stale",
    "refused",
    "started",
    "repeated",
    "faulty",
    "key",
    "moved",
    "kept",
    "another's",
    "no",
    "received",
    "already_received",
    "conflict",
    "over_received",
    "unexpected_unit",
    "unknown_return",
    "canceled_return",
    "closed",
    "cancelled",
    "resent",
    "woken",
    "mail.confirmed",
    "mail.label_ready",
    "mail.on_its_way",
    "mail.reminder",
    "mail.refunded",
    "mail.cancelled",
    "mail.expired",
    "mail.exchange_placed",
    "mail.exchange_sold_out",
    "delivered",
    "postponed",
    "abandoned",
    "withdrawn",
    "unheard",
    "not",
    "converted",
    "ended",
    "still",
    "retried",
    "over",
    "variant",
    "gift card",
    "settled by an exchange",
    "answered twice",
    "exchange refunded late",
    "confirmed",
    "nothing",
    "refund in question",
    "answered by another refund",
    "refund by amount",
    "handed over without a label",
];

/// The number of times each outcome and each message occurred.
pub type Counts = BTreeMap<String, usize>;

pub fn count(record: &Record, counts: &mut Counts) {
    let mut before = &View::default();
    for (step, view) in record {
        // Each unit that is received has an outcome of its own.
        let several = if matches!(step, Step::Receive(_)) { view.outcome.split(", ").collect() } else { vec![view.outcome.as_str()] };
        let outcomes = several.into_iter().map(|outcome| outcome.split(' ').next().unwrap_or_default());
        let events = view.messages.iter().map(|message| message.event.as_str());
        let mails = view.mails.iter().map(|(_, mail)| mail.as_str());
        let of_step = exchanging(step, before, view).into_iter().chain(refunding(step, before, view)).chain(handing_over(view));
        for word in events.chain(outcomes).chain(mails).chain(of_step) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        before = view;
    }
}

/// The outcomes that concern goods which are handed over before there is a label.
fn handing_over(view: &View) -> Vec<&'static str> {
    let mut words = Vec::new();
    for message in view.messages.iter().filter(|message| message.event == "rma.tracking_updated") {
        let accepted = message.units.iter().any(|unit| unit.parcel.as_deref() == Some("ACCEPTED"));
        let without = message.units.iter().all(|unit| unit.tracking.is_none());
        words.extend((accepted && without).then_some("handed over without a label"));
    }
    words
}

/// The outcomes that concern exchanges.
fn exchanging(step: &Step, before: &View, view: &View) -> Vec<&'static str> {
    let mut words = Vec::new();
    for item in view.asked.iter().flat_map(|asked| &asked.items) {
        words.push(if item.bonus.is_some() { "gift card" } else { "variant" });
    }
    let settled = view.messages.iter().any(|message| message.event == "rma.refunded");
    let sent = !view.messages.is_empty();
    match (step, view.outcome.as_str()) {
        (Step::Answer(..), "delivered") if settled => words.push("settled by an exchange"),
        (Step::Answer(..), "delivered") if !sent => words.push("answered twice"),
        _ => {}
    }
    let was_settled = |name: &str| before.returns.iter().any(|kept| kept.name == name && kept.status == "REFUNDED");
    let late = |event: &str| event == "rma.refund_recorded";
    words.extend(
        view.messages.iter().filter(|message| late(&message.event) && was_settled(&message.name)).map(|_| "exchange refunded late"),
    );
    words
}

/// The outcomes that concern refunds.
fn refunding(step: &Step, before: &View, view: &View) -> Vec<&'static str> {
    let mut words = Vec::new();
    if view.questions.difference(&before.questions).next().is_some() {
        words.push("refund in question");
    }
    if let Step::Publish(snapshot) = step {
        if before.questions.difference(&view.questions).next().is_some() {
            words.push("answered by another refund");
        }
        let by_amount = snapshot.refunds.iter().any(|refund| refund.lines.is_empty() && refund.named.is_some());
        if by_amount && view.messages.iter().any(|message| message.event == "rma.refunded") {
            words.push("refund by amount");
        }
    }
    words
}
