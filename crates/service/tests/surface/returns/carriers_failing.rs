//! A failing carrier delays its own labels and nothing else, and sells none twice.

use std::time::Duration;

use sandbox::carrier::{Failure, Faults, Operation, Outage};

use crate::world::World;

/// The waits of the default schedule, in seconds, before jitter.
const WAITS: [u64; 5] = [5, 40, 320, 2_560, 20_480];

impl World {
    /// Lets this wait pass, with the most jitter, so that the next attempt is due.
    fn waits(&self, seconds: u64) {
        self.time_passes(Duration::from_millis(seconds * 1_100 + 100));
    }

    /// The number of calls to carriers for labels.
    async fn purchases_tried(&self) -> i64 {
        self.database.count("attempt join message using (merchant_id, message_id) where kind = 'label'").await
    }
}

#[tokio::test]
async fn however_a_call_fails_the_label_comes_with_the_next_attempt_and_is_bought_once() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "1500")]).await;
    let carried = world.shop_with_a_carrier("acme").await;
    for operation in [Operation::Find, Operation::Create, Operation::Buy, Operation::Label] {
        for failure in Failure::ALL {
            let case = format!("{operation:?} {failure:?}");
            carried.carrier.fails_next(operation, [failure]);
            let rma = carried.has_a_return(&case, 1).await;
            assert_eq!(carried.receives_events().await, ["created"], "{case}");
            world.waits(5);
            assert_eq!(carried.receives_events().await, ["PRE_TRANSIT"], "{case}");
            assert_eq!(carried.bought_and_given_back(&rma), (1, 0), "{case}");
            assert_eq!(carried.shop.merchant.asks_for_the_label(&rma).await.status, 200, "{case}");
        }
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn a_label_is_tried_for_every_hour_once_its_retries_are_used_up() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    carried.carrier.faults(Faults { outage: Some(Outage::Refuses), ..Faults::default() }).await.unwrap();
    let rma = carried.has_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created"]);
    for (tried, wait) in WAITS.into_iter().chain([3_600; 4]).enumerate() {
        assert_eq!(world.purchases_tried().await, i64::try_from(tried).unwrap() + 1);
        world.time_passes(Duration::from_secs(wait / 2));
        assert_eq!(carried.receives_events().await, Vec::<String>::new(), "nothing is due yet");
        assert_eq!(world.purchases_tried().await, i64::try_from(tried).unwrap() + 1, "nothing is due yet");
        world.waits(wait);
        // It is down in one way or another, and then it is up.
        let outage = (tried < 8).then_some(if tried % 2 == 0 { Outage::Unavailable } else { Outage::Refuses });
        carried.carrier.faults(Faults { outage, ..Faults::default() }).await.unwrap();
        let expected: &[&str] = if tried < 8 { &[] } else { &["PRE_TRANSIT"] };
        assert_eq!(carried.receives_events().await, expected);
    }
    assert_eq!(carried.bought_and_given_back(&rma), (1, 0));
    assert_eq!((world.owed().await, world.failures().await), (0, 0), "it was never given up");
}

#[tokio::test]
async fn nothing_else_waits_for_a_carrier_that_is_slow() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let bolt = world.shop_with_a_carrier("bolt").await;
    carried.carrier.faults(Faults { delay: Duration::from_mins(1), ..Faults::default() }).await.unwrap();
    let deliverer = backhaul::worker::start(&world.app);
    for order in ["A-1", "A-2", "A-3"] {
        let rma = carried.has_a_return(order, 1).await;
        assert_eq!(carried.shop.merchant.asks_again_for(&rma).await.status, 202);
    }
    let theirs = bolt.has_a_return("A-1", 1).await;
    // None of acme's labels can exist yet: its carrier has not answered a single call.
    carried.shop.systems.wait_for(6, Duration::from_secs(15)).await.unwrap();
    bolt.shop.systems.wait_for(2, Duration::from_secs(15)).await.unwrap();
    assert_eq!(bolt.bought_and_given_back(&theirs), (1, 0));
    assert_eq!(carried.carrier.shipments().iter().filter(|shipment| shipment.bought > 0).count(), 0);
    drop(deliverer);
}

#[tokio::test]
async fn a_process_that_ends_between_the_purchase_and_its_settling_buys_nothing_twice() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    // The label is bought, but the carrier's response does not arrive.
    carried.carrier.fails_next(Operation::Buy, [Failure::TooSlow]);
    let deliverer = backhaul::worker::start(&world.app);
    let rma = carried.has_a_return("A-1", 1).await;
    carried.carrier.wait_for_labels(1, Duration::from_secs(20)).await.unwrap();
    drop(deliverer);
    assert_eq!(carried.shop.merchant.asks_for_the_label(&rma).await.status, 404);

    let second = world.second_node().await;
    let deliverer = backhaul::worker::start(&second.app);
    world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    assert_eq!(carried.bought_and_given_back(&rma), (1, 0));
    assert_eq!(carried.shop.merchant.asks_for_the_label(&rma).await.status, 200);
    let tried =
        "select outcome from attempt join message using (merchant_id, message_id) where kind = 'label' order by started_at, outcome";
    assert_eq!(world.database.texts(tried).await, ["200", "unknown"], "the first call was recorded");
    deliverer.leave().await;
}
