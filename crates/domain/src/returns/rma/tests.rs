mod histories;

use super::*;

fn label() -> CarrierEvent {
    CarrierEvent::LabelIssued("1Z999".parse().expect("a tracking number"))
}

/// A return by mail of one unit for each type, with managed receiving.
fn of(types: &[RefundType]) -> Rma {
    let unit = |(refund_type, number): (&RefundType, u32)| Unit::new("line".to_owned(), number, *refund_type, Method::MailBack, true);
    Rma::new(Method::MailBack, types.iter().zip(1..).map(unit).collect())
}

fn two() -> Rma {
    of(&[RefundType::Refund, RefundType::Refund])
}

fn labelled(mut rma: Rma) -> Rma {
    assert_eq!(rma.carry(&label(), Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    rma
}

fn words(rma: &Rma) -> Vec<Option<&'static str>> {
    rma.units.iter().map(|unit| unit.parcel.as_str()).collect()
}

#[test]
fn a_new_return_is_created_without_tracking_and_waits_for_its_units() {
    let rma = two();
    assert_eq!((rma.status, words(&rma)), (Status::Created, vec![None, None]));
    assert!(rma.units.iter().all(|unit| unit.receiving == Some(Receiving::Pending)));
    let kept = Unit::new("line".to_owned(), 1, RefundType::Refund, Method::CustomerKeep, true);
    assert_eq!((kept.receiving, kept.parcel.as_str()), (None, None));
}

#[test]
fn a_label_is_for_all_units_and_for_some_it_is_refused() {
    let mut rma = two();
    assert_eq!(rma.carry(&label(), Which::Units(&[0])), Err(Refused::PartOfALabel));
    assert_eq!(words(&labelled(rma)), [Some("PRE_TRANSIT"); 2]);
}

#[test]
fn a_repeated_scan_owes_no_message() {
    let mut rma = labelled(two());
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::Unchanged));
}

#[test]
fn a_partial_drop_off_is_one_step_and_the_parcel_goes_on_without_what_was_left_out() {
    let mut rma = labelled(two());
    assert_eq!(rma.drop_off(&[1]), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(words(&rma), [Some("NOT_DROPPED_OFF"), Some("ACCEPTED")]);
    assert_eq!(rma.drop_off(&[1]), Ok(Step::Unchanged));
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(words(&rma), [Some("NOT_DROPPED_OFF"), Some("TRANSIT")]);
    assert_eq!(rma.drop_off(&[0]), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(words(&rma), [Some("ACCEPTED"), Some("TRANSIT")]);
    assert_eq!(rma.carry(&CarrierEvent::Delivered, Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(words(&rma), [Some("DELIVERED"); 2]);
}

#[test]
fn a_second_drop_off_of_a_line_takes_units_that_were_not_dropped_off_before() {
    let of_line = |quantity| vec![("line".to_owned(), quantity)];
    let mut rma = of(&[RefundType::Refund; 3]);
    assert_eq!(rma.to_hand_over(&of_line(1)), Ok(vec![0]));
    assert_eq!(rma.drop_off(&[0]), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(rma.to_hand_over(&of_line(1)), Ok(vec![1]));
    assert_eq!(rma.drop_off(&[1]), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(words(&rma), [Some("ACCEPTED"), Some("ACCEPTED"), Some("NOT_DROPPED_OFF")]);
    assert_eq!(rma.to_hand_over(&of_line(3)), Ok(vec![2, 0, 1]), "the rest, and then units that are gone already");
    assert_eq!(rma.to_hand_over(&[of_line(1), of_line(1)].concat()), Ok(vec![2, 0]));
    assert_eq!(rma.to_hand_over(&of_line(4)), Err(Refused::NoSuchUnit(3)));
    assert_eq!(rma.to_hand_over(&[("other".to_owned(), 1)]), Err(Refused::NoSuchUnit(3)));
}

#[test]
fn a_label_after_a_partial_drop_off_is_for_all_units() {
    let mut rma = two();
    assert_eq!(rma.drop_off(&[1]), Ok(Step::Moved(Event::TrackingUpdated)));
    assert!(!rma.is_labelled());
    let rma = labelled(rma);
    assert!(rma.is_labelled());
    assert_eq!(words(&rma), [Some("NOT_DROPPED_OFF"), Some("ACCEPTED")]);
    assert!(rma.units.iter().all(|unit| unit.parcel.number().is_some()));
}

#[test]
fn a_scan_that_waits_for_its_label_keeps_the_return_from_being_called_off() {
    let mut rma = two();
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::TooEarly));
    assert_eq!((rma.cancel(), rma.may_expire(), rma.has_moved()), (Err(Refused::NotCancelable(Held::Scanned)), false, true));
}

#[test]
fn a_tracking_number_can_be_used_again_once_its_return_is_over() {
    let mut rma = labelled(two());
    assert_eq!(rma.refund(&[0, 1]), Ok(Step::Moved(Event::Refunded)));
    assert!(!rma.is_over(), "its parcel may still travel");
    assert_eq!(rma.carry(&CarrierEvent::Delivered, Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    assert!(rma.is_over());
    assert!(Rma { status: Status::Cancelled, ..two() }.is_over());
    assert!(!Rma { status: Status::Created, ..rma }.is_over());
}

#[test]
fn dropping_nothing_off_says_nothing() {
    let mut rma = labelled(two());
    assert_eq!(rma.drop_off(&[]), Ok(Step::Unchanged));
    assert_eq!(words(&rma), [Some("PRE_TRANSIT"); 2]);
}

#[test]
fn the_parcel_of_a_refunded_return_still_moves_and_its_status_does_not() {
    let mut rma = labelled(two());
    assert_eq!(rma.refund(&[0, 1]), Ok(Step::Moved(Event::Refunded)));
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::Moved(Event::TrackingUpdated)));
    assert_eq!(rma.receive(&[0]), Ok(Step::Moved(Event::Received)));
    assert_eq!(rma.close_receiving(), Ok(Step::Moved(Event::ReceivingClosed)));
    assert_eq!(rma.status, Status::Refunded);
}

#[test]
fn a_refund_of_a_part_is_recorded_and_the_rest_settles_the_return_once() {
    let mut rma = two();
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!(rma.status, Status::Created);
    assert_eq!(rma.refund(&[1]), Ok(Step::Unchanged));
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::Refunded)));
    assert_eq!(rma.refund(&[0, 1]), Ok(Step::Unchanged));
}

#[test]
fn what_is_final_stays_whatever_the_units_say() {
    for status in [Status::Refunded, Status::Cancelled] {
        let mut rma = Rma { status, receiving_closed: true, ..two() };
        for refunded in [false, true] {
            rma.units[0].refunded = refunded;
            assert_eq!(rma.settle_status(), status);
        }
    }
}

#[test]
fn a_return_is_partially_refunded_once_receiving_is_closed() {
    let mut rma = two();
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!(rma.close_receiving(), Ok(Step::Moved(Event::PartiallyRefunded)));
    assert_eq!(rma.close_receiving(), Ok(Step::Unchanged));
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::Refunded)));

    let mut rma = two();
    assert_eq!(rma.close_receiving(), Ok(Step::Moved(Event::ReceivingClosed)));
    assert_eq!(rma.status, Status::Created);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::PartiallyRefunded)));
}

#[test]
fn a_unit_that_arrives_after_receiving_was_closed_has_arrived() {
    let mut rma = two();
    assert_eq!(rma.receive(&[0]), Ok(Step::Moved(Event::Received)));
    assert_eq!(rma.close_receiving(), Ok(Step::Moved(Event::ReceivingClosed)));
    assert_eq!(rma.units[1].receiving, Some(Receiving::NotReceived));
    assert_eq!(rma.receive(&[0, 1]), Ok(Step::Moved(Event::Received)));
    assert_eq!(rma.receive(&[0, 1]), Ok(Step::Unchanged));
}

#[test]
fn nothing_is_received_without_managed_receiving() {
    let unit = Unit::new("line".to_owned(), 1, RefundType::Refund, Method::MailBack, false);
    let mut rma = Rma::new(Method::MailBack, vec![unit]);
    assert_eq!(rma.receive(&[0]), Err(Refused::NotReceiving));
    assert_eq!(rma.close_receiving(), Err(Refused::NotReceiving));
}

#[test]
fn an_exchange_that_is_not_placed_keeps_a_return_from_being_refunded() {
    let mut rma = of(&[RefundType::Refund, RefundType::EvenExchange]);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::RefundRecorded)));
    rma.receiving_closed = true;
    assert_eq!(rma.settle_status(), Status::Created, "an exchange shows elsewhere than in the status");
    rma.units[1].exchange_owed = false;
    assert_eq!(rma.settle_status(), Status::Refunded);
}

#[test]
fn a_partial_refund_that_only_lacks_its_exchange_stays_one() {
    let mut rma = of(&[RefundType::Refund, RefundType::Refund, RefundType::EvenExchange]);
    assert_eq!(rma.close_receiving(), Ok(Step::Moved(Event::ReceivingClosed)));
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::PartiallyRefunded)));
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!(rma.status, Status::PartialRefund);
    rma.units[2].exchange_owed = false;
    assert_eq!(rma.settle_status(), Status::Refunded);
}

#[test]
fn a_return_of_exchanges_alone_is_refunded_when_the_merchant_settles_one() {
    let mut rma = of(&[RefundType::EvenExchange, RefundType::UnevenExchange]);
    rma.units.iter_mut().for_each(|unit| unit.exchange_owed = false);
    assert_eq!(rma.settle_status(), Status::Created);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::Refunded)));
    assert_eq!(rma.open(), BTreeMap::from([("line".to_owned(), vec![1])]));
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!((rma.status, rma.open()), (Status::Refunded, BTreeMap::new()));
}

#[test]
fn an_exchange_is_placed_once_and_completes_a_return_that_was_refunded() {
    let mut rma = of(&[RefundType::Refund, RefundType::EvenExchange]);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!(rma.place_exchange(), Step::Moved(Event::Refunded));
    assert_eq!((rma.status, rma.place_exchange(), rma.convert_exchange()), (Status::Refunded, Step::Unchanged, Step::Unchanged));
    let mut rma = of(&[RefundType::UnevenExchange]);
    assert_eq!(rma.place_exchange(), Step::Moved(Event::ExchangePlaced));
    assert_eq!((rma.status, rma.cancel()), (Status::Created, Err(Refused::NotCancelable(Held::ExchangePlaced))));
    assert_eq!(rma.convert_exchange(), Step::Moved(Event::ExchangeConverted), "as long as the return is not settled");
}

#[test]
fn an_exchange_that_cannot_be_is_refunded_and_the_return_can_be_called_off_again() {
    let mut rma = of(&[RefundType::Refund, RefundType::EvenExchange, RefundType::UnevenExchange]);
    assert_eq!(rma.cancel(), Err(Refused::NotCancelable(Held::ExchangeOwed)));
    assert_eq!(rma.convert_exchange(), Step::Moved(Event::ExchangeConverted));
    assert!(rma.units.iter().all(|unit| unit.refund_type == RefundType::Refund && !unit.exchange_owed));
    assert_eq!((rma.convert_exchange(), rma.may_expire()), (Step::Unchanged, true));
    assert_eq!(rma.refund(&[0, 1, 2]), Ok(Step::Moved(Event::Refunded)));
}

#[test]
fn an_exchange_is_pending_until_it_is_placed_and_refunds_alone_are_none() {
    assert_eq!(two().exchange(), None);
    let mut rma = of(&[RefundType::Refund, RefundType::EvenExchange]);
    assert_eq!(rma.exchange(), Some(ExchangeState::Pending));
    rma.place_exchange();
    assert_eq!(rma.exchange(), Some(ExchangeState::Placed));
    rma.convert_exchange();
    assert_eq!(rma.exchange(), None, "its units are refunded");
}

#[test]
fn a_refund_beside_an_exchange_that_is_placed_settles_with_the_service() {
    let mut rma = of(&[RefundType::EvenExchange]);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!((rma.place_exchange(), rma.is_in_question()), (Step::Moved(Event::Refunded), false));
}

#[test]
fn a_refund_beside_an_exchange_that_is_converted_is_in_question_until_it_is_confirmed_or_another_arrives() {
    let mut rma = of(&[RefundType::EvenExchange, RefundType::Refund]);
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!(rma.confirm_refund(), Step::Unchanged);
    assert_eq!(rma.convert_exchange(), Step::Moved(Event::ExchangeConverted));
    assert_eq!((rma.is_in_question(), rma.may_expire(), rma.open_refunds()), (true, false, vec![0, 1]));
    assert_eq!(rma.cancel(), Err(Refused::NotCancelable(Held::Refunded)));
    let mut other = rma.clone();
    assert_eq!((rma.confirm_refund(), rma.is_in_question()), (Step::Moved(Event::RefundRecorded), false));
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::Refunded)));
    assert_eq!((other.refund(&[0, 1]), other.is_in_question()), (Ok(Step::Moved(Event::Refunded)), false));
}

#[test]
fn a_refund_by_amount_is_for_what_is_to_be_refunded_and_otherwise_for_what_is_exchanged() {
    let mut rma = of(&[RefundType::EvenExchange, RefundType::Refund, RefundType::Refund]);
    assert_eq!(rma.open_by_amount(), [1, 2]);
    assert_eq!(rma.refund(&[1, 2]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!((rma.open_by_amount(), rma.open_refunds()), (vec![0], vec![]));
    let mut rma = of(&[RefundType::Refund]);
    assert_eq!(rma.cancel(), Ok(Step::Moved(Event::Cancelled)));
    assert_eq!((rma.open_by_amount(), rma.open_refunds()), (vec![], vec![]));
}

#[test]
fn a_return_is_expected_until_every_unit_has_arrived_or_it_is_cancelled() {
    let unit = |number, managed| Unit::new("line".to_owned(), number, RefundType::Refund, Method::MailBack, managed);
    let managed = || Rma::new(Method::MailBack, vec![unit(1, true), unit(2, true)]);
    let mut rma = managed();
    assert!(rma.is_expected());
    assert_eq!((rma.receive(&[0]), rma.is_expected()), (Ok(Step::Moved(Event::Received)), true));
    assert_eq!((rma.close_receiving(), rma.is_expected()), (Ok(Step::Moved(Event::ReceivingClosed)), true));
    assert_eq!((rma.receive(&[1]), rma.is_expected()), (Ok(Step::Moved(Event::Received)), false));
    let mut rma = managed();
    assert_eq!((rma.cancel(), rma.is_expected()), (Ok(Step::Moved(Event::Cancelled)), false));
    assert!(!Rma::new(Method::MailBack, vec![unit(1, false)]).is_expected());
}

#[test]
fn a_settled_return_still_takes_the_refund_of_what_was_exchanged() {
    let mut rma = of(&[RefundType::Refund, RefundType::EvenExchange]);
    rma.place_exchange();
    assert_eq!(rma.refund(&[0]), Ok(Step::Moved(Event::Refunded)));
    assert_eq!(rma.open(), BTreeMap::from([("line".to_owned(), vec![1])]));
    assert_eq!(rma.refund(&[1]), Ok(Step::Moved(Event::RefundRecorded)));
    assert_eq!((rma.open().len(), rma.status), (0, Status::Refunded));
}

#[test]
fn a_refund_goes_to_what_is_to_be_refunded_before_what_is_exchanged() {
    let rma = of(&[RefundType::EvenExchange, RefundType::Refund]);
    assert_eq!(rma.open(), BTreeMap::from([("line".to_owned(), vec![1, 0])]));
}

#[test]
fn a_return_can_be_called_off_until_something_has_happened() {
    let mut fresh = labelled(two());
    assert_eq!(fresh.cancel(), Ok(Step::Moved(Event::Cancelled)));
    assert_eq!(fresh.cancel(), Ok(Step::Unchanged));

    let refusal = |change: fn(&mut Rma)| {
        let mut rma = labelled(two());
        change(&mut rma);
        let before = rma.clone();
        let refused = rma.cancel();
        assert_eq!(rma, before);
        assert!(!rma.may_expire());
        refused
    };
    let held = |held| Err(Refused::NotCancelable(held));
    assert_eq!(refusal(|rma| assert!(rma.drop_off(&[1]).is_ok())), held(Held::Accepted));
    assert_eq!(refusal(|rma| assert!(rma.carry(&CarrierEvent::Scanned, Which::All).is_ok())), held(Held::Scanned));
    assert_eq!(refusal(|rma| assert!(rma.receive(&[1]).is_ok())), held(Held::Received));
    assert_eq!(refusal(|rma| assert!(rma.refund(&[1]).is_ok())), held(Held::Refunded));
    assert_eq!(refusal(|rma| assert!(rma.refund(&[0, 1]).is_ok())), held(Held::Settled));
    assert_eq!(of(&[RefundType::EvenExchange]).cancel(), held(Held::ExchangeOwed));
    let mut placed = of(&[RefundType::EvenExchange]);
    placed.units[0].exchange_owed = false;
    assert_eq!(placed.cancel(), held(Held::ExchangePlaced));
}

#[test]
fn a_cancelled_return_is_not_moved_by_its_carrier_and_takes_neither_units_nor_refunds() {
    let mut rma = labelled(two());
    assert_eq!(rma.cancel(), Ok(Step::Moved(Event::Cancelled)));
    let before = rma.clone();
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::All), Ok(Step::Unchanged));
    assert_eq!(rma.drop_off(&[0]), Ok(Step::Unchanged));
    assert_eq!(rma.receive(&[0]), Err(Refused::Cancelled));
    assert_eq!(rma.close_receiving(), Err(Refused::Cancelled));
    assert_eq!(rma.refund(&[0]), Err(Refused::Cancelled));
    assert_eq!(rma, before);
}

#[test]
fn goods_that_the_shopper_keeps_do_not_expire() {
    let unit = Unit::new("line".to_owned(), 1, RefundType::Refund, Method::CustomerKeep, false);
    let mut kept = Rma::new(Method::CustomerKeep, vec![unit]);
    assert!(!kept.may_expire());
    assert_eq!(kept.carry(&label(), Which::All), Err(Refused::NoParcel));
    assert!(labelled(two()).may_expire());
}

#[test]
fn a_unit_that_is_not_there_is_refused() {
    let mut rma = two();
    assert_eq!(rma.refund(&[0, 2]), Err(Refused::NoSuchUnit(2)));
    assert_eq!(rma.receive(&[2]), Err(Refused::NoSuchUnit(2)));
    assert_eq!(rma.drop_off(&[7]), Err(Refused::NoSuchUnit(7)));
    assert_eq!(rma.carry(&CarrierEvent::Scanned, Which::Units(&[2])), Err(Refused::NoSuchUnit(2)));
    assert_eq!(rma, two());
}
