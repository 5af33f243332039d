use proptest::prelude::*;

use super::split::{MOST_LINES, parts, split};
use super::*;

const ACTS: [Act; 6] = [Act::Announce, Act::Ship, Act::Deliver, Act::Cancel, Act::ChangeShipDate, Act::ChangeTransport];

/// True if one status may follow the other.
fn may_follow(from: Status, to: Status) -> bool {
    let after: &[Status] = match from {
        Status::Pending => &[Status::Pending, Status::Shipped, Status::Cancelled],
        Status::Shipped => &[Status::Shipped, Status::Delivered],
        Status::Delivered => &[Status::Delivered],
        Status::Cancelled => &[Status::Cancelled],
    };
    after.contains(&to)
}

#[test]
fn the_only_ways_are_pending_shipped_delivered_and_pending_cancelled() {
    let mut moves = Vec::new();
    for from in State::ALL {
        for act in ACTS {
            if let Ok(Step::Moved { to, tells }) = from.on(act) {
                moves.push(format!("{} {} {}", from.as_str(), to.as_str(), tells.map_or("-", Event::as_str)));
            }
        }
    }
    assert_eq!(
        moves,
        [
            "open announced outbound_asn.pending",
            "open shipped outbound_asn.shipped",
            "open canceled -",
            "open open -",
            "open open -",
            "announced shipped outbound_asn.shipped",
            "announced canceled outbound_asn.canceled",
            "announced announced outbound_asn.ship_date_changed",
            "announced announced outbound_asn.transport_changed",
            "shipped delivered outbound_asn.delivered",
        ]
    );
}

#[test]
fn a_refusal_says_where_the_shipment_stands_and_what_was_asked() {
    let refused = State::Cancelled.on(Act::Ship).map_err(|refused| refused.to_string());
    assert_eq!(refused, Err("the shipment is canceled and cannot be shipped".to_owned()));
    let done = [
        "announced",
        "shipped",
        "delivered",
        "cancelled",
        "given another ship date",
        "given another carrier, tracking number or bill of lading",
    ];
    assert_eq!(ACTS.map(Act::done), done);
}

#[test]
fn every_word_is_read_back() {
    for state in State::ALL {
        assert_eq!(state.as_str().parse(), Ok(*state));
    }
    assert_eq!(Status::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>(), ["pending", "shipped", "delivered", "canceled"]);
}

#[test]
fn a_number_is_plain_and_leaves_room_for_a_suffix() {
    let longest = "a".repeat(248);
    for good in ["A", "A-1_b", longest.as_str()] {
        let number: AsnNumber = good.parse().expect("a number");
        assert_eq!((number.to_string().as_str(), number.as_str()), (good, good));
    }
    for bad in ["", "A 1", "A/1", "é", "a\0", &"a".repeat(249)] {
        assert!(bad.parse::<AsnNumber>().is_err(), "{bad:?}");
    }
    let most = longest.parse::<AsnNumber>().map(|number| number.of_part(999_999, 999_999).len());
    assert_eq!(most, Ok(255));
}

proptest! {
    #[test]
    fn a_split_is_disjoint_and_complete_and_its_numbers_have_no_gaps(lines in 0..=MOST_UNITS) {
        let ranges: Vec<_> = split(lines).collect();
        prop_assert!(ranges.iter().all(|range| (1..=MOST_LINES).contains(&u32::try_from(range.len()).expect("few"))));
        let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
        prop_assert!(all.iter().copied().eq(0..lines), "each line once, in order");
        let number: AsnNumber = "A".parse().expect("a number");
        let sent: Vec<String> = number.sent(parts(lines)).collect();
        prop_assert_eq!(sent.len(), ranges.len());
        match sent.as_slice() {
            [only] => prop_assert_eq!(only, "A"),
            several => {
                let expected: Vec<String> = (1..=several.len()).map(|part| format!("A_{part}")).collect();
                prop_assert_eq!(several, &expected[..]);
            }
        }
    }

    #[test]
    fn whatever_is_asked_the_status_goes_only_where_it_may(acts in prop::collection::vec(prop::sample::select(&ACTS[..]), 0..12)) {
        let (mut state, mut told) = (State::Open, Vec::new());
        for act in acts {
            let Ok(Step::Moved { to, tells }) = state.on(act) else { continue };
            prop_assert!(may_follow(state.status(), to.status()));
            prop_assert!(to != State::Open || state == State::Open, "units that are fixed stay so");
            told.extend(tells);
            state = to;
        }
        let times = |event| told.iter().filter(|told| **told == event).count();
        let once = [Event::Pending, Event::Shipped, Event::Delivered, Event::Cancelled].into_iter().all(|event| times(event) <= 1);
        prop_assert!(once);
        prop_assert!(times(Event::Cancelled) <= times(Event::Pending), "only an announced shipment owes a message when it is cancelled");
    }
}
