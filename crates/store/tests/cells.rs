//! A cell, which is a schema that Citus distributes, takes every statement of the store (docs/scale-out.md).
//!
//! `make probe-citus` runs these tests beside a Citus cluster. Without one they say so and pass. The last line of output is a JSON
//! object for scripts.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test unwraps freely, talks to the database directly, and prints results for scripts"
)]

mod cluster;
mod database;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::node::mode::Mode;
use futures::future::join_all;
use serde_json::Value;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _};
use store::merchants::accounts::HANDLE_IS_UNIQUE;
use store::merchants::moves::{self, Since, Watch};
use store::messages::partitions;
use store::node::{cells, tables};
use store::returns::carrier_webhooks;
use store::{Failed, PoolLimits, PoolSizes, Store};
use tokio::time::timeout;

use self::cluster::{Cell, OUTSIDE, limits, run};

/// Statements that create or drop tables, which is done through the coordinator.
const OF_SCHEMA: [&str; 2] = ["make_partitions(", "drop_partitions("];

/// Statements that run on connections with `force_generic_plan`, which a cell does not take for every statement: reading due messages
/// and the feed, and looking for messages that are not numbered.
const PLANNED_ONCE: [&str; 7] = [
    "as wanted (merchant_id, endpoint_id, since, most)",
    "and position >= $2",
    "floor_message, live, numbered_before from feed_counter",
    "order by feed_epoch desc, transaction desc, message_id desc",
    "select feed_epoch as \"epoch!\", pg_snapshot_xmin",
    "-- Across merchants: feeds that are not live.",
    "-- Across merchants: messages that are not numbered.",
];

/// PostgreSQL considers a plan for all values from the sixth time on.
const TIMES: usize = 7;

/// A cell named after `of`. Without a cluster there is none, and nothing to try.
async fn cell(of: &str) -> Option<Cell> {
    let cell = Cell::create(of).await;
    if cell.is_none() {
        println!("There is no Citus cluster, so nothing was tried: run `make probe-citus`.");
    }
    cell
}

/// A statement of the store and the types of its parameters.
struct Statement {
    text: String,
    types: Vec<String>,
}

/// The statements of the store, as recorded when they were checked.
fn statements() -> Vec<Statement> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    let files = std::fs::read_dir(dir).expect("run `make gen`").map(|file| file.unwrap().path());
    let read = |file| {
        let recorded: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let types = recorded["describe"]["parameters"]["Left"].as_array().unwrap().iter();
        Statement {
            text: recorded["query"].as_str().unwrap().to_owned(),
            types: types.map(|kind| kind.as_str().expect("a type that has a name").to_owned()).collect(),
        }
    };
    files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).map(read).collect()
}

/// The name of a type in SQL, and a value of it. A null would not do: Citus sees that nothing can be equal to it, and plans for no shard
/// at all.
fn made_up(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "Bool" => ("boolean", "true"),
        "Bytea" => ("bytea", r"\x1111111111111111111111111111111111111111111111111111111111111111"),
        "Date" => ("date", "2026-03-01"),
        "Float8" => ("float8", "1"),
        "Int2" => ("smallint", "1"),
        "Int4" => ("integer", "1"),
        "Int8" => ("bigint", "1"),
        "Name" => ("name", "somebody"),
        "Text" => ("text", "1"),
        "Timestamptz" => ("timestamptz", "2026-03-01T12:00:00Z"),
        "Uuid" => ("uuid", "019ca8d5-1000-7000-8000-000000000001"),
        other => panic!("give {other} a value here"),
    }
}

/// The type of a parameter in SQL, and a literal for it; lists have one element, or none.
fn parameter(kind: &str, empty: bool) -> (String, String) {
    if let Some(element) = kind.strip_suffix("Array") {
        let (name, value) = made_up(element);
        let list = if empty { format!("'{{}}'::{name}[]") } else { format!("array['{value}'::{name}]") };
        (format!("{name}[]"), list)
    } else {
        let (name, value) = made_up(kind);
        (name.to_owned(), format!("'{value}'"))
    }
}

/// Runs a statement as often as it takes for each kind of plan, and rolls it back every time. Returns the refusal, if it is one.
/// Made-up values may break constraints, which is none.
async fn refusal(connection: &mut PgConnection, Statement { text, types }: &Statement) -> Option<String> {
    let broken = |error: sqlx::Error| {
        let sqlx::Error::Database(error) = error else { panic!("{error}: {text}") };
        let code = error.code().unwrap().into_owned();
        (!code.starts_with("22") && !code.starts_with("23")).then(|| format!("{error} ({code}): {text}"))
    };
    let names: Vec<String> = types.iter().map(|kind| parameter(kind, false).0).collect();
    let in_brackets = |words: &[String]| if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) };
    let prepare = format!("prepare probed {} as {text}", in_brackets(&names));
    if let Err(error) = run(connection, &prepare).await {
        return broken(error);
    }
    let mut refused = None;
    for time in 0..TIMES {
        let values: Vec<String> = types.iter().map(|kind| parameter(kind, time == 0).1).collect();
        let mut transaction = connection.begin().await.unwrap();
        let ran = run(&mut transaction, &format!("execute probed {}", in_brackets(&values))).await;
        transaction.rollback().await.unwrap();
        refused = refused.or(ran.err().and_then(broken));
    }
    run(connection, "deallocate probed").await.unwrap();
    refused
}

#[tokio::test]
async fn every_statement_runs_in_a_cell() {
    let Some(cell) = cell("statements").await else { return };
    let (mut coordinator, mut holder) = (cell.connect_to_coordinator().await, cell.connect_to_holder().await);
    let statements = statements();
    let mut refused = Vec::new();
    for statement in &statements {
        let names = |words: &[&str]| words.iter().any(|word| statement.text.contains(word));
        if names(&OUTSIDE) || names(&OF_SCHEMA) {
            refused.extend(refusal(&mut coordinator, statement).await);
            continue;
        }
        refused.extend(refusal(&mut holder, statement).await);
        if names(&PLANNED_ONCE) {
            run(&mut holder, "set plan_cache_mode = force_generic_plan").await.unwrap();
            refused.extend(refusal(&mut holder, statement).await);
            run(&mut holder, "reset plan_cache_mode").await.unwrap();
        }
    }
    // The check finds a statement that is refused.
    let nested = Statement {
        text: "insert into warning_day (merchant_id, day, kind, count) values ($1, $2, $3, (select count(*) from rma))".to_owned(),
        types: ["Uuid", "Date", "Text"].map(str::to_owned).to_vec(),
    };
    assert!(refusal(&mut holder, &nested).await.is_some_and(|refusal| refusal.contains("0A000")));
    // On a line of its own: the test runner has printed a dot for whatever ended before.
    println!("\n{{\"statements\": {}, \"refused\": {}}}", statements.len(), refused.len());
    assert_eq!(refused, Vec::<String>::new());
}

/// Has a connection see the local views of the cell first, as the service does.
async fn see_local_views(connection: &mut PgConnection) {
    run(connection, "set search_path to cell_local, cell, home").await.unwrap();
}

#[tokio::test]
async fn every_statement_runs_on_the_local_views_of_a_cell() {
    let Some(cell) = cell("local_views").await else { return };
    let mut holder = cell.connect_to_holder().await;
    let without_view = "select relname::text from pg_class where relnamespace = 'cell'::regnamespace and relkind in ('r', 'p')
        and not relispartition and to_regclass('cell_local.' || relname) is null";
    let without_view: Vec<String> = sqlx::query_scalar(without_view).fetch_all(&mut holder).await.unwrap();
    assert_eq!(without_view, Vec::<String>::new());
    see_local_views(&mut holder).await;
    // What needs more than a view has sees the tables themselves.
    let elsewhere = |text: &str| OUTSIDE.iter().chain(&OF_SCHEMA).chain(&["ctid"]).any(|word| text.contains(word));
    let mut refused = Vec::new();
    for statement in statements().iter().filter(|statement| !elsewhere(&statement.text)) {
        refused.extend(refusal(&mut holder, statement).await);
        run(&mut holder, "set plan_cache_mode = force_generic_plan").await.unwrap();
        refused.extend(refusal(&mut holder, statement).await);
        run(&mut holder, "reset plan_cache_mode").await.unwrap();
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[tokio::test]
async fn missing_local_views_are_counted_and_made_again() {
    let Some(cell) = cell("missing").await else { return };
    let (store, mut holder) = (cell.store(), cell.connect_to_holder().await);
    assert_eq!(cells::missing_views(&store).await.unwrap(), Some(0));
    run(&mut holder, "set citus.enable_ddl_propagation = off").await.unwrap();
    run(&mut holder, "drop view cell_local.delivery").await.unwrap();
    assert_eq!(cells::missing_views(&store).await.unwrap(), Some(1));
    cell.make_views().await;
    // Without this function, whoever writes would not hold the cell.
    run(&mut holder, "drop function cell_local.hold_cell").await.unwrap();
    assert_eq!(cells::missing_views(&store).await.unwrap(), Some(1));
    cell.make_views().await;
    assert_eq!(cells::missing_views(&store).await.unwrap(), Some(0));
}

#[tokio::test]
async fn the_partitions_of_a_cell_are_found_beside_its_views() {
    let Some(cell) = cell("partitions").await else { return };
    assert!(partitions::range(&cell.store()).await.unwrap().is_some());
}

#[tokio::test]
async fn nobody_works_in_a_cell_at_a_node_that_it_has_left() {
    let Some(cell) = cell("left").await else { return };
    let mut before = cell.connect_to_holder().await;
    run(&mut before, "select cell_local.hold_cell()").await.unwrap();
    cell.move_on().await;
    let refused = run(&mut before, "select cell_local.hold_cell()").await.unwrap_err();
    assert_eq!(refused.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref(), Some("BH002"));
    assert!(Failed::from(refused).is_outage());
}

#[tokio::test]
async fn what_is_written_while_a_cell_moves_is_there_afterwards() {
    let Some(cell) = cell("written").await else { return };
    let store = cell.store_with(PoolLimits { sizes: PoolSizes { flows: 4, ..limits().sizes }, ..limits() });
    let merchant = format!("insert into merchant (merchant_id, handle, name, created_at) values ('{}', 'acme', 'Acme', now())", acme().0);
    run(&mut cell.connect_to_holder().await, &merchant).await.unwrap();
    let (first, moved) = (cell.place().await, AtomicBool::new(false));
    let write = async |writer: usize| {
        let mut written = 0;
        while !moved.load(Ordering::Relaxed) || written % 100 != 0 {
            // Nothing follows the cell here: the transactions themselves find that it has left.
            let mut tx = store.begin(acme()).await.unwrap();
            assert!(carrier_webhooks::take(&mut tx, &format!("{writer}-{written}"), now()).await.unwrap());
            tx.commit().await.unwrap();
            written += 1;
        }
        written
    };
    let moving = async {
        cell.move_to(cell.port(3 - first)).await.unwrap();
        moved.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(join_all((0..4).map(write)), moving);
    assert_eq!(cell.place().await, 3 - first);
    let stored: i64 =
        sqlx::query_scalar("select count(*) from carrier_webhook").fetch_one(&mut cell.connect_to_coordinator().await).await.unwrap();
    assert_eq!(usize::try_from(stored).unwrap(), written.iter().sum::<usize>());
    assert!(written.iter().all(|written| *written >= 100), "{written:?}");
    // At the new node, the local views were there before the cell.
    let mut holder = cell.connect_to_holder().await;
    let views: i64 =
        sqlx::query_scalar("select count(*) from pg_views where schemaname = 'cell_local'").fetch_one(&mut holder).await.unwrap();
    assert!(views > 80, "{views}");
}

#[tokio::test]
async fn a_violated_key_is_known_by_its_name_in_a_cell() {
    let Some(cell) = cell("keys").await else { return };
    let mut holder = cell.connect_to_holder().await;
    let twice = "insert into merchant (merchant_id, handle, name, created_at) values
        ('019ca8d5-1000-7000-8000-000000000001', 'acme', 'Acme', '2026-03-01T12:00:00Z'),
        ('019ca8d5-1000-7000-8000-000000000002', 'acme', 'Acme', '2026-03-01T12:00:00Z')";
    let failed = Failed::from(run(&mut holder, twice).await.unwrap_err());
    assert!(failed.violates(HANDLE_IS_UNIQUE), "{failed}");
}

/// Every node takes the statements of every cell, also in the moments after a cell has left it.
#[tokio::test]
async fn a_node_survives_every_statement_that_it_passes_on() {
    let Some(cell) = cell("passed_on").await else { return };
    let mut other = cell.connect_to(3 - cell.place().await).await;
    for statement in statements() {
        if OUTSIDE.iter().chain(&OF_SCHEMA).any(|word| statement.text.contains(word)) {
            continue;
        }
        // Some are refused there. If the node crashed, this would panic.
        refusal(&mut other, &statement).await;
    }
}

#[tokio::test]
async fn a_cell_moves_and_its_audit_stays_as_it_was() {
    let Some(cell) = cell("moved").await else { return };
    let mut holder = cell.connect_to_holder().await;
    let entry = |number: u8| {
        format!(
            "insert into audit (merchant_id, audit_id, actor, action, detail, done_at) values (
                '019ca8d5-1000-7000-8000-000000000001', '019ca8d5-1000-7000-8000-00000000000{number}', 'somebody', 'did', 'something',
                '2026-03-01T12:00:00Z')"
        )
    };
    for number in 1..=3 {
        run(&mut holder, &entry(number)).await.unwrap();
    }
    let before = chain(&mut holder).await;
    assert_eq!(before.len(), 3);
    assert!(before.windows(2).all(|pair| pair[0].1 == pair[1].0), "each entry holds the hash of the one before");
    cell.move_on().await;
    let mut holder = cell.connect_to_holder().await;
    assert_eq!(chain(&mut holder).await, before);
    // The triggers have moved too.
    run(&mut holder, &entry(4)).await.unwrap();
    assert_eq!(chain(&mut holder).await.len(), 4);
    assert!(run(&mut holder, "delete from audit").await.is_err());
}

#[tokio::test]
async fn a_cell_that_moves_is_followed() {
    let Some(cell) = cell("followed").await else { return };
    let store = cell.store();
    assert_eq!(store.follow().await.unwrap(), None);
    let before = store.target();
    cell.move_on().await;
    let after = store.follow().await.unwrap();
    assert_eq!(after, Some(store.target()));
    assert_ne!(after, Some(before));
    assert_eq!(store.mode().await.unwrap(), Some(Mode::Sandbox), "connections to the new node");
}

#[tokio::test]
async fn a_cell_moves_back_once_what_its_last_move_left_behind_is_deleted() {
    let Some(cell) = cell("back").await else { return };
    let (first, mut reader) = (cell.place().await, cell.connect_to_holder().await);
    // The old tables cannot be deleted as long as somebody reads them.
    run(&mut reader, "begin; select count(*) from merchant").await.unwrap();
    cell.move_on().await;
    let mut moving = std::pin::pin!(cell.move_to(cell.port(first)));
    let waiting = timeout(Duration::from_secs(3), &mut moving).await;
    assert!(waiting.is_err(), "{waiting:?}");
    run(&mut reader, "rollback").await.unwrap();
    moving.await.unwrap();
    assert_eq!(cell.place().await, first);
}

#[tokio::test]
async fn a_refused_move_says_why_in_the_words_of_the_cluster() {
    let Some(cell) = cell("nowhere").await else { return };
    let refused = cell.move_to(1).await.unwrap_err().to_string();
    assert!(refused.contains("non-existing node") && refused.contains("citus_add_node"), "{refused}");
}

/// The merchant of these tests.
fn acme() -> MerchantId {
    MerchantId("019ca8d5-1000-7000-8000-000000000001".parse().unwrap())
}

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Begins a transaction that reads the fence of [`acme`].
async fn reads_fence(connection: &mut PgConnection) {
    run(connection, &format!("begin; select must_live_here('{}')", acme().0)).await.unwrap();
}

/// Ends the sessions of the transactions that have read the fence, and waits until there are none.
async fn terminate_earlier(watch: &Watch) {
    for _ in 0..100 {
        let earlier = watch.earlier().await.unwrap();
        if earlier.is_empty() {
            return;
        }
        watch.terminate(&earlier).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a session does not end");
}

#[tokio::test]
async fn transactions_that_came_through_any_node_are_found_at_the_fence() {
    let Some(cell) = cell("fence").await else { return };
    let store = cell.store();
    let watch = moves::watch(&store).await.unwrap();
    assert_eq!(watch.earlier().await.unwrap(), []);
    for node in 0..3 {
        let mut writer = cell.connect_to(node).await;
        reads_fence(&mut writer).await;
        moves::close(&store, acme(), "another", now()).await.unwrap();
        assert!(!watch.earlier().await.unwrap().is_empty(), "node {node}");
        terminate_earlier(&watch).await;
        assert!(run(&mut writer, "insert into directory values (true, 0)").await.is_err(), "its session was ended");
        moves::open(&store, acme()).await.unwrap();
    }
}

#[tokio::test]
async fn a_transaction_that_began_before_its_cell_moved_is_found_at_the_fence() {
    let Some(cell) = cell("fence_moved").await else { return };
    let store = cell.store();
    assert_eq!(store.follow().await.unwrap(), None);
    let mut writer = cell.connect_to_holder().await;
    reads_fence(&mut writer).await;
    cell.move_on().await;
    let moved = store.follow().await.unwrap();
    assert!(moved.is_some(), "the cell is followed");
    let watch = moves::watch(&store).await.unwrap();
    assert!(!watch.earlier().await.unwrap().is_empty());
    terminate_earlier(&watch).await;
    assert!(run(&mut writer, "update directory set generation = 7").await.is_err(), "its session was ended");
}

#[tokio::test]
async fn a_mark_is_of_the_node_that_holds_the_cell() {
    let Some(cell) = cell("marks").await else { return };
    let store = cell.store();
    let before = moves::mark(&store, None).await.unwrap().unwrap();
    assert!(moves::mark(&store, Some(&before)).await.unwrap().is_some());
    cell.move_on().await;
    assert_eq!(moves::mark(&store, Some(&before)).await.unwrap(), None, "through the old node");
    store.follow().await.unwrap();
    assert_eq!(moves::mark(&store, Some(&before)).await.unwrap(), None, "at the new node");
    let after = moves::mark(&store, None).await.unwrap().unwrap();
    assert!(moves::mark(&store, Some(&after)).await.unwrap().is_some());
}

/// A credential of [`acme`].
fn credential(number: u8) -> String {
    format!(
        "insert into credential (client_id, merchant_id, secret_hash, scopes, label, issued_at)
        values ('client-{number}', '{}', sha256('{number}'), '', 'Shop', '2026-03-01T12:00:00Z')",
        acme().0
    )
}

#[tokio::test]
async fn rows_move_into_a_cell_of_a_cluster_and_out_of_it() {
    let Some(cell) = cell("rows").await else { return };
    let plain = database::create("rows").await;
    let stores = [Store::new(plain.to_url_lossy().as_str(), limits()).unwrap(), cell.store()];
    let mut connections = [plain.connect().await.unwrap(), cell.connect_to_holder().await];
    let merchant = "insert into merchant (merchant_id, handle, name, created_at) values ($1, 'acme', 'Acme', now())";
    run(&mut connections[0], &merchant.replace("$1", &format!("'{}'", acme().0))).await.unwrap();
    for number in 1..=2 {
        run(&mut connections[0], &credential(number)).await.unwrap();
    }
    for (from, to) in [(0, 1), (1, 0)] {
        let pair = (&stores[from], &stores[to]);
        moves::close(pair.1, acme(), "another", now()).await.unwrap();
        let tables = moves::tables(pair.0).await.unwrap();
        assert_eq!(tables, moves::tables(pair.1).await.unwrap());
        let mark = moves::mark(pair.0, None).await.unwrap();
        let everything = Since { mark: None, until: mark.as_deref() };
        for table in &tables {
            moves::copy_table(pair, acme(), table, everything, async |_| Ok(())).await.unwrap();
        }
        run(&mut connections[from], &credential(3)).await.unwrap();
        run(&mut connections[to], &credential(4)).await.unwrap();
        let news = Since { mark: mark.as_deref(), until: None };
        for table in &tables {
            let expected = u64::from(table.name == "credential");
            let copied = moves::copy_table(pair, acme(), table, news, async |_| Ok(())).await.unwrap();
            // Rows of other transactions that have not ended would be copied again too.
            assert!(copied >= expected, "{} are new", table.name);
            let removed = moves::remove_gone(pair, acme(), table).await.unwrap();
            assert_eq!(removed, expected, "{} are gone", table.name);
            if table.name == "credential" {
                assert_eq!(moves::replace_table(pair, acme(), table).await.unwrap(), 3);
            }
        }
        let counts = moves::count(pair.0, acme(), &tables).await.unwrap();
        assert_eq!(moves::count(pair.1, acme(), &tables).await.unwrap(), counts);
        moves::open(pair.1, acme()).await.unwrap();
        // The way back begins with what it has.
        run(&mut connections[from], "delete from credential where client_id = 'client-3'").await.unwrap();
        run(&mut connections[to], "delete from credential where client_id = 'client-3'").await.unwrap();
    }
}

/// The hash before each entry of the audit, and its own.
async fn chain(connection: &mut PgConnection) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = sqlx::query("select previous_hash, hash from audit order by sequence").fetch_all(connection).await.unwrap();
    entries.iter().map(|entry| (entry.get(0), entry.get(1))).collect()
}

#[tokio::test]
async fn the_sizes_of_a_cell_are_those_of_its_shards() {
    let Some(cell) = cell("sizes").await else { return };
    let (store, mut connection) = (cell.store(), cell.connect_to_holder().await);
    let merchants = async || {
        let tables = tables::list(&store).await.unwrap();
        tables.into_iter().find(|table| table.name == "merchant").unwrap()
    };
    let (before, none) = (cells::size(&store).await.unwrap(), merchants().await);
    assert_eq!((none.rows, none.bytes), (0, 0));
    let many = "insert into merchant (merchant_id, handle, name, created_at)
        select gen_random_uuid(), 'm' || number, 'A merchant', '2026-03-01T12:00:00Z' from generate_series(1, 5000) as number";
    run(&mut connection, many).await.unwrap();
    run(&mut connection, "analyze merchant").await.unwrap();
    let (after, some) = (cells::size(&store).await.unwrap(), merchants().await);
    assert_eq!(some.rows, 5_000);
    assert!(some.bytes > 300_000 && after - before > some.bytes, "{some:?}: {before} and then {after}");
}
