//! Counts what happened in the histories, so that a case that never occurs is noticed.

use std::collections::BTreeMap;

use super::invariants::Record;
use super::step::Step;
use super::view::View;

/// Every outcome that must occur: the first word of a step's result, and what can happen to exchanges.
pub const OUTCOMES: [&str; 42] = [
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
    "reminded",
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
    "settled by a conversion",
    "answered twice",
    "exchange refunded late",
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
        let reminders = view.reminded.iter().map(|_| "reminded");
        for word in events.chain(outcomes).chain(reminders).chain(exchanging(step, before, view)) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        before = view;
    }
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
        (Step::Answer(..), "withdrawn") | (Step::Convert(_), _) if settled => words.push("settled by a conversion"),
        _ => {}
    }
    let was_settled = |name: &str| before.returns.iter().any(|kept| kept.name == name && kept.status == "REFUNDED");
    let late = |event: &str| event == "rma.refund_recorded";
    words.extend(
        view.messages.iter().filter(|message| late(&message.event) && was_settled(&message.name)).map(|_| "exchange refunded late"),
    );
    words
}
