//! Shoppers who were erased stay erased, whatever their merchant sends again. What is stored about them can be exported before.

use std::process::Command;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper, orders_of_shopper, suppress_shopper};
use domain::merchants::operator::Role;
use serde_json::{Value, json};

use super::erasing::{CANARY, infested, infested_tables};
use crate::binary::{backhaul, err, out};
use crate::world::log::Log;
use crate::world::{Merchant, World, message, plain_refund, refunded};

/// The number of shoppers.
const SHOPPERS: usize = 100;

fn email(number: usize) -> String {
    format!("{CANARY}.{number}@example.com")
}

/// The order of a shopper, half of them with a refund, with the canary wherever something personal can be.
fn order_of(number: usize) -> Value {
    let mut order = infested(&format!("A-{number}"), 2);
    order["customer"]["email"] = email(number).into();
    if number.is_multiple_of(2) {
        let mut refund = plain_refund(&format!("F-{number}"), 1);
        refund["note"] = CANARY.into();
        order = refunded(order, [refund]);
    }
    order
}

impl Merchant<'_> {
    /// Erases a shopper by their e-mail address, as the command does.
    async fn forgets(&self, email: &str) {
        let app = &self.world.app;
        suppress_shopper(app, "test", self.id, email).await.unwrap();
        for order in orders_of_shopper(app, self.id, email).await.unwrap() {
            erase_shopper(app, "test", self.id, &ErasureTarget::Order(order)).await.unwrap();
        }
    }
}

/// What the merchant's books depend on.
async fn sums(world: &World) -> Vec<String> {
    let sums = "select concat_ws(' ', (select sum(total_cents) from refund), (select sum(quantity) from refund_line),
        (select sum((snapshot::json ->> 'total_amount_cents')::bigint) from customer_order), (select count(*) from customer_order))";
    world.database.texts(sums).await
}

/// A dump of the whole database.
fn dump(world: &World) -> String {
    let database = format!("{} dbname={}", world.database.server(), world.database.name());
    let dumped = Command::new("pg_dump").arg(database).output().unwrap();
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    String::from_utf8_lossy(&dumped.stdout).into_owned()
}

#[tokio::test]
async fn a_hundred_shoppers_who_were_erased_do_not_come_back() {
    let (log, _guard) = Log::start("trace");
    let world = World::new().await;
    let acme = world.merchant("acme").await;
    let orders: Vec<Value> = (0..SHOPPERS).map(order_of).collect();
    acme.publishes(&message(orders.clone())).await.results();
    let before = sums(&world).await;
    assert!(dump(&world).contains(CANARY));
    for number in 0..SHOPPERS {
        acme.forgets(&email(number)).await;
    }
    let gone = async |after: &str| {
        assert_eq!(infested_tables(&world).await, Vec::<String>::new(), "{after}");
        let dumped = dump(&world);
        let copied = format!("COPY {}.customer_order", world.database.schema());
        assert!(dumped.contains(&copied) && !dumped.contains(CANARY), "{after}");
        assert_eq!(sums(&world).await, before, "{after}");
        let lines = world.database.texts("select count(*)::text from customer_order where email_fingerprint is not null").await;
        assert_eq!(lines, ["0"], "{after}");
    };
    gone("erasing").await;

    // The same snapshots again: alone, with refunds and all, and as a history import.
    let again = acme.publishes(&message(orders.clone())).await;
    assert!(again.results().iter().all(|result| *result == "unchanged"), "{:?}", again.results());
    gone("the same again").await;
    let without_refunds = orders.iter().filter(|order| order["refunds"].as_array().is_none_or(Vec::is_empty)).cloned();
    assert_eq!(acme.publishes(&message(without_refunds)).await.results(), ["unchanged"; SHOPPERS / 2]);
    gone("the same in a message that shares an upsert").await;
    assert_eq!(acme.imports(&orders).await.status, 200);
    gone("an import").await;

    // Newer ones: what is not personal is taken over.
    let newer = |mut order: Value| {
        order["updated_at"] = "2026-03-02T09:00:00Z".into();
        order["tags"] = json!(["final sale"]);
        order
    };
    let newer: Vec<Value> = orders.into_iter().map(newer).collect();
    let updated = acme.publishes(&message(newer)).await;
    assert!(updated.results().iter().all(|result| *result == "updated"), "{:?}", updated.results());
    gone("newer ones").await;
    let tagged = "select count(*)::text from customer_order where snapshot like '%final sale%' and erased_at is not null";
    assert_eq!(world.database.texts(tagged).await, ["100"]);
    assert!(!log.text().contains(CANARY), "nor in the log");
}

#[tokio::test]
async fn an_old_order_of_an_erased_shopper_is_stored_without_them_and_a_new_one_as_it_is() {
    let world = World::new().await;
    let (acme, bolt) = (world.merchant("acme").await, world.merchant("bolt").await);
    acme.forgets(&email(1)).await;
    let named = |identifier: &str, created_at: &str| {
        let mut order = order_of(1);
        order["identifier"] = identifier.into();
        order["created_at"] = created_at.into();
        order
    };
    let before = "2026-03-01T11:59:59Z";
    assert_eq!(acme.publishes(&message([named("A-1", before)])).await.results(), ["created"]);
    assert_eq!(infested_tables(&world).await, Vec::<String>::new(), "it was placed before the shopper was erased");
    // With another address, or none: the order is known to be erased.
    let mut other = named("A-1", before);
    other["updated_at"] = "2026-03-01T12:00:00Z".into();
    other["customer"]["email"] = "somebody.else@example.com".into();
    assert_eq!(acme.publishes(&message([other])).await.results(), ["updated"]);
    assert_eq!(infested_tables(&world).await, Vec::<String>::new());
    assert_eq!(bolt.publishes(&message([named("A-1", before)])).await.results(), ["created"]);
    assert_eq!(infested_tables(&world).await, ["customer_order"], "another merchant was not asked");
    assert_eq!(acme.publishes(&message([named("A-2", "2026-03-01T12:00:01Z")])).await.results(), ["created"]);
    let stored = "select count(*)::text from customer_order where snapshot like '%canary7f3a%'";
    assert_eq!(world.database.texts(stored).await, ["2"], "whoever buys again is a shopper again");
    let audit = world.database.texts("select action || ' ' || left(detail, 5) from audit where action like 'shopper.%'").await;
    assert_eq!(audit, ["shopper.suppressed hmac:"]);
}

#[tokio::test]
async fn everything_about_a_shopper_is_exported_and_nothing_of_others() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes(&message([order_of(1), order_of(2), order_of(3)])).await.results();
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let export = |more: &[&str]| backhaul(&world.database, &[&["shopper", "export", "--merchant", "acme"], more].concat());
    let text = out(&export(&["--email", &email(1)]));
    let exported: Value = serde_json::from_str(&text).unwrap();
    let orders = exported["orders"].as_array().unwrap();
    assert_eq!((orders.len(), &orders[0]["order"]), (1, &"A-1".into()), "{text}");
    let records = &orders[0]["records"];
    assert_eq!(records["customer_order"][0]["snapshot"]["customer"]["email"], email(1), "as it was sent");
    assert_eq!((&records["rma"][0]["identifier"], &records["message"][0]["subject"]), (&rma.as_str().into(), &rma.as_str().into()));
    assert!(!text.contains(&email(2)) && !text.contains(&email(3)) && !text.contains("fingerprint"), "{text}");
    let with_refund: Value = serde_json::from_str(&out(&export(&["--order", "A-2"]))).unwrap();
    assert_eq!(with_refund["orders"][0]["records"]["refund"][0]["note"], CANARY);
    assert!(err(&export(&["--order", "A-9"])).contains("acme has no order A-9"));
    shop.merchant.forgets(&email(1)).await;
    let after = out(&export(&["--order", "A-1"]));
    assert!(!after.contains(CANARY), "{after}");
    let audit = world.database.texts("select detail from audit where action = 'shopper.exported' order by sequence").await;
    assert_eq!(audit, ["A-1", "A-2", "A-1"]);
    // In the console it is an administrator's.
    let at = "/merchants/acme/orders/A-3";
    let (admin, manager) = (world.console(Role::Admin).await, world.console(Role::Manager).await);
    assert!(admin.get(at).await.page().contains("Export everything") && !manager.get(at).await.page().contains("Export everything"));
    let exported: Value = serde_json::from_str(&admin.post(&format!("{at}/export"), &()).await.text).unwrap();
    assert_eq!(exported["orders"][0]["records"]["customer_order"][0]["snapshot"]["customer"]["email"], email(3));
    assert_eq!(manager.post(&format!("{at}/export"), &()).await.status, 403);
}
