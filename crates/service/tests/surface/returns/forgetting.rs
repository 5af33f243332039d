//! Carriers' reports are deleted after a while.

use std::time::Duration;

use backhaul::flow::returns::forget_outdated::forget_outdated;
use domain::returns::work::WorkKind;
use serde_json::json;
use store::returns::work_items::{self, WorkItem};

use crate::world::World;
use crate::world::carrier::tracker_event;

#[tokio::test]
async fn a_report_that_no_label_came_for_is_forgotten_after_90_days() {
    let world = World::new().await;
    let mut connection = world.database.connect().await;
    for handle in ["acme", "bolt"] {
        let merchant = world.merchant(handle).await;
        let scan = json!({ "event": "in_transit", "tracking_number": "T-1", "occurred_at": "2026-03-01T12:00:00Z" });
        assert_eq!(merchant.carrier_reports(&scan).await.status, 202);
    }
    for (hours, kept) in [(0, 4_i64), (90 * 24 - 1, 4), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap(), "one batch was enough");
        let rows: i64 = sqlx::query_scalar("select (select count(*) from carrier_event) + (select count(*) from parcel)")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(rows, kept, "after {hours} more hours");
    }
}

#[tokio::test]
async fn an_event_of_a_webhook_is_remembered_as_long_as_it_could_be_sent_again() {
    let world = World::new().await;
    for handle in ["acme", "bolt"] {
        let carried = world.shop_with_a_carrier(handle).await;
        let (_, number) = carried.has_a_label("A-1").await;
        assert_eq!(carried.carrier_sends(&tracker_event("evt_1", &number, "in_transit")).await.body["result"], "moved");
    }
    for (hours, kept) in [(0, 2), (30 * 24, 2), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("carrier_webhook").await, kept, "after {hours} more hours");
    }
}

#[tokio::test]
async fn a_closed_case_of_the_work_list_is_forgotten_after_30_days() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let now = world.app.now();
    let mut tx = world.app.begin(merchant.id).await.unwrap();
    for subject in ["R-OPEN", "R-CLOSED"] {
        let (id, reason) = (world.app.mint(), "the address does not exist".to_owned());
        let item = WorkItem { id, kind: WorkKind::LabelRefused, subject: subject.to_owned(), reason, opened_at: now };
        work_items::open(&mut tx, &item).await.unwrap();
        work_items::open(&mut tx, &WorkItem { id: world.app.mint(), ..item }).await.unwrap();
    }
    assert!(work_items::close(&mut tx, WorkKind::LabelRefused, "R-CLOSED", now).await.unwrap());
    assert!(!work_items::close(&mut tx, WorkKind::LabelRefused, "R-CLOSED", now).await.unwrap(), "it is closed already");
    world.app.commit(tx).await.unwrap();
    for (hours, kept) in [(30 * 24, 2), (1, 1)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("work_item").await, kept, "after {hours} more hours");
    }
    let open = work_items::list(world.app.store(merchant.id), merchant.id, None, 10).await.unwrap();
    assert_eq!(open.iter().map(|item| item.subject.as_str()).collect::<Vec<_>>(), ["R-OPEN"]);
}
