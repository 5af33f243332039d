//! Rows that somebody else has locked, and reactions that hang: they hold up their own message and nothing else.

use std::sync::Arc;
use std::time::Duration;

use backhaul::delivery::Delivery;
use backhaul::delivery::deliverer::Deliverer;
use backhaul::delivery::handlers::Handlers;
use backhaul::delivery::reaction::{Ending, Followed, Reacting, Reaction, Reactions};
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use backhaul::flow::messages::retry_message::{Asker, retry_message};
use backhaul::timers::Timers;
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Answer;
use sqlx::PgConnection;
use store::Tx;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// A world in which nobody waits long for a lock.
async fn impatient_world() -> World {
    World::with(&[("BACKHAUL__DATABASE__LOCK_TIMEOUT_MS", "200")]).await
}

/// An operator's open transaction that has locked the failure queue's entries of `merchant`.
async fn holds_failures(receiver: &Receiver<'_>) -> PgConnection {
    let mut connection = receiver.world.database.connect().await;
    sqlx::query("begin").execute(&mut connection).await.unwrap();
    let locked = sqlx::query("select from failure where merchant_id = $1 for update").bind(receiver.merchant.0);
    assert!(locked.execute(&mut connection).await.unwrap().rows_affected() > 0);
    connection
}

/// The subject of every message that is owed.
const OWED: &str = "select subject || ' ' || delivery.sequence from delivery join message using (merchant_id, message_id) order by 1";

#[tokio::test]
async fn a_failure_that_an_operator_has_locked_holds_up_only_its_own_message() {
    let world = impatient_world().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    let failed = receiver.is_owed("R-0", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    receiver.systems.answer_next(PATH, [Answer::ok().held()]);
    retry_message(&world.app, Asker::Operator("test"), receiver.merchant, failed).await.unwrap();
    receiver.systems.wait_for(7, Duration::from_secs(10)).await.unwrap();
    let operator = holds_failures(&receiver).await;
    receiver.systems.release();
    for number in 1..=20 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    world.database.becomes(OWED, &["R-0 1"]).await;
    let counted = async {
        while world.metric("backhaul_delivery_settlings_failed_total").await == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), counted).await.unwrap();
    // More of the same endpoint come and go meanwhile.
    for number in 21..=40 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    world.database.becomes(OWED, &["R-0 1"]).await;
    drop(operator);
    world.deliver_all_due().await;
    assert_eq!(world.database.texts("select state from failure").await, ["resolved"]);
    assert_eq!((world.owed().await, receiver.systems.count()), (0, 7 + 40), "what had arrived is not sent again");
}

#[tokio::test]
async fn a_retry_job_that_meets_a_locked_failure_holds_up_no_other_job() {
    let world = impatient_world().await;
    let mut receivers = Vec::new();
    for handle in ["acme", "zeta"] {
        let receiver = world.receiver_with(handle, impatient()).await;
        receiver.systems.answer(PATH, Answer::status(503));
        receiver.is_owed("R-0", 1).await;
        receivers.push(receiver);
    }
    world.five_retries_pass().await;
    // Whichever job comes first, it is the one that cannot go on.
    for (locked, free) in [(0, 1), (1, 0)] {
        let operator = holds_failures(&receivers[locked]).await;
        for receiver in &receivers {
            receiver.systems.answer(PATH, Answer::status(503));
            let everything = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(1_000) };
            retry_failures(&world.app, "test", receiver.merchant, everything).await.unwrap();
        }
        let before = receivers[free].systems.count();
        world.time_passes(Duration::from_secs(1));
        receivers[free].systems.wait_for(before + 1, Duration::from_secs(20)).await.unwrap();
        drop(operator);
        world.time_passes(Duration::from_secs(1));
        world.database.becomes("select count(*)::text from retry_job where ended_at is null", &["0"]).await;
        world.five_retries_pass().await;
    }
}

/// Reacts to nothing, but waits at the gate for one message.
struct Gated {
    stuck: Uuid,
    gate: Arc<Semaphore>,
}

impl Reaction for Gated {
    fn react<'a>(&'a self, _tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            if ending.message == self.stuck {
                let _passed = self.gate.acquire().await.unwrap();
            }
            Ok(Followed::Settled)
        })
    }
}

#[tokio::test]
async fn a_reaction_that_hangs_holds_up_only_its_own_subject() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", EndpointChange { slots: Some(4), ..EndpointChange::default() }).await;
    let stuck = receiver.is_owed("R-0", 1).await;
    let gate = Arc::new(Semaphore::new(0));
    let reactions = Reactions::default().with(Kind::Of(Interface::Rma), Gated { stuck, gate: Arc::clone(&gate) });
    let handlers = Handlers { reactions, timer: Arc::new(Timers::new(world.app.clone())) };
    let deliverer = Deliverer::start(Delivery::clone(&world.app), handlers);
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    for number in 1..=10 {
        receiver.is_owed("R-0", number + 1).await;
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    receiver.systems.wait_for(11, Duration::from_secs(10)).await.unwrap();
    world.database.becomes("select distinct lane from delivery", &["R-0"]).await;
    gate.add_permits(100);
    deliverer.deliver_all_due().await;
    let of_the_stuck: Vec<String> = receiver.arrived().into_iter().filter(|arrived| arrived.starts_with("R-0 ")).collect();
    assert_eq!(of_the_stuck, (1..=11).map(|sequence| format!("R-0 {sequence}")).collect::<Vec<_>>(), "in order, and each once");
    assert_eq!((world.owed().await, world.metric("backhaul_delivery_lanes_rescued_total").await), (0, 0));
    deliverer.leave().await;
}
