//! Faults added to a copy of the records, to test that the checker finds them.

use uuid::Uuid;

use super::history::{History, Key, ReceivedMessage, Wrong, check};

/// Falsifies the records of an order.
type Fault = fn(&mut History, &Key) -> Option<()>;

/// All faults, each with the finding it must cause.
const FAULTS: [(Wrong, Fault); 10] = [
    (Wrong::Lost, return_missing),
    (Wrong::Doubled, returned_twice),
    (Wrong::Lost, another_return_shown),
    (Wrong::Doubled, two_returns_shown),
    (Wrong::Lost, draft_gone),
    (Wrong::Lost, draft_still_open),
    (Wrong::Doubled, second_draft),
    (Wrong::Lost, message_not_stored),
    (Wrong::Lost, message_not_received),
    (Wrong::Doubled, second_message),
];

/// Adds each fault to a copy of the history, at a shopper of its own where there are enough. Returns how many the checker finds,
/// and how many there are.
pub(super) fn caught(history: &History) -> (usize, usize) {
    let shoppers = history.confirmed.iter().cycle().map(|confirmed| (confirmed.shop, confirmed.order.clone()));
    let found = |((wrong, fault), key): &(&(Wrong, Fault), Key)| {
        let mut history = history.clone();
        fault(&mut history, key).is_some() && check(&history).wrong.contains(&(*wrong, key.clone()))
    };
    (FAULTS.iter().zip(shoppers).filter(found).count(), FAULTS.len())
}

/// The return of an order, with its merchant.
fn rma(history: &History, key: &Key) -> Option<Key> {
    Some((key.0, history.stored.returns.get(key)?.first()?.clone()))
}

fn return_missing(history: &mut History, key: &Key) -> Option<()> {
    history.stored.returns.remove(key).map(drop)
}

fn returned_twice(history: &mut History, key: &Key) -> Option<()> {
    history.stored.returns.get_mut(key)?.push("R-again".to_owned());
    Some(())
}

fn another_return_shown(history: &mut History, key: &Key) -> Option<()> {
    let confirmed = history.confirmed.iter_mut().find(|confirmed| (confirmed.shop, &confirmed.order) == (key.0, &key.1))?;
    confirmed.returns = ["R-another".to_owned()].into();
    Some(())
}

fn two_returns_shown(history: &mut History, key: &Key) -> Option<()> {
    let confirmed = history.confirmed.iter_mut().find(|confirmed| (confirmed.shop, &confirmed.order) == (key.0, &key.1))?;
    confirmed.returns.insert("R-another".to_owned()).then_some(())
}

fn draft_gone(history: &mut History, key: &Key) -> Option<()> {
    history.stored.drafts.remove(key).map(drop)
}

fn draft_still_open(history: &mut History, key: &Key) -> Option<()> {
    history.stored.drafts.get_mut(key)?.first_mut()?.rma.take().map(drop)
}

fn second_draft(history: &mut History, key: &Key) -> Option<()> {
    let drafts = history.stored.drafts.get_mut(key)?;
    let again = drafts.first()?.clone();
    drafts.push(again);
    Some(())
}

fn message_not_stored(history: &mut History, key: &Key) -> Option<()> {
    let rma = rma(history, key)?;
    history.stored.messages.remove(&rma).map(drop)
}

fn message_not_received(history: &mut History, key: &Key) -> Option<()> {
    let rma = rma(history, key)?;
    history.received.retain(|message| message.rma != rma.1);
    Some(())
}

fn second_message(history: &mut History, key: &Key) -> Option<()> {
    let (_, rma) = rma(history, key)?;
    history.received.push(ReceivedMessage { id: Uuid::nil(), rma });
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::returns::portal::chaos::history::{Confirmed, Stored, StoredDraft};

    /// The records of one shopper.
    fn history() -> History {
        let (key, rma, id) = ((0, "O-1".to_owned()), "R-1".to_owned(), Uuid::max());
        let draft = StoredDraft { id: "D-1".to_owned(), rma: Some(rma.clone()) };
        History {
            confirmed: vec![Confirmed { shop: 0, order: key.1.clone(), draft: draft.id.clone(), returns: BTreeSet::from([rma.clone()]) }],
            stored: Stored {
                returns: BTreeMap::from([(key.clone(), vec![rma.clone()])]),
                drafts: BTreeMap::from([(key, vec![draft])]),
                messages: BTreeMap::from([((0, rma.clone()), vec![id])]),
            },
            received: vec![ReceivedMessage { id, rma }],
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
