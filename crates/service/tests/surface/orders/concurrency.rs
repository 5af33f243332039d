//! Many writers with shuffled and repeated snapshots: the newest of each order is stored, and each refund counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use sqlx::Row as _;

use crate::world::{World, line, message, order};

const WRITERS: usize = 32;
const ORDERS: usize = 2_000;
const SNAPSHOTS: usize = 20_000;

/// Version `version` of order `number`: each version adds a refund of one unit.
fn version(number: usize, version: usize) -> Value {
    let mut order = order(&format!("O-{number}"));
    order["updated_at"] = format!("2026-02-{:02}T00:00:00Z", version + 1).into();
    order["raw_status"] = format!("v{version}").into();
    order["items"] = json!([line("L1", 20)]);
    let refunds = (1..=version).map(|refund| {
        json!({
            "identifier": format!("F-{number}-{refund}"),
            "total_refund_amount_cents": 5_400,
            "refund_line_items": [{ "identifier": format!("F-{number}-{refund}-1"), "quantity": 1, "order_item_identifier": "L1" }],
            "created_at": "2026-02-01T00:00:00Z",
        })
    });
    // A snapshot carries only its latest refund, so that stale snapshots bring refunds that later ones lack.
    order["refunds"] = refunds.skip(version.saturating_sub(1)).collect();
    order
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_two_writers_leave_the_newest_snapshot_and_each_refund_once() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut rng = StdRng::seed_from_u64(7);
    // Every order has versions 0 to 4; each is sent about twice, all shuffled together.
    let mut heap: Vec<(usize, usize)> = (0..SNAPSHOTS).map(|at| (at % ORDERS, (at / ORDERS) % 5)).collect();
    heap.shuffle(&mut rng);
    let mut newest: BTreeMap<String, usize> = BTreeMap::new();
    let mut refunds: BTreeSet<String> = BTreeSet::new();
    for (number, version) in &heap {
        let newest = newest.entry(format!("O-{number}")).or_default();
        *newest = (*newest).max(*version);
        if *version > 0 {
            refunds.insert(format!("F-{number}-{version}"));
        }
    }

    // A writer sends some of its share one by one and some in messages of several orders.
    let shares: Vec<Vec<Vec<(usize, usize)>>> = heap
        .chunks(SNAPSHOTS.div_ceil(WRITERS))
        .map(|share| {
            let mut messages = Vec::new();
            let mut rest = share;
            while !rest.is_empty() {
                let (message, left) = rest.split_at(rng.random_range(1..=20).min(rest.len()));
                messages.push(message.to_vec());
                rest = left;
            }
            messages
        })
        .collect();
    assert_eq!(shares.len(), WRITERS);
    let client = world.client.clone();
    let target = Arc::new((format!("{}/returns_portal_orders", world.base), merchant.token.clone()));
    let writers = shares.into_iter().map(|share| {
        let (client, target) = (client.clone(), target.clone());
        tokio::spawn(async move {
            for snapshots in share {
                let body = message(snapshots.iter().map(|(number, snapshot)| version(*number, *snapshot)));
                let reply = client.post(&target.0).bearer_auth(&target.1).json(&body).send().await.unwrap();
                let (status, text) = (reply.status(), reply.text().await.unwrap());
                assert_eq!(status, 200, "{text}");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }

    let mut connection = world.database.connect().await;
    let rows = sqlx::query("select identifier, snapshot, updated_at::date::text as day, revision from customer_order order by 1")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!(rows.len(), ORDERS);
    for row in rows {
        let identifier: String = row.get("identifier");
        let stored: Value = serde_json::from_str(row.get("snapshot")).unwrap();
        let wanted = newest[&identifier];
        assert_eq!(stored["raw_status"], format!("v{wanted}"), "{identifier}");
        assert_eq!(row.get::<String, _>("day"), format!("2026-02-{:02}", wanted + 1));
        assert!(row.get::<i64, _>("revision") <= 5, "no snapshot is taken twice");
    }
    let recorded: Vec<String> = sqlx::query_scalar("select identifier from refund order by 1").fetch_all(&mut connection).await.unwrap();
    let mut expected: Vec<String> = refunds.into_iter().collect();
    expected.sort();
    assert_eq!(recorded, expected);
    let lines: i64 = sqlx::query_scalar("select count(*) from refund_line").fetch_one(&mut connection).await.unwrap();
    assert_eq!(usize::try_from(lines).unwrap(), expected.len());
    assert_eq!(world.metric("backhaul_refunds_recorded_total").await, expected.len() as u64, "each refund had one effect");
    let counted: u64 = {
        let mut sum = 0;
        for result in ["created", "updated", "unchanged", "stale"] {
            sum += world.metric(&format!(r#"backhaul_orders_total{{result="{result}"}}"#)).await;
        }
        sum
    };
    assert_eq!(counted, SNAPSHOTS as u64);
}

#[tokio::test]
async fn the_upsert_and_the_rule_judge_alike() {
    use domain::orders::snapshot::{Verdict, Version, judge};

    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut rng = StdRng::seed_from_u64(11);
    let mut stored: Option<Version> = None;
    for step in 0..300 {
        let mut sent = order("1");
        sent["updated_at"] = format!("2026-02-{:02}T00:00:00Z", rng.random_range(1..=3)).into();
        sent["raw_status"] = rng.random_range(0..4).to_string().into();
        let text = sent.to_string();
        let arriving = {
            let body = format!(r#"{{"returns_portal_order":{{"orders":[{text}]}}}}"#);
            wire::orders::order::read(body.as_bytes()).unwrap_or_else(|_| panic!("valid")).orders[0].version()
        };
        let verdict = judge(stored.as_ref(), &arriving);
        if matches!(verdict, Verdict::Created | Verdict::Updated) {
            stored = Some(arriving);
        }
        let reply = merchant.publishes_text(format!(r#"{{"returns_portal_order":{{"orders":[{text}]}}}}"#)).await;
        assert_eq!(reply.results(), [format!("{verdict:?}").to_lowercase()], "step {step}");
    }
}
