//! The connections of one process to its database.

use std::time::Duration;

use backhaul::heartbeat;
use futures::StreamExt as _;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use reqwest::Method;

use crate::world::{World, message, order};

#[tokio::test]
async fn a_process_opens_as_many_connections_as_its_setting_says_and_no_more() {
    let world = World::with(&[("BACKHAUL__DATABASE__CONNECTIONS", "10"), ("BACKHAUL__INTAKE__WRITERS", "6")]).await;
    let merchant = world.merchant("acme").await;
    let receiver = world.receiver("other").await;
    let mut beside = world.database.connect().await;
    let count = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'backhaul'";
    let busy = async {
        for round in 0..5 {
            let messages: Vec<_> = (0..30).map(|at| message([order(&format!("O-{round}-{at}"))])).collect();
            let published = join_all(messages.iter().map(|message| merchant.publishes(message)));
            let read = join_all((0..10).map(|_| merchant.calls(Method::GET, "/v1/events", |request| request)));
            receiver.is_owed(&format!("R-{round}"), 1).await;
            let apart = world.app.cell().begin_apart(receiver.merchant).await.unwrap();
            let (published, read, (), beat) = tokio::join!(published, read, world.deliver_all_due(), heartbeat::beat(&world.app, 0));
            beat.unwrap();
            apart.rollback().await.unwrap();
            assert!(published.iter().chain(&read).all(|reply| reply.status == 200));
        }
        assert_eq!(receiver.arrived().len(), 5);
    };
    let mut most = 0_i64;
    let counting = async {
        loop {
            most = most.max(sqlx::query_scalar(count).fetch_one(&mut beside).await.unwrap());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        () = busy => {}
        () = counting => {}
    }
    assert_eq!(most, 10);
}

#[tokio::test]
async fn a_merchant_whose_transactions_wait_for_each_other_leaves_connections_to_the_others() {
    let world = World::with(&[("BACKHAUL__DATABASE__CONNECTIONS", "20")]).await;
    let (busy, other) = (world.merchant("busy").await, world.merchant("other").await);
    let mut waiting: FuturesUnordered<_> = (0..20).map(|_| world.app.begin(busy.id)).collect();
    let mut held = Vec::new();
    // Each that has begun stays open, as if it waited for a lock of the merchant's.
    let flood = async {
        while let Some(begun) = waiting.next().await {
            held.push(begun.unwrap());
        }
        panic!("one merchant has all connections");
    };
    let answered = async {
        let reply = other.publishes(&message([order("1")])).await;
        let begun = world.app.begin(other.id).await.unwrap();
        begun.rollback().await.unwrap();
        reply
    };
    tokio::select! {
        () = flood => {}
        reply = answered => assert_eq!(reply.results(), ["created"]),
    }
    drop(waiting);
    assert!(held.len() >= 2, "{}", held.len());
    for tx in held {
        tx.rollback().await.unwrap();
    }
}
