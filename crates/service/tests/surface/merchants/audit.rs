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
    // The database deletes nothing that is younger by its own clock, whatever a node says.
    world.time_passes(Duration::from_hours((7 * 365 + 2) * 24));
    forget_audit(&world.app).await.unwrap();
    assert_eq!(world.database.count("audit").await, written);
    let mut connection = world.database.connect().await;
    for (age, kept) in [("interval '7 years' - interval '1 hour'", written), ("interval '7 years' + interval '1 hour'", 0)] {
        let aged = format!("update audit set done_at = now() - ({age})");
        sqlx::raw_sql(sqlx::AssertSqlSafe(aged)).execute(&mut connection).await.unwrap();
        assert!(!forget_audit(&world.app).await.unwrap(), "one batch was enough");
        assert_eq!(world.database.count("audit").await, kept, "after {age}");
    }
}
