//! The exact JSON of exchange orders, key by key.

use std::collections::BTreeSet;

use domain::money::Cents;
use domain::returns::rma::policy::{GiftCardTerms, Policy};
use sandbox::merchant::Received;
use serde_json::{Value, json};

use crate::world::{Boutique, World, and_socks, exchange, for_a_gift_card, message, sold, with_gift_cards};

impl Boutique<'_> {
    /// The exchange order that arrived, one key per line and without generated names.
    async fn order(&self) -> String {
        self.shop.merchant.world.deliver_all_due().await;
        let asked = self.asked();
        let [asked] = &asked[..] else { panic!("{} exchange orders", asked.len()) };
        let body = asked.json();
        let rma = body["rma_identifier"].as_str().unwrap();
        let text =
            String::from_utf8(asked.body().to_vec()).unwrap().replace(rma, "R-XXXX-XXXX").replace(asked.message_id().unwrap(), "<id>");
        text.replace(",\"", ",\n\"").replace("{\"", "{\n\"").replace("},{", "},\n{")
    }

    /// Sells shoes and socks with discounts that do not divide evenly.
    async fn sells_shoes_and_socks(&self) {
        let mut order = and_socks(sold("A-1", 3), 2);
        order["items"][0]["discount_amount_cents"] = 100.into();
        order["items"][0]["concept"] = "Runner's Choice".into();
        self.shop.merchant.publishes(&message([order])).await;
    }
}

#[tokio::test]
async fn one_even_exchange() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.exchanges("A-1").await;
    insta::assert_snapshot!(boutique.order().await);
}

#[tokio::test]
async fn several_lines_are_exchanged() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let mut order = and_socks(sold("A-1", 3), 1);
    order["items"][0]["discount_amount_cents"] = 100.into();
    order["items"][1]["variant_identifier"] = "V-SHOE".into();
    order["items"][1]["product_identifier"] = json!(null);
    boutique.shop.merchant.publishes(&message([order])).await;
    let mut wanted = exchange("A-1", 2, "SHOE-43");
    let item = |line: &str, sku: &str| json!({ "order_line_item_identifier": line, "return_reason": "TOO_LARGE", "exchange_sku": sku });
    wanted["items"].as_array_mut().unwrap().extend([item("L1", "SHOE-41"), item("L2", "SHOE-41")]);
    boutique.starts(&wanted).await;
    insta::assert_snapshot!(boutique.order().await);
}

#[tokio::test]
async fn without_a_product_identifier_the_sku_is_sent() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    for (order, absent) in [("A-1", json!(null)), ("A-2", json!("")), ("A-3", json!("P-42"))] {
        let mut sold = sold(order, 1);
        sold["items"][0]["product_identifier"] = absent;
        boutique.shop.merchant.publishes(&message([sold])).await;
        boutique.starts(&exchange(order, 1, "SHOE-43")).await;
    }
    world.deliver_all_due().await;
    let sent: Vec<Value> = boutique.asked().iter().map(Received::json).collect();
    let of = |order: &str| &sent.iter().find(|sent| sent["original_order_id"] == order).unwrap()["items"][0]["product_identifier"];
    assert_eq!([of("A-1"), of("A-2"), of("A-3")], ["SHOE-43", "SHOE-43", "P-42"]);
}

#[tokio::test]
async fn a_gift_card_alone_without_a_bonus() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    let gift_card = Some(GiftCardTerms { sku: "CARD-1".to_owned(), bonus: Cents::default() });
    boutique.shop.merchant.has_policy(&Policy { gift_card, ..Policy::default() }).await;
    boutique.shop.merchant.sells("A-1", 2).await;
    boutique.starts(&for_a_gift_card("A-1", 2)).await;
    insta::assert_snapshot!(boutique.order().await);
}

#[tokio::test]
async fn a_gift_card_with_a_bonus() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.sells_shoes_and_socks().await;
    let mut wanted = for_a_gift_card("A-1", 3);
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L2", "quantity": 2, "gift_card": true }));
    boutique.starts(&wanted).await;
    insta::assert_snapshot!(boutique.order().await);
}

#[tokio::test]
async fn an_exchange_and_a_gift_card_mixed_with_refunds() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.sells_shoes_and_socks().await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    let items = wanted["items"].as_array_mut().unwrap();
    items.push(json!({ "order_line_item_identifier": "L1", "gift_card": true }));
    items.push(json!({ "order_line_item_identifier": "L1" }));
    items.push(json!({ "order_line_item_identifier": "L2" }));
    let rma = boutique.starts(&wanted).await;
    insta::assert_snapshot!(boutique.order().await);
    let refunds = boutique.refunds_of(&rma).await;
    let refunds: Vec<(&str, i64)> = refunds.iter().map(|(kind, cents)| (kind.as_str(), *cents)).collect();
    assert_eq!(refunds, [("EVEN_EXCHANGE", 0), ("UNEVEN_EXCHANGE", 0), ("REFUND", 5_367), ("REFUND", 5_400)]);
}

#[tokio::test]
async fn every_key_is_there_whatever_is_exchanged() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.has_policy(&Policy { concept: None, ..with_gift_cards() }).await;
    let mut bare = sold("A-1", 2);
    for name in ["shipping_address", "billing_address"] {
        bare[name] = json!(null);
    }
    bare["customer"] = json!({ "email": "pat@example.com" });
    bare["items"][0]["title"] = json!(null);
    boutique.shop.merchant.publishes(&message([bare])).await;
    let mut wanted = exchange("A-1", 1, "SHOE-43");
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L1", "gift_card": true }));
    boutique.starts(&wanted).await;
    world.deliver_all_due().await;
    let asked = boutique.asked();
    let body = asked[0].json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let sorted = |words: &str| words.split(' ').map(ToOwned::to_owned).collect::<BTreeSet<String>>();
    let order = "original_order_id rma_identifier currency items customer shipping_address billing_address payment";
    assert_eq!(keys(&body), sorted(order));
    assert_eq!(keys(&body["customer"]), sorted("identifier email first_name last_name phone"));
    assert_eq!(keys(&body["payment"]), sorted("transaction_id"));
    let replacement = "sku quantity title unit_price_amount_cents product_amount_cents discount_amount_cents tax_amount_cents \
        product_identifier variant_identifier original_sku original_item_identifier concept";
    assert_eq!(keys(&body["items"][0]), sorted(replacement));
    assert_eq!(keys(&body["items"][1]), sorted("sku quantity unit_price_amount_cents bonus_credit_amount_cents return_items"));
    assert_eq!(keys(&body["items"][1]["return_items"][0]), sorted("title original_sku original_item_identifier quantity concept"));
    assert_eq!((&body["shipping_address"], &body["items"][0]["concept"]), (&json!(null), &json!(null)));
}
