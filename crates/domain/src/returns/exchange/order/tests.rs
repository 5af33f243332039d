use proptest::prelude::*;

use super::*;
use crate::returns::rma::money::UnitMoney;
use crate::returns::rma::sale::tests::line;

fn cents(amount: i64) -> Cents {
    Cents::new(amount).expect("in range")
}

fn variant(sku: &str) -> Variant {
    let unit_price = cents(5_000);
    Variant { sku: sku.to_owned(), title: None, attributes: vec![], unit_price, in_stock: 9, image_url: None, product_url: None }
}

fn sold(identifier: &str) -> SoldLine {
    SoldLine { identifier: identifier.to_owned(), unit_price: cents(5_000), ..line() }
}

fn paid(discount: i64, estimated: i64) -> UnitMoney {
    UnitMoney { discount: cents(discount), estimated: cents(estimated), ..UnitMoney::default() }
}

#[test]
fn units_of_a_line_for_the_same_variant_are_one_item_with_their_discounts() {
    let (line, blue, red) = (sold("L1"), variant("BLUE"), variant("RED"));
    let picked = |number, variant, discount| {
        let getting = Getting::Variant(variant);
        Picked { line: &line, number, reason: "TOO_SMALL", getting, money: paid(discount, 0) }
    };
    let units = [picked(1, &blue, 34), picked(2, &red, 33), picked(3, &blue, 33)];
    let order = of(&units, cents(500)).expect("an order");
    let items: Vec<_> =
        order.replacements.iter().map(|item| (item.variant.sku.as_str(), item.quantity, item.product, item.discount)).collect();
    assert_eq!(items, [("BLUE", 2, cents(10_000), cents(67)), ("RED", 1, cents(5_000), cents(33))]);
    assert_eq!(order.gift_card, None, "and no bonus without a card");
}

#[test]
fn all_that_goes_for_a_gift_card_is_one_card() {
    let (first, second) = (sold("L1"), sold("L2"));
    let picked = |line, number, worth| {
        let getting = Getting::GiftCard;
        Picked { line, number, reason: "NOT_GIVEN", getting, money: paid(0, worth) }
    };
    let units = [picked(&first, 1, 5_400), picked(&second, 1, 1_000), picked(&first, 2, 5_399)];
    let order = of(&units, cents(500)).expect("an order");
    let card = order.gift_card.expect("a card");
    assert_eq!((card.value, card.bonus), (cents(11_799), cents(500)));
    assert_eq!(card.returned.iter().map(|(line, units)| (line.identifier.as_str(), *units)).collect::<Vec<_>>(), [("L1", 2), ("L2", 1)]);
    assert_eq!(order.replacements, []);
}

#[test]
fn a_card_that_is_worth_nothing_has_no_bonus_and_refunds_alone_need_no_order() {
    let line = sold("L1");
    let picked = |getting, worth| Picked { line: &line, number: 1, reason: "NOT_GIVEN", getting, money: paid(0, worth) };
    let card = of(&[picked(Getting::GiftCard, 0)], cents(500)).and_then(|order| order.gift_card).expect("a card");
    assert_eq!((card.value, card.bonus), (cents(0), cents(0)));
    assert_eq!(of(&[picked(Getting::Refund, 5_400)], cents(500)), None);
}

proptest! {
    #[test]
    fn every_unit_is_in_exactly_one_place(choices in prop::collection::vec((0..2_usize, 0..4_usize, 0..10_000_i64), 0..20)) {
        let (lines, variants) = ([sold("L1"), sold("L2")], [variant("BLUE"), variant("RED")]);
        let getting = |choice| match choice {
            0 => Getting::Refund,
            1 => Getting::GiftCard,
            other => Getting::Variant(&variants[other - 2]),
        };
        let picked = |(line, choice, worth): &(usize, usize, i64)| {
            let money = paid(1, *worth);
            Picked { line: &lines[*line], number: 1, reason: "NOT_GIVEN", getting: getting(*choice), money }
        };
        let units: Vec<_> = choices.iter().map(picked).collect();
        let order = of(&units, cents(500));
        let refunds = choices.iter().filter(|(_, choice, _)| *choice == 0).count();
        prop_assert_eq!(order.is_none(), refunds == choices.len());
        let Some(order) = order else { return Ok(()) };
        let replaced: u32 = order.replacements.iter().map(|item| item.quantity).sum();
        let carded: u32 = order.gift_card.iter().flat_map(|card| &card.returned).map(|(_, units)| *units).sum();
        prop_assert_eq!(usize::try_from(replaced + carded).unwrap() + refunds, choices.len());
        prop_assert!(order.replacements.iter().all(|item| item.discount == cents(item.quantity.into())));
        let worth: i64 = choices.iter().filter(|(_, choice, _)| *choice == 1).map(|(_, _, worth)| worth).sum();
        prop_assert_eq!(order.gift_card.map_or(0, |card| card.value.get()), worth);
    }
}
