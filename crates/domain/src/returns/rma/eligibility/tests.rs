use proptest::prelude::*;

use super::*;
use crate::money::Cents;
use crate::orders::order::Status;
use crate::returns::rma::policy::Tag;
use crate::returns::rma::sale;
use crate::returns::rma::sale::tests::line;

fn day(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(number * 86_400, 0).expect("in range")
}

fn sale(line: SoldLine) -> Sale {
    sale::tests::sale(vec![line])
}

/// The returnable units and obstacles of the only line on the tenth day.
fn found(sale: &Sale, taken: UnavailableUnits) -> (u32, Vec<(Obstacle, u32)>) {
    let taken = BTreeMap::from([("line".to_owned(), taken)]);
    let mut lines = returnable(sale, &Policy::default(), &taken, day(10));
    let line = lines.pop().expect("a line");
    (line.units, line.held)
}

#[test]
fn only_what_was_shipped_can_come_back() {
    let mut sale = sale(SoldLine { quantity: 6, shipped: 3, cancelled: 1, ..line() });
    assert_eq!(found(&sale, UnavailableUnits::default()), (3, vec![(Obstacle::Cancelled, 1), (Obstacle::NotShipped, 2)]));
    sale.status = Status::Created;
    assert_eq!(found(&sale, UnavailableUnits::default()).0, 3);
    sale.status = Status::Cancelled;
    assert_eq!(found(&sale, UnavailableUnits::default()), (0, vec![(Obstacle::OrderCancelled, 6)]));
}

#[test]
fn what_is_refunded_or_in_a_return_cannot_come_back_again() {
    let sale = sale(SoldLine { quantity: 4, shipped: 4, ..line() });
    let held = vec![(Obstacle::Refunded, 1), (Obstacle::InReturn, 2)];
    assert_eq!(found(&sale, UnavailableUnits { live: 2, settled: 1, outside: 0 }), (1, held.clone()));
    assert_eq!(found(&sale, UnavailableUnits { live: 2, settled: 0, outside: 1 }), (1, held));
    let taken = UnavailableUnits { live: 9, settled: 1, outside: 2 };
    assert_eq!(found(&sale, taken), (0, vec![(Obstacle::Refunded, 3), (Obstacle::InReturn, 1)]));
}

#[test]
fn the_refund_of_a_cancelled_unit_uses_up_no_shipped_one() {
    let sale = sale(SoldLine { quantity: 3, shipped: 2, cancelled: 1, ..line() });
    let refunded = |settled, outside| found(&sale, UnavailableUnits { live: 0, settled, outside });
    assert_eq!(refunded(0, 1), (2, vec![(Obstacle::Cancelled, 1)]));
    assert_eq!(refunded(1, 1), (1, vec![(Obstacle::Cancelled, 1), (Obstacle::Refunded, 1)]));
    assert_eq!(refunded(1, 2), (0, vec![(Obstacle::Cancelled, 1), (Obstacle::Refunded, 2)]));
}

#[test]
fn the_window_ends_thirty_days_after_shipping_or_else_after_the_order() {
    let of = |shipped_at, now| returnable(&sale(SoldLine { shipped_at, ..line() }), &Policy::default(), &BTreeMap::new(), now).remove(0);
    let line = of(Some(day(5)), day(35));
    assert_eq!((line.units, line.until), (2, Some(day(35))));
    let line = of(Some(day(5)), day(35) + TimeDelta::milliseconds(1));
    assert_eq!((line.units, line.until, line.held), (0, Some(day(35)), vec![(Obstacle::WindowOver, 2)]));
    assert_eq!(of(None, day(30)).until, Some(day(30)));
    let beyond = of(Some(DateTime::<Utc>::MAX_UTC), day(10));
    assert_eq!((beyond.units, beyond.until), (2, None));
}

#[test]
fn a_tag_of_the_line_or_of_the_order_stands_against_a_return() {
    for (tag, obstacle) in [
        ("final sale", Obstacle::FinalSale),
        ("gift card", Obstacle::GiftCard),
        ("pickup in store", Obstacle::PickupInStore),
        ("third party", Obstacle::ThirdParty),
    ] {
        let tagged = sale(SoldLine { tags: vec![Tag::new("new"), Tag::new(tag)], ..line() });
        assert_eq!(
            found(&tagged, UnavailableUnits { live: 1, ..UnavailableUnits::default() }),
            (0, vec![(Obstacle::InReturn, 1), (obstacle, 1)])
        );
        let whole = Sale { tags: vec![Tag::new(tag)], ..sale(line()) };
        assert_eq!(found(&whole, UnavailableUnits::default()), (0, vec![(obstacle, 2)]));
    }
}

#[test]
fn a_window_ends_only_for_units_that_could_come_back() {
    let until = |sale: &Sale| returnable(sale, &Policy::default(), &BTreeMap::new(), day(10)).remove(0).until;
    assert_eq!(until(&sale(SoldLine { shipped: 1, ..line() })), Some(day(30)));
    assert_eq!(until(&sale(SoldLine { shipped: 0, ..line() })), None);
    assert_eq!(until(&Sale { status: Status::Cancelled, ..sale(line()) }), None);
    assert_eq!(until(&Sale { tags: vec![Tag::new("final sale")], ..sale(line()) }), None);
}

#[test]
fn a_gift_can_come_back() {
    let gift = Sale { tags: vec![Tag::new("GIFT")], ..sale(line()) };
    assert!(is_gift(&gift, &Policy::default()) && !is_gift(&sale(line()), &Policy::default()));
    assert_eq!(found(&gift, UnavailableUnits::default()).0, 2);
    let policy = Policy { tags: BTreeMap::from([(Tag::new("gift"), TagRule::Allowed)]), ..Policy::default() };
    assert!(!is_gift(&gift, &policy));
}

#[test]
fn express_is_offered_for_what_is_known_to_be_light_enough() {
    let policy = Policy::default();
    let weighing = |pounds: Option<u32>| SoldLine { weight: pounds.map(|pounds| Weight(pounds * 1_000)), ..line() };
    let methods = |chosen: &[(&SoldLine, u32)]| offers(&policy, chosen).iter().map(|offer| offer.method).collect::<Vec<_>>();
    let (five, unknown) = (weighing(Some(5)), weighing(None));
    assert_eq!(methods(&[(&five, 2), (&five, 2)]), [Method::MailBack, Method::ExpressReturns]);
    assert_eq!(methods(&[(&five, 2), (&five, 3)]), [Method::MailBack]);
    assert_eq!(methods(&[(&five, 1), (&unknown, 1)]), [Method::MailBack]);
    let heavy = SoldLine { weight: Some(Weight(u32::MAX)), ..line() };
    assert_eq!(methods(&[(&heavy, u32::MAX), (&heavy, u32::MAX)]), [Method::MailBack]);
}

#[test]
fn an_offer_keeps_its_fee_and_its_place() {
    let keep = Offer { method: Method::CustomerKeep, fee: Cents::new(100).expect("in range"), deducted: true };
    let policy = Policy { offers: vec![keep, Policy::default().offers[0]], ..Policy::default() };
    assert_eq!(offers(&policy, &[(&line(), 1)]), policy.offers);
}

#[test]
fn a_unit_gets_the_lowest_number_that_is_free() {
    let line = SoldLine { shipped: 5, quantity: 5, ..line() };
    assert_eq!(free_numbers(&line, &BTreeSet::from([1, 3]), 2), [2, 4]);
    assert_eq!(free_numbers(&line, &BTreeSet::from([1, 3]), 9), [2, 4, 5]);
    assert_eq!(free_numbers(&line, &BTreeSet::new(), 0), []);
}

proptest! {
    #[test]
    fn every_unit_can_come_back_or_is_held_by_one_obstacle(
        quantity in 0..20_u32, shipped in 0..25_u32, cancelled in 0..25_u32, live in 0..25_u32, settled in 0..25_u32,
        outside in 0..25_u32, tagged: bool, today in 0..60_i64,
        status in prop::sample::select(vec![Status::Created, Status::Shipped, Status::Cancelled]),
    ) {
        let tags = if tagged { vec![Tag::new("final sale")] } else { Vec::new() };
        let sale = Sale { status, ..sale(SoldLine { quantity, shipped, cancelled, tags, ..line() }) };
        let taken = BTreeMap::from([("line".to_owned(), UnavailableUnits { live, settled, outside })]);
        let line = returnable(&sale, &Policy::default(), &taken, day(today)).remove(0);
        prop_assert_eq!(line.units + line.held.iter().map(|(_, units)| units).sum::<u32>(), quantity);
        prop_assert!(line.held.iter().all(|(_, units)| *units > 0));
        let refunded = settled + outside.saturating_sub(cancelled);
        prop_assert!(line.units == 0 || line.units + live + refunded <= shipped, "never more comes back than left");
        prop_assert!(line.units == 0 || (status != Status::Cancelled && !tagged && today <= 30));
    }
}

#[test]
fn withdrawn_units_come_back_after_the_window_and_from_a_final_sale_but_not_twice() {
    let final_sale = SoldLine { quantity: 3, shipped: 3, tags: vec![Tag::new("final sale")], ..line() };
    let late = |line: SoldLine, taken, wanted| {
        let (sale, taken) = (sale(line), BTreeMap::from([("line".to_owned(), taken)]));
        let mut lines = returnable(&sale, &Policy::default(), &taken, day(100));
        release_withdrawn(&mut lines, &sale, &BTreeMap::from([("line".to_owned(), wanted)]));
        lines.remove(0)
    };
    let free = UnavailableUnits::default();
    let released = late(final_sale.clone(), free, 2);
    assert_eq!((released.units, released.until, released.held), (2, None, vec![(Obstacle::FinalSale, 1)]));
    assert_eq!(late(line(), free, 2).units, 2, "after the window");
    assert_eq!(late(line(), free, 0).held, [(Obstacle::WindowOver, 2)], "not withdrawn");
    let taken = UnavailableUnits { live: 1, ..free };
    assert_eq!(late(final_sale, taken, 9).held, [(Obstacle::InReturn, 1)], "no more than there are");
    assert_eq!(late(SoldLine { shipped: 1, ..line() }, free, 2).held, [(Obstacle::NotShipped, 1)], "nothing to send");
}
