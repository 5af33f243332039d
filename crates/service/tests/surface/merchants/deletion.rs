//! Deleting a whole merchant: with a preview, from one node to the next, without a trace of shoppers, and without touching others.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::{ConfigureError, pause_merchant, resume_merchant};
use backhaul::flow::merchants::delete_merchant::{DeleteMerchantError, begin_deleting_merchant, delete_merchants};
use domain::id::Handle;
use serde_json::Value;
use sqlx::Connection as _;
use store::merchants::accounts;
use store::merchants::deletions::{self, EMPTIED};

use super::erasing::{infested, infested_tables};
use crate::binary::{backhaul, err, out};
use crate::world::carrier::Carried;
use crate::world::{World, message, plain_refund, refunded, sold};

/// The merchant as the operator finds it.
async fn account(world: &World) -> accounts::Merchant {
    accounts::find(world.app.cell(), &"acme".parse::<Handle>().unwrap()).await.unwrap().unwrap()
}

/// The tables with rows of the merchant with this handle, or without one of merchants that are gone, and their numbers.
async fn rows(world: &World, handle: Option<&str>) -> Vec<(String, i64)> {
    let mut connection = world.database.connect().await;
    let tables = "select columns.table_name::text from information_schema.columns as columns \
        join pg_class on pg_class.oid = to_regclass(columns.table_name) and not pg_class.relispartition \
        where columns.table_schema = current_schema() and columns.column_name = 'merchant_id' order by 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let whose = handle.map_or("not in (select merchant_id from merchant)".to_owned(), |handle| {
        format!("in (select merchant_id from merchant where handle = '{handle}')")
    });
    let mut found = Vec::new();
    for table in tables {
        let count = format!("select count(*) from {table} where merchant_id is not null and merchant_id {whose}");
        let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&mut connection).await.unwrap();
        found.extend((count > 0).then_some((table, count)));
    }
    found
}

/// A merchant with 2,500 orders, a return, a label, refunds and messages.
async fn busy<'w>(world: &'w World, handle: &str, canary: bool) -> Carried<'w> {
    let carried = world.shop_with_a_carrier(handle).await;
    let merchant = &carried.shop.merchant;
    let order = |number: u32| if canary { infested(&format!("A-{number}"), 1) } else { sold(&format!("A-{number}"), 1) };
    merchant.publishes(&message([refunded(order(1), [plain_refund("F-1", 1)]), order(2)])).await;
    if canary {
        let many: Vec<_> = (3..=2_500).map(order).collect();
        assert_eq!(merchant.imports(&many).await.status, 200);
    }
    merchant.starts_a_return("A-2", 1).await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    carried
}

#[tokio::test]
async fn a_merchant_is_deleted_wholly_from_one_node_to_the_next_and_no_other_is_touched() {
    let world = World::new().await;
    let _acme = busy(&world, "acme", true).await;
    let _other = busy(&world, "other", false).await;
    assert!(rows(&world, Some("acme")).await.len() > 15, "{:?}", rows(&world, Some("acme")).await);
    pause_merchant(&world.app, "test", &account(&world).await).await.unwrap();
    world.time_passes(Duration::from_mins(10));
    begin_deleting_merchant(&world.app, "test", &account(&world).await).await.unwrap();
    let others = rows(&world, Some("other")).await;
    assert!(!delete_merchants(&world.app).await.unwrap(), "calls under way end first");
    assert_eq!(deletions::count(world.app.cell(), account(&world).await.id).await.unwrap().orders, 2_500);
    world.time_passes(Duration::from_mins(5));

    // A node that ends in the middle.
    let mut blocker = world.database.connect_beside_the_service().await;
    let mut holds_up = blocker.begin().await.unwrap();
    sqlx::query("lock table rma").execute(&mut *holds_up).await.unwrap();
    let app = world.app.clone();
    let ends = tokio::spawn(async move { delete_merchants(&app).await });
    world.database.becomes("select count(*)::text from customer_order where identifier > 'A-2'", &["0"]).await;
    ends.abort();
    holds_up.rollback().await.unwrap();
    assert!(ends.await.unwrap_err().is_cancelled());
    assert!(rows(&world, Some("acme")).await.iter().any(|(table, _)| table == "rma"), "the rest is still there");

    let node = world.second_node().await;
    while delete_merchants(&node.app).await.unwrap() {}
    let left: Vec<String> = rows(&world, None).await.into_iter().map(|(table, _)| table).collect();
    assert_eq!(left, ["audit", "audit_head"], "who did what is kept for 7 years");
    assert_eq!(infested_tables(&world).await, Vec::<String>::new());
    assert_eq!(rows(&world, Some("other")).await, others);
    assert_eq!(world.database.texts("select handle from merchant order by handle").await, ["other"]);
    let audited = "select actor || ' ' || action || ' ' || detail from audit where action like 'merchant.delet%' order by audit_id";
    assert_eq!(world.database.texts(audited).await, ["test merchant.deletion_begun acme", "timer merchant.deleted acme"]);
    // Its chain is verified with the others, though nothing else knows it any more.
    let id = world.database.texts("select merchant_id::text from audit where action = 'merchant.deleted'").await.remove(0);
    let chains: Value = serde_json::from_str(&out(&backhaul(&world.database, &["audit", "verify", "-o", "json"]))).unwrap();
    let chain = chains["items"].as_array().unwrap().iter().find(|chain| chain["deleted_merchant_id"] == id.as_str()).unwrap();
    assert_eq!((&chain["result"], &chain["merchant"]), (&"whole".into(), &Value::Null));
    assert!(!delete_merchants(&node.app).await.unwrap(), "there is nothing left to do");
}

#[tokio::test]
async fn a_merchant_is_deleted_only_if_it_has_been_paused_for_ten_minutes() {
    let world = World::new().await;
    world.merchant("acme").await;
    let begins = async || begin_deleting_merchant(&world.app, "test", &account(&world).await).await;
    assert!(matches!(begins().await, Err(DeleteMerchantError::NotPaused(_))));
    pause_merchant(&world.app, "test", &account(&world).await).await.unwrap();
    world.time_passes(Duration::from_mins(9));
    assert!(matches!(begins().await, Err(DeleteMerchantError::TooEarly(_))));
    world.time_passes(Duration::from_mins(1));
    begins().await.unwrap();
    assert!(matches!(begins().await, Err(DeleteMerchantError::Deleting(_))));
    let resumed = resume_merchant(&world.app, "test", &account(&world).await).await;
    assert!(matches!(resumed, Err(ConfigureError::Deleting(_))), "there is no way back");
}

#[tokio::test]
async fn the_command_shows_what_there_is_and_deletes_nothing_unless_it_is_confirmed() {
    let world = World::new().await;
    let acme = world.merchant("acme").await;
    acme.publishes(&message([sold("A-1", 1)])).await;
    let delete = ["merchant", "delete", "acme"];
    assert!(err(&backhaul(&world.database, &delete)).contains("backhaul merchant pause acme"));
    let ago = "update merchant set paused_at = now() - interval '1 hour'";
    sqlx::query(ago).execute(&mut world.database.connect().await).await.unwrap();
    let refused = err(&backhaul(&world.database, &delete));
    assert!(refused.contains("--yes") && refused.contains(": 1 order, 0 returns, "), "{refused}");
    assert_eq!(account(&world).await.state(), "paused");
    let deleting = out(&backhaul(&world.database, &["merchant", "delete", "acme", "--yes", "-o", "json"]));
    assert!(deleting.contains(r#""orders": 1"#) && deleting.contains(r#""state": "deleting""#), "{deleting}");
    assert!(out(&backhaul(&world.database, &delete)).contains("deleting"), "again, it shows what is left");
}

#[tokio::test]
async fn every_table_with_rows_of_a_merchant_is_emptied() {
    let world = World::new().await;
    let of_merchants = "select columns.table_name::text from information_schema.columns as columns \
        join pg_class on pg_class.oid = to_regclass(columns.table_name) and not pg_class.relispartition \
        where columns.table_schema = current_schema() and columns.column_name = 'merchant_id' \
            and columns.table_name not in ('merchant', 'audit', 'audit_head') order by 1";
    let mut emptied = EMPTIED.to_vec();
    emptied.sort_unstable();
    assert_eq!(world.database.texts(of_merchants).await, emptied);
}
