//! Time without a scan: the shopper is reminded, and in the end the return expires.

use std::time::Duration;

use backhaul::flow::returns::wake_returns::wake_returns;
use chrono::TimeDelta;
use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use sandbox::mailbox::Mailbox;
use sandbox::merchant::Merchant as Systems;
use serde_json::json;

use crate::world::{Shop, World, mail_back, message, refund_for, refunded, sold};

const DAY: Duration = Duration::from_hours(24);

/// Lets days pass, and creates the partitions for the new day.
async fn time_passes(world: &World, days: u32) {
    world.time_passes(DAY * days);
    store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
}

/// The same; wakes the returns, delivers everything due, and gets the merchant a new token.
pub(super) async fn days_pass(shop: &mut Shop<'_>, days: u32) {
    let world = shop.merchant.world;
    time_passes(world, days).await;
    assert!(!wake_returns(&world.app).await.unwrap(), "one batch was enough");
    world.deliver_all_due().await;
    shop.merchant.token = shop.merchant.gets_a_token().await;
}

#[tokio::test]
async fn a_return_without_a_scan_is_reminded_of_and_then_called_off() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    assert_eq!(shop.merchant.looks_at(&rma).await["expires_at"], "2026-03-31T12:00:00Z");
    days_pass(&mut shop, 20).await;
    assert_eq!((mailbox.count(), shop.receives_events().await.len()), (1, 2), "the confirmation alone");
    days_pass(&mut shop, 1).await;
    days_pass(&mut shop, 8).await;
    let mails = mailbox.received();
    let [_, mail] = mails.as_slice() else { panic!("two mails, not {}", mails.len()) };
    assert_eq!((mail.envelope_to(), mail.subject()), (["pat@example.com".to_owned()].as_slice(), Some("9 days left to send your return")));
    let text = mail.text().unwrap();
    assert!(text.contains(&rma) && text.contains("You have until Tuesday 31 March") && text.contains("A merchant"), "{text}");
    assert_eq!(shop.receives_events().await, Vec::<String>::new(), "a reminder does not change the return");
    days_pass(&mut shop, 1).await;
    let received = shop.receives().await;
    let [(event, body)] = received.as_slice() else { panic!("one message, not {received:?}") };
    assert_eq!((event.as_str(), &body["status"]), ("rma.canceled", &json!("CANCELED")));
    let shown = shop.merchant.looks_at(&rma).await;
    assert_eq!((&shown["status"], &shown["cancel_reason"]), (&json!("CANCELED"), &json!("expired")));
    days_pass(&mut shop, 30).await;
    assert_eq!((mailbox.count(), shop.receives_events().await), (3, vec![]), "the third mail said that it has run out");
    assert_eq!(world.database.count("unit_claim").await, 0, "its units are free again");
}

#[tokio::test]
async fn a_gift_is_reminded_of_where_it_went() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut shop = world.shop("acme").await;
    let mut gift = sold("A-1", 1);
    gift["tags"] = json!(["gift"]);
    shop.merchant.publishes(&message([gift])).await;
    let mut wanted = mail_back("A-1", 1);
    wanted["giftee_email"] = "sam@example.com".into();
    assert_eq!(shop.merchant.starts(&wanted).await.status, 201);
    days_pass(&mut shop, 21).await;
    let to: Vec<Vec<String>> = mailbox.received().iter().map(|mail| mail.envelope_to().to_vec()).collect();
    assert_eq!(to, [["sam@example.com"]; 2], "the confirmation and the reminder");
}

#[tokio::test]
async fn what_has_gone_on_is_neither_reminded_of_nor_called_off() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut shop = world.shop("acme").await;
    let free = |method| Offer { method, fee: Cents::default(), deducted: false };
    let offers = vec![free(Way::MailBack), free(Way::CustomerKeep)];
    shop.merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    for order in ["scanned", "accepted", "refunded", "refunded in part", "kept", "cancelled"] {
        shop.merchant.sells(order, 2).await;
        let mut wanted = mail_back(order, 2);
        if order == "kept" {
            wanted["return_method"] = "customer-keep".into();
        }
        let started = shop.merchant.starts(&wanted).await;
        let rma = started.body["rma_identifier"].as_str().unwrap();
        let refund = |units| message([refunded(sold(order, 2), [refund_for(rma, order, units)])]);
        match order {
            "scanned" | "accepted" => {
                shop.merchant.carrier_says(rma, "label_issued").await;
                shop.merchant.carrier_says(rma, if order == "scanned" { "in_transit" } else { "collected" }).await;
            }
            "refunded" => drop(shop.merchant.publishes(&refund(2)).await),
            "refunded in part" => drop(shop.merchant.publishes(&refund(1)).await),
            "cancelled" => drop(shop.merchant.cancels(rma).await),
            _ => {}
        }
        assert!(shop.merchant.looks_at(rma).await["expires_at"].is_null(), "{order}");
    }
    shop.receives().await;
    mailbox.clear();
    days_pass(&mut shop, 21).await;
    days_pass(&mut shop, 30).await;
    assert_eq!((mailbox.count(), shop.receives_events().await), (0, vec![]));
}

#[tokio::test]
async fn who_was_never_reminded_because_nobody_was_awake_is_not_reminded_late() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    days_pass(&mut shop, 31).await;
    let subjects: Vec<String> = mailbox.received().iter().map(|mail| mail.subject().unwrap().to_owned()).collect();
    assert_eq!(subjects, ["Your return is confirmed: send it by 31 March", "Your return has run out"]);
    assert_eq!(shop.receives_events().await, ["rma.canceled"]);
}

#[tokio::test]
async fn a_deliverer_keeps_the_time() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    time_passes(&world, 30).await;
    world.deliver_all_due().await;
    world.database.becomes("select coalesce(cancel_reason, '') from rma", &["expired"]).await;
    shop.systems.wait_for(2, Duration::from_secs(30)).await.unwrap();
    assert_eq!(shop.receives_events().await, ["rma.created", "rma.canceled"]);
}

#[tokio::test]
async fn a_node_whose_clock_is_40_days_ahead_reminds_nobody_and_expires_nothing() {
    let world = World::new().await;
    let (right, wrong) =
        (world.node_with_a_clock_wrong_by(TimeDelta::zero()).await, world.node_with_a_clock_wrong_by(TimeDelta::days(40)).await);
    for node in [&right, &wrong] {
        store::messages::partitions::make_around(node.app.cell(), node.app.now()).await.unwrap();
    }
    let merchant = right.merchant("acme").await;
    let mut order = sold("A-1", 1);
    order["items"][0]["shipped_date"] = wire::time::write(right.app.now()).into();
    merchant.publishes(&message([order])).await;
    let rma = merchant.starts_a_return("A-1", 1).await;
    wake_returns(&wrong.app).await.unwrap();
    assert_eq!(merchant.looks_at(&rma).await["status"], "CREATED");
    assert_eq!(world.database.texts("select reminded::text from rma").await, ["false"]);
}
