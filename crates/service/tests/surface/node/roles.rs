//! The service as a role that owns nothing, and a database that was restored.

use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{ErasureTarget, erase_shopper};
use backhaul::flow::merchants::verify_audit::verify_audit;
use backhaul::heartbeat;
use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection};
use store::merchants::audit_chain::Chain;

use crate::binary::{backhaul, command, err, out};
use crate::messages::events;
use crate::world::{World, message, refund_for, refunded, sold};

/// The role of the service, shared by the tests of a server.
const ROLE: &str = "backhaul_app_of_a_test";

/// Creates the role of the service.
async fn create_role(connection: &mut PgConnection) {
    let create = format!(
        "do $$ begin create role {ROLE} login password 'app'; exception when duplicate_object or unique_violation then null; end $$"
    );
    sqlx::raw_sql(AssertSqlSafe(create)).execute(connection).await.unwrap();
}

#[tokio::test]
async fn the_service_works_as_a_role_that_can_neither_alter_nor_drop_anything() {
    let owner = World::of_one_cell().await;
    create_role(&mut owner.database.connect().await).await;
    let granted = out(&backhaul(&owner.database, &["migrate", "--grant-to", ROLE]));
    assert!(granted.contains(&format!("The role {ROLE} can run the service")), "{granted}");
    let world = owner.node_as(ROLE, "app").await;

    // Orders, returns, labels, deliveries, the feed.
    let mut carried = world.shop_with_a_carrier("acme").await;
    carried.shop.merchant.sells("A-1", 1).await;
    let rma = carried.shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    carried.shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(&rma, "F1", 1)])])).await;
    assert_eq!(carried.receives_events().await, ["refunded"]);
    assert_eq!(carried.shop.merchant.follows(events::beginning(), 3, 10).await.0.len(), 3);
    let erased = erase_shopper(&world.app, "test", carried.shop.merchant.id, &ErasureTarget::Order("A-1".to_owned())).await.unwrap();
    assert_eq!(erased.returns, 1);
    // What comes with time: limits, heartbeats, partitions, retention.
    heartbeat::beat(&world.app, 2).await.unwrap();
    world.time_passes(Duration::from_hours(24 * 60));
    world.app.maintain_partitions().await.unwrap();
    assert_eq!(world.database.count("message").await, 0, "the weeks are gone, and new ones are there");
    world.timers_run().await;
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    carried.shop.merchant.publishes(&message([sold("A-2", 1)])).await;
    let status = command(&world.database).env("DATABASE_URL", world.app.settings.database.url()).arg("doctor").output().unwrap();
    assert!(String::from_utf8_lossy(&status.stdout).contains("up to date"), "{status:?}");

    let mut connection = world.database.options_as(ROLE, "app").connect().await.unwrap();
    for forbidden in [
        "drop table customer_order",
        "alter table merchant add column more text",
        "alter table message detach partition message_20260302",
        "drop index customer_order_by_change",
        "create table mine (number integer)",
        "drop function drop_partitions(timestamptz)",
        "alter function forget_audit(uuid, uuid[]) owner to current_user",
        "truncate customer_order",
        "delete from audit",
        "update audit set actor = 'somebody else'",
        "truncate audit",
        "delete from home_audit",
        "update home_audit set actor = 'somebody else'",
        "insert into audit_head (merchant_id, sequence, hash, anchor_sequence, anchor_hash) values (gen_random_uuid(), 1, '', 0, '')",
        "update audit_head set hash = ''",
        "delete from audit_head",
        "update home_audit_head set anchor_sequence = sequence",
        "delete from installation",
        "delete from _sqlx_migrations",
        "alter table installation disable trigger all",
    ] {
        let refused = sqlx::raw_sql(forbidden).execute(&mut connection).await.expect_err(forbidden).into_database_error().unwrap();
        assert_eq!(refused.code().as_deref(), Some("42501"), "{forbidden}: {refused}");
    }
    // The functions that it may call keep their own limits.
    let audited = world.database.count("audit").await;
    let asked = "select forget_audit(merchant_id, array[audit_id]) from audit; select drop_partitions('infinity')";
    sqlx::raw_sql(asked).execute(&mut connection).await.unwrap();
    assert!(audited > 0);
    assert_eq!(world.database.count("audit").await, audited);
    // Whatever an insert claims about the chain, the database links the entry itself.
    let forged = "insert into audit (merchant_id, audit_id, actor, action, detail, done_at, sequence, previous_hash, hash)
        select merchant_id, gen_random_uuid(), 'forger', 'x', 'y', now(), 1, '', '' from merchant";
    sqlx::raw_sql(forged).execute(&mut connection).await.unwrap();
    let verified = verify_audit(&world.app, Chain::Of(carried.shop.merchant.id)).await.unwrap();
    assert_eq!((verified.broken, verified.entries), (None, world.database.count("audit").await));
}

#[tokio::test]
async fn rights_are_granted_only_to_a_role_that_they_bound() {
    let world = World::new().await;
    let refused = err(&backhaul(&world.database, &["migrate", "--grant-to", "nobody_at_all"]));
    assert!(refused.contains("there is no role \"nobody_at_all\"; create it first"), "{refused}");
    let owner = world.database.texts("select tableowner::text from pg_tables where tablename = 'audit'").await.remove(0);
    let refused = err(&backhaul(&world.database, &["migrate", "--grant-to", &owner]));
    assert!(refused.contains("so nothing would be refused to it"), "{refused}");
}

#[tokio::test]
async fn one_command_prepares_a_restored_database() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    let deliverer = backhaul::worker::start(&world.app);
    deliverer.deliver_all_due().await;
    let engineer = receiver.engineer().await;
    let (_, cursor) = engineer.follows(events::beginning(), 1, 10).await;
    let restored = || backhaul(&world.database, &["restored", "-o", "json"]);
    assert!(err(&restored()).contains("the service is running on this database"));
    deliverer.leave().await;

    // The leases are those of the moment of the backup.
    let mut connection = world.database.connect().await;
    let leased = "update delivery_bucket set owner = '00000000-0000-7000-8000-000000000001', leased_until = now() + interval '1 hour'";
    sqlx::raw_sql(leased).execute(&mut connection).await.unwrap();
    let shown: Value = serde_json::from_str(&out(&restored())).unwrap();
    assert_eq!((shown["feed_epoch"].as_i64(), shown["owed_messages"].as_i64()), (Some(1), Some(0)), "{shown}");
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-2 1"], "nobody waits for leases that were restored");
    let (read, _) = engineer.follows(cursor, 1, 10).await;
    assert_eq!(read[0]["body"]["rma_identifier"], "R-2", "a reader goes on where it was");
    assert_eq!(world.database.texts("select feed_epoch::text from message order by subject").await, ["0", "1"]);
}
