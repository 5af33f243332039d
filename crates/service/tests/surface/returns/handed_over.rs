//! Goods that are handed over before there is a label, and scans that wait for one.

use std::time::Duration;

use backhaul::flow::returns::wake_returns::wake_returns;
use domain::money::Cents;
use domain::returns::rma::Method as Way;
use domain::returns::rma::policy::{Offer, Policy};
use sandbox::mailbox::Mailbox;
use sandbox::merchant::Merchant as Systems;
use serde_json::{Value, json};

use crate::world::{Merchant, Shop, World, mail_back, reported};

impl Merchant<'_> {
    /// Sends a carrier's report, and returns the result.
    async fn hears(&self, report: &Value) -> String {
        self.carrier_reports(report).await.body["result"].as_str().unwrap_or_default().to_owned()
    }

    /// Starts a return with this method, and returns its identifier.
    async fn starts_by(&self, method: &str, order: &str, units: u32) -> String {
        self.sells(order, units).await;
        let mut wanted = mail_back(order, units);
        wanted["return_method"] = method.into();
        self.starts(&wanted).await.body["rma_identifier"].as_str().unwrap().to_owned()
    }
}

impl Shop<'_> {
    /// The parcel status and tracking number of each unit, in each message.
    async fn hears_of(&self) -> Vec<String> {
        let place = |item: &Value| {
            let text = |name: &str| item[name].as_str().unwrap_or("-").to_owned();
            format!("{} {}", text("package_tracking_status"), text("tracking_number"))
        };
        let units = |(_, body): (String, Value)| body["items"].as_array().unwrap().iter().map(place).collect::<Vec<_>>().join(", ");
        self.receives().await.into_iter().map(units).collect()
    }
}

fn label(rma: &str) -> Value {
    json!({ "event": "label_issued", "rma_identifier": rma, "tracking_number": "T-1", "occurred_at": "2026-03-01T12:00:00Z" })
}

/// A drop-off of these units of the line `L1`, at this minute.
fn dropped(rma: &str, units: u32, minute: u32) -> Value {
    let items = json!([{ "order_line_item_identifier": "L1", "quantity": units }]);
    json!({ "event": "dropped_off", "rma_identifier": rma, "occurred_at": format!("2026-03-01T11:{minute:02}:00Z"), "items": items })
}

#[tokio::test]
async fn a_drop_off_or_collection_needs_no_label_and_is_told_at_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let offers = [Way::MailBack, Way::ExpressReturns, Way::CustomerKeep];
    let offers = offers.map(|method| Offer { method, fee: Cents::default(), deducted: false }).to_vec();
    shop.merchant.has_policy(&Policy { offers, ..Policy::default() }).await;
    for (at, (method, event)) in
        [("mail-back", "dropped_off"), ("mail-back", "collected"), ("express-returns", "dropped_off"), ("express-returns", "collected")]
            .into_iter()
            .enumerate()
    {
        let rma = shop.merchant.starts_by(method, &format!("A-{at}"), 1).await;
        assert_eq!(shop.hears_of().await, ["- -"]);
        assert_eq!(shop.merchant.hears(&reported(&rma, event)).await, "moved", "{method} {event}");
        assert_eq!(shop.merchant.hears(&reported(&rma, event)).await, "unchanged", "{method} {event}");
        assert_eq!(shop.hears_of().await, ["ACCEPTED -"], "{method} {event}");
        let shown = shop.merchant.looks_at(&rma).await;
        assert_eq!((&shown["can_cancel"], &shown["expires_at"]), (&json!(false), &Value::Null), "{method} {event}");
        let refused = shop.merchant.cancels(&rma).await;
        assert_eq!(refused.status, 409);
        assert_eq!(
            refused.body["message"],
            format!("The return {rma} cannot be cancelled: the carrier has accepted it. Refund it instead.")
        );
    }
    let kept = shop.merchant.starts_by("customer-keep", "A-9", 1).await;
    assert_eq!(shop.merchant.carrier_reports(&reported(&kept, "dropped_off")).await.status, 409);
    assert_eq!(shop.merchant.looks_at(&kept).await["items"][0]["package_tracking_status"], Value::Null);
}

#[tokio::test]
async fn a_label_after_the_drop_off_adds_its_number_in_one_message_and_kept_scans_follow() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.merchant.starts_by("mail-back", "A-1", 1).await;
    assert_eq!(shop.merchant.hears(&reported(&rma, "dropped_off")).await, "moved");
    assert_eq!(shop.merchant.hears(&reported(&rma, "in_transit")).await, "kept");
    assert_eq!(shop.hears_of().await, ["- -", "ACCEPTED -"]);
    assert_eq!(shop.merchant.hears(&label(&rma)).await, "moved");
    assert_eq!(shop.merchant.hears(&label(&rma)).await, "unchanged");
    assert_eq!(shop.hears_of().await, ["ACCEPTED T-1", "TRANSIT T-1"]);
    assert_eq!(world.database.count("carrier_event").await, 0);
}

#[tokio::test]
async fn a_partial_drop_off_without_a_label_leaves_the_rest_with_the_shopper() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.merchant.starts_by("mail-back", "A-1", 3).await;
    shop.receives().await;
    assert_eq!(shop.merchant.hears(&dropped(&rma, 1, 0)).await, "moved");
    assert_eq!(shop.merchant.hears(&reported(&rma, "in_transit")).await, "kept");
    assert_eq!(shop.merchant.hears(&label(&rma)).await, "moved");
    assert_eq!(
        shop.hears_of().await,
        [
            "ACCEPTED -, NOT_DROPPED_OFF -, NOT_DROPPED_OFF -",
            "ACCEPTED T-1, NOT_DROPPED_OFF T-1, NOT_DROPPED_OFF T-1",
            "TRANSIT T-1, NOT_DROPPED_OFF T-1, NOT_DROPPED_OFF T-1",
        ]
    );
}

#[tokio::test]
async fn a_second_drop_off_of_a_line_takes_units_that_were_not_dropped_off_before() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.merchant.starts_by("mail-back", "A-1", 3).await;
    shop.receives().await;
    for (report, result) in [
        (dropped(&rma, 1, 0), "moved"),
        // The same report again is not a second drop-off.
        (dropped(&rma, 1, 0), "unchanged"),
        (dropped(&rma, 1, 10), "moved"),
        (dropped(&rma, 1, 0), "unchanged"),
        (dropped(&rma, 1, 10), "unchanged"),
        (label(&rma), "moved"),
        (dropped(&rma, 2, 20), "moved"),
        (dropped(&rma, 1, 30), "unchanged"),
    ] {
        assert_eq!(shop.merchant.hears(&report).await, result, "{report}");
    }
    assert_eq!(shop.merchant.carrier_reports(&dropped(&rma, 4, 40)).await.status, 409, "there are three");
    assert_eq!(
        shop.hears_of().await,
        [
            "ACCEPTED -, NOT_DROPPED_OFF -, NOT_DROPPED_OFF -",
            "ACCEPTED -, ACCEPTED -, NOT_DROPPED_OFF -",
            "ACCEPTED T-1, ACCEPTED T-1, NOT_DROPPED_OFF T-1",
            "ACCEPTED T-1, ACCEPTED T-1, ACCEPTED T-1",
        ]
    );
}

#[tokio::test]
async fn a_drop_off_by_number_waits_for_the_label_and_takes_effect_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let rma = shop.merchant.starts_by("mail-back", "A-1", 2).await;
    shop.receives().await;
    let mut by_number = dropped(&rma, 1, 0);
    by_number.as_object_mut().unwrap().remove("rma_identifier");
    by_number["tracking_number"] = "T-1".into();
    assert_eq!(shop.merchant.hears(&by_number).await, "kept");
    assert_eq!(shop.merchant.looks_at(&rma).await["can_cancel"], true, "nobody knows yet what was dropped off");
    assert_eq!(shop.merchant.hears(&label(&rma)).await, "moved");
    assert_eq!(shop.merchant.hears(&by_number).await, "unchanged");
    assert_eq!(shop.hears_of().await, ["PRE_TRANSIT T-1, PRE_TRANSIT T-1", "ACCEPTED T-1, NOT_DROPPED_OFF T-1"]);
}

#[tokio::test]
async fn a_kept_scan_that_names_the_return_stops_cancelling_reminder_and_expiry() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut shop = world.shop("acme").await;
    let mut returns = Vec::new();
    for event in ["in_transit", "delivered", "returned_to_sender", "failed"] {
        let rma = shop.merchant.starts_by("mail-back", event, 1).await;
        assert_eq!(shop.merchant.hears(&reported(&rma, event)).await, "kept");
        let shown = shop.merchant.looks_at(&rma).await;
        assert_eq!((&shown["can_cancel"], &shown["expires_at"]), (&json!(false), &Value::Null), "{event}");
        let refused = shop.merchant.cancels(&rma).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.body["message"]),
            (409, &json!(format!("The return {rma} cannot be cancelled: the carrier has scanned it. Refund it instead.")))
        );
        returns.push(rma);
    }
    assert_eq!(shop.receives_events().await, ["rma.created"; 4], "a kept scan tells nothing");
    for days in [21, 10, 70] {
        world.time_passes(Duration::from_hours(24) * days);
        store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
        wake_returns(&world.app).await.unwrap();
        world.deliver_all_due().await;
        shop.merchant.token = shop.merchant.gets_a_token().await;
    }
    assert_eq!((mailbox.count(), shop.receives_events().await), (4, vec![]), "nothing but the confirmations");
    for rma in returns {
        assert_eq!(shop.merchant.looks_at(&rma).await["status"], "CREATED");
        assert_eq!(shop.merchant.cancels(&rma).await.status, 409, "even when the scan itself is forgotten");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_return_is_either_cancelled_or_scanned_when_both_come_at_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for trial in 0..20 {
        let rma = shop.merchant.starts_by("mail-back", &format!("A-{trial}"), 1).await;
        let scan = reported(&rma, if trial % 2 == 0 { "in_transit" } else { "dropped_off" });
        let (cancelled, scanned) = tokio::join!(shop.merchant.cancels(&rma), shop.merchant.hears(&scan));
        let status = shop.merchant.looks_at(&rma).await["status"].clone();
        match cancelled.status.as_u16() {
            200 => assert_eq!((scanned.as_str(), status), ("unchanged", json!("CANCELED")), "trial {trial}"),
            409 => assert!(["kept", "moved"].contains(&scanned.as_str()) && status == "CREATED", "trial {trial}: {scanned}"),
            other => panic!("trial {trial}: {other}"),
        }
    }
}
