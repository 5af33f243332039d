//! `backhaul trigger`: the state machines make the message, from requests that can be changed.

use std::process::{Command, Output};

use sandbox::merchant::Merchant as Systems;
use serde_json::Value;

use crate::binary::{backhaul, command, err, out, production};
use crate::world::{Database, World};

/// A sandbox with a merchant that has a warehouse, a vendor, and a system that answers.
struct Sandbox {
    world: World,
    systems: Systems,
}

/// A command with the permission to call the simulated system.
fn allowed(database: &Database) -> Command {
    let mut command = command(database);
    command.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.1/32"]"#);
    command
}

impl Sandbox {
    async fn create() -> Self {
        let (world, systems) = (World::new().await, Systems::start().await.unwrap());
        // The program uses the system clock, so its messages need today's partition.
        store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
        sandbox::shop::SHOES.stock(&systems);
        let sandbox = Self { world, systems };
        sandbox.runs(&["merchant", "add", "acme", "--name", "Acme Shoes"]);
        let address = "Acme; 1 Dock St; Troy; NY; 12180";
        let warehouse = ["--name", "Dock", "--address", address, "--external-identifier", "0042"];
        sandbox.runs(&[&["warehouse", "set", "WH-1", "--merchant", "acme"][..], &warehouse].concat());
        sandbox.runs(&["vendor", "add", "--merchant", "acme", "--name", "Bolt Co", "--address", address]);
        for (interface, path) in [("exchange_variants", "/sku/{variant_identifier}/variants"), ("exchange_order", "/exchange_orders")] {
            let url = format!("{}{path}", sandbox.systems.url("").trim_end_matches('/'));
            sandbox.runs(&["endpoint", "set", interface, "--merchant", "acme", "--url", &url]);
        }
        sandbox
    }

    fn runs(&self, words: &[&str]) -> String {
        out(&allowed(&self.world.database).args(words).output().unwrap())
    }

    fn tries(&self, event: &str, more: &[&str]) -> Output {
        allowed(&self.world.database).args(["trigger", event, "--merchant", "acme", "-o", "json"]).args(more).output().unwrap()
    }

    /// Triggers an event, and returns the body of the message.
    fn triggers(&self, event: &str, more: &[&str]) -> Value {
        let told: Value = serde_json::from_str(&out(&self.tries(event, more))).unwrap();
        let see_it: Vec<&str> = told["see_it"].as_str().unwrap().split(' ').skip(1).chain(["-o", "json"]).collect();
        let message: Value = serde_json::from_str(&self.runs(&see_it)).unwrap();
        assert_eq!((&message["event"], &message["subject"]), (&told["event"], &told["subject"]), "{message}");
        serde_json::from_str(message["body"].as_str().unwrap()).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_that_can_be_triggered_is_made_by_the_state_machine() {
    let sandbox = Sandbox::create().await;
    for (event, at, expected) in [
        ("rma.created", "/status", "CREATED"),
        ("rma.tracking_updated", "/items/0/package_tracking_status", "TRANSIT"),
        ("rma.refund_recorded", "/status", "CREATED"),
        ("rma.refunded", "/status", "REFUNDED"),
        ("rma.canceled", "/status", "CANCELED"),
        ("rma.resent", "/status", "CREATED"),
        ("exchange_order.requested", "/items/0/sku", "RUN-43"),
        ("outbound_asn.pending", "/status", "pending"),
        ("outbound_asn.shipped", "/status", "shipped"),
        ("outbound_asn.delivered", "/status", "delivered"),
        ("outbound_asn.canceled", "/status", "canceled"),
        ("outbound_asn.ship_date_changed", "/status", "pending"),
        ("outbound_asn.transport_changed", "/status", "pending"),
        ("inventory_receipt.received", "/unit_identifier", "LP-TRY-"),
        ("drop_shipment.confirmed", "/shipment/client_identifier", "TRY-"),
        ("drop_shipment.partially_cancelled", "/order/client_identifier", "TRY-"),
        ("drop_shipment.cancelled", "/order/client_identifier", "TRY-"),
        ("drop_shipment.rejected", "/order/client_identifier", "TRY-"),
    ] {
        let body = sandbox.triggers(event, &[]);
        let found = body.pointer(at).and_then(Value::as_str).unwrap_or_else(|| panic!("{event} has no {at}: {body}"));
        assert!(found.starts_with(expected), "{event}: {found}");
    }
    let placed = sandbox.triggers("rma.exchange_placed", &[]);
    assert!(placed["items"][0]["exchange_order_identifier"].as_str().unwrap().starts_with("X-TRY-"), "{placed}");
    // The warehouse receives a return only if the merchant has it do so.
    for event in ["rma.received", "rma.receiving_closed", "rma.partially_refunded"] {
        let refused = err(&sandbox.tries(event, &[]));
        assert!(refused.contains("backhaul policy set --merchant acme --managed-receiving on"), "{refused}");
    }
    sandbox.runs(&["policy", "set", "--merchant", "acme", "--managed-receiving", "on"]);
    assert_eq!(sandbox.triggers("rma.received", &[])["items"][0]["receiving_status"], "RECEIVED");
    assert_eq!(sandbox.triggers("rma.receiving_closed", &[])["items"][0]["receiving_status"], "NOT_RECEIVED");
    assert_eq!(sandbox.triggers("rma.partially_refunded", &[])["status"], "PARTIAL_REFUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_follows_from_what_was_sent() {
    let sandbox = Sandbox::create().await;
    let changes = ["--set", "items.0.return_reason=DAMAGED", "--set", "order:currency=EUR", "--set", "order:items.0.sku=RUN-40"];
    let body = sandbox.triggers("rma.created", &changes);
    assert_eq!((&body["items"][0]["return_reason"], &body["items"][0]["sku"]), (&"DAMAGED".into(), &"RUN-40".into()), "{body}");
    let refused = |event: &str, change: &str| err(&sandbox.tries(event, &["--set", change]));
    let unknown = refused("rma.created", "items.0.return_reason=BECAUSE");
    assert!(unknown.contains("the request `return` was refused: items[0].return_reason"), "{unknown}");
    let negative = refused("rma.created", "order:total_amount_cents=-1");
    assert!(negative.contains("the request `order` was refused") && negative.contains("total_amount_cents"), "{negative}");
    assert!(refused("rma.created", "scan:event=delivered").contains("there are order, return"));
    assert!(refused("rma.created", "return_reason").contains("write a change as PATH=VALUE"));
    // A change may lead elsewhere, which is said.
    let elsewhere = refused("rma.tracking_updated", "scan:event=in_orbit");
    assert!(elsewhere.contains("the request `scan` was refused"), "{elsewhere}");
    assert!(
        err(&backhaul(&sandbox.world.database, &["trigger", "rma.lost", "--merchant", "acme"]))
            .contains("rma.created, rma.tracking_updated")
    );
}

#[tokio::test]
async fn nothing_is_triggered_in_production() {
    let database = Database::create_empty().await;
    out(&production(&database).arg("migrate").output().unwrap());
    out(&production(&database).args(["merchant", "add", "acme", "--name", "Acme Shoes"]).output().unwrap());
    let refused = err(&production(&database).args(["trigger", "rma.created", "--merchant", "acme"]).output().unwrap());
    assert!(refused.contains("this is a production installation: events can be triggered in a sandbox only"), "{refused}");
    assert_eq!(database.count("customer_order").await, 0);
}
