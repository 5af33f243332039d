//! The audit trail.

use std::time::Duration;

use backhaul::flow::merchants::forget_audit::forget_audit;

use crate::world::World;

#[tokio::test]
async fn the_audit_trail_is_kept_for_7_years() {
    let world = World::new().await;
    for handle in ["acme", "bolt"] {
        world.merchant(handle).await;
    }
    let written = world.database.count("audit").await;
    assert!(written >= 4, "each merchant was added and got a credential");
    // Two of the seven years have a leap day.
    for (hours, kept) in [((7 * 365 + 2) * 24 - 1, written), (1, 0)] {
        world.time_passes(Duration::from_hours(hours));
        assert!(!forget_audit(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("audit").await, kept, "after {hours} more hours");
    }
}
