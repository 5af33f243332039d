use std::sync::Arc;

use chrono::DateTime;

use super::*;
use crate::money::Cents;
use crate::orders::order::Status;
use crate::returns::exchange::variant::Variant;
use crate::returns::rma::eligibility::returnable;
use crate::returns::rma::policy::{GiftCardTerms, Tag};
use crate::returns::rma::sale::Weight;
use crate::returns::rma::sale::tests::line;
use crate::returns::rma::word::RefundType;

fn cents(amount: i64) -> Cents {
    Cents::new(amount).expect("in range")
}

/// An order of two units with variants at the same price.
fn sale() -> Sale {
    let line = SoldLine { variant_identifier: Some("V-1".to_owned()), unit_price: cents(5_000), ..line() };
    Sale { identifier: "order".to_owned(), status: Status::Shipped, placed_at: DateTime::UNIX_EPOCH, tags: vec![], lines: vec![line] }
}

fn policy() -> Policy {
    Policy { gift_card: Some(GiftCardTerms { sku: "CARD".to_owned(), bonus: cents(0) }), ..Policy::default() }
}

fn variant(sku: &str, price: i64, in_stock: u32) -> Variant {
    let unit_price = cents(price);
    Variant { sku: sku.to_owned(), title: None, attributes: vec![], unit_price, in_stock, image_url: None, product_url: None }
}

fn offered() -> Exchanges {
    let variants: Arc<[Variant]> = [variant("EVEN", 5_000, 1), variant("GONE", 5_000, 0), variant("DEAR", 6_000, 9)].into();
    Exchanges { standing: Standing::Offered, variants: BTreeMap::from([("line".to_owned(), variants)]) }
}

fn wanted(quantity: u32, reason: &'static str, instead: Instead<'static>) -> RequestedItem<'static> {
    RequestedItem { line: "line", quantity, reason, instead }
}

/// The refund type of each unit, or the reasons the choice is not possible.
fn choose_of(
    sale: &Sale,
    policy: &Policy,
    exchanges: &Exchanges,
    items: Vec<RequestedItem<'static>>,
) -> Result<Vec<RefundType>, Vec<Impossible>> {
    let lines = returnable(sale, policy, &BTreeMap::new(), DateTime::UNIX_EPOCH);
    let giftee = is_gift(sale, policy);
    let choice = Choice { method: Method::MailBack, items, giftee };
    let chosen = choose(sale, policy, &lines, &BTreeMap::new(), exchanges, &choice)?;
    Ok(chosen.units.iter().map(|unit| unit.getting.refund_type()).collect())
}

#[test]
fn a_shopper_may_take_the_money_another_variant_and_a_gift_card() {
    let even = wanted(1, "TOO_SMALL", Instead::Variant("EVEN"));
    let card = wanted(1, "CHANGED_MIND", Instead::GiftCard);
    let chosen = choose_of(&sale(), &policy(), &offered(), vec![even, card]);
    assert_eq!(chosen, Ok(vec![RefundType::EvenExchange, RefundType::UnevenExchange]));
    assert_eq!(choose_of(&sale(), &policy(), &offered(), vec![wanted(2, "NOT_GIVEN", Instead::Refund)]), Ok(vec![RefundType::Refund; 2]));
}

#[test]
fn what_cannot_be_had_is_told_with_what_can() {
    let even = |quantity, reason, sku| wanted(quantity, reason, Instead::Variant(sku));
    let skus = || NoExchange::NotAVariant(vec!["EVEN".to_owned()]);
    let reasons = || NoExchange::Reason(vec!["TOO_SMALL".to_owned(), "TOO_LARGE".to_owned()]);
    let before = Exchanges { standing: Standing::ExchangedBefore, ..offered() };
    let nobody = Exchanges { standing: Standing::NotOffered, ..offered() };
    let gift = Sale { tags: vec![Tag::new("gift")], ..sale() };
    let mut plain = sale();
    plain.lines[0].variant_identifier = None;
    let cardless = Policy { gift_card: None, ..policy() };
    for (sale, policy, exchanges, item, why) in [
        (sale(), policy(), offered(), even(1, "TOO_SMALL", "GONE"), NoExchange::OutOfStock(0)),
        (sale(), policy(), offered(), even(1, "TOO_SMALL", "DEAR"), skus()),
        (sale(), policy(), offered(), even(1, "TOO_SMALL", "other"), skus()),
        (sale(), policy(), offered(), even(2, "TOO_SMALL", "EVEN"), NoExchange::OutOfStock(1)),
        (sale(), policy(), offered(), even(1, "CHANGED_MIND", "EVEN"), reasons()),
        (sale(), policy(), before.clone(), even(1, "TOO_SMALL", "EVEN"), NoExchange::ExchangedBefore),
        (sale(), policy(), nobody.clone(), even(1, "TOO_SMALL", "EVEN"), NoExchange::NotOffered),
        (sale(), policy(), before, wanted(1, "NOT_GIVEN", Instead::GiftCard), NoExchange::ExchangedBefore),
        (sale(), policy(), nobody, wanted(1, "NOT_GIVEN", Instead::GiftCard), NoExchange::NotOffered),
        (plain, policy(), offered(), even(1, "TOO_SMALL", "EVEN"), NoExchange::NoVariants),
        (sale(), cardless, offered(), wanted(1, "NOT_GIVEN", Instead::GiftCard), NoExchange::NoGiftCard),
        (gift, policy(), offered(), wanted(1, "NOT_GIVEN", Instead::GiftCard), NoExchange::Gift),
    ] {
        assert_eq!(choose_of(&sale, &policy, &exchanges, vec![item]), Err(vec![Impossible::Exchange { item: 0, why }]));
    }
}

#[test]
fn the_stock_of_a_variant_is_for_all_items_together() {
    let even = || wanted(1, "TOO_SMALL", Instead::Variant("EVEN"));
    let against = choose_of(&sale(), &policy(), &offered(), vec![even(), even()]);
    assert_eq!(against, Err(vec![Impossible::Exchange { item: 1, why: NoExchange::OutOfStock(0) }]));
}

#[test]
fn everything_that_cannot_be_is_told_at_once() {
    let items = vec![
        wanted(1, "no reason of theirs", Instead::Refund),
        RequestedItem { line: "other", ..wanted(1, "NOT_GIVEN", Instead::Refund) },
        wanted(2, "NOT_GIVEN", Instead::Refund),
    ];
    let against = choose_of(&sale(), &policy(), &offered(), items);
    let units = Impossible::Units { item: 2, free: 1, held: vec![] };
    assert_eq!(against, Err(vec![Impossible::Reason { item: 0 }, Impossible::Line { item: 1 }, units]));
}

#[test]
fn express_is_decided_by_the_weight_of_what_comes_back() {
    let weighing = |identifier: &str, weight| SoldLine { identifier: identifier.to_owned(), weight, ..line() };
    let lines = vec![weighing("light", Some(Weight(10_000))), weighing("heavy", Some(Weight(10_001))), weighing("unknown", None)];
    let sale = Sale { lines, ..sale() };
    let express = |items: &[(&'static str, u32)]| {
        let item = |(line, quantity): &(&'static str, u32)| RequestedItem { line, ..wanted(*quantity, "NOT_GIVEN", Instead::Refund) };
        let choice = Choice { method: Method::ExpressReturns, items: items.iter().map(item).collect(), giftee: false };
        let lines = returnable(&sale, &policy(), &BTreeMap::new(), DateTime::UNIX_EPOCH);
        let exchanges = offered();
        choose(&sale, &policy(), &lines, &BTreeMap::new(), &exchanges, &choice).map(|chosen| chosen.units.len())
    };
    let by_mail = || Impossible::Method { offered: vec![Method::MailBack] };
    assert_eq!(express(&[("light", 2)]), Ok(2));
    assert_eq!(express(&[("heavy", 2)]), Err(vec![by_mail()]));
    assert_eq!(express(&[("heavy", 1), ("unknown", 1)]), Err(vec![by_mail()]));
    let units = Impossible::Units { item: 1, free: 2, held: vec![] };
    assert_eq!(express(&[("light", 2), ("unknown", 3)]), Err(vec![units]), "what cannot come back weighs nothing");
}
