//! Reports of carriers and their partners on a return's parcel.

use domain::merchants::access::Scope;
use serde_json::{Value, json};

use crate::world::{Merchant, Shop, World, reported};

impl Merchant<'_> {
    /// Sends a carrier's report, and returns the status and the result.
    async fn takes_report(&self, report: &Value) -> (u16, String) {
        let reply = self.carrier_reports(report).await;
        (reply.status.as_u16(), reply.body["result"].as_str().unwrap_or_default().to_owned())
    }
}

impl Shop<'_> {
    /// The parcel status of each unit in each message; only tracking updates may have arrived.
    async fn receives_parcel_updates(&self) -> Vec<String> {
        let parcels = |(event, body): (String, Value)| {
            assert_eq!(event, "rma.tracking_updated");
            let units = body["items"].as_array().unwrap().iter().map(|item| item["package_tracking_status"].as_str().unwrap_or("null"));
            units.collect::<Vec<_>>().join(" ")
        };
        self.receives().await.into_iter().map(parcels).collect()
    }

    /// Starts a return of `units` units, and delivers its first message.
    async fn has_a_return(&self, order: &str, units: u32) -> String {
        self.merchant.sells(order, units).await;
        let rma = self.merchant.starts_a_return(order, units).await;
        assert_eq!(self.receives_events().await, ["rma.created"]);
        rma
    }
}

fn moved() -> (u16, String) {
    (200, "moved".to_owned())
}

fn unchanged() -> (u16, String) {
    (200, "unchanged".to_owned())
}

fn kept() -> (u16, String) {
    (202, "kept".to_owned())
}

fn label(rma: &str, number: &str) -> Value {
    json!({ "event": "label_issued", "rma_identifier": rma, "tracking_number": number, "occurred_at": "2026-03-01T12:00:00Z" })
}

fn by_number(number: &str, event: &str) -> Value {
    json!({ "event": event, "tracking_number": number, "occurred_at": "2026-03-01T12:00:00Z" })
}

#[tokio::test]
async fn a_label_is_for_all_units_and_there_is_one() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 2).await;
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, moved());
    let received = shop.receives().await;
    assert_eq!(received.len(), 1);
    for item in received[0].1["items"].as_array().unwrap() {
        assert_eq!((&item["tracking_number"], &item["package_tracking_status"]), (&json!("T-1"), &json!("PRE_TRANSIT")));
    }
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, unchanged());
    let second = shop.merchant.carrier_reports(&label(&rma, "T-2")).await;
    assert_eq!(
        second.body["message"],
        "The event contradicts the return and was not applied: the return already has a label with another tracking number."
    );
    assert_eq!(second.status, 409);
    let other = shop.has_a_return("A-2", 1).await;
    let anothers = shop.merchant.carrier_reports(&label(&other, "T-1")).await;
    assert_eq!(
        (anothers.status.as_u16(), &anothers.body["message"]),
        (409, &json!("The tracking number belongs to another return. Check it and send the event again."))
    );
    assert_eq!(shop.merchant.looks_at(&other).await["items"][0]["tracking_number"], Value::Null);
    let mut of_two_returns = reported(&other, "in_transit");
    of_two_returns["tracking_number"] = "T-1".into();
    assert_eq!(
        shop.merchant.carrier_reports(&of_two_returns).await.body["message"],
        "The tracking number belongs to another return. Check it and send the event again."
    );
    assert_eq!(shop.receives_parcel_updates().await, Vec::<String>::new());
    // Another merchant has its own tracking numbers.
    let elsewhere = world.shop("bolt").await;
    let theirs = elsewhere.has_a_return("A-1", 1).await;
    assert_eq!(elsewhere.merchant.takes_report(&label(&theirs, "T-1")).await, moved());
}

#[tokio::test]
async fn a_scan_is_taken_by_the_return_or_by_the_number() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 1).await;
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, moved());
    assert_eq!(shop.merchant.takes_report(&reported(&rma.to_lowercase(), "collected")).await, moved());
    assert_eq!(shop.merchant.takes_report(&by_number("T-1", "in_transit")).await, moved());
    assert_eq!(shop.merchant.takes_report(&by_number("T-1", "delivered")).await, moved());
    assert_eq!(shop.receives_parcel_updates().await, ["PRE_TRANSIT", "ACCEPTED", "TRANSIT", "DELIVERED"]);
}

#[tokio::test]
async fn repeats_and_late_reports_change_nothing_and_tell_nothing() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 1).await;
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, moved());
    for (event, expected) in [
        ("in_transit", moved()),
        ("in_transit", unchanged()),
        ("dropped_off", unchanged()),
        ("failed", moved()),
        ("failed", unchanged()),
        ("in_transit", moved()),
        ("returned_to_sender", moved()),
        ("delivered", unchanged()),
        ("in_transit", unchanged()),
        ("failed", unchanged()),
    ] {
        assert_eq!(shop.merchant.takes_report(&reported(&rma, event)).await, expected, "{event}");
    }
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, unchanged());
    assert_eq!(shop.receives_parcel_updates().await, ["PRE_TRANSIT", "TRANSIT", "FAILURE", "TRANSIT", "RETURNED"]);
    assert_eq!(shop.merchant.looks_at(&rma).await["sequence"], 6);
}

#[tokio::test]
async fn a_partial_drop_off_is_one_message_and_the_rest_may_follow() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 3).await;
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, moved());
    let dropped = |units: u32| {
        let mut report = reported(&rma, "dropped_off");
        report["items"] = json!([{ "order_line_item_identifier": "L1", "quantity": units }]);
        report
    };
    assert_eq!(shop.merchant.takes_report(&dropped(4)).await.0, 409, "there are three");
    for (report, expected) in [
        (dropped(2), moved()),
        (dropped(2), unchanged()),
        (reported(&rma, "in_transit"), moved()),
        (dropped(3), moved()),
        (reported(&rma, "delivered"), moved()),
    ] {
        assert_eq!(shop.merchant.takes_report(&report).await, expected, "{report}");
    }
    let expected = [
        "PRE_TRANSIT PRE_TRANSIT PRE_TRANSIT",
        "ACCEPTED ACCEPTED NOT_DROPPED_OFF",
        "TRANSIT TRANSIT NOT_DROPPED_OFF",
        "TRANSIT TRANSIT ACCEPTED",
        "DELIVERED DELIVERED DELIVERED",
    ];
    assert_eq!(shop.receives_parcel_updates().await, expected);
}

#[tokio::test]
async fn what_comes_before_its_label_is_kept_and_told_after_it() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for (at, by_rma) in [true, false].into_iter().enumerate() {
        let number = format!("T-{at}");
        let rma = shop.has_a_return(&format!("A-{at}"), 1).await;
        let report = |event: &str| if by_rma { reported(&rma, event) } else { by_number(&number, event) };
        for _ in 0..2 {
            assert_eq!(shop.merchant.takes_report(&report("in_transit")).await, kept());
        }
        assert_eq!(shop.receives_parcel_updates().await, Vec::<String>::new());
        assert_eq!(shop.merchant.takes_report(&label(&rma, &number)).await, moved());
        let received = shop.receives().await;
        let statuses: Vec<_> = received.iter().map(|(_, body)| body["items"][0]["package_tracking_status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["PRE_TRANSIT", "TRANSIT"]);
        assert!(
            received.iter().all(|(event, body)| event == "rma.tracking_updated" && body["items"][0]["tracking_number"] == json!(number))
        );
        assert_eq!((world.database.count("carrier_event").await, &shop.merchant.looks_at(&rma).await["sequence"]), (0, &json!(3)));
    }
}

#[tokio::test]
async fn what_was_kept_is_replayed_in_the_order_in_which_it_happened() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 2).await;
    let at = |mut report: Value, minute: u32| {
        report["occurred_at"] = format!("2026-03-01T11:{minute:02}:00Z").into();
        report
    };
    let mut part = by_number("T-1", "dropped_off");
    part["items"] = json!([{ "order_line_item_identifier": "L1", "quantity": 1 }]);
    for report in [at(by_number("T-1", "delivered"), 30), at(reported(&rma, "in_transit"), 20), at(part, 10)] {
        assert_eq!(shop.merchant.takes_report(&report).await, kept());
    }
    assert_eq!(shop.merchant.takes_report(&label(&rma, "T-1")).await, moved());
    let expected = ["PRE_TRANSIT PRE_TRANSIT", "ACCEPTED NOT_DROPPED_OFF", "TRANSIT NOT_DROPPED_OFF", "DELIVERED NOT_DROPPED_OFF"];
    assert_eq!(shop.receives_parcel_updates().await, expected);
}

#[tokio::test]
async fn a_report_says_what_it_is_about_and_comes_from_a_carrier() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.has_a_return("A-1", 1).await;
    let mut scan_of_a_part = reported(&rma, "in_transit");
    scan_of_a_part["items"] = json!([{ "order_line_item_identifier": "L1", "quantity": 1 }]);
    for (report, fault) in [
        (json!({ "event": "in_transit", "occurred_at": "2026-03-01T12:00:00Z" }), "rma_identifier missing_field"),
        (reported(&rma, "label_issued"), "tracking_number missing_field"),
        (by_number("T-1", "label_issued"), "rma_identifier missing_field"),
        (reported(&rma, "teleported"), "event invalid"),
        (json!({ "event": "in_transit", "rma_identifier": rma }), "occurred_at missing_field"),
        (scan_of_a_part, "items invalid"),
        (label(&rma, "T\u{7}1"), "tracking_number invalid"),
    ] {
        assert_eq!(shop.merchant.carrier_reports(&report).await.faults(), [fault], "{report}");
    }
    assert_eq!(shop.merchant.carrier_reports(&reported("R-2222-2222", "in_transit")).await.status, 404);
    let without = world.merchant_with("bolt", World::all_scopes_but(Scope::Carrier)).await;
    assert_eq!(without.carrier_reports(&reported(&rma, "in_transit")).await.status, 403);
    assert_eq!(shop.receives_parcel_updates().await, Vec::<String>::new());
}
