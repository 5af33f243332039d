//! The batch writer: messages that arrive together share an upsert, and none spoils another.

use domain::id::MerchantId;
use futures::future::join_all;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::world::{Merchant, Reply, World, message, order};

/// Blocks all writing until the lock is released, so that messages gather in the queue.
pub(super) async fn hold_writers(connection: &mut PgConnection) {
    sqlx::raw_sql("begin; lock table customer_order in share mode").execute(connection).await.unwrap();
}

pub(super) async fn let_go(connection: &mut PgConnection) {
    sqlx::raw_sql("commit").execute(connection).await.unwrap();
}

/// Waits until `writers` statements wait for the lock.
pub(super) async fn until_blocked(connection: &mut PgConnection, writers: i64) {
    loop {
        let waiting: i64 = sqlx::query_scalar("select count(*) from pg_locks where relation = 'customer_order'::regclass and not granted")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        if waiting >= writers {
            return;
        }
    }
}

/// Publishes each of these orders in a message of its own, all at the same time.
async fn publish_together(world: &World, merchant: &Merchant<'_>, orders: &[serde_json::Value]) -> Vec<Reply> {
    let messages: Vec<_> = orders.iter().map(|order| message([order.clone()])).collect();
    publish_messages_together(world, merchant, &messages).await
}

/// Publishes all of `sent` while another message blocks the writer, so that they gather in the queue.
async fn publish_messages_together(world: &World, merchant: &Merchant<'_>, sent: &[serde_json::Value]) -> Vec<Reply> {
    let mut connection = world.database.connect_beside_the_service().await;
    hold_writers(&mut connection).await;
    let hold_up = async { merchant.publishes(&message([order("first")])).await };
    let replies = join_all(sent.iter().map(|message| async {
        while world.app.intake.writers() < 1 {
            tokio::task::yield_now().await;
        }
        merchant.publishes(message).await
    }));
    let release = async {
        until_blocked(&mut connection, 1).await;
        while world.app.intake.queued() < sent.len() {
            tokio::task::yield_now().await;
        }
        let_go(&mut connection).await;
    };
    let (_, replies, ()) = tokio::join!(hold_up, replies, release);
    replies
}

#[tokio::test]
async fn another_writer_starts_when_a_whole_batch_waits() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect_beside_the_service().await;
    hold_writers(&mut connection).await;
    let sent: Vec<_> = (0..65).map(|at| message([order(&format!("O-{at}"))])).collect();
    let publishing = join_all(sent.iter().map(|message| merchant.publishes(message)));
    let release = async {
        // The first batch has one message, the second the next sixty-four.
        until_blocked(&mut connection, 2).await;
        let_go(&mut connection).await;
    };
    let (replies, ()) = tokio::join!(publishing, release);
    assert!(replies.iter().all(|reply| reply.results() == ["created"]));
    assert_eq!(world.metric("backhaul_intake_batch_orders_count").await, 2);
}

#[tokio::test]
async fn messages_that_wait_together_are_written_together() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let sent: Vec<_> = (0..40).map(|at| order(&format!("O-{at}"))).collect();
    for reply in publish_together(&world, &merchant, &sent).await {
        assert_eq!(reply.results(), ["created"]);
    }
    let batches = world.metric("backhaul_intake_batch_orders_count").await;
    assert_eq!(batches, 2, "the batch that blocks the writer, and one of forty");
}

#[tokio::test]
async fn messages_with_many_orders_share_an_upsert_up_to_a_whole_batch() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    // Four of them are 240 orders, five would be 300.
    let sent: Vec<_> = (0..4).map(|at| message((0..60).map(|number| order(&format!("O-{at}-{number}"))))).collect();
    for reply in publish_messages_together(&world, &merchant, &sent).await {
        assert_eq!(reply.results(), ["created"; 60]);
    }
    let batches = world.metric("backhaul_intake_batch_orders_count").await;
    assert_eq!(batches, 2, "the batch that blocks the writer, and one of four messages");
    assert_eq!(merchant.looks_up("O-3-59").await.body["revision"], 1);
}

#[tokio::test]
async fn an_order_that_comes_again_waits_for_the_next_batch() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let sent: Vec<_> = (0..12)
        .map(|at| {
            let mut order = order(&format!("O-{}", at % 3));
            order["raw_status"] = format!("v{at}").into();
            order
        })
        .collect();
    let replies = publish_together(&world, &merchant, &sent).await;
    let created = replies.iter().filter(|reply| reply.results() == ["created"]).count();
    let updated = replies.iter().filter(|reply| reply.results() == ["updated"]).count();
    assert_eq!((created, updated), (3, 9), "all have the same time, so each later arrival wins");
    assert_eq!(merchant.looks_up("O-0").await.body["revision"], 4);
}

#[tokio::test]
async fn one_message_that_fails_does_not_spoil_the_others() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    world.database.execute("alter table customer_order add constraint no_poison check (identifier <> 'poison')").await;
    let mut sent: Vec<_> = (0..20).map(|at| order(&format!("O-{at}"))).collect();
    sent.insert(10, order("poison"));
    let replies = publish_together(&world, &merchant, &sent).await;
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 20, "{statuses:?}");
    assert_eq!(statuses[10], 500, "{statuses:?}");
}

#[tokio::test]
async fn a_batch_tells_the_repeated_from_the_stale() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut newer = order("1");
    newer["updated_at"] = "2026-02-01T00:00:00Z".into();
    merchant.publishes(&message([newer.clone()])).await.results();
    assert_eq!(merchant.publishes(&message([newer, order("2")])).await.results(), ["unchanged", "created"]);
    assert_eq!(merchant.publishes(&message([order("1"), order("2")])).await.results(), ["stale", "unchanged"]);
}

#[tokio::test]
async fn a_full_house_sheds_before_the_body_is_read() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let most = world.app.limits.messages_in_flight();
    let others = (0..u128::from(most)).map(|at| MerchantId(Uuid::from_u128(at)));
    let admissions: Vec<_> = others.map(|other| world.app.intake.admit(other, most).unwrap()).collect();
    // The message is not even parsed.
    let reply = merchant.publishes_text("{").await;
    assert_eq!((reply.status.as_u16(), reply.header("retry-after")), (429, "1"));
    assert!(reply.body["message"].as_str().unwrap().contains("exponential backoff"), "{}", reply.text);
    assert_eq!(world.admin("/readyz").await.0, 200, "health is exempt");
    assert_eq!(merchant.looks_up("1").await.status, 404, "and so is everything else");
    drop(admissions);
    assert_eq!(merchant.publishes(&message([order("1")])).await.results(), ["created"]);
}
