//! Refused messages and import reports are deleted after a while.

use std::time::Duration;

use backhaul::flow::orders::forget_outdated::forget_outdated;

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
