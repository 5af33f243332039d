//! Invariants that hold whatever happens to a return, in any order.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Happening {
    Carried(CarrierEvent, Option<Vec<usize>>),
    DroppedOff(Vec<usize>),
    Received(Vec<usize>),
    ReceivingClosed,
    Refunded(Vec<usize>),
    Cancelled,
    ExchangePlaced,
    ExchangeConverted,
    RefundConfirmed,
}

fn happenings() -> impl Strategy<Value = Happening> {
    let units = || prop::collection::vec(0..4_usize, 0..4);
    let events = prop_oneof![
        3 => Just(label()),
        1 => Just(CarrierEvent::LabelIssued("1Z000".parse().expect("a tracking number"))),
        1 => Just(CarrierEvent::Accepted),
        1 => Just(CarrierEvent::LeftOut),
        2 => Just(CarrierEvent::Scanned),
        1 => Just(CarrierEvent::Delivered),
        1 => Just(CarrierEvent::Returned),
        1 => Just(CarrierEvent::Failed),
    ];
    prop_oneof![
        4 => (events, prop::option::of(units())).prop_map(|(event, which)| Happening::Carried(event, which)),
        1 => units().prop_map(Happening::DroppedOff),
        1 => units().prop_map(Happening::Received),
        1 => Just(Happening::ReceivingClosed),
        2 => units().prop_map(Happening::Refunded),
        1 => Just(Happening::Cancelled),
        1 => Just(Happening::ExchangePlaced),
        1 => Just(Happening::ExchangeConverted),
        1 => Just(Happening::RefundConfirmed),
    ]
}

fn returns() -> impl Strategy<Value = Rma> {
    let types = prop::collection::vec(prop::sample::select(RefundType::ALL), 1..4);
    (types, prop::sample::select(Method::ALL), any::<bool>(), any::<bool>()).prop_map(|(types, method, managed, placed)| {
        let unit = |(refund_type, number): (RefundType, u32)| {
            let unit = Unit::new("line".to_owned(), number, refund_type, method, managed);
            Unit { exchange_owed: unit.exchange_owed && !placed, ..unit }
        };
        Rma::new(method, types.into_iter().zip(1..).map(unit).collect())
    })
}

fn happen(rma: &mut Rma, happening: &Happening) -> Result<Step, Refused> {
    match happening {
        Happening::Carried(event, None) => rma.carry(event, Which::All),
        Happening::Carried(event, Some(units)) => rma.carry(event, Which::Units(units)),
        Happening::DroppedOff(units) => rma.drop_off(units),
        Happening::Received(units) => rma.receive(units),
        Happening::ReceivingClosed => rma.close_receiving(),
        Happening::Refunded(units) => rma.refund(units),
        Happening::Cancelled => rma.cancel(),
        Happening::ExchangePlaced => Ok(rma.place_exchange()),
        Happening::ExchangeConverted => Ok(rma.convert_exchange()),
        Happening::RefundConfirmed => Ok(rma.confirm_refund()),
    }
}

/// Transitions that never happen between one state of a return and the next.
fn check(before: &Rma, happening: &Happening, after: &Rma) -> Result<(), TestCaseError> {
    prop_assert!(before.is_live() || after.status == before.status, "what is final stays");
    prop_assert!(before.status != Status::PartialRefund || after.status != Status::Created);
    prop_assert!(!before.receiving_closed || after.receiving_closed);
    for (old, new) in before.units.iter().zip(&after.units) {
        let converted = matches!(happening, Happening::ExchangeConverted);
        prop_assert!(!old.refunded || new.refunded || (converted && new.in_question), "a refund is not taken back");
        prop_assert!(!old.in_question || new.in_question || new.refunded, "a question is not forgotten");
        prop_assert!(!(new.in_question && (new.refunded || new.exchange_owed)), "a question is open or answered");
        prop_assert!(old.parcel.number().is_none() || new.parcel.number() == old.parcel.number(), "a label stays");
        prop_assert!(old.receiving != Some(Receiving::Received) || new.receiving == Some(Receiving::Received));
        let placed = old.refund_type != RefundType::Refund && !old.exchange_owed;
        let converted = before.is_live() && matches!(happening, Happening::ExchangeConverted);
        let stays = new.refund_type == old.refund_type && !new.exchange_owed;
        prop_assert!(!placed || converted || stays, "what is exchanged is refunded only on request");
        prop_assert!(old.refund_type != RefundType::Refund || new.refund_type == RefundType::Refund, "what is refunded is not exchanged");
        prop_assert!(!old.parcel.has_moved() || new.parcel.has_moved());
    }
    let ended = |unit: &Unit| (unit.refund_type != RefundType::Refund) != (unit.refund_type == RefundType::Refund && unit.refunded);
    prop_assert!(after.status != Status::Refunded || after.units.iter().all(ended), "goods or money, never both, never neither");
    prop_assert_eq!(after.settle_status(), after.status, "the status always follows from the units");
    let numbers: Vec<_> = after.units.iter().map(|unit| unit.parcel.number()).collect();
    prop_assert!(numbers.windows(2).all(|pair| pair[0] == pair[1]), "a label is for all units");
    Ok(())
}

proptest! {
    #[test]
    fn a_return_keeps_its_rules_through_any_history(mut rma in returns(), history in prop::collection::vec(happenings(), 0..30)) {
        let mut told = Vec::new();
        for happening in &history {
            let before = rma.clone();
            match happen(&mut rma, happening) {
                Ok(Step::Moved(event)) => {
                    prop_assert_ne!(&rma, &before, "what moved is different");
                    told.push(event);
                }
                Ok(Step::TooEarly) => {
                    prop_assert_eq!(&rma, &Rma { scanned_early: true, ..before.clone() });
                    prop_assert!(rma.cancel().is_err() && !rma.may_expire(), "the goods are with the carrier");
                }
                Ok(Step::Unchanged) | Err(_) => prop_assert_eq!(&rma, &before, "nothing else is"),
            }
            check(&before, happening, &rma)?;
        }
        for (status, event) in [(Status::Refunded, Event::Refunded), (Status::Cancelled, Event::Cancelled)] {
            prop_assert_eq!(told.iter().filter(|told| **told == event).count(), usize::from(rma.status == status), "an end is told once");
        }
        prop_assert!(told.iter().filter(|told| **told == Event::PartiallyRefunded).count() <= 1);
        prop_assert!(!told.contains(&Event::Created) && !told.contains(&Event::Resent));
    }

    #[test]
    fn a_repeat_of_anything_changes_nothing(mut rma in returns(), history in prop::collection::vec(happenings(), 1..20)) {
        for happening in &history {
            let _ = happen(&mut rma, happening);
            let once = rma.clone();
            let again = happen(&mut rma, happening);
            prop_assert!(!matches!(again, Ok(Step::Moved(_))), "{happening:?}");
            prop_assert_eq!(&rma, &once);
        }
    }

    #[test]
    fn a_return_that_may_expire_can_be_called_off(mut rma in returns(), history in prop::collection::vec(happenings(), 0..10)) {
        for happening in &history {
            let _ = happen(&mut rma, happening);
        }
        if rma.may_expire() {
            prop_assert!(!rma.has_moved());
            prop_assert_eq!(rma.cancel(), Ok(Step::Moved(Event::Cancelled)));
        }
    }
}
