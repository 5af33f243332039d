//! Refused messages and import reports are deleted after a while.

use std::time::Duration;

use backhaul::flow::orders::forget_outdated::forget_outdated;
use chrono::TimeDelta;

use crate::world::{World, message, order};

#[tokio::test]
async fn refused_messages_and_import_reports_are_deleted_after_90_days() {
    let world = World::new().await;
    for handle in ["acme", "bolt"] {
        let merchant = world.merchant(handle).await;
        let mut wrong = order("1");
        wrong["currency"] = "dollars".into();
        assert_eq!(merchant.publishes(&message([wrong.clone()])).await.status, 422);
        assert_eq!(merchant.imports(&[order("2"), wrong]).await.body["refused"], 1);
    }
    for (hours, kept) in [(0, 2), (90 * 24 - 1, 2), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_outdated(&world.app).await.unwrap(), "one batch was enough");
        for table in ["intake_refusal", "order_import", "order_import_refusal"] {
            assert_eq!(world.database.count(table).await, kept, "{table} after {hours} more hours");
        }
    }
    assert_eq!(world.database.count("customer_order").await, 2, "the orders stay");
}

#[tokio::test]
async fn an_import_whose_process_was_killed_is_deleted_after_90_days_too() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.imports(&[order("1")]).await;
    let killed = sqlx::query("update order_import set state = 'running', owner = import_id, leased_until = $1");
    killed.bind(world.app.now() + TimeDelta::minutes(1)).execute(&mut world.database.connect().await).await.unwrap();
    for (hours, kept) in [(90 * 24 - 1, 1), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        forget_outdated(&world.app).await.unwrap();
        assert_eq!(world.database.count("order_import").await, kept, "after {hours} more hours");
    }
}
