//! Carriers' reports are deleted after a while.

use std::time::Duration;

use backhaul::flow::returns::forget_carrier_events::forget_carrier_events;
use serde_json::json;

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
        assert!(!forget_carrier_events(&world.app).await.unwrap(), "one batch was enough");
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
        assert!(!forget_carrier_events(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("carrier_webhook").await, kept, "after {hours} more hours");
    }
}
