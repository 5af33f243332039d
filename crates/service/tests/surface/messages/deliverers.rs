//! Several deliverers on one database: they share the buckets, hand them over, and take over from one that is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backhaul::delivery::Delivery;
use backhaul::delivery::deliverer::Deliverer;
use backhaul::delivery::handlers::Handlers;
use backhaul::delivery::reaction::Reactions;
use backhaul::delivery::timer::{Run, Timer};
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use chrono::TimeDelta;
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Answer;
use store::messages::outbox::Message;

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

#[tokio::test]
async fn who_has_lost_its_bucket_settles_nothing_even_if_the_epoch_is_the_same() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::ok().held());
    receiver.is_owed("R-1", 1).await;
    let deliverer = backhaul::worker::start(&world.app);
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    // A failover has lost the last lease, and another process took the bucket with the same epoch.
    let other = "update delivery_bucket set owner = 'a0000000-0000-0000-0000-000000000000' where owner is not null";
    sqlx::query(other).execute(&mut world.database.connect().await).await.unwrap();
    receiver.systems.release();
    deliverer.leave().await;
    assert_eq!((world.owed().await, world.database.count("attempt").await), (1, 0), "its new owner will settle it");
}

#[tokio::test]
async fn a_message_from_a_node_whose_clock_is_a_little_ahead_waits_for_its_time_and_no_longer() {
    let world = World::new().await;
    let (receiver, other) = (world.receiver("acme").await, world.receiver("zeta").await);
    let elsewhere = world.node_with_its_own_clock().await;
    let deliverer = backhaul::worker::start(&elsewhere.app);
    shares(&world, &["256"]).await;
    deliverer.deliver_all_due().await;
    let forwarding = tokio::spawn(backhaul::delivery::forward_signals(world.app.clone()));
    world.time_passes(Duration::from_millis(40));
    // Several times, because the poll finds it too, every three seconds.
    for round in 1..=3 {
        receiver.is_owed(&format!("R-{round}"), 1).await;
        // This one is due where it is delivered. When it arrives, the other signal has arrived too.
        let mut tx = world.app.begin(other.merchant).await.unwrap();
        let (kind, subject, due_at) = (Kind::Of(Interface::Rma), format!("R-{round}"), elsewhere.app.now());
        tx.owe(Message { id: world.app.mint(), kind, event: "rma.created", subject, sequence: 1, body: "{}".to_owned(), due_at });
        world.app.commit(tx).await.unwrap();
        other.systems.wait_for(round, Duration::from_secs(10)).await.unwrap();
        assert_eq!(receiver.systems.count(), round - 1, "it is not due yet");
        world.time_passes(Duration::from_millis(40));
        elsewhere.time_passes(Duration::from_millis(40));
        receiver.systems.wait_for(round, Duration::from_secs(2)).await.unwrap();
    }
    forwarding.abort();
    deliverer.leave().await;
}

/// A timer that counts its runs.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Timer for Counting {
    fn run(&self) -> Run<'_> {
        Box::pin(async {
            self.0.fetch_add(1, Ordering::SeqCst);
            false
        })
    }
}

#[tokio::test]
async fn a_node_whose_clock_is_off_takes_no_buckets_and_runs_no_timers_until_it_is_right() {
    let world = World::new().await;
    let (off, right) =
        (world.node_with_a_clock_wrong_by(TimeDelta::seconds(-3)).await, world.node_with_a_clock_wrong_by(TimeDelta::zero()).await);
    let timer = Counting::default();
    let handlers = Handlers { reactions: Reactions::default(), timer: Arc::new(timer.clone()) };
    let first = Deliverer::start(Delivery::clone(&off.app), handlers);
    // It has seen the database's clock, and does not count as one that delivers.
    world.database.becomes("select count(*)::text from deliverer where live_until <= now()", &["1"]).await;
    shares(&world, &[]).await;
    let second = backhaul::worker::start(&right.app);
    shares(&world, &["256"]).await;
    assert_eq!(timer.0.load(Ordering::SeqCst), 0, "it does nothing that goes by the clock");
    let (status, page) = off.admin("/readyz").await;
    assert!(status == 503 && page.contains("delivers nothing"), "{page}");
    let (_, metrics) = off.admin("/metrics").await;
    let gauge = format!("{} ", off.of_its_cell("backhaul_clock_skew_seconds"));
    let skew = metrics.lines().find_map(|line| line.strip_prefix(&gauge)).unwrap();
    assert!((2.5..3.5).contains(&skew.parse::<f64>().unwrap()), "{skew}");

    // It takes part as soon as its clock is right, and no longer when it goes wrong again.
    off.app.clock.go_wrong_by(TimeDelta::zero());
    shares(&world, &["128", "128"]).await;
    off.app.clock.go_wrong_by(TimeDelta::seconds(3));
    shares(&world, &["256"]).await;
    first.leave().await;
    second.leave().await;
}
