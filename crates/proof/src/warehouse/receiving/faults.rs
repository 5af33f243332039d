//! Faults added to a copy of the records, to test that the checker finds them.

use rand::RngExt as _;
use rand::rngs::StdRng;
use uuid::Uuid;

use super::history::{History, Wrong, check};

/// A way to falsify the records.
#[derive(Clone, Copy, Debug)]
enum Fault {
    MessageNeverArrived,
    MessageStillOwed,
    MessageGivenUp,
    MessageMissing,
    ReceiptMissing,
    ExceptionMissing,
    NeverAnswered,
    ReceivedInTwoAnswers,
    MessageWrittenTwice,
    BytesAltered,
    MessageNeverSaid,
    MessageOfAnotherUnit,
    MessageWithoutReceipt,
    LineCountsTooMuch,
    LineCountsTooLittle,
    ReceivedOnAnothersLine,
    ReturnMessageNeverArrived,
    ReturnMessageMissing,
    ReturnMessageWrittenTwice,
    ReturnCountsTooLittle,
    ReceivedForAnothersReturn,
    ReceiptToldWithoutAsn,
}

/// All faults, each with the finding it must cause.
const FAULTS: [(Fault, Wrong); 22] = [
    (Fault::MessageNeverArrived, Wrong::Lost),
    (Fault::MessageStillOwed, Wrong::Lost),
    (Fault::MessageGivenUp, Wrong::Lost),
    (Fault::MessageMissing, Wrong::Lost),
    (Fault::ReceiptMissing, Wrong::Lost),
    (Fault::ExceptionMissing, Wrong::Lost),
    (Fault::NeverAnswered, Wrong::Lost),
    (Fault::ReceivedInTwoAnswers, Wrong::Doubled),
    (Fault::MessageWrittenTwice, Wrong::Doubled),
    (Fault::BytesAltered, Wrong::Altered),
    (Fault::MessageNeverSaid, Wrong::Altered),
    (Fault::MessageOfAnotherUnit, Wrong::Altered),
    (Fault::MessageWithoutReceipt, Wrong::Altered),
    (Fault::LineCountsTooMuch, Wrong::Miscounted),
    (Fault::LineCountsTooLittle, Wrong::Miscounted),
    (Fault::ReceivedOnAnothersLine, Wrong::Miscounted),
    (Fault::ReturnMessageNeverArrived, Wrong::Lost),
    (Fault::ReturnMessageMissing, Wrong::Lost),
    (Fault::ReturnMessageWrittenTwice, Wrong::Doubled),
    (Fault::ReturnCountsTooLittle, Wrong::Miscounted),
    (Fault::ReceivedForAnothersReturn, Wrong::Miscounted),
    (Fault::ReceiptToldWithoutAsn, Wrong::Altered),
];

/// Adds each fault to a copy of the records. Returns how many the checker finds, and how many there are.
pub(super) fn seed(history: &History, rng: &mut StdRng) -> (usize, usize) {
    let caught = FAULTS.iter().filter(|(fault, wrong)| {
        let mut copy = history.clone();
        let put = put(*fault, &mut copy, rng).is_some();
        put && check(&copy).wrong.iter().any(|(found, _)| found == wrong)
    });
    (caught.count(), FAULTS.len())
}

/// A random index below `of`. `None` if it is zero.
fn any(rng: &mut StdRng, of: usize) -> Option<usize> {
    (of > 0).then(|| rng.random_range(0..of))
}

/// Adds a fault to the records. `None` if there is nothing to falsify.
fn put(fault: Fault, history: &mut History, rng: &mut StdRng) -> Option<()> {
    let stored = &mut history.stored;
    match fault {
        Fault::MessageNeverArrived => {
            let id = stored.messages.get(any(rng, stored.messages.len())?)?.id;
            history.arrivals.retain(|(arrival, _)| arrival.id != id);
        }
        Fault::MessageStillOwed => {
            stored.waiting.insert(stored.messages.get(any(rng, stored.messages.len())?)?.id);
        }
        Fault::MessageGivenUp => {
            stored.failed.insert(stored.messages.get(any(rng, stored.messages.len())?)?.id);
        }
        Fault::MessageMissing => {
            stored.messages.swap_remove(any(rng, stored.messages.len())?);
        }
        Fault::ReceiptMissing => {
            stored.receipts.swap_remove(any(rng, stored.receipts.len())?);
        }
        Fault::ExceptionMissing => {
            stored.exceptions.pop_last()?;
        }
        Fault::NeverAnswered => {
            let unit = stored.receipts.get(any(rng, stored.receipts.len())?)?.unit.clone();
            history.answers.retain(|answer| answer.unit != unit);
        }
        Fault::ReceivedInTwoAnswers => {
            let answer = history.answers.iter().find(|answer| answer.result == "received")?.clone();
            history.answers.push(answer);
        }
        Fault::MessageWrittenTwice => {
            let mut again = stored.messages.get(any(rng, stored.messages.len())?)?.clone();
            again.id = Uuid::from_u128(rng.random());
            stored.messages.push(again);
        }
        Fault::BytesAltered => {
            let at = any(rng, history.arrivals.len())?;
            let (arrival, _) = history.arrivals.get_mut(at)?;
            arrival.digest = [0; 32];
        }
        Fault::MessageNeverSaid => {
            let at = any(rng, history.arrivals.len())?;
            let (arrival, _) = history.arrivals.get_mut(at)?;
            arrival.id = Uuid::from_u128(rng.random());
        }
        Fault::MessageOfAnotherUnit => {
            let at = any(rng, history.arrivals.len())?;
            let (_, unit) = history.arrivals.get_mut(at)?;
            unit.push_str("-another");
        }
        Fault::MessageWithoutReceipt => {
            let mut strange = stored.messages.first()?.clone();
            (strange.id, strange.unit) = (Uuid::from_u128(rng.random()), "NOBODY".to_owned());
            stored.messages.push(strange);
        }
        Fault::LineCountsTooMuch => {
            let at = any(rng, stored.lines.len())?;
            stored.lines.get_mut(at)?.received += 1;
        }
        Fault::LineCountsTooLittle => {
            let at = any(rng, stored.lines.len())?;
            stored.lines.get_mut(at)?.received -= 1;
        }
        Fault::ReceivedOnAnothersLine => {
            let mut announced = stored.receipts.iter_mut().filter(|receipt| receipt.rma.is_none());
            let (one, other) = (announced.next()?, announced.next()?);
            std::mem::swap(&mut one.line, &mut other.line);
        }
        Fault::ReturnMessageNeverArrived => {
            let id = stored.return_messages.get(any(rng, stored.return_messages.len())?)?.id;
            history.arrivals.retain(|(arrival, _)| arrival.id != id);
        }
        Fault::ReturnMessageMissing => {
            stored.return_messages.swap_remove(any(rng, stored.return_messages.len())?);
        }
        Fault::ReturnMessageWrittenTwice => {
            let mut again = stored.return_messages.iter().max_by_key(|message| (&message.rma, message.sequence))?.clone();
            (again.id, again.sequence) = (Uuid::from_u128(rng.random()), again.sequence + 1);
            stored.return_messages.push(again);
        }
        Fault::ReturnCountsTooLittle => {
            let at = any(rng, stored.returns.len())?;
            stored.returns.get_mut(at)?.received -= 1;
        }
        Fault::ReceivedForAnothersReturn => {
            let mut returned = stored.receipts.iter_mut().filter(|receipt| receipt.rma.is_some());
            let one = returned.next()?;
            let other = returned.find(|receipt| receipt.rma != one.rma)?;
            std::mem::swap(&mut one.rma, &mut other.rma);
        }
        Fault::ReceiptToldWithoutAsn => {
            let mut strange = stored.messages.first()?.clone();
            strange.unit.clone_from(&stored.receipts.iter().find(|receipt| receipt.rma.is_some())?.unit);
            strange.id = Uuid::from_u128(rng.random());
            stored.messages.push(strange);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::super::returned::{UNITS_EACH, units};
    use super::super::scanner::{Answer, unit};
    use super::super::stored::{Stored, StoredLine, StoredMessage, StoredReceipt, StoredReturn, StoredReturnMessage};
    use super::*;
    use crate::messages::history::Arrival;

    /// The records of a run without faults.
    fn history(lines: usize) -> History {
        let returns = ["R-1".to_owned(), "R-2".to_owned()];
        let returned = units(&returns);
        let mut history = History { lines, returned, answers: Vec::new(), arrivals: Vec::new(), stored: Stored::default() };
        for line in 0..lines {
            let (unit, name, id) = (unit(line), line.to_string(), Uuid::from_u128(line as u128 + 1));
            let digest = [u8::try_from(line).unwrap() + 1; 32];
            for result in ["received", "already_received"] {
                history.answers.push(Answer { unit: unit.clone(), result: result.to_owned() });
            }
            history.arrivals.push((Arrival { number: line as u64, id, digest, accepted: true }, unit.clone()));
            history.stored.receipts.push(StoredReceipt { unit: unit.clone(), line: name.clone(), rma: None });
            history.stored.lines.push(StoredLine { name, unit: unit.clone(), quantity: 1, received: 1 });
            history.stored.messages.push(StoredMessage { id, unit, digest });
        }
        for returned in &history.returned {
            history.answers.push(Answer { unit: returned.unit.clone(), result: "received".to_owned() });
            let (unit, rma) = (returned.unit.clone(), Some(returned.rma.clone()));
            history.stored.receipts.push(StoredReceipt { unit, line: "L1".to_owned(), rma });
        }
        let each = i64::try_from(UNITS_EACH).unwrap();
        for (nth, name) in (0..).zip(returns) {
            for (sequence, received) in [(1, 0), (2, 2), (3, each)] {
                let number = 1_000 + nth * 10 + u64::try_from(sequence).unwrap();
                let (id, digest) = (Uuid::from_u128(u128::from(number)), [u8::try_from(sequence).unwrap(); 32]);
                history.arrivals.push((Arrival { number, id, digest, accepted: true }, name.clone()));
                history.stored.return_messages.push(StoredReturnMessage { id, rma: name.clone(), sequence, received, digest });
            }
            history.stored.returns.push(StoredReturn { name, units: each, received: each });
        }
        history.answers.push(Answer { unit: "STRAY".to_owned(), result: "exception".to_owned() });
        history.stored.exceptions.insert("STRAY".to_owned());
        history
    }

    #[test]
    fn nothing_is_found_where_nothing_is_wrong() {
        assert!(check(&history(20)).wrong.is_empty());
    }

    #[test]
    fn every_fault_is_found() {
        for seed_of in 0..50 {
            let (caught, seeded) = seed(&history(20), &mut StdRng::seed_from_u64(seed_of));
            assert_eq!((caught, seeded), (FAULTS.len(), FAULTS.len()));
        }
    }
}
