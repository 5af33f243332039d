//! Several deliverers on one database: they share the buckets, hand them over, and take over from one that is gone.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::EndpointChange;
use sandbox::merchant::Answer;

use crate::world::World;
use crate::world::receiver::PATH;

/// Waits until the numbers of buckets per owner, fewest first, are as `expected`.
async fn shares(world: &World, expected: &[&str]) {
    let query = "select count(*)::text from delivery_bucket where owner is not null group by owner order by count(*)";
    world.database.becomes(query, expected).await;
}

#[tokio::test]
async fn buckets_are_shared_fairly_and_given_back() {
    let world = World::new().await;
    let (second, third) = (world.another_node(2).await, world.another_node(3).await);
    let first_deliverer = backhaul::worker::start(&world.app);
    shares(&world, &["256"]).await;
    let second_deliverer = backhaul::worker::start(&second.app);
    shares(&world, &["128", "128"]).await;
    let third_deliverer = backhaul::worker::start(&third.app);
    shares(&world, &["84", "86", "86"]).await;
    second_deliverer.leave().await;
    shares(&world, &["128", "128"]).await;
    // The third stops without a handover: its buckets are taken over when its leases expire.
    drop(third_deliverer);
    first_deliverer.leave().await;
}

#[tokio::test]
async fn a_process_that_delivers_nothing_tells_those_that_do() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let elsewhere = world.second_node().await;
    let deliverer = backhaul::worker::start(&elsewhere.app);
    shares(&world, &["256"]).await;
    deliverer.deliver_all_due().await;
    let forwarding = tokio::spawn(backhaul::delivery::forward_signals(world.app.clone()));
    receiver.is_owed("R-1", 1).await;
    let messages = receiver.systems.wait_for(1, Duration::from_secs(10)).await;
    assert_eq!(messages.unwrap().len(), 1);
    forwarding.abort();
    deliverer.leave().await;
    assert_eq!(world.owed().await, 0, "a deliverer settles before it leaves");
}

#[tokio::test]
async fn who_leaves_finishes_its_calls_and_the_next_goes_on_in_order() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", EndpointChange { slots: Some(2), ..EndpointChange::default() }).await;
    receiver.systems.answer(PATH, Answer::ok().held());
    for sequence in 1..=3 {
        receiver.is_owed("R-1", sequence).await;
    }
    let first = backhaul::worker::start(&world.app);
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    let leaving = tokio::spawn(first.leave());
    receiver.systems.answer(PATH, Answer::ok());
    receiver.systems.release();
    leaving.await.unwrap();
    assert_eq!((receiver.arrived(), world.owed().await), (vec!["R-1 1".to_owned()], 2));
    let next = world.second_node().await;
    next.deliver_all_due().await;
    assert_eq!((receiver.arrived(), world.owed().await), (["R-1 1", "R-1 2", "R-1 3"].map(str::to_owned).to_vec(), 0));
}
