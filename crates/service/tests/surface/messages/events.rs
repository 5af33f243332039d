//! The feed: every committed message exactly once for a reader that follows the cursor, numbered without a gap.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint, test_endpoint};
use domain::messages::feed::{Cursor, Position};
use domain::messages::message::{Interface, Kind};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::Method;
use serde_json::{Value, json};
use store::messages::outbox::Message;
use store::messages::partitions;

use crate::world::{Merchant, Reply, World};

impl Merchant<'_> {
    /// Requests a page of the feed; `query` is appended to the URL.
    pub async fn reads(&self, query: &str) -> Reply {
        self.calls(Method::GET, &format!("/v1/events{query}"), |request| request).await
    }

    /// Follows the feed from `cursor` until `count` events have come, at most `limit` per page.
    pub async fn follows(&self, mut cursor: String, count: usize, limit: usize) -> (Vec<Value>, String) {
        let mut events = Vec::new();
        let following = async {
            while events.len() < count {
                let page = self.reads(&format!("?cursor={cursor}&limit={limit}")).await;
                cursor = cursor_of(&page);
                events.extend(page.body["items"].as_array().unwrap().iter().cloned());
                // Whoever else writes may not have committed yet.
                tokio::time::sleep(Duration::from_millis(if page.body["next"].is_null() { 5 } else { 0 })).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), following).await.unwrap();
        (events, cursor)
    }
}

/// The cursor before the first message.
pub fn beginning() -> String {
    wire::messages::event::write_cursor(Cursor::At(Position::START))
}

fn cursor_of(page: &Reply) -> String {
    assert_eq!(page.status, 200, "{}", page.text);
    page.body["cursor"].as_str().unwrap().to_owned()
}

fn ids(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["id"].as_str().unwrap()).collect()
}

fn positions(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["position"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_message_is_in_the_feed_of_its_merchant_exactly_as_it_was_said() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let other = world.merchant("other").await;
    let id = world.app.mint();
    let body = r#"{"rma_identifier" : "R-1", "amount":1.50}"#;
    let (kind, subject, due_at) = (Kind::Of(Interface::Rma), "R-1".to_owned(), world.app.now());
    let mut tx = world.app.begin(merchant.id).await.unwrap();
    tx.owe(Message { id, kind, event: "rma.created", subject, sequence: 7, body: body.to_owned(), due_at });
    world.app.commit(tx).await.unwrap();
    world.owe(other.id, "R-9", 1).await;

    let (events, cursor) = merchant.follows(beginning(), 1, 100).await;
    let expected = json!({
        "id": id.to_string(), "position": 1, "event": "rma.created", "interface": "rma", "subject": "R-1", "sequence": 7,
        "created_at": "2026-03-01T12:00:00Z", "body": { "rma_identifier": "R-1", "amount": 1.5 },
    });
    assert_eq!(events, [expected]);
    let page = merchant.reads("").await;
    assert!(page.text.contains(body), "byte for byte: {}", page.text);
    assert_eq!(cursor_of(&page), cursor);
    let after = merchant.reads(&format!("?cursor={cursor}")).await;
    assert_eq!((&after.body["items"], &after.body["next"]), (&json!([]), &json!(null)));
    assert_eq!(cursor_of(&after), cursor, "at the end the cursor stays");
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap_and_leave_trials_and_other_interfaces_out() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let change = EndpointChange { url: Some("http://127.0.0.1:9/rmas".to_owned()), ..EndpointChange::default() };
    set_endpoint(&world.app, "test", merchant.id, Interface::Rma, change).await.unwrap();
    let mut written = Vec::new();
    for sequence in 1..=5 {
        written.push(world.owe(merchant.id, "R-1", sequence).await.to_string());
        test_endpoint(&world.app, "test", merchant.id, Interface::Rma).await.unwrap();
    }
    let (events, end) = merchant.follows(beginning(), 5, 2).await;
    assert_eq!((ids(&events), positions(&events)), (written.iter().map(String::as_str).collect(), vec![1, 2, 3, 4, 5]));
    let page = merchant.reads("?limit=1").await;
    assert_eq!((page.body["items"].as_array().unwrap().len(), page.body["next"] == page.body["cursor"]), (1, true));
    let none = merchant.reads("?interface=exchange_order").await;
    assert_eq!((&none.body["items"], &none.body["next"]), (&json!([]), &json!(null)));
    assert_eq!(merchant.reads("?interface=rma").await.body["items"].as_array().unwrap().len(), 5);

    let now = cursor_of(&merchant.reads("?from=now").await);
    let sixth = world.owe(merchant.id, "R-1", 6).await.to_string();
    for cursor in [now, end] {
        assert_eq!(ids(&merchant.follows(cursor, 1, 100).await.0), [sixth.as_str()]);
    }
    for wrong in ["?cursor=x", "?cursor=", "?limit=0", "?limit=101", "?limit=x", "?from=then", "?interface=rmas", "?from=now&cursor=x"] {
        let reply = merchant.reads(wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.body["message"].as_str().unwrap().starts_with("The query is invalid: "), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_message_that_commits_late_comes_late_and_holds_nobody_back() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut late = world.app.begin(merchant.id).await.unwrap();
    let first = world.write(&mut late, "R-1", 1).await.to_string();
    let second = world.owe(merchant.id, "R-2", 1).await.to_string();
    let page = merchant.reads("").await;
    assert_eq!(ids(page.body["items"].as_array().unwrap()), [second.as_str()], "it does not wait for the one that began before");
    late.commit().await.unwrap();
    let (events, _) = merchant.follows(cursor_of(&page), 1, 100).await;
    assert_eq!((ids(&events), &events[0]["position"]), (vec![first.as_str()], &json!(2)), "the order is that of the commits");

    let mut undone = world.app.begin(merchant.id).await.unwrap();
    world.write(&mut undone, "R-1", 2).await;
    undone.rollback().await.unwrap();
    let third = world.owe(merchant.id, "R-2", 2).await.to_string();
    let (events, _) = merchant.follows(beginning(), 3, 100).await;
    assert_eq!(ids(&events).last(), Some(&third.as_str()), "a message that was rolled back never appeared");
    assert_eq!(positions(&events), [1, 2, 3], "and left no gap");
}

/// The texts that a refusal begins with.
const RESTORED: &str = "The cursor names an event that this feed does not have: our database was restored to an earlier moment. ";
const REMOVED: &str = "Events after this cursor have been removed, because they are older than 30 days. ";

#[tokio::test]
async fn whoever_has_read_further_than_a_restored_database_is_told_and_can_start_again() {
    let world = World::new().await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("other").await);
    let kept = world.owe(merchant.id, "R-1", 1).await.to_string();
    world.owe(other.id, "R-9", 1).await;
    let (_, behind) = merchant.follows(beginning(), 1, 100).await;
    world.owe(merchant.id, "R-1", 2).await;
    world.owe(merchant.id, "R-1", 3).await;
    let (_, ahead) = merchant.follows(beginning(), 3, 100).await;
    let (_, others) = other.follows(beginning(), 1, 100).await;
    // As it was at the moment of the backup.
    let restored = "delete from message where position > 1;
        update feed_counter set last = 1, last_message = (select message_id from message where merchant_id = feed_counter.merchant_id)
        where last > 1";
    sqlx::raw_sql(restored).execute(&mut world.database.connect().await).await.unwrap();
    let refused = async |when: &str| {
        let page = merchant.reads(&format!("?cursor={ahead}")).await;
        let said = page.body["message"].as_str().unwrap();
        assert!(page.status == 409 && said.starts_with(RESTORED) && said.contains("from=beginning"), "{when}: {}", page.text);
        let path = format!("/v1/events/stream?cursor={ahead}");
        let stream = merchant.calls(Method::GET, &path, |request| request).await;
        assert_eq!((stream.status.as_u16(), &stream.body["message"]), (409, &page.body["message"]), "{when}");
    };
    refused("the position was never given").await;
    let written = [world.owe(merchant.id, "R-1", 2).await, world.owe(merchant.id, "R-1", 3).await].map(|id| id.to_string());
    refused("another event is at the position").await;
    world.owe(merchant.id, "R-1", 4).await;
    refused("further events follow it").await;

    assert_eq!(ids(&merchant.follows(behind, 3, 100).await.0)[..2], written, "whoever was behind goes on");
    let again = merchant.reads("?from=beginning").await;
    let again = again.body["items"].as_array().unwrap();
    assert_eq!((ids(again)[0], positions(again)), (kept.as_str(), vec![1, 2, 3, 4]));
    assert_eq!(other.reads(&format!("?cursor={others}")).await.body["items"], json!([]), "another merchant's feed is as it was");
}

#[tokio::test]
async fn whoever_comes_after_retention_is_told_and_can_go_on_with_what_is_kept() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let start = cursor_of(&merchant.reads("").await);
    world.owe(merchant.id, "R-1", 1).await;
    world.owe(merchant.id, "R-1", 2).await;
    let (_, behind) = merchant.follows(beginning(), 1, 1).await;
    let (_, quick) = merchant.follows(beginning(), 2, 100).await;
    let week_over = wire::time::read("2026-03-02T00:00:00Z").unwrap();
    assert_eq!(partitions::drop_before(world.app.cell(), week_over).await.unwrap(), Vec::<String>::new());
    for cursor in [&start, &behind] {
        for path in [format!("/v1/events?cursor={cursor}"), format!("/v1/events/stream?cursor={cursor}")] {
            let refused = merchant.calls(Method::GET, &path, |request| request).await;
            let said = refused.body["message"].as_str().unwrap();
            assert!(refused.status == 410 && said.starts_with(REMOVED) && said.contains("from=beginning"), "{}", refused.text);
        }
    }
    // Whoever had read everything, and whoever starts now, has missed nothing.
    let now = cursor_of(&merchant.reads("?from=now").await);
    let oldest = cursor_of(&merchant.reads("?from=beginning").await);
    // The week is gone, so the next message is of the week after.
    let id = uuid::Uuid::from_u128(world.app.mint().as_u128() + ((7 * 86_400_000) << 80));
    let (kind, subject, body, due_at) = (Kind::Of(Interface::Rma), "R-1".to_owned(), "{}".to_owned(), world.app.now());
    let mut tx = world.app.begin(merchant.id).await.unwrap();
    tx.owe(Message { id, kind, event: "rma.created", subject, sequence: 3, body, due_at });
    world.app.commit(tx).await.unwrap();
    for cursor in [quick, now, oldest] {
        let (events, _) = merchant.follows(cursor, 1, 100).await;
        assert_eq!((ids(&events), positions(&events)), (vec![id.to_string().as_str()], vec![3]));
    }
}

const WRITERS: u64 = 16;
const READERS: u64 = 5;
const TRANSACTIONS: usize = 12;

/// Writes messages about a subject of its own. Some transactions take long, and some are rolled back. Returns the ids that were
/// committed.
async fn writes(world: &World, merchant: &Merchant<'_>, number: u64) -> Vec<String> {
    let mut rng = StdRng::seed_from_u64(number);
    let (subject, mut sequence, mut committed) = (format!("R-{number}"), 0, Vec::new());
    for at in 0..TRANSACTIONS {
        let mut tx = world.app.begin(merchant.id).await.unwrap();
        let mut written = Vec::new();
        for _ in 0..rng.random_range(1..=4_i64) {
            let next = sequence + i64::try_from(written.len()).unwrap() + 1;
            written.push(world.write(&mut tx, &subject, next).await.to_string());
            // Slow transactions are the point of this test.
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..20))).await;
        }
        if number < 2 && at == 5 {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        if rng.random_range(0..5) == 0 {
            tx.rollback().await.unwrap();
        } else {
            tx.commit().await.unwrap();
            sequence += i64::try_from(written.len()).unwrap();
            committed.append(&mut written);
        }
    }
    committed
}

/// Starts reading after a random delay, from the beginning or from the current end, until everything has been read.
async fn reads_on(merchant: &Merchant<'_>, number: u64, done: &AtomicBool) -> (bool, Vec<String>) {
    let mut rng = StdRng::seed_from_u64(100 + number);
    tokio::time::sleep(Duration::from_millis(rng.random_range(0..800))).await;
    let whole = number.is_multiple_of(2);
    let mut cursor = if whole { beginning() } else { cursor_of(&merchant.reads("?from=now").await) };
    let mut seen = Vec::new();
    loop {
        // Read before the page, so that the page is complete if this is true.
        let complete = done.load(Ordering::SeqCst);
        let page = merchant.reads(&format!("?cursor={cursor}&limit={}", rng.random_range(1..=40))).await;
        cursor = cursor_of(&page);
        seen.extend(ids(page.body["items"].as_array().unwrap()).into_iter().map(str::to_owned));
        if page.body["next"].is_null() {
            if complete {
                return (whole, seen);
            }
            tokio::time::sleep(Duration::from_millis(rng.random_range(1..10))).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_readers_see_what_sixteen_writers_commit_exactly_once() {
    let many = [("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "1000000"), ("BACKHAUL__DATABASE__CONNECTIONS", "60")];
    let world = World::with(&many).await;
    let merchant = world.merchant("acme").await;
    let done = AtomicBool::new(false);
    let writing = async {
        let committed = futures::future::join_all((0..WRITERS).map(|number| writes(&world, &merchant, number))).await.concat();
        let (feed, _) = merchant.follows(beginning(), committed.len(), 100).await;
        done.store(true, Ordering::SeqCst);
        (committed, feed)
    };
    let reading = futures::future::join_all((0..READERS).map(|number| reads_on(&merchant, number, &done)));
    let ((committed, feed), readers) = tokio::join!(writing, reading);

    let order = ids(&feed);
    assert_eq!(positions(&feed), (1..=i64::try_from(feed.len()).unwrap()).collect::<Vec<_>>(), "without a gap");
    let distinct: BTreeSet<&str> = order.iter().copied().collect();
    assert_eq!(distinct.len(), order.len(), "nothing comes twice");
    assert_eq!(distinct, committed.iter().map(String::as_str).collect(), "everything that was committed, and nothing else");
    for (whole, seen) in &readers {
        assert!(order.ends_with(&seen.iter().map(String::as_str).collect::<Vec<_>>()), "a reader sees the same, from where it began");
        assert!(!whole || seen.len() == order.len());
    }
    let mut subjects: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for event in &feed {
        subjects.entry(event["subject"].as_str().unwrap()).or_default().push(event["sequence"].as_i64().unwrap());
    }
    for (subject, mut sequences) in subjects {
        // Messages of one transaction share a timestamp and have random ids, so only their sequences give the order.
        sequences.sort_unstable();
        assert_eq!(sequences, (1..=i64::try_from(sequences.len()).unwrap()).collect::<Vec<_>>(), "{subject}");
    }
}
