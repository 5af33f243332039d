//! Carrier events for unknown parcels are not kept for ever.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    dead_code,
    reason = "a test unwraps freely and talks to the database directly"
)]

mod cluster;
mod database;
mod place;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use store::returns::carrier_events::{self, KEPT_FOR, WaitingEvent, WaitsFor};
use store::returns::parcels;
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::place::Place;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Saves a scan of the parcel `number` that was received `age` ago.
async fn scanned(store: &Store, merchant: u128, id: u128, number: &str, age: TimeDelta) {
    let mut tx = store.begin(MerchantId(Uuid::from_u128(merchant))).await.unwrap();
    assert_eq!(parcels::expect(&mut tx, number).await.unwrap(), None);
    let event = WaitingEvent { event: "in_transit".to_owned(), occurred_at: now() - age, handed_over: None };
    carrier_events::keep(&mut tx, Uuid::from_u128(id), WaitsFor::Tracking(number), &event, now() - age).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn events_that_no_label_came_for_are_forgotten_after_90_days() {
    let place = Place::create("carrier_events").await;
    let patience = Duration::from_secs(10);
    let limits = PoolLimits {
        sizes: PoolSizes { flows: 2, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
        acquire: patience,
        statement: patience,
        lock: patience,
        console: 0,
    };
    let store = place.store(limits);
    assert_eq!(KEPT_FOR, TimeDelta::days(90));
    let second = TimeDelta::seconds(1);
    scanned(&store, 1, 11, "T-1", KEPT_FOR + second).await;
    scanned(&store, 2, 12, "T-1", KEPT_FOR).await;
    scanned(&store, 1, 13, "T-2", KEPT_FOR - second).await;

    let found = |rows: Vec<(MerchantId, Uuid)>| -> Vec<u128> { rows.iter().map(|(_, event)| event.as_u128()).collect() };
    assert_eq!(found(carrier_events::list_outdated(&store, now(), 1).await.unwrap()), [11], "a limited number at a time, oldest first");
    assert_eq!(found(carrier_events::list_outdated(&store, now(), 9).await.unwrap()), [11, 12], "not the one whose label may still arrive");

    let mut tx = store.begin(MerchantId(Uuid::from_u128(1))).await.unwrap();
    carrier_events::forget(&mut tx, &[Uuid::from_u128(11), Uuid::from_u128(12)]).await.unwrap();
    tx.commit().await.unwrap();
    let mut beside = place.connect().await;
    let kept: Vec<String> = sqlx::query_scalar(
        "select 'event ' || waits_for from carrier_event union all select 'parcel ' || tracking_number from parcel order by 1",
    )
    .fetch_all(&mut beside)
    .await
    .unwrap();
    let expected = ["event tracking T-1", "event tracking T-2", "parcel T-1", "parcel T-2"];
    assert_eq!(kept, expected, "another merchant's event stays");
}

#[tokio::test]
async fn a_tracking_number_of_a_return_outlives_its_early_events() {
    let place = Place::create("carrier_parcels").await;
    let patience = Duration::from_secs(10);
    let limits = PoolLimits {
        sizes: PoolSizes { flows: 2, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
        acquire: patience,
        statement: patience,
        lock: patience,
        console: 0,
    };
    let store = place.store(limits);
    scanned(&store, 1, 11, "T-1", KEPT_FOR).await;
    let (merchant, rma) = (MerchantId(Uuid::from_u128(1)), Uuid::from_u128(99));
    let mut tx = store.begin(merchant).await.unwrap();
    assert!(parcels::claim(&mut tx, "T-1", rma, None).await.unwrap());
    carrier_events::forget(&mut tx, &[Uuid::from_u128(11)]).await.unwrap();
    assert_eq!(parcels::find(&mut tx, "T-1").await.unwrap(), Some(rma));
    assert!(carrier_events::take(&mut tx, "R-2222-2222", "T-1").await.unwrap().is_empty());
}
