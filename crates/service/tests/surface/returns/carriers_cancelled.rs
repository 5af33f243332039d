//! A label that is no longer needed is not bought, or is refunded.

use std::time::Duration;

use backhaul::flow::returns::wake_returns::wake_returns;
use sandbox::carrier::{Failure, Faults, Operation, Outage};

use crate::world::carrier::Carried;
use crate::world::{World, message, refund_for, refunded, sold};

/// Longer than a carrier may take to complete a purchase.
const SETTLED: Duration = Duration::from_mins(3);

impl Carried<'_> {
    async fn is_down(&self) {
        self.carrier.faults(Faults { outage: Some(Outage::Unavailable), ..Faults::default() }).await.unwrap();
    }

    async fn is_up(&self) {
        self.carrier.faults(Faults::default()).await.unwrap();
    }
}

#[tokio::test]
async fn whoever_cancels_gives_the_label_back_once() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    for _ in 0..2 {
        carried.shop.merchant.cancels(&rma).await;
        world.time_passes(SETTLED);
        carried.receives_events().await;
        assert_eq!(carried.bought_and_given_back(&rma), (1, 1));
    }
    assert_eq!(world.owed().await, 0);
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["status"], "CANCELED");
}

#[tokio::test]
async fn a_carrier_that_is_down_takes_its_label_back_later() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    carried.carrier.fails_next(Operation::Refund, [Failure::ErrorBefore, Failure::ErrorAfter]);
    assert_eq!(carried.shop.merchant.cancels(&rma).await.status, 200);
    world.time_passes(SETTLED);
    assert_eq!(carried.receives_events().await, ["canceled"], "cancelling does not wait for the carrier");
    for wait in [6, 45] {
        world.time_passes(Duration::from_secs(wait));
        carried.receives_events().await;
    }
    assert_eq!((carried.bought_and_given_back(&rma), world.owed().await, world.failures().await), ((1, 1), 0, 0));
}

#[tokio::test]
async fn a_label_that_was_not_bought_yet_never_is() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.is_down().await;
    let rma = carried.has_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created"]);
    assert_eq!(carried.shop.merchant.cancels(&rma).await.status, 200);
    carried.is_up().await;
    for _ in 0..3 {
        world.time_passes(SETTLED);
        carried.receives_events().await;
    }
    assert_eq!((carried.carrier.shipments().len(), world.owed().await), (0, 0));
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["items"][0]["tracking_number"], serde_json::Value::Null);
}

#[tokio::test]
async fn a_label_that_is_bought_while_its_return_is_cancelled_is_given_back() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "3000")]).await;
    let carried = world.shop_with_a_carrier("acme").await;
    // The carrier sells, but its response is late or lost, or the document is missing.
    for (case, operation, failure) in [
        ("late", Operation::Buy, None),
        ("lost", Operation::Buy, Some(Failure::TooSlow)),
        ("without a document", Operation::Label, Some(Failure::TooSlow)),
    ] {
        let bought = carried.carrier.shipments().len();
        match failure {
            Some(failure) => carried.carrier.fails_next(operation, [failure]),
            None => carried.carrier.faults(Faults { delay: Duration::from_millis(700), ..Faults::default() }).await.unwrap(),
        }
        let rma = carried.has_a_return(case, 1).await;
        let deliverer = backhaul::worker::start(&world.app);
        carried.carrier.wait_for_labels(bought + 1, Duration::from_secs(20)).await.unwrap();
        assert_eq!(carried.shop.merchant.cancels(&rma).await.status, 200, "{case}");
        carried.is_up().await;
        deliverer.leave().await;
        world.time_passes(SETTLED);
        let deliverer = backhaul::worker::start(&world.app);
        world.database.becomes("select count(*)::text from delivery", &["0"]).await;
        deliverer.leave().await;
        assert_eq!(carried.bought_and_given_back(&rma), (1, 1), "{case}");
        assert_eq!(carried.shop.merchant.asks_for_the_label(&rma).await.status, 404, "{case}");
    }
}

#[tokio::test]
async fn a_purchase_that_goes_through_after_its_return_was_cancelled_is_given_back() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "3000")]).await;
    let carried = world.shop_with_a_carrier("acme").await;
    // The shipment exists, and its label is bought only after the return was cancelled; the carrier's response is lost.
    carried.carrier.faults(Faults { delay: Duration::from_millis(1_500), ..Faults::default() }).await.unwrap();
    carried.carrier.fails_next(Operation::Buy, [Failure::ResetAfter]);
    let rma = carried.has_a_return("A-1", 1).await;
    let deliverer = backhaul::worker::start(&world.app);
    let made = async {
        while carried.carrier.shipments().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), made).await.unwrap();
    assert_eq!(carried.shop.merchant.cancels(&rma).await.status, 200);
    assert_eq!(carried.bought_and_given_back(&rma), (0, 0), "it is cancelled before the label is bought");
    carried.carrier.wait_for_labels(1, Duration::from_secs(20)).await.unwrap();
    carried.is_up().await;
    deliverer.leave().await;
    world.time_passes(SETTLED);
    let deliverer = backhaul::worker::start(&world.app);
    world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    deliverer.leave().await;
    assert_eq!(carried.bought_and_given_back(&rma), (1, 1));
}

#[tokio::test]
async fn a_label_whose_return_got_another_one_meanwhile_is_given_back() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.fails_next(Operation::Label, [Failure::ErrorBefore]);
    let rma = carried.has_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created"]);
    assert_eq!(carried.shop.merchant.carrier_says(&rma, "label_issued").await.body["result"], "moved");
    world.time_passes(Duration::from_secs(6));
    assert_eq!(carried.receives_events().await, ["PRE_TRANSIT"]);
    world.time_passes(SETTLED);
    assert_eq!((carried.receives_events().await, carried.bought_and_given_back(&rma)), (vec![], (1, 1)));
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["items"][0]["tracking_number"], format!("T-{rma}"));
}

#[tokio::test]
async fn a_return_that_runs_out_gives_its_label_back() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_label("A-1").await;
    for days in [21, 9] {
        world.time_passes(Duration::from_hours(days * 24));
        store::messages::partitions::make_around(world.app.cell(), world.app.now()).await.unwrap();
        wake_returns(&world.app).await.unwrap();
    }
    world.time_passes(SETTLED);
    assert_eq!((carried.receives_events().await, carried.bought_and_given_back(&rma)), (vec!["canceled".to_owned()], (1, 1)));
}

#[tokio::test]
async fn no_label_is_bought_for_what_is_refunded() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.is_down().await;
    let rma = carried.has_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created"]);
    let refund = refunded(sold("A-1", 1), [refund_for(&rma, "F-1", 1)]);
    assert_eq!(carried.shop.merchant.publishes(&message([refund])).await.results(), ["updated"]);
    carried.is_up().await;
    world.time_passes(SETTLED);
    assert_eq!(carried.receives_events().await, ["refunded"]);
    assert_eq!((carried.carrier.shipments().len(), world.owed().await), (0, 0));
}
