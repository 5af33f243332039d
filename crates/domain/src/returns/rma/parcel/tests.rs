use proptest::prelude::*;

use super::*;

fn number(text: &str) -> TrackingNumber {
    text.parse().expect("a tracking number")
}

fn events() -> impl Strategy<Value = CarrierEvent> {
    prop_oneof![
        Just(CarrierEvent::LabelIssued(number("1Z999"))),
        Just(CarrierEvent::LabelIssued(number("1Z000"))),
        Just(CarrierEvent::Accepted),
        Just(CarrierEvent::LeftOut),
        Just(CarrierEvent::Scanned),
        Just(CarrierEvent::Delivered),
        Just(CarrierEvent::Returned),
        Just(CarrierEvent::Failed),
    ]
}

/// The progress of the parcel; `None` for states that say nothing about it.
fn rank(parcel: &Parcel) -> Option<u8> {
    match parcel {
        Parcel::Kept | Parcel::AwaitingLabel => Some(0),
        Parcel::PreTransit(_) => Some(1),
        Parcel::Accepted(_) => Some(2),
        Parcel::Transit(_) => Some(3),
        Parcel::Delivered(_) | Parcel::Returned(_) => Some(4),
        Parcel::Failure(_) | Parcel::NotDroppedOff(_) => None,
    }
}

fn after(events: &[CarrierEvent]) -> Parcel {
    events.iter().fold(Parcel::new(Method::MailBack), |parcel, event| match parcel.on(event) {
        Ok(Step::Moved(next)) => next,
        Ok(Step::Unchanged | Step::TooEarly) | Err(_) => parcel,
    })
}

fn word(events: &[CarrierEvent]) -> &'static str {
    let label = [CarrierEvent::LabelIssued(number("1Z999"))];
    after(&[&label, events].concat()).as_str().expect("there is a label")
}

#[test]
fn a_parcel_goes_from_its_label_to_the_merchant() {
    use CarrierEvent::{Accepted, Delivered, Scanned};
    assert_eq!(after(&[]).as_str(), None);
    assert_eq!(word(&[]), "PRE_TRANSIT");
    assert_eq!(word(&[Accepted]), "ACCEPTED");
    assert_eq!(word(&[Accepted, Scanned]), "TRANSIT");
    assert_eq!(word(&[Accepted, Scanned, Delivered]), "DELIVERED");
}

#[test]
fn a_scan_after_trouble_is_believed() {
    use CarrierEvent::{Accepted, Delivered, Failed, Returned, Scanned};
    assert_eq!(word(&[Scanned, Failed]), "FAILURE");
    assert_eq!(word(&[Scanned, Failed, Accepted]), "FAILURE");
    assert_eq!(word(&[Scanned, Failed, Scanned]), "TRANSIT");
    assert_eq!(word(&[Scanned, Failed, Delivered]), "DELIVERED");
    assert_eq!(word(&[Scanned, Failed, Returned]), "RETURNED");
}

#[test]
fn what_was_left_out_can_be_dropped_off_late() {
    use CarrierEvent::{Accepted, LeftOut, Scanned};
    assert_eq!(word(&[LeftOut]), "NOT_DROPPED_OFF");
    assert_eq!(word(&[LeftOut, Accepted]), "ACCEPTED");
    assert_eq!(word(&[LeftOut, Scanned]), "TRANSIT");
    assert_eq!(word(&[Accepted, LeftOut]), "ACCEPTED");
}

#[test]
fn a_parcel_that_went_back_to_the_shopper_is_not_delivered_to_the_merchant() {
    use CarrierEvent::{Delivered, Returned, Scanned};
    assert_eq!(word(&[Scanned, Returned, Delivered]), "RETURNED");
    assert_eq!(word(&[Scanned, Delivered, Returned]), "DELIVERED");
}

#[test]
fn a_scan_before_the_label_is_too_early() {
    for parcel in [Parcel::AwaitingLabel, Parcel::Accepted(None), Parcel::NotDroppedOff(None)] {
        for event in [CarrierEvent::Scanned, CarrierEvent::Delivered, CarrierEvent::Returned, CarrierEvent::Failed] {
            assert_eq!(parcel.on(&event), Ok(Step::TooEarly), "{parcel:?} {event:?}");
        }
    }
}

#[test]
fn goods_are_handed_over_without_a_label_and_the_label_adds_its_number() {
    use CarrierEvent::{Accepted, LabelIssued, LeftOut, Scanned};
    let label = || LabelIssued(number("1Z999"));
    assert_eq!(after(&[Accepted]), Parcel::Accepted(None));
    assert_eq!(after(&[Accepted, label()]), Parcel::Accepted(Some(number("1Z999"))));
    assert_eq!(after(&[Accepted, label(), Scanned]), Parcel::Transit(number("1Z999")));
    assert_eq!(after(&[LeftOut]), Parcel::NotDroppedOff(None));
    assert_eq!(after(&[LeftOut, Accepted]), Parcel::Accepted(None));
    assert_eq!(after(&[LeftOut, label()]), Parcel::NotDroppedOff(Some(number("1Z999"))));
}

#[test]
fn a_second_label_is_refused_and_the_same_again_is_not() {
    let parcel = Parcel::Transit(number("1Z999"));
    let refused = Refused::AnotherLabel { has: number("1Z999"), offered: number("1Z000") };
    assert_eq!(parcel.on(&CarrierEvent::LabelIssued(number("1Z000"))), Err(refused));
    assert_eq!(parcel.on(&CarrierEvent::LabelIssued(number(" 1Z999 "))), Ok(Step::Unchanged));
}

#[test]
fn a_tracking_number_is_short_and_printable() {
    let trimmed = number(" 1Z 999 ");
    assert_eq!((trimmed.to_string().as_str(), trimmed.as_str()), ("1Z 999", "1Z 999"));
    assert!("é".repeat(255).parse::<TrackingNumber>().is_ok());
    for wrong in ["", "  ", "1Z\n999", "1Z\u{0}", &"1".repeat(256)] {
        assert_eq!(wrong.parse::<TrackingNumber>(), Err(NoTrackingNumber), "{wrong:?}");
    }
}

/// A parcel in each state.
fn parcels() -> Vec<Parcel> {
    let number = || number("1Z999");
    vec![
        Parcel::AwaitingLabel,
        Parcel::PreTransit(number()),
        Parcel::Accepted(Some(number())),
        Parcel::Accepted(None),
        Parcel::Transit(number()),
        Parcel::Delivered(number()),
        Parcel::Returned(number()),
        Parcel::Failure(number()),
        Parcel::NotDroppedOff(Some(number())),
        Parcel::NotDroppedOff(None),
    ]
}

#[test]
fn every_parcel_is_restored_as_it_was_stored() {
    for parcel in parcels() {
        assert_eq!(Parcel::restore(Method::MailBack, parcel.as_str(), parcel.number().cloned()), Some(parcel));
    }
    assert_eq!(Parcel::restore(Method::CustomerKeep, None, None), Some(Parcel::Kept));
    for (word, number) in [(Some("TRANSIT"), None), (Some("LOST"), Some(number("1Z999"))), (None, Some(number("1Z999")))] {
        assert_eq!(Parcel::restore(Method::MailBack, word, number), None, "{word:?}");
    }
}

#[test]
fn a_parcel_has_moved_once_it_was_handed_over_and_has_ended_where_it_stays() {
    let words = |is: fn(&Parcel) -> bool| parcels().iter().filter(|parcel| is(parcel)).filter_map(Parcel::as_str).collect::<Vec<_>>();
    assert_eq!(words(Parcel::has_moved), ["ACCEPTED", "ACCEPTED", "TRANSIT", "DELIVERED", "RETURNED", "FAILURE"]);
    assert_eq!(words(Parcel::has_ended), ["DELIVERED", "RETURNED"]);
    assert!(!Parcel::Kept.has_moved() && !Parcel::Kept.has_ended());
}

proptest! {
    #[test]
    fn a_parcel_never_goes_back(history in prop::collection::vec(events(), 0..12), event in events()) {
        let before = after(&history);
        if let Ok(Step::Moved(next)) = before.on(&event) {
            prop_assert_ne!(&next, &before);
            if let (Some(old), Some(new)) = (rank(&before), rank(&next)) {
                let numbered = old == new && before.number().is_none() && next.number().is_some();
                prop_assert!(new > old || numbered, "{before:?} {event:?}");
            }
            // A failure and being left out say nothing about the progress, but neither leads back to the label.
            prop_assert!(rank(&before).is_some() || !matches!(next, Parcel::PreTransit(_)));
            prop_assert!(before.number().is_none() || before.number() == next.number());
            prop_assert!(!before.has_ended() && (!before.has_moved() || next.has_moved()));
        }
    }

    #[test]
    fn a_repeat_changes_nothing(history in prop::collection::vec(events(), 0..12), event in events()) {
        if let Ok(Step::Moved(next)) = after(&history).on(&event) {
            prop_assert_eq!(next.on(&event), Ok(Step::Unchanged));
        }
    }

    #[test]
    fn only_what_was_handed_over_or_left_out_can_lack_a_tracking_number(history in prop::collection::vec(events(), 0..12)) {
        let parcel = after(&history);
        let labelled = history.iter().any(|event| matches!(event, CarrierEvent::LabelIssued(_)));
        prop_assert_eq!(parcel.number().is_some(), labelled);
        prop_assert!(labelled || [None, Some("ACCEPTED"), Some("NOT_DROPPED_OFF")].contains(&parcel.as_str()));
        prop_assert_eq!(Parcel::restore(Method::MailBack, parcel.as_str(), parcel.number().cloned()), Some(parcel));
    }

    #[test]
    fn goods_that_the_shopper_keeps_have_no_parcel(event in events()) {
        prop_assert_eq!(Parcel::new(Method::CustomerKeep).on(&event), Err(Refused::NoParcel));
    }
}
