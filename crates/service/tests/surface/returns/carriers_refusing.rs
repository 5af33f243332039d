//! Labels that a carrier refuses for good, tracking numbers that it uses again, and labels that come too late.

use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use backhaul::flow::returns::configure_carrier::remove_carrier;
use chrono::TimeDelta;
use domain::returns::work::WorkKind;
use reqwest::Method;
use sandbox::carrier::{Failure, Faults, Operation, Status};
use serde_json::{Value, json};
use store::returns::work_items;

use crate::binary::{backhaul, err, out};
use crate::world::carrier::Carried;
use crate::world::{Merchant, Reply, World, mail_back, message, refund_for, refunded, sold};

/// Longer than a carrier may take to complete a purchase.
const SETTLED: Duration = Duration::from_mins(3);

/// The carrier's words on an address without a street.
const WORDS: &str = "The carrier refuses the label: An address is incomplete. (ADDRESS.PARAMETERS.INVALID: to_address.street1)";

impl Merchant<'_> {
    async fn orders_the_label(&self, rma: &str) -> Reply {
        self.calls(Method::POST, &format!("/v1/returns/{rma}/label"), |request| request).await
    }

    /// The open cases about refused labels: the return, and the reason.
    async fn refused_labels(&self) -> Vec<(String, String)> {
        let open = work_items::list(self.world.app.store(self.id), self.id, None, 10).await.unwrap();
        open.into_iter().inspect(|case| assert_eq!(case.kind, WorkKind::LabelRefused)).map(|case| (case.subject, case.reason)).collect()
    }
}

/// An order of one unit to a shopper in this street.
fn sold_to(order: &str, street: &str) -> Value {
    let mut sold = sold(order, 1);
    sold["shipping_address"]["street1"] = street.into();
    sold
}

impl Carried<'_> {
    /// Lets the waits before the next attempts pass.
    async fn tries(&self, waits: &[u64]) {
        for wait in waits {
            self.shop.merchant.world.time_passes(Duration::from_millis(wait * 1_100 + 100));
            self.shop.merchant.world.deliver_all_due().await;
        }
    }

    /// Starts a return whose label the carrier refuses.
    async fn has_a_refused_label(&self, order: &str) -> String {
        let rma = self.has_a_return_from(order, "").await;
        self.receives_events().await;
        self.tries(&[5, 40]).await;
        rma
    }

    /// Starts a return for whose label the carrier has sold a number, but not yet delivered the document.
    async fn has_sold_a_number(&self, order: &str) -> (String, String) {
        self.carrier.fails_next(Operation::Label, [Failure::ErrorBefore]);
        let rma = self.has_a_return(order, 1).await;
        self.receives_events().await;
        let number = self.shipment(&rma).tracking_code.unwrap();
        (rma, number)
    }

    /// Starts a return with a label that somebody else reports, with this number.
    async fn has_a_label_from_elsewhere(&self, order: &str, number: &str) -> String {
        let merchant = &self.shop.merchant;
        merchant.sells(order, 1).await;
        let rma = merchant.starts_a_return(order, 1).await;
        let at = "2026-03-01T12:00:00Z";
        let label = json!({ "event": "label_issued", "rma_identifier": rma, "tracking_number": number, "occurred_at": at });
        assert_eq!(merchant.carrier_reports(&label).await.body["result"], "moved");
        rma
    }

    async fn is_refunded(&self, order: &str, rma: &str) {
        let refund = refunded(sold(order, 1), [refund_for(rma, &format!("F-{order}"), 1)]);
        assert_eq!(self.shop.merchant.publishes(&message([refund])).await.results(), ["updated"]);
    }
}

#[tokio::test]
async fn a_label_that_the_carrier_refuses_for_good_is_a_case_for_the_operator_and_is_not_asked_for_again() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let rma = carried.has_a_return_from("A-1", "").await;
    assert_eq!(carried.receives_events().await, ["created"]);
    carried.tries(&[5]).await;
    let ordered = merchant.looks_at(&rma).await;
    assert_eq!(
        (&ordered["label"], merchant.refused_labels().await),
        (&json!({ "state": "ordered", "reason": null, "code": false }), vec![])
    );
    carried.tries(&[40]).await;
    assert_eq!(merchant.looks_at(&rma).await["label"], json!({ "state": "refused", "reason": WORDS, "code": false }));
    assert_eq!(merchant.refused_labels().await, [(rma.clone(), WORDS.to_owned())]);
    let tried = "attempt join message using (merchant_id, message_id) where kind = 'label'";
    assert_eq!((world.database.count(tried).await, world.owed().await, world.failures().await), (3, 0, 0));
    carried.tries(&[320, 20_480, 3_600, 3_600]).await;
    assert_eq!((world.database.count(tried).await, carried.carrier.shipments().len()), (3, 0), "nobody asks again");
    assert_eq!(merchant.asks_for_the_label(&rma).await.status, 404);

    // The shopper has another way: handing the goods over without a label.
    let dropped = json!({ "event": "dropped_off", "rma_identifier": rma, "occurred_at": "2026-03-01T12:00:00Z" });
    assert_eq!(merchant.carrier_reports(&dropped).await.body["result"], "moved");
    assert_eq!(carried.receives_events().await, ["ACCEPTED"]);
}

#[tokio::test]
async fn a_refused_label_is_ordered_again_with_the_address_that_was_corrected() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let mut refused = Vec::new();
    for order in ["A-1", "A-2", "A-3"] {
        refused.push(carried.has_a_refused_label(order).await);
    }
    assert_eq!(merchant.refused_labels().await.len(), 3);
    let mut corrected = sold_to("A-1", "2 Side St");
    corrected["updated_at"] = "2026-03-01T12:00:00Z".into();
    assert_eq!(merchant.publishes(&message([corrected])).await.results(), ["updated"]);
    let reply = merchant.orders_the_label(&refused[0]).await;
    assert_eq!(reply.status, 202);
    // The deliverer may have bought it before the answer was written.
    assert!(["ordered", "bought"].map(Value::from).contains(&reply.body["label"]["state"]), "{}", reply.body);
    // Nobody has corrected this one.
    for again in [false, true] {
        assert_eq!(merchant.orders_the_label(&refused[1]).await.status, 202, "it is being bought; again: {again}");
    }
    // The operator's command uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    let shown = out(&backhaul(&world.database, &["returns", "label", "--merchant", "acme", &refused[2], "-o", "json"]));
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["label"]["state"], "ordered");
    assert_eq!(merchant.refused_labels().await, []);

    assert_eq!(carried.receives_events().await, ["PRE_TRANSIT"]);
    carried.tries(&[5, 40]).await;
    assert_eq!(merchant.refused_labels().await, [(refused[1].clone(), WORDS.to_owned())]);
    let shown = merchant.looks_at(&refused[0]).await;
    assert_eq!(shown["label"], json!({ "state": "bought", "reason": null, "code": false }));
    let second = carried.shipment(&format!("{}-2", refused[0]));
    assert_eq!((second.bought, &json!(second.tracking_code)), (1, &shown["items"][0]["tracking_number"]));
    assert_eq!(merchant.asks_for_the_label(&refused[0]).await.status, 200);
    // Cancelling gives back what was bought under the second name.
    assert_eq!(merchant.cancels(&refused[0]).await.status, 200);
    world.time_passes(SETTLED);
    world.deliver_all_due().await;
    assert_eq!(carried.bought_and_given_back(&format!("{}-2", refused[0])), (1, 1));
    refused.sort();
    assert_eq!(world.database.texts("select detail from audit where action = 'label.ordered' order by detail").await, refused);
}

#[tokio::test]
async fn a_label_is_ordered_only_where_one_is_needed() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let (labelled, _) = carried.has_a_label("A-1").await;
    let cancelled = carried.has_a_refused_label("A-2").await;
    assert_eq!(merchant.cancels(&cancelled).await.status, 200);
    let settled = carried.has_a_refused_label("A-3").await;
    carried.is_refunded("A-3", &settled).await;
    assert_eq!(merchant.refused_labels().await, [], "nobody needs these labels any more");
    assert_eq!(merchant.looks_at(&settled).await["label"]["state"], "withdrawn");
    remove_carrier(&world.app, "test", merchant.id).await.unwrap();
    merchant.sells("A-4", 1).await;
    let without = merchant.starts(&mail_back("A-4", 1)).await;
    assert_eq!(without.body["label"], Value::Null, "nobody buys a label");
    let without = without.body["rma_identifier"].as_str().unwrap();
    let account = "the merchant has no carrier account; set one with `backhaul carrier set`, or report the label as a carrier event";
    for (rma, why) in [
        (labelled.as_str(), "the return already has a label"),
        (&cancelled, "the return is cancelled"),
        (&settled, "the return has been refunded"),
        (without, account),
    ] {
        let reply = merchant.orders_the_label(rma).await;
        assert_eq!(reply.body["message"], format!("No label can be ordered for the return {rma}: {why}."));
        assert_eq!(reply.status, 409);
    }
    assert_eq!(merchant.orders_the_label("R-2222-2222").await.status, 404);
    let unknown = err(&backhaul(&world.database, &["returns", "label", "--merchant", "acme", "R-2222-2222"]));
    assert!(unknown.contains("acme has no return R-2222-2222"), "{unknown}");
}

#[tokio::test]
async fn a_tracking_number_of_a_return_that_is_over_goes_to_the_next_one() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    for case in ["cancelled", "refunded and delivered", "refunded long ago"] {
        let (rma, number) = carried.has_sold_a_number(&format!("new {case}")).await;
        let other = carried.has_a_label_from_elsewhere(case, &number).await;
        match case {
            "cancelled" => assert_eq!(merchant.cancels(&other).await.status, 200),
            "refunded and delivered" => {
                carried.is_refunded(case, &other).await;
                carried.carrier.scan(&number, Status::Delivered).unwrap();
                carried.webhooks_are_answered().await;
            }
            _ => {
                carried.is_refunded(case, &other).await;
                sqlx::query("update rma set updated_at = $2 where identifier = $1")
                    .bind(&other)
                    .bind(world.app.now() - TimeDelta::days(90))
                    .execute(&mut world.database.connect().await)
                    .await
                    .unwrap();
            }
        }
        carried.tries(&[5]).await;
        let shown = merchant.looks_at(&rma).await;
        assert_eq!((&shown["label"]["state"], &shown["items"][0]["tracking_number"]), (&json!("bought"), &json!(number)), "{case}");
        carried.carrier.scan(&number, Status::InTransit).unwrap();
        carried.webhooks_are_answered().await;
        assert_eq!(merchant.looks_at(&rma).await["items"][0]["package_tracking_status"], "TRANSIT", "{case}: the scan is for the new one");
        assert_ne!(merchant.looks_at(&other).await["items"][0]["package_tracking_status"], "TRANSIT", "{case}");
    }
    assert_eq!(merchant.refused_labels().await, []);
}

#[tokio::test]
async fn a_label_with_the_number_of_a_live_return_is_voided_and_is_a_case_for_the_operator() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let (rma, number) = carried.has_sold_a_number("A-1").await;
    let other = carried.has_a_label_from_elsewhere("A-2", &number).await;
    carried.tries(&[5]).await;
    let why = format!("The carrier sold the tracking number {number}, which another return still uses. The label is voided.");
    assert_eq!(merchant.refused_labels().await, [(rma.clone(), why.clone())]);
    let shown = merchant.looks_at(&rma).await;
    assert_eq!(
        (&shown["label"], &shown["items"][0]["tracking_number"]),
        (&json!({ "state": "refused", "reason": why, "code": false }), &Value::Null)
    );
    world.time_passes(SETTLED);
    world.deliver_all_due().await;
    assert_eq!(carried.bought_and_given_back(&rma), (1, 1));
    assert_eq!(merchant.looks_at(&other).await["items"][0]["tracking_number"], json!(number));

    assert_eq!(merchant.orders_the_label(&rma).await.status, 202);
    world.deliver_all_due().await;
    assert_eq!(merchant.looks_at(&rma).await["label"]["state"], "bought");
    assert_eq!((carried.shipment(&format!("{rma}-2")).bought, world.owed().await, world.failures().await), (1, 0, 0));
}

#[tokio::test]
async fn a_label_that_is_bought_while_its_return_is_refunded_is_given_back() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "3000")]).await;
    let carried = world.shop_with_a_carrier("acme").await;
    // The carrier sells, but its response is late or lost.
    for (case, failure) in [("late", None), ("lost", Some(Failure::TooSlow))] {
        let bought = carried.carrier.shipments().len();
        match failure {
            Some(failure) => carried.carrier.fails_next(Operation::Buy, [failure]),
            None => carried.carrier.faults(Faults { delay: Duration::from_millis(700), ..Faults::default() }).await.unwrap(),
        }
        let rma = carried.has_a_return(case, 1).await;
        let deliverer = backhaul::worker::start(&world.app);
        carried.carrier.wait_for_labels(bought + 1, Duration::from_secs(20)).await.unwrap();
        carried.is_refunded(case, &rma).await;
        carried.carrier.faults(Faults::default()).await.unwrap();
        deliverer.leave().await;
        world.time_passes(SETTLED);
        let deliverer = backhaul::worker::start(&world.app);
        world.database.becomes("select count(*)::text from delivery", &["0"]).await;
        deliverer.leave().await;
        let shown = carried.shop.merchant.looks_at(&rma).await;
        assert_eq!(carried.bought_and_given_back(&rma), (1, 1), "{case}");
        assert_eq!((&shown["status"], &shown["items"][0]["tracking_number"]), (&json!("REFUNDED"), &Value::Null), "{case}");
        assert_eq!((&shown["label"]["state"], shown["sequence"].as_i64()), (&json!("withdrawn"), Some(2)), "{case}");
    }
}

#[tokio::test]
async fn the_words_of_a_carrier_are_erased_with_the_shopper() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let rma = carried.has_a_refused_label("A-1").await;
    erase_shopper(&world.app, "test", carried.shop.merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    assert_eq!(carried.shop.merchant.refused_labels().await, [(rma, "The carrier refuses the label.".to_owned())]);
}
