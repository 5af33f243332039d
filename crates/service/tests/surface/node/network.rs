//! The network between the service and its database swallows everything: connections stay open, and nobody answers.

use std::time::Duration;

use futures::future::join_all;
use sandbox::fault_proxy::{Direction, Fault};
use store::messages::leases::{self, Heard, Listener};
use store::orders::refusals::{self, Refusal};
use tokio::time::{sleep, timeout};

use crate::world::{Reply, World, message, order};

/// Limits that pass soon.
const IMPATIENT: [(&str, &str); 3] = [
    ("BACKHAUL__DATABASE__ACQUIRE_TIMEOUT_MS", "400"),
    ("BACKHAUL__DATABASE__STATEMENT_TIMEOUT_MS", "400"),
    ("BACKHAUL__DATABASE__LOCK_TIMEOUT_MS", "300"),
];

/// The time in which everything is answered under these limits.
const SOON: Duration = Duration::from_secs(3);

async fn soon<T>(answer: impl Future<Output = T>) -> T {
    timeout(SOON, answer).await.unwrap()
}

fn statuses(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(|reply| reply.status.as_u16()).collect()
}

#[tokio::test]
async fn a_database_that_no_longer_answers_is_unavailable_in_time_and_comes_back() {
    let (world, network) = World::over_a_network(&IMPATIENT).await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);
    network.inject(Fault::BlackHole);
    for round in 0..2 {
        let messages = [0, 1, 2, 3].map(|at| message([order(&format!("lost-{round}-{at}"))]));
        let published = soon(join_all(messages.iter().map(|message| merchant.publishes(message)))).await;
        assert_eq!(statuses(&published), [503; 4]);
        let read = soon(join_all((0..20).map(|_| merchant.looks_up("1")))).await;
        assert_eq!(statuses(&read), [503; 20]);
        assert_eq!(soon(world.admin("/readyz")).await.0, 503);
    }
    network.heal();
    // No place in the pool is lost: as many callers as ever are served at the same time.
    let read = soon(join_all((0..40).map(|_| merchant.looks_up("1")))).await;
    assert_eq!(statuses(&read), [200; 40]);
    assert_eq!(soon(merchant.publishes(&message([order("2")]))).await.results(), ["created"]);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_no_success_and_can_be_repeated() {
    let (world, network) = World::over_a_network(&IMPATIENT).await;
    let merchant = world.merchant("acme").await;
    // A connection that has been idle is tested first, and then the message does not even arrive.
    for attempt in 1..20 {
        merchant.publishes(&message([order("warm")])).await;
        let lost = message([order(&format!("lost-{attempt}"))]);
        network.inject(Fault::HalfOpen(Direction::ToClient));
        assert_eq!(soon(merchant.publishes(&lost)).await.status, 503);
        network.heal();
        if world.database.count("customer_order").await > attempt {
            assert_eq!(soon(merchant.publishes(&lost)).await.results(), ["unchanged"]);
            return;
        }
        soon(async { while merchant.publishes(&lost).await.status != 200 {} }).await;
    }
    panic!("no message was committed");
}

#[tokio::test]
async fn a_lost_commit_of_a_transaction_is_an_error() {
    let (world, network) = World::over_a_network(&IMPATIENT).await;
    let receiver = world.receiver("acme").await;
    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    // Nothing is owed, so that the commit is all that is left.
    let refusal = Refusal {
        id: world.app.mint(),
        refused_at: world.app.now(),
        request_id: "request-1".to_owned(),
        order_identifiers: Vec::new(),
        reason: "a fault".to_owned(),
        faults: "[]".to_owned(),
        excerpt: None,
    };
    refusals::insert(&mut tx, &refusal).await.unwrap();
    network.inject(Fault::HalfOpen(Direction::ToClient));
    let failed = soon(world.app.commit(tx)).await.expect_err("its outcome is unknown");
    assert_eq!(failed.to_string(), "the database is unreachable: it did not answer in time");
    network.heal();
    assert_eq!(world.database.count("intake_refusal").await, 1);
}

#[tokio::test]
async fn leases_are_renewed_and_messages_delivered_after_the_database_was_silent() {
    let (world, network) = World::over_a_network(&IMPATIENT).await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    network.inject(Fault::BlackHole);
    // Long enough for the engine to renew its leases in vain.
    sleep(Duration::from_millis(2_500)).await;
    network.heal();
    let renewed = "select 'renewed' from delivery_bucket having max(leased_until) > clock_timestamp() + interval '9 seconds'";
    soon(world.database.becomes(renewed, &["renewed"])).await;
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-2 1"]);
}

#[tokio::test]
async fn a_listener_notices_that_its_connection_is_dead() {
    let (world, network) = World::over_a_network(&IMPATIENT).await;
    let mut listener = Listener::new(world.app.cell()).await.unwrap();
    leases::notify(world.app.cell(), &["first".to_owned()]).await.unwrap();
    assert_eq!(soon(listener.next()).await.unwrap(), Heard::Line("first".to_owned()));
    // A quiet time is no error.
    assert!(timeout(Duration::from_secs(2), listener.next()).await.is_err());
    network.inject(Fault::BlackHole);
    soon(listener.next()).await.expect_err("nobody answers");
    network.heal();
    let mut listener = Listener::new(world.app.cell()).await.unwrap();
    leases::notify(world.app.cell(), &["second".to_owned()]).await.unwrap();
    assert_eq!(soon(listener.next()).await.unwrap(), Heard::Line("second".to_owned()));
}

#[tokio::test]
async fn an_aborted_begin_leaves_no_transaction_open() {
    let (world, network) = World::over_a_network(&[]).await;
    let merchant = world.merchant("acme").await;
    let beginning = |patience| timeout(patience, world.app.begin(merchant.id));
    beginning(SOON).await.unwrap().unwrap().rollback().await.unwrap();
    network.inject(Fault::Delay(Duration::from_millis(100)));
    assert!(beginning(Duration::from_millis(150)).await.is_err(), "aborted while the server begins");
    network.heal();
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);
    let states = "select state from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
    world.database.becomes(states, &[]).await;
    assert_eq!(world.database.count("customer_order").await, 1, "what was acknowledged is committed");
}
