//! What has to happen soon.

use std::time::{Duration, Instant};

use crate::world::World;

/// The contract: the label comes within seconds of creation.
const SECONDS: Duration = Duration::from_secs(5);

#[tokio::test]
async fn the_label_is_there_within_seconds_of_the_return() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let deliverer = backhaul::worker::start(&world.app);
    // The first messages find a deliverer that is settled in.
    carried.has_a_return("A-1", 1).await;
    let systems = &carried.shop.systems;
    systems.wait_for(2, Duration::from_secs(20)).await.unwrap();

    let began = Instant::now();
    let rma = carried.has_a_return("A-2", 1).await;
    systems.wait_for(4, Duration::from_secs(20)).await.unwrap();
    let took = began.elapsed();
    assert!(took < SECONDS, "{took:?}");
    let last = systems.received().last().unwrap().json();
    assert_eq!((&last["rma_identifier"], &last["items"][0]["package_tracking_status"]), (&rma.into(), &"PRE_TRANSIT".into()));
    assert_eq!(last["created_at"], last["updated_at"], "no time has passed on the service's clock");
    deliverer.leave().await;
}
