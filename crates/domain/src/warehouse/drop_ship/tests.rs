//! Invariants that hold whatever a warehouse reports, in any order.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Report {
    Ship(Vec<Units>),
    CancelUnits(Vec<Units>),
    Cancel,
    Reject,
}

fn units(item: usize, quantity: u32) -> Units {
    Units { item, quantity: NonZeroU32::new(quantity).expect("at least one") }
}

fn reports() -> impl Strategy<Value = Report> {
    let some = || prop::collection::vec((0..4_usize, 1..4_u32).prop_map(|(item, quantity)| units(item, quantity)), 0..4);
    prop_oneof![
        4 => some().prop_map(Report::Ship),
        3 => some().prop_map(Report::CancelUnits),
        1 => Just(Report::Cancel),
        1 => Just(Report::Reject),
    ]
}

fn orders() -> impl Strategy<Value = Order> {
    prop::collection::vec(1..5_u32, 1..4).prop_map(Order::new)
}

fn apply(order: &mut Order, report: &Report) -> Result<Option<Event>, Refused> {
    match report {
        Report::Ship(units) => order.ship(units).map(Some),
        Report::CancelUnits(units) => order.cancel_units(units).map(Some),
        Report::Cancel => order.cancel(),
        Report::Reject => order.reject(),
    }
}

/// True if an order or an item may go from one status to the other; staying is always allowed.
fn legal(from: Status, to: Status) -> bool {
    let next: &[Status] = match from {
        Status::Accepted => Status::ALL,
        Status::PartiallyShipped => &[Status::Shipped],
        Status::Shipped | Status::Cancelled | Status::Rejected => &[],
    };
    from == to || next.contains(&to)
}

fn check(before: &Order, after: &Order, event: Event) -> Result<(), TestCaseError> {
    prop_assert!(legal(before.status(), after.status()), "{} to {}", before.status(), after.status());
    for (old, new) in before.items.iter().zip(&after.items) {
        prop_assert!(new.shipped + new.cancelled <= new.ordered, "shipped + cancelled never above ordered");
        prop_assert!(new.shipped >= old.shipped && new.cancelled >= old.cancelled && new.ordered == old.ordered);
        prop_assert!(legal(before.item_status(old), after.item_status(new)));
    }
    let shipped = |order: &Order| order.items.iter().map(|item| item.shipped).sum::<u32>();
    let cancelled = |order: &Order| order.items.iter().map(|item| item.cancelled).sum::<u32>();
    let of_item = |status| after.items.iter().any(|item| after.item_status(item) == status);
    match event {
        Event::Confirmed => prop_assert!(shipped(after) > shipped(before) && cancelled(after) == cancelled(before)),
        Event::PartiallyCancelled => {
            prop_assert!(cancelled(after) > cancelled(before) && shipped(after) == shipped(before));
            prop_assert!(![Status::Cancelled, Status::Rejected].contains(&after.status()));
        }
        Event::Cancelled => prop_assert!(after.status() == Status::Cancelled && shipped(after) == 0 && !of_item(Status::Rejected)),
        Event::Rejected => prop_assert!(after.status() == Status::Rejected && !of_item(Status::Cancelled)),
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_drop_ship_order_keeps_its_rules_through_any_history(mut order in orders(), history in prop::collection::vec(reports(), 0..20)) {
        let mut ends = 0;
        for report in &history {
            let before = order.clone();
            if let Ok(Some(event)) = apply(&mut order, report) {
                prop_assert_ne!(&order, &before, "what owes a message has changed");
                prop_assert!(before.is_live(), "nothing follows an end");
                check(&before, &order, event)?;
                ends += usize::from(!order.is_live());
            } else {
                prop_assert_eq!(&order, &before);
            }
        }
        prop_assert_eq!(ends, usize::from(!order.is_live()), "there is one end");
        let open: u32 = order.items.iter().map(Item::open).sum();
        prop_assert_eq!(open == 0, !order.is_live(), "it is over when no unit is open");
    }
}

#[test]
fn what_is_left_when_the_last_units_are_called_off_decides() {
    let mut none_shipped = Order::new([1, 1]);
    assert_eq!(none_shipped.cancel_units(&[units(0, 1)]), Ok(Event::PartiallyCancelled));
    assert_eq!((none_shipped.cancel_units(&[units(1, 1)]), none_shipped.status()), (Ok(Event::Cancelled), Status::Cancelled));
    let mut some_shipped = Order::new([1, 1]);
    assert_eq!(some_shipped.ship(&[units(0, 1)]), Ok(Event::Confirmed));
    assert_eq!((some_shipped.cancel_units(&[units(1, 1)]), some_shipped.status()), (Ok(Event::PartiallyCancelled), Status::Shipped));
}

#[test]
fn every_entry_that_wants_too_much_is_named_and_nothing_is_taken() {
    let mut order = Order::new([2, 1]);
    let wanted = [units(0, 2), units(1, 2), units(0, 1), units(7, 1)];
    let too_many = vec![TooMany { at: 1, open: 1 }, TooMany { at: 2, open: 0 }, TooMany { at: 3, open: 0 }];
    assert_eq!(order.ship(&wanted), Err(Refused::TooMany(too_many)));
    assert_eq!(order, Order::new([2, 1]));
    assert_eq!(order.ship(&[]), Err(Refused::Nothing));
}

#[test]
fn a_repeat_of_the_end_changes_nothing_and_another_end_is_refused() {
    let mut cancelled = Order::new([1]);
    assert_eq!((cancelled.cancel(), cancelled.cancel()), (Ok(Some(Event::Cancelled)), Ok(None)));
    assert_eq!(cancelled.reject(), Err(Refused::Over(Status::Cancelled)));
    let mut rejected = Order::new([1]);
    assert_eq!((rejected.reject(), rejected.reject()), (Ok(Some(Event::Rejected)), Ok(None)));
    assert_eq!(rejected.cancel(), Err(Refused::Over(Status::Rejected)));
}

#[test]
fn a_name_is_repeated_if_it_occurred_before() {
    assert_eq!(repeated(["a", "b", "a", "c", "a", "b"]), [2, 4, 5]);
    assert_eq!(repeated(["a", "b"]), [0_usize; 0]);
}
