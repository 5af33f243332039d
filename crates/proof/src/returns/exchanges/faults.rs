//! Faults added to a copy of the records, to test that the checker finds them.

use super::history::{ExchangeMessage, History, Key, Wrong, check};
use super::temper::is_declared;

/// Falsifies the records of some order. Returns that order, if there was a suitable one.
type Fault = fn(&mut History) -> Option<Key>;

/// All faults, each with the finding it must cause.
const FAULTS: [(Wrong, Fault); 10] = [
    (Wrong::SecondBody, second_body),
    (Wrong::Misnamed, never_placed),
    (Wrong::Misnamed, another_name),
    (Wrong::Both, refunded_too),
    (Wrong::Both, converted_though_placed),
    (Wrong::Doubled, exchanged_twice),
    (Wrong::Unasked, converted_by_itself),
    (Wrong::Lost, not_reported),
    (Wrong::Lost, not_named),
    (Wrong::Lost, not_stored),
];

/// Adds each fault to a copy of the history. Returns how many the checker finds, and how many there are.
pub(super) fn caught(history: &History) -> (usize, usize) {
    let found = |(wrong, fault): &&(Wrong, Fault)| {
        let mut history = history.clone();
        fault(&mut history).is_some_and(|key| check(&history).wrong.contains(&(*wrong, key)))
    };
    (FAULTS.iter().filter(found).count(), FAULTS.len())
}

/// Some order with a placed exchange.
fn placed(history: &History) -> Option<Key> {
    let is_placed = |key: &&Key| history.stored.exchanges.get(*key).is_some_and(|of| of.iter().any(|exchange| exchange.state == "placed"));
    history.placed.keys().find(is_placed).cloned()
}

fn second_body(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.placed.get_mut(&key)?.bodies.insert("{}".to_owned());
    Some(key)
}

fn never_placed(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.placed.get_mut(&key)?.identifier = None;
    Some(key)
}

fn another_name(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.stored.exchanges.get_mut(&key)?.first_mut()?.unit_order = Some("X-another".to_owned());
    Some(key)
}

fn refunded_too(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.stored.exchanges.get_mut(&key)?.first_mut()?.shopper = 1;
    Some(key)
}

fn converted_though_placed(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    "converted".clone_into(&mut history.stored.exchanges.get_mut(&key)?.first_mut()?.state);
    Some(key)
}

fn exchanged_twice(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    let exchanges = history.stored.exchanges.get_mut(&key)?;
    let again = exchanges.first()?.clone();
    exchanges.push(again);
    Some(key)
}

fn not_reported(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.messages.retain(|message| message.order != key || message.event != "rma.exchange_placed");
    Some(key)
}

fn converted_by_itself(history: &mut History) -> Option<Key> {
    let key = history.stored.exchanges.keys().find(|(shop, order)| !is_declared(*shop, order)).cloned()?;
    history.asked_to_convert.remove(&key);
    "converted".clone_into(&mut history.stored.exchanges.get_mut(&key)?.first_mut()?.state);
    Some(key)
}

fn not_named(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.messages.retain(|message| message.order != key || message.exchange_order.is_none());
    history.messages.push(ExchangeMessage { order: key.clone(), event: "rma.exchange_placed".to_owned(), exchange_order: None });
    Some(key)
}

fn not_stored(history: &mut History) -> Option<Key> {
    let key = placed(history)?;
    history.stored.exchanges.remove(&key);
    Some(key)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use sandbox::merchant::ExchangeOrder;
    use uuid::Uuid;

    use super::*;
    use crate::returns::exchanges::confirm::Confirmed;
    use crate::returns::exchanges::history::{Stored, StoredExchange};

    /// The records of two orders, one exchanged and one refunded instead.
    fn history() -> History {
        let (placed, converted) = ((0, "O-0".to_owned()), (0, "O-1".to_owned()));
        let confirmed =
            |key: &Key, rma: &str| Confirmed { shop: 0, order: key.1.clone(), returns: BTreeSet::from([rma.to_owned()]), refused: 9 };
        let asked = |identifier: Option<&str>| ExchangeOrder {
            identifier: identifier.map(ToOwned::to_owned),
            asked: 2,
            bodies: BTreeSet::from(["{\"a\":1}".to_owned()]),
        };
        let exchange = |rma: &str, state: &str, name: Option<&str>, refund_type: &str, shopper| StoredExchange {
            rma: rma.to_owned(),
            state: state.to_owned(),
            order_identifier: name.map(ToOwned::to_owned),
            refund_type: refund_type.to_owned(),
            unit_order: name.map(ToOwned::to_owned),
            shopper,
            owed: false,
            given_up: false,
            message: Uuid::nil(),
        };
        let message = |key: &Key, event: &str, name: Option<&str>| ExchangeMessage {
            order: key.clone(),
            event: event.to_owned(),
            exchange_order: name.map(ToOwned::to_owned),
        };
        History {
            asked_to_convert: BTreeSet::from([converted.clone()]),
            confirmed: vec![confirmed(&placed, "R-0"), confirmed(&converted, "R-1")],
            placed: BTreeMap::from([(placed.clone(), asked(Some("X-O-0"))), (converted.clone(), asked(None))]),
            messages: vec![
                message(&placed, "rma.created", None),
                message(&placed, "rma.exchange_placed", Some("X-O-0")),
                message(&converted, "rma.exchange_converted", None),
            ],
            stored: Stored {
                exchanges: BTreeMap::from([
                    (placed.clone(), vec![exchange("R-0", "placed", Some("X-O-0"), "EVEN_EXCHANGE", 0)]),
                    (converted, vec![exchange("R-1", "converted", None, "REFUND", 5_400)]),
                ]),
                exchanged_units: BTreeMap::from([(placed, 1)]),
            },
        }
    }

    #[test]
    fn nothing_is_found_in_records_that_agree() {
        assert!(check(&history()).wrong.is_empty());
    }

    #[test]
    fn every_fault_is_found() {
        assert_eq!(caught(&history()), (FAULTS.len(), FAULTS.len()));
    }
}
