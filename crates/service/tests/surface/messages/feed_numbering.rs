//! Messages that have no position yet are numbered: those from before messages were numbered, and those that the version before writes
//! while it still runs.

use backhaul::flow::messages::number_messages::number_messages;
use domain::id::MerchantId;
use domain::messages::feed::{Cursor, FormerPosition};
use domain::node::mode::Mode;
use serde_json::{Value, json};
use sqlx::PgConnection;
use store::node::installation;
use uuid::Uuid;
use wire::messages::event::{read_cursor, write_cursor};

use super::events::beginning as start;
use crate::world::{Database, Reply, World, beginning};

/// The last migration of the version before.
const EARLIER: i64 = 122;

/// The messages of the version before, in 50 transactions whose order is not that of the ids, and two that are in no feed.
const FORMER: &str = "
    insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, internal)
    select $1, (left(first_id('2026-03-01T12:00:00Z')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, (60 - n / 50)::text::xid8, 0, 1,
        case n when 2500 then 'endpoint_test' else 'rma' end, 'rma.created', 'R-' || n, '{}', n = 2501
    from generate_series(0, 2501) as n";
const COUNT: u128 = 2_500;

/// Writes a message as the version before does.
async fn writes(connection: &mut PgConnection, merchant: MerchantId, id: Uuid) {
    let insert = "insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body)
        values ($1, $2, pg_current_xact_id(), 0, 1, 'rma', 'rma.created', 'R-1', '{}')";
    sqlx::query(insert).bind(merchant.0).bind(id).execute(connection).await.unwrap();
}

/// Leaves a merchant as it is once the version before is migrated: its messages are not numbered.
async fn not_live(connection: &mut PgConnection, merchant: MerchantId) {
    let update = "update feed_counter set live = false where merchant_id = $1";
    sqlx::query(update).bind(merchant.0).execute(connection).await.unwrap();
}

fn former_id(n: u128) -> Uuid {
    Uuid::from_u128((u128::try_from(beginning().timestamp_millis()).unwrap() << 80) | n)
}

fn former(transaction: u64, message: Uuid) -> String {
    write_cursor(Cursor::Former(FormerPosition { epoch: 0, transaction, message }))
}

fn events(page: &Reply) -> Vec<(i64, Uuid)> {
    assert_eq!(page.status, 200, "{}", page.text);
    let event = |event: &Value| (event["position"].as_i64().unwrap(), event["id"].as_str().unwrap().parse().unwrap());
    page.body["items"].as_array().unwrap().iter().map(event).collect()
}

#[tokio::test]
async fn messages_of_the_version_before_are_numbered_in_the_order_in_which_it_has_shown_them() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    not_live(&mut connection, merchant.id).await;
    sqlx::query(FORMER).bind(merchant.id.0).execute(&mut connection).await.unwrap();
    let mut expected: Vec<u128> = (0..COUNT).collect();
    expected.sort_by_key(|n| (60 - n / 50, *n));
    let in_between = former(60 - 1_234 / 50, former_id(1_234));

    // Until they are numbered, there is nothing to read, and no cursor loses its place.
    let early = merchant.reads("?from=beginning").await;
    assert!(events(&early).is_empty());
    let waits = merchant.reads(&format!("?cursor={in_between}")).await;
    assert_eq!((events(&waits), waits.body["cursor"].as_str()), (vec![], Some(in_between.as_str())));
    let now = merchant.reads("?from=now").await.body["cursor"].as_str().unwrap().to_owned();
    assert!(matches!(read_cursor(&now), Some(Cursor::Former(_))));
    let late = world.owe(merchant.id, "R-9", 1).await;

    assert!(!number_messages(&world.app).await.unwrap(), "everything is numbered in one run");
    let (read, _) = merchant.follows(early.body["cursor"].as_str().unwrap().to_owned(), 2_501, 100).await;
    let ids: Vec<&str> = read.iter().map(|event| event["id"].as_str().unwrap()).collect();
    let order: Vec<String> = expected.iter().map(|n| former_id(*n).to_string()).chain([late.to_string()]).collect();
    assert_eq!(ids, order);
    assert!((1..).zip(&read).all(|(position, event)| event["position"] == json!(position)));
    let unnumbered = "select kind || ' ' || internal from message where position is null order by message_id";
    assert_eq!(world.database.texts(unnumbered).await, ["endpoint_test false", "rma true"], "these are in no feed");

    // Cursors of the version before are translated.
    let at = expected.iter().position(|n| *n == 1_234).unwrap();
    let page = merchant.reads(&format!("?cursor={in_between}&limit=1")).await;
    assert_eq!(events(&page), [(i64::try_from(at).unwrap() + 2, former_id(expected[at + 1]))]);
    assert!(matches!(read_cursor(page.body["cursor"].as_str().unwrap()), Some(Cursor::At(_))));
    assert_eq!(events(&merchant.reads(&format!("?cursor={now}")).await), [(2_501, late)], "what was the end is where it was");
    assert_eq!(events(&merchant.reads(&format!("?cursor={}&limit=1", former(0, Uuid::nil()))).await), [(1, former_id(expected[0]))]);

    // From here on messages are numbered as they are written, and the former order has no equal.
    let next = world.owe(merchant.id, "R-9", 2).await;
    assert_eq!(world.database.texts("select max(position)::text from message").await, ["2502"]);
    let transaction = world.database.texts("select transaction::text from message where position = 2502").await[0].parse().unwrap();
    let refused = merchant.reads(&format!("?cursor={}", former(transaction, next))).await;
    let said = refused.body["message"].as_str().unwrap();
    assert!(refused.status == 409 && said.contains("of an earlier version") && said.contains("from=beginning"), "{}", refused.text);
    assert!(!number_messages(&world.app).await.unwrap());
}

#[tokio::test]
async fn what_the_version_before_still_writes_is_numbered_at_the_end() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (mut former_version, straggler) = (world.database.connect().await, world.app.mint());
    let first = world.owe(merchant.id, "R-1", 1).await;
    sqlx::raw_sql("begin").execute(&mut former_version).await.unwrap();
    writes(&mut former_version, merchant.id, straggler).await;
    let second = world.owe(merchant.id, "R-2", 1).await;
    assert!(!number_messages(&world.app).await.unwrap());
    let page = merchant.reads("").await;
    assert_eq!(events(&page), [(1, first), (2, second)]);
    sqlx::raw_sql("commit").execute(&mut former_version).await.unwrap();
    let cursor = page.body["cursor"].as_str().unwrap();
    assert!(events(&merchant.reads(&format!("?cursor={cursor}")).await).is_empty());
    assert!(!number_messages(&world.app).await.unwrap());
    assert_eq!(events(&merchant.reads(&format!("?cursor={cursor}")).await), [(3, straggler)], "no reader has passed it");
}

#[tokio::test]
async fn a_feed_becomes_live_although_a_transaction_of_the_version_before_is_open() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let (mut open, mut connection) = (world.database.connect().await, world.database.connect().await);
    not_live(&mut connection, merchant.id).await;
    let ids = [world.app.mint(), world.app.mint()];
    sqlx::raw_sql("begin").execute(&mut open).await.unwrap();
    writes(&mut open, merchant.id, ids[0]).await;
    writes(&mut connection, merchant.id, ids[1]).await;
    assert!(!number_messages(&world.app).await.unwrap());
    sqlx::raw_sql("commit").execute(&mut open).await.unwrap();
    let third = world.owe(merchant.id, "R-3", 1).await;
    assert!(!number_messages(&world.app).await.unwrap());
    let (read, _) = merchant.follows(start(), 3, 10).await;
    let read: Vec<&str> = read.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(read, [ids[1], third, ids[0]].map(|id| id.to_string()), "in the order in which they were seen");
}

#[tokio::test]
async fn a_merchant_that_the_version_before_has_added_is_numbered_too() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    sqlx::raw_sql("delete from feed_counter").execute(&mut world.database.connect().await).await.unwrap();
    let page = merchant.reads("").await;
    let first = world.owe(merchant.id, "R-1", 1).await;
    assert!(events(&merchant.reads("").await).is_empty(), "it has no position yet");
    assert!(!number_messages(&world.app).await.unwrap());
    let second = world.owe(merchant.id, "R-1", 2).await;
    let cursor = page.body["cursor"].as_str().unwrap();
    assert_eq!(events(&merchant.reads(&format!("?cursor={cursor}")).await), [(1, first), (2, second)]);
}

#[tokio::test]
async fn the_migration_starts_the_feeds_of_merchants_that_have_written_nothing() {
    let database = Database::create_empty().await;
    installation::migrate_to(&database.url, Mode::Sandbox, beginning(), Some(EARLIER)).await.unwrap();
    let mut connection = database.connect().await;
    let merchants = [1, 2, 3].map(|number| MerchantId(Uuid::from_u128(number)));
    for (merchant, handle) in merchants.iter().zip(["new", "busy", "mailed"]) {
        let insert = "insert into merchant (merchant_id, handle, name, created_at) values ($1, $2, 'A merchant', $3)";
        sqlx::query(insert).bind(merchant.0).bind(handle).bind(beginning()).execute(&mut connection).await.unwrap();
    }
    writes(&mut connection, merchants[1], former_id(1)).await;
    writes(&mut connection, merchants[2], former_id(2)).await;
    sqlx::raw_sql("update message set internal = true where subject = 'R-1' and message_id::text like '%2'")
        .execute(&mut connection)
        .await
        .unwrap();
    installation::migrate(&database.url, Mode::Sandbox, beginning()).await.unwrap();
    let live = "select handle || ' ' || live from feed_counter join merchant using (merchant_id) order by handle";
    assert_eq!(database.texts(live).await, ["busy false", "mailed true", "new true"]);
}
