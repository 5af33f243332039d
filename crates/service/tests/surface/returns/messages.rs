//! The exact JSON of messages about returns, key by key.

use std::collections::BTreeSet;

use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use serde_json::{Value, json};

use crate::world::receiver::PATH;
use crate::world::{Shop, World, line, mail_back, message, refund_for, refunded, sold};

impl Shop<'_> {
    /// The last message that arrived, one key per line and without the return's generated name.
    async fn last_message(&self) -> String {
        self.merchant.world.deliver_all_due().await;
        let received = self.systems.received_at(PATH);
        let last = received.last().unwrap();
        let name = last.json()["rma_identifier"].as_str().unwrap().to_owned();
        let text = String::from_utf8(last.body().to_vec()).unwrap().replace(&name, "R-XXXX-XXXX");
        text.replace(",\"", ",\n\"").replace("{\"", "{\n\"").replace("},{", "},\n{")
    }
}

#[tokio::test]
async fn every_key_is_there_whatever_the_return_is_like() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let free = |method| Offer { method, fee: Cents::default(), deducted: false };
    let offers = vec![free(Way::MailBack), free(Way::ExpressReturns), free(Way::CustomerKeep)];
    shop.merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    for method in ["mail-back", "express-returns", "customer-keep"] {
        for gift in [false, true] {
            let identifier = format!("{method} {gift}");
            let (mut order, mut wanted) = (sold(&identifier, 1), mail_back(&identifier, 1));
            wanted["return_method"] = method.into();
            if gift {
                order["tags"] = json!(["gift"]);
                wanted["giftee_email"] = "sam@example.com".into();
            }
            shop.merchant.publishes(&message([order])).await;
            let rma = shop.merchant.starts(&wanted).await.body["rma_identifier"].as_str().unwrap().to_owned();
            if method != "customer-keep" {
                shop.merchant.carrier_says(&rma, "label_issued").await;
            }
            shop.merchant.publishes(&message([refunded(sold(&identifier, 1), [refund_for(&rma, &identifier, 1)])])).await;
        }
    }
    let received = shop.receives().await;
    assert_eq!(received.len(), 16);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let sorted = |words: &str| words.split(' ').map(ToOwned::to_owned).collect::<BTreeSet<String>>();
    let plain = "rma_identifier status created_at updated_at items return_method return_shipping_cost_cents gift_refund_only";
    let item = "order_line_item_identifier order_identifier exchange_order_identifier original_order_identifier return_reason is_exchange \
        sku tracking_number package_tracking_status receiving_status refund_financials refund_type";
    let financials = "estimated_refund_amount_cents service_refund_amount_cents shopper_refund_amount_cents";
    for (_, body) in &received {
        let gift = body["gift_refund_only"].as_bool().unwrap();
        assert_eq!(keys(body), sorted(&if gift { format!("{plain} giftee_email") } else { plain.to_owned() }));
        assert_eq!(keys(&body["items"][0]), sorted(item));
        assert_eq!(keys(&body["items"][0]["refund_financials"]), sorted(financials));
    }
}

#[tokio::test]
async fn a_new_return() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_of_a_gift() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut gift = sold("A-1", 1);
    gift["tags"] = json!(["gift"]);
    shop.merchant.publishes(&message([gift])).await;
    let mut wanted = mail_back("A-1", 1);
    wanted["giftee_email"] = "sam@example.com".into();
    shop.merchant.starts(&wanted).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_of_several_units_of_several_lines() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("A-1", 3);
    order["items"].as_array_mut().unwrap().push(line("L2", 2));
    order["items"][1]["shipped_date"] = "2026-02-19T09:00:00Z".into();
    order["items"][1]["sku"] = "SOCK-1".into();
    order["items"][1]["discount_amount_cents"] = 101.into();
    shop.merchant.publishes(&message([order])).await;
    let mut wanted = mail_back("A-1", 2);
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L2", "quantity": 2, "return_reason": "DAMAGED" }));
    shop.merchant.starts(&wanted).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_with_a_fee_that_is_deducted() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let offers = vec![Offer { method: Way::MailBack, fee: Cents::new(501).unwrap(), deducted: true }];
    shop.merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    shop.merchant.sells("A-1", 2).await;
    shop.merchant.starts_a_return("A-1", 2).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_that_is_refunded_in_part() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.merchant.publishes(&message([refunded(sold("A-1", 2), [refund_for(&rma, "F1", 1)])])).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_that_is_called_off() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.cancels(&rma).await;
    insta::assert_snapshot!(shop.last_message().await);
}

#[tokio::test]
async fn a_return_that_has_arrived() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.merchant.carrier_says(&rma, "delivered").await;
    shop.merchant.has_a_warehouse().await;
    shop.merchant.receives_for(&rma, &["LP-1"]).await;
    insta::assert_snapshot!(shop.last_message().await);
}
