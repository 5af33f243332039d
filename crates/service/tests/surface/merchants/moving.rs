//! Moving a merchant from one cell to another: everything it has arrives, nothing is lost or doubled whenever the move is broken off, and
//! whoever does not know of it writes nothing into the old cell.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use backhaul::app::App;
use backhaul::flow::merchants::move_merchant::{Cell, MoveError, MoveStep, Moving, abort_move, move_merchant};
use backhaul::flow::merchants::verify_audit::verify_audit;
use backhaul::flow::orders::accept_orders::accept_orders;
use bytes::Bytes;
use domain::id::MerchantId;
use serde_json::{Value, json};
use store::Failed;
use store::merchants::audit_chain::Chain;
use store::merchants::moves::{self, MoveState, STAYING};
use uuid::Uuid;

use crate::messages::events;
use crate::world::receiver::PATH;
use crate::world::{Merchant, World, mail_back, message, plain_refund, refunded, sold};

/// Two cells on databases of their own, whose apps make ids of their own.
async fn two_cells() -> (World, World) {
    (World::new().await, World::new().await.another_node(9).await)
}

/// Lets every step pass.
#[expect(clippy::unnecessary_wraps, reason = "others stop a move")]
fn unwatched(_: MoveStep) -> Result<(), Failed> {
    Ok(())
}

/// A move from the cell `a` to the cell `b`, the first of which is the home.
fn from_a_to_b<'a>(
    (old, new): (&'a World, &'a World),
    merchant: MerchantId,
    watch: &'a (dyn Fn(MoveStep) -> Result<(), Failed> + Send + Sync),
) -> Moving<'a> {
    Moving {
        home: &old.app,
        from: Cell { name: "a", app: &old.app },
        to: Cell { name: "b", app: &new.app },
        merchant,
        actor: "test",
        mover: Uuid::from_u128(7),
        calls_end_within: Duration::ZERO,
        nodes_learn_within: Duration::ZERO,
        watch,
    }
}

/// All rows of the merchant by table, as texts, without the audit trail and the moves.
async fn everything(world: &World, merchant: MerchantId) -> BTreeMap<String, Vec<String>> {
    let mut connection = world.database.connect().await;
    sqlx::raw_sql("set timezone = 'UTC'").execute(&mut connection).await.unwrap();
    let tables = "select columns.table_name::text from information_schema.columns as columns \
        join pg_class on pg_class.oid = to_regclass(columns.table_name) and not pg_class.relispartition \
        where columns.table_schema = current_schema() and columns.column_name = 'merchant_id' order by 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let mut found = BTreeMap::new();
    for table in tables.into_iter().filter(|table| !STAYING.contains(&table.as_str()) && !table.starts_with("audit")) {
        let rows = format!("select t::text from {table} as t where merchant_id = '{}' order by 1", merchant.0);
        let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(rows)).fetch_all(&mut connection).await.unwrap();
        if !rows.is_empty() {
            found.insert(table, rows);
        }
    }
    found
}

/// The merchant's system, which calls another cell now.
async fn calling<'w>(world: &'w World, merchant: &Merchant<'_>) -> Merchant<'w> {
    if world.database.is_on_a_cluster() {
        // There, each of the two is an installation of several cells, which looks for a merchant's in its own directory.
        let (merchant, cell) = (merchant.id.0, world.database.cell());
        let lives_here = format!("insert into merchant_cell values ('{merchant}', 'acme', '{cell}', 'here', now())");
        world.database.home().execute(&lives_here).await;
    }
    Merchant {
        world,
        id: merchant.id,
        client_id: merchant.client_id.clone(),
        client_secret: merchant.client_secret.clone(),
        token: merchant.token.clone(),
    }
}

/// The positions of events.
fn positions(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["position"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_merchant_moves_with_everything_it_has_and_continues_where_it_was() {
    let (old, new) = two_cells().await;
    let carried = old.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    let _other = old.shop_with_a_carrier("other").await;
    let orders = message([refunded(sold("A-1", 1), [plain_refund("F-1", 1)]), sold("A-2", 2), sold("A-3", 1)]);
    assert_eq!(merchant.publishes(&orders).await.status, 200);
    let first = merchant.starts_a_return("A-2", 1).await;
    let second = merchant.starts_a_return("A-3", 1).await;
    let (events, cursor) = merchant.follows(events::beginning(), 1, 1).await;
    assert_eq!(positions(&events), [1]);
    let before = everything(&old, merchant.id).await;
    assert!(before.len() > 12 && before.contains_key("delivery"), "{:?}", before.keys());

    move_merchant(&from_a_to_b((&old, &new), merchant.id, &unwatched)).await.unwrap();

    assert_eq!(everything(&new, merchant.id).await, before);
    assert_eq!(everything(&old, merchant.id).await, BTreeMap::new(), "nothing is left behind");
    let forward = moves::find(old.app.cell(), merchant.id).await.unwrap().unwrap();
    assert_eq!((forward.cell.as_str(), forward.closed), ("b", true));
    assert_eq!(moves::find(new.app.cell(), merchant.id).await.unwrap(), None);
    for world in [&old, &new] {
        let verified = verify_audit(&world.app, Chain::Of(merchant.id)).await.unwrap();
        assert!(verified.entries > 2 && verified.broken.is_none(), "{verified:?}");
    }

    // What waited is delivered by the new cell, in order, and the merchant's systems notice nothing.
    let moved = calling(&new, merchant).await;
    assert_eq!(moved.publishes(&message([sold("A-4", 1)])).await.results(), ["created"]);
    new.deliver_all_due().await;
    let received = carried.shop.systems.received_at(PATH);
    let of = |rma: &str| -> Vec<String> {
        let own = received.iter().filter(|received| received.json()["rma_identifier"] == rma);
        own.map(|received| received.header("x-service-event").unwrap().to_owned()).collect()
    };
    assert_eq!([of(&first), of(&second)], [["rma.created", "rma.tracking_updated"], ["rma.created", "rma.tracking_updated"]]);
    let (events, _) = moved.follows(cursor, 3, 100).await;
    assert_eq!(positions(&events), [2, 3, 4], "the cursor of the old cell is good in the new one");
    // A look-up of a token is trusted for a moment.
    old.time_passes(Duration::from_secs(5));
    assert_eq!(merchant.looks_up("A-2").await.status, 401, "the old cell knows it no more");

    // And back again, with all that deliveries and timers leave behind.
    new.timers_run().await;
    let before = everything(&new, merchant.id).await;
    assert!(["attempt", "label", "delivered_hourly"].iter().all(|table| before.contains_key(*table)), "{:?}", before.keys());
    let there = from_a_to_b((&old, &new), merchant.id, &unwatched);
    let back = Moving { from: there.to, to: there.from, ..there };
    move_merchant(&back).await.unwrap();
    assert_eq!(everything(&old, merchant.id).await, before);
    let verified = verify_audit(&old.app, Chain::Of(merchant.id)).await.unwrap();
    assert!(verified.broken.is_none(), "{verified:?}");
    let moved_twice = old.database.texts("select detail from audit where action = 'merchant.moved' order by sequence").await;
    assert_eq!(moved_twice, ["a to b", "b to a"]);
    old.time_passes(Duration::from_secs(5));
    assert_eq!(merchant.looks_up("A-4").await.status, 200, "it is served here again");
}

#[tokio::test]
async fn a_node_that_does_not_know_of_the_move_writes_nothing_into_the_old_cell() {
    let (old, new) = two_cells().await;
    let carried = old.shop_with_a_carrier("acme").await;
    let merchant = &carried.shop.merchant;
    merchant.publishes(&message([sold("A-1", 2), sold("A-2", 1)])).await;
    let rma = merchant.starts_a_return("A-1", 1).await;
    // The process that moves ends right after the switch, before anything is deleted.
    let ends = |step| if step == MoveStep::Opened { Err(Failed::Internal("killed")) } else { Ok(()) };
    let killed = move_merchant(&from_a_to_b((&old, &new), merchant.id, &ends)).await;
    assert!(matches!(killed, Err(MoveError::Failed(Failed::Internal("killed")))), "{killed:?}");
    let before = everything(&old, merchant.id).await;
    assert!(before.contains_key("customer_order") && before.contains_key("delivery"));

    let event = json!({ "event": "label_issued", "rma_identifier": rma, "tracking_number": "T-1", "occurred_at": "2026-03-01T12:00:00Z" });
    let refused = [
        merchant.publishes(&message([sold("A-3", 1)])).await,
        merchant.publishes(&message([refunded(sold("A-1", 2), [plain_refund("F-1", 1)])])).await,
        merchant.starts(&mail_back("A-2", 1)).await,
        merchant.cancels(&rma).await,
        merchant.carrier_reports(&event).await,
        merchant.imports(&[sold("A-4", 1)]).await,
        old.asks_for_a_token(&merchant.credentials()).await,
    ];
    for reply in refused {
        assert_eq!(reply.status, 503, "{}", reply.text);
        assert!(!reply.header("retry-after").is_empty(), "{reply:?}");
    }
    // Others in the same batch are written.
    let other = old.merchant("other").await;
    let (of_other, of_moved) = (message([sold("B-1", 1)]), message([sold("A-5", 1)]));
    let both = tokio::join!(other.publishes(&of_other), merchant.publishes(&of_moved));
    assert_eq!((both.0.results(), both.1.status.as_u16()), (vec!["created"], 503));

    old.deliver_all_due().await;
    assert!(carried.shop.systems.received_at(PATH).is_empty() && carried.carrier.shipments().is_empty(), "the new cell delivers");
    old.time_passes(Duration::from_hours(24 * 60));
    old.timers_run().await;
    assert_eq!(everything(&old, merchant.id).await, before);

    // Whoever continues the move deletes what was left behind.
    move_merchant(&from_a_to_b((&old, &new), merchant.id, &unwatched)).await.unwrap();
    assert_eq!(everything(&old, merchant.id).await, BTreeMap::new());
}

/// Publishes an order in the cell that takes it, and says if it was acknowledged. Every other one has a refund, which takes a
/// transaction of its own.
async fn publish(apps: [&App; 2], merchant: MerchantId, number: usize) -> bool {
    let order = sold(&format!("W-{number}"), 1);
    let order = if number.is_multiple_of(2) { order } else { refunded(order, [plain_refund(&format!("F-{number}"), 1)]) };
    let body = Bytes::from(message([order]).to_string());
    for app in apps {
        let received = wire::orders::order::read(&body).unwrap_or_else(|_| panic!("{body:?}"));
        match accept_orders(app, merchant, received, &body).await {
            Ok(_) => return true,
            Err(Failed::Moved) => {}
            Err(failed) => panic!("{failed}"),
        }
    }
    false
}

#[tokio::test]
async fn a_move_that_is_broken_off_at_every_step_loses_and_doubles_nothing() {
    let (old, new) = two_cells().await;
    let carried = old.shop_with_a_carrier("acme").await;
    let merchant = carried.shop.merchant.id;
    let many: Vec<Value> = (1..=600).map(|number| sold(&format!("A-{number}"), 1)).collect();
    assert_eq!(carried.shop.merchant.imports(&many).await.status, 200);
    for number in 1..=5 {
        carried.shop.merchant.starts_a_return(&format!("A-{number}"), 1).await;
    }
    let (ended, written) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let next = AtomicUsize::new(0);
    let writer = async {
        while !ended.load(Ordering::SeqCst) {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if publish([&old.app, &new.app], merchant, number).await {
                written.lock().unwrap().push(format!("W-{number}"));
            }
            tokio::task::yield_now().await;
        }
    };
    let seen = Mutex::new(HashSet::new());
    let name = |step: &MoveStep| match step {
        MoveStep::Copied { table, .. } => format!("copied {table}"),
        MoveStep::Cleaned { table, .. } => format!("cleaned {table}"),
        MoveStep::Round { .. } => "round".to_owned(),
        other => format!("{other:?}"),
    };
    let once = |step: MoveStep| if seen.lock().unwrap().insert(name(&step)) { Err(Failed::Internal("killed")) } else { Ok(()) };
    let mover = async {
        let mut kills = 0;
        while let Err(error) = move_merchant(&from_a_to_b((&old, &new), merchant, &once)).await {
            assert!(matches!(error, MoveError::Failed(Failed::Internal("killed"))), "{error}");
            kills += 1;
        }
        // Some more in the new cell.
        let at_least = next.load(Ordering::SeqCst) + 5;
        while next.load(Ordering::SeqCst) < at_least {
            tokio::task::yield_now().await;
        }
        ended.store(true, Ordering::SeqCst);
        kills
    };
    let (kills, ()) = tokio::time::timeout(Duration::from_mins(2), Box::pin(async { tokio::join!(mover, writer) })).await.unwrap();
    assert!(kills > 25, "{kills} kills: {:?}", seen.lock().unwrap());
    let steps = ["Begun", "round", "Resting", "Paused", "Verified", "Switched", "Opened", "copied customer_order", "cleaned rma", "Done"];
    assert!(steps.iter().all(|step| seen.lock().unwrap().contains(*step)), "{:?}", seen.lock().unwrap());

    let stored: HashSet<String> = new.database.texts("select identifier from customer_order").await.into_iter().collect();
    let lost: Vec<String> = written.lock().unwrap().iter().filter(|order| !stored.contains(*order)).cloned().collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(stored.len(), 600 + written.lock().unwrap().len(), "and nothing that was not acknowledged");
    assert_eq!(everything(&old, merchant).await, BTreeMap::new());
    let arrived = calling(&new, &carried.shop.merchant).await;
    new.deliver_all_due().await;
    let (events, _) = arrived.follows(events::beginning(), 10, 100).await;
    assert_eq!(positions(&events), (1..=10).collect::<Vec<_>>(), "five returns and their labels, numbered without a gap");
    let received = carried.shop.systems.received_at(PATH);
    let ids: HashSet<String> = received.iter().map(|received| received.json().to_string()).collect();
    assert_eq!((received.len(), ids.len()), (10, 10), "each once");
}

#[tokio::test]
async fn a_move_waits_for_transactions_that_began_before_the_pause() {
    let (old, new) = two_cells().await;
    let merchant = old.merchant("acme").await;
    merchant.sells("A-1", 1).await;
    let held = Mutex::new(Some(old.app.begin(merchant.id).await.unwrap()));
    let (app, id) = (&old.app, merchant.id);
    // A transaction that began before the pause writes during it.
    let resting = AtomicBool::new(false);
    let watch = |step| {
        resting.fetch_or(step == MoveStep::Resting, Ordering::SeqCst);
        Ok(())
    };
    let writes = async {
        while !resting.load(Ordering::SeqCst) || !moves::find(app.cell(), id).await.unwrap().is_some_and(|forward| forward.closed) {
            tokio::task::yield_now().await;
        }
        assert!(matches!(app.begin(id).await, Err(Failed::Moved)), "nobody else begins");
        let mut tx = held.lock().unwrap().take().unwrap();
        store::merchants::accounts::set_name(&mut tx, "Written late").await.unwrap();
        app.commit(tx).await.unwrap();
    };
    let moving = from_a_to_b((&old, &new), merchant.id, &watch);
    let (moved, ()) = tokio::join!(move_merchant(&moving), writes);
    moved.unwrap();
    assert_eq!(new.database.texts("select name from merchant").await, ["Written late"]);
}

#[tokio::test]
async fn a_transaction_that_stays_open_is_ended_and_writes_nothing() {
    let (old, new) = two_cells().await;
    let merchant = old.merchant("acme").await;
    let mut hangs = old.app.begin(merchant.id).await.unwrap();
    store::merchants::accounts::set_name(&mut hangs, "Never written").await.unwrap();
    move_merchant(&from_a_to_b((&old, &new), merchant.id, &unwatched)).await.unwrap();
    assert!(old.app.commit(hangs).await.is_err());
    assert_eq!(new.database.texts("select name from merchant").await, ["A merchant"]);
}

#[tokio::test]
async fn a_move_is_aborted_before_the_switch_and_the_merchant_works_where_it_was() {
    let (old, new) = two_cells().await;
    let merchant = old.merchant("acme").await;
    merchant.sells("A-1", 1).await;
    let ends = |step| if step == MoveStep::Verified { Err(Failed::Internal("killed")) } else { Ok(()) };
    let moving = from_a_to_b((&old, &new), merchant.id, &ends);
    assert!(move_merchant(&moving).await.is_err());
    assert_eq!(merchant.publishes(&message([sold("A-2", 1)])).await.status, 503, "it is paused");
    let state = moves::find_move(old.app.home(), merchant.id).await.unwrap().unwrap().state;
    assert_eq!(state, MoveState::Paused);
    let another = Moving { mover: Uuid::from_u128(8), ..moving };
    assert!(matches!(move_merchant(&another).await, Err(MoveError::Held)), "one process moves it at a time");
    let elsewhere = Moving { to: Cell { name: "c", app: &new.app }, ..moving };
    assert!(matches!(move_merchant(&elsewhere).await, Err(MoveError::OtherMove { .. })));

    abort_move(&moving).await.unwrap();
    merchant.sells("A-2", 1).await;
    assert_eq!(everything(&new, merchant.id).await, BTreeMap::new());
    assert!(matches!(abort_move(&moving).await, Err(MoveError::NoMove)));

    move_merchant(&from_a_to_b((&old, &new), merchant.id, &unwatched)).await.unwrap();
    assert!(matches!(abort_move(&moving).await, Err(MoveError::NoMove)), "it is done");
    assert_eq!(new.database.texts("select identifier from customer_order order by 1").await, ["A-1", "A-2"]);
    move_merchant(&from_a_to_b((&old, &new), merchant.id, &unwatched)).await.unwrap();
}

#[tokio::test]
async fn a_merchant_moves_only_between_cells_that_fit() {
    let (old, new) = two_cells().await;
    let merchant = old.merchant("acme").await;
    let moving = from_a_to_b((&old, &new), merchant.id, &unwatched);
    let ahead = "update installation set clock_ahead_us = 2000000, clock_moved_by = 'test', clock_moved_at = installed_at";
    let mut there = new.database.connect().await;
    sqlx::raw_sql(ahead).execute(&mut there).await.unwrap();
    let clocks = move_merchant(&moving).await.unwrap_err();
    assert!(matches!(clocks, MoveError::Clocks(1_500..=2_500)), "{clocks}");
    let mut here = old.database.connect().await;
    sqlx::raw_sql(ahead).execute(&mut here).await.unwrap();
    new.database.execute("alter table brand add column extra text").await;
    let schemas = move_merchant(&moving).await.unwrap_err();
    assert!(matches!(schemas, MoveError::Schemas(..)), "{schemas}");
    new.database.execute("alter table brand drop column extra").await;
    let back = Moving { from: moving.to, to: moving.from, ..moving };
    assert!(matches!(move_merchant(&back).await, Err(MoveError::NotThere(cell)) if cell == "b"));
    assert_eq!(moves::find_move(old.app.home(), merchant.id).await.unwrap(), None, "nothing was begun");
    move_merchant(&moving).await.unwrap();
}

#[tokio::test]
async fn every_table_with_rows_of_a_merchant_moves_or_is_said_to_stay() {
    let world = World::new().await;
    let of_merchants = "select columns.table_name::text from information_schema.columns as columns \
        join pg_class on pg_class.oid = to_regclass(columns.table_name) and not pg_class.relispartition \
        where columns.table_schema = current_schema() and columns.column_name = 'merchant_id' \
            and columns.table_name not in ('audit', 'audit_head') order by 1";
    let mut left = world.database.texts(of_merchants).await;
    for table in moves::tables(world.app.cell()).await.unwrap() {
        assert!(left.contains(&table.name) && !STAYING.contains(&table.name.as_str()), "{}", table.name);
        left.retain(|other| *other != table.name);
    }
    left.retain(|other| !STAYING.contains(&other.as_str()));
    assert_eq!(left, Vec::<String>::new());
}
