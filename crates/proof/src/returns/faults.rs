//! Faults added to a copy of the records, to test that the checker finds them.

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use uuid::Uuid;

use super::client::Refunding;
use super::findings::{History, Key, Wrong};
use super::history::check;
use super::refunds::REFUNDED;
use super::stored::{StoredMessage, StoredRefund, StoredReturn};

/// A way to falsify the records.
#[derive(Clone, Copy, Debug)]
enum Fault {
    MessageNeverArrived,
    MessageStillOwed,
    MessageGivenUp,
    MessagesSwapped,
    BytesAltered,
    SequenceAltered,
    MessageNeverSaid,
    MessageAtAnotherMerchant,
    GoodsOfAnotherMerchant,
    MessageMissing,
    ReturnMissing,
    OrderMissing,
    ChangeUndone,
    LabelUndone,
    RefundUndone,
    ReturnStartedTwice,
    ChangeMadeTwice,
    AnsweredDifferently,
    AnsweredOfAnother,
    OneReturnForTwo,
    UnitInTwoReturns,
    UnitsRefundedBeyond,
    RefundSettlesBeyond,
    RefundedToldTwice,
    ClosedWithoutRefund,
    ClosedBeforeRefund,
    ClosedWithoutRecord,
}

/// All faults, each with the finding it must cause.
const FAULTS: [(Fault, Wrong); 27] = [
    (Fault::MessageNeverArrived, Wrong::Lost),
    (Fault::MessageStillOwed, Wrong::Lost),
    (Fault::MessageGivenUp, Wrong::Lost),
    (Fault::MessagesSwapped, Wrong::Inverted),
    (Fault::BytesAltered, Wrong::Altered),
    (Fault::SequenceAltered, Wrong::Altered),
    (Fault::MessageNeverSaid, Wrong::Altered),
    (Fault::MessageAtAnotherMerchant, Wrong::Strange),
    (Fault::GoodsOfAnotherMerchant, Wrong::Strange),
    (Fault::MessageMissing, Wrong::Gapped),
    (Fault::ReturnMissing, Wrong::Lost),
    (Fault::OrderMissing, Wrong::Lost),
    (Fault::ChangeUndone, Wrong::Lost),
    (Fault::LabelUndone, Wrong::Lost),
    (Fault::RefundUndone, Wrong::Lost),
    (Fault::ReturnStartedTwice, Wrong::Doubled),
    (Fault::ChangeMadeTwice, Wrong::Doubled),
    (Fault::AnsweredDifferently, Wrong::Altered),
    (Fault::AnsweredOfAnother, Wrong::Strange),
    (Fault::OneReturnForTwo, Wrong::Strange),
    (Fault::UnitInTwoReturns, Wrong::RefundedTwice),
    (Fault::UnitsRefundedBeyond, Wrong::RefundedTwice),
    (Fault::RefundSettlesBeyond, Wrong::RefundedTwice),
    (Fault::RefundedToldTwice, Wrong::RefundedTwice),
    (Fault::ClosedWithoutRefund, Wrong::Unrefunded),
    (Fault::ClosedBeforeRefund, Wrong::Unrefunded),
    (Fault::ClosedWithoutRecord, Wrong::Unrefunded),
];

/// The number of times each fault is seeded.
const TIMES: usize = 2;

/// Adds each fault to a copy of the records, [`TIMES`] times at different refunded returns. Returns how many the checker finds
/// at the right return, and how many there are.
pub(super) fn seed(history: &History, rng: &mut StdRng) -> (usize, usize) {
    let clean = check(history).wrong;
    let untouched = |key: &Key| !clean.iter().any(|(_, found)| found == key);
    let refunded = history.stored.returns.iter().filter(|of| of.status == REFUNDED);
    let mut keys: Vec<Key> = refunded.map(|of| (of.shop, of.rma.clone())).filter(untouched).collect();
    keys.sort();
    keys.shuffle(rng);
    let (mut caught, mut seeded) = (0, 0);
    for ((fault, wrong), key) in FAULTS.iter().cycle().take(FAULTS.len() * TIMES).zip(keys.iter().cycle()) {
        let mut falsified = history.clone();
        let shown_at = falsify(&mut falsified, *fault, key);
        let found = shown_at.is_some_and(|shown_at| check(&falsified).wrong.contains(&(*wrong, shown_at)));
        if !found {
            println!("the checker did not find {fault:?} at {key:?}");
        }
        caught += usize::from(found);
        seeded += 1;
    }
    (caught, seeded)
}

/// Adds the fault to the return `key`. Returns the return where the checker must find it; `None` if there is nothing to falsify.
fn falsify(history: &mut History, fault: Fault, key: &Key) -> Option<Key> {
    let (shop, rma) = key;
    let message = |sequence: i64| {
        let of = |message: &&StoredMessage| message.shop == *shop && message.rma == *rma && message.sequence == sequence;
        history.stored.messages.iter().find(of).cloned()
    };
    let (first, second) = (message(1)?, message(2)?);
    let last = history.stored.returns.iter().find(|of| of.shop == *shop && of.rma == *rma).map(|of| of.sequence).and_then(message)?;
    let at = history.stored.returns.iter().position(|of| of.shop == *shop && of.rma == *rma)?;
    let receipt = history.receipts.iter().position(|receipt| receipt.id == second.id)?;
    let client_at = history.clients.iter().position(|client| client.shop == *shop && client.rma.as_ref() == Some(rma))?;
    let refund = history.clients.get(client_at)?.refund.clone();
    let of = history.stored.returns.get(at)?.clone();
    let stored = history.stored.returns.get_mut(at)?;
    let receipt = history.receipts.get_mut(receipt)?;
    let client = history.clients.get_mut(client_at)?;
    match fault {
        Fault::MessageNeverArrived => history.receipts.retain(|receipt| receipt.id != second.id),
        Fault::MessageStillOwed => drop(history.stored.waiting.insert(last.id)),
        Fault::MessageGivenUp => drop(history.stored.failed.insert(last.id)),
        Fault::MessagesSwapped => swap(history, &first, &second),
        Fault::BytesAltered => *receipt.digest.first_mut()? ^= 1,
        Fault::SequenceAltered => receipt.sequence += 1,
        Fault::MessageNeverSaid => {
            receipt.id = Uuid::nil();
            return Some((usize::MAX, String::new()));
        }
        Fault::MessageAtAnotherMerchant => receipt.shop += 1,
        Fault::GoodsOfAnotherMerchant => receipt.skus.push("SHOE".to_owned()),
        Fault::MessageMissing => {
            history.stored.messages.retain(|message| message.id != second.id);
            history.receipts.retain(|receipt| receipt.id != second.id);
        }
        Fault::ReturnMissing => drop(history.stored.returns.remove(at)),
        Fault::OrderMissing => drop(history.stored.orders.remove(&(*shop, of.order))),
        Fault::ChangeUndone => {
            stored.sequence -= 1;
            history.stored.messages.retain(|message| message.id != last.id);
            history.receipts.retain(|receipt| receipt.id != last.id);
        }
        Fault::LabelUndone => stored.units.iter_mut().for_each(|unit| unit.tracking_number = None),
        Fault::RefundUndone => stored.units.first_mut()?.refund = None,
        Fault::ReturnStartedTwice => {
            let again = StoredReturn { rma: format!("{rma}-2"), sequence: 0, ..of };
            let shown_at = (*shop, again.rma.clone());
            history.stored.returns.push(again);
            return Some(shown_at);
        }
        Fault::ChangeMadeTwice => {
            stored.sequence += 1;
            history.stored.messages.push(StoredMessage { id: Uuid::nil(), sequence: of.sequence + 1, ..last });
        }
        Fault::AnsweredDifferently => client.answered_differently = true,
        Fault::AnsweredOfAnother => client.answered_of_another = true,
        Fault::OneReturnForTwo => {
            let again = client.clone();
            history.clients.push(again);
        }
        Fault::UnitInTwoReturns => {
            let again = StoredReturn { rma: format!("{rma}-2"), ..of };
            let shown_at = (*shop, again.rma.clone());
            history.stored.returns.push(again);
            return Some(shown_at);
        }
        Fault::UnitsRefundedBeyond => {
            history.stored.refunds.push(StoredRefund {
                shop: *shop,
                refund: format!("{refund}-2"),
                order: of.order,
                quantity: Some(super::SOLD + 1),
            });
        }
        Fault::RefundSettlesBeyond => {
            let covered = history.stored.refunds.iter_mut().find(|line| line.shop == *shop && line.refund == refund)?;
            covered.quantity = Some(i64::try_from(of.units.len()).ok()? - 1);
        }
        Fault::RefundedToldTwice => history.stored.messages.push(StoredMessage { id: Uuid::nil(), sequence: of.sequence + 1, ..last }),
        Fault::ClosedWithoutRefund => client.refunding = Refunding::Ahead,
        Fault::ClosedBeforeRefund => client.received_before_refund = u64::MAX,
        Fault::ClosedWithoutRecord => history.stored.refunds.retain(|line| line.shop != *shop || line.refund != refund),
    }
    Some(key.clone())
}

/// Swaps the arrivals of the two messages.
fn swap(history: &mut History, first: &StoredMessage, second: &StoredMessage) {
    for receipt in &mut history.receipts {
        let other = match receipt.id {
            id if id == first.id => second,
            id if id == second.id => first,
            _ => continue,
        };
        (receipt.id, receipt.sequence, receipt.digest) = (other.id, other.sequence, other.digest);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::super::sample;
    use super::*;

    #[test]
    fn every_fault_is_found_at_every_return() {
        let history = sample::history(6);
        for (fault, wrong) in FAULTS {
            for key in history.stored.returns.iter().map(|of| (of.shop, of.rma.clone())) {
                let mut falsified = history.clone();
                let shown_at = falsify(&mut falsified, fault, &key).expect("it can be done");
                assert!(check(&falsified).wrong.contains(&(wrong, shown_at)), "{fault:?} at {key:?}");
            }
        }
    }

    #[test]
    fn all_that_is_seeded_is_caught() {
        assert_eq!(seed(&sample::history(60), &mut StdRng::seed_from_u64(1)), (FAULTS.len() * TIMES, FAULTS.len() * TIMES));
    }
}
