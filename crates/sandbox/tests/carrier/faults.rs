//! The carrier's faults, and the changes it keeps in spite of them.

use std::time::{Duration, Instant};

use sandbox::carrier::{Failure, Faults, Operation, Outage};
use serde_json::json;

use crate::caller::{LONG, World, error, read, shipment};

/// Buys a label with this timeout.
async fn buy_within(timeout: Duration, world: &World, reference: &str) -> Result<u16, reqwest::Error> {
    let shipment = read(world.get(&format!("v2/shipments/{reference}"))).await.1;
    let body = json!({"rate": {"id": shipment["rates"][0]["id"]}});
    let call = world.post(&format!("v2/shipments/{reference}/buy"), &body).timeout(timeout);
    call.send().await.map(|answer| answer.status().as_u16())
}

async fn buy(world: &World, reference: &str) -> Result<u16, reqwest::Error> {
    buy_within(LONG, world, reference).await
}

#[tokio::test]
async fn an_error_before_the_deed_leaves_nothing_behind() {
    let world = World::new().await;
    world.ship("RMA-1").await;
    world.carrier.fails_next(Operation::Buy, [Failure::ErrorBefore]);
    assert_eq!(buy(&world, "RMA-1").await.unwrap(), 500);
    assert_eq!(world.carrier.bought("RMA-1"), 0);
    assert_eq!(buy(&world, "RMA-1").await.unwrap(), 200, "the next call is a good one");
}

#[tokio::test]
async fn after_the_deed_the_label_is_there_whatever_the_caller_saw() {
    let world = World::new().await;
    let failures = [("RMA-1", Failure::ErrorAfter), ("RMA-2", Failure::ResetAfter), ("RMA-3", Failure::TooSlow)];
    for (count, (reference, failure)) in failures.into_iter().enumerate() {
        world.ship(reference).await;
        world.carrier.fails_next(Operation::Buy, [failure]);
        let patience = if failure == Failure::TooSlow { Duration::from_millis(100) } else { LONG };
        let seen = buy_within(patience, &world, reference).await;
        match failure {
            Failure::ErrorBefore | Failure::ErrorAfter => assert_eq!(seen.unwrap(), 500),
            Failure::ResetAfter => assert!(!seen.unwrap_err().is_timeout()),
            Failure::TooSlow => assert!(seen.unwrap_err().is_timeout()),
        }
        world.carrier.wait_for_labels(count + 1, LONG).await.unwrap();
        assert_eq!(world.carrier.bought(reference), 1, "{reference}");
        assert_eq!(buy(&world, reference).await.unwrap(), 422, "it is bought already");
        let found = read(world.get(&format!("v2/shipments/{reference}"))).await.1;
        assert!(found["tracking_code"].is_string());
    }
}

#[tokio::test]
async fn a_part_of_the_calls_fails_and_the_same_seed_fails_the_same() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let world = World::new().await;
        let ways = vec![Failure::ErrorBefore, Failure::ErrorAfter, Failure::ResetAfter];
        world.carrier.faults(Faults { fails: 0.5, ways, seed: 11, ..Faults::default() }).await.unwrap();
        let mut seen = Vec::new();
        for number in 0..40 {
            let call = world.post("v2/shipments", &shipment(&format!("RMA-{number}"), "Ada"));
            seen.push(call.send().await.map_or(0, |answer| answer.status().as_u16()));
        }
        let failed = seen.iter().filter(|status| **status != 201).count();
        assert!((10..=30).contains(&failed), "{seen:?}");
        let made = world.carrier.shipments().len();
        assert!(made > 40 - failed && made < 40, "some failed before the deed, and some after it");
        runs.push(seen);
    }
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn a_slow_carrier_answers_late() {
    let world = World::new().await;
    let delay = Duration::from_millis(30);
    world.carrier.faults(Faults { delay, ..Faults::default() }).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "what passes for the caller is measured")]
    let begun = Instant::now();
    world.ship("RMA-1").await;
    assert!(begun.elapsed() >= delay);
}

#[tokio::test]
async fn a_carrier_that_is_unavailable_says_so_and_comes_back_as_it_was() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    world.carrier.faults(Faults { outage: Some(Outage::Unavailable), ..Faults::default() }).await.unwrap();
    assert_eq!(error(world.get("v2/shipments/RMA-1")).await, (503, "SERVICE_UNAVAILABLE".to_owned()));
    assert_eq!(error(world.client.get(world.url("v2/shipments/RMA-1"))).await.0, 503);
    world.carrier.faults(Faults::default()).await.unwrap();
    assert_eq!(read(world.get("v2/shipments/RMA-1")).await, (200, made));
}

#[tokio::test]
async fn a_carrier_that_is_gone_refuses_connections_and_comes_back_as_it_was() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    let gone = Faults { outage: Some(Outage::Refuses), ..Faults::default() };
    for _ in 0..3 {
        world.carrier.faults(gone.clone()).await.unwrap();
        world.carrier.faults(gone.clone()).await.unwrap();
        assert!(world.get("v2/shipments/RMA-1").send().await.unwrap_err().is_connect());
        world.carrier.faults(Faults::default()).await.unwrap();
        assert_eq!(read(world.get("v2/shipments/RMA-1")).await, (200, made.clone()));
    }
}

#[tokio::test]
async fn faults_are_for_callers_and_not_for_people_behind_the_scene() {
    let world = World::new().await;
    let code = world.parcel_of("Ada").await;
    world.carrier.faults(Faults { fails: 1.0, ways: vec![Failure::ErrorBefore], ..Faults::default() }).await.unwrap();
    assert_eq!(error(world.post("v2/shipments", &shipment("RMA-1", "Ada"))).await.0, 500);
    let id = world.carrier.shipments()[0].id.clone();
    assert_eq!(error(world.client.get(world.url(&format!("labels/{id}.pdf")))).await.0, 500);
    let scan = json!({"tracking_code": code, "status": "in_transit"});
    assert_eq!(read(world.client.post(world.url("sim/scan")).json(&scan)).await.0, 200);
    assert_eq!(error(world.client.get(world.url("v2/shipments/1"))).await.0, 401, "a wrong key is no fault");
}
