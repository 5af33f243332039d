//! The statements that the flows of returns cost, as PostgreSQL logs them. docs/costs.md lists them.

use std::fmt;
use std::sync::{Arc, Mutex};

use backhaul::flow::orders::accept_orders::accept_orders;
use backhaul::flow::returns::carrier_event::{CarrierEventError, EventOutcome, carrier_event};
use backhaul::flow::returns::resend_return::resend_return;
use backhaul::flow::returns::start_return::start_return;
use bytes::Bytes;
use domain::id::MerchantId;
use futures::future::join_all;
use serde_json::Value;
use store::Failed;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use crate::world::{Database, Shop, World, mail_back, message, refund_for, refunded, reported, sold};

/// The statements that PostgreSQL reports to the connections of this thread, on which the whole service of a test runs.
struct Statements {
    logged: Arc<Mutex<Vec<String>>>,
    _guard: DefaultGuard,
}

impl Statements {
    /// A world in which every statement is reported.
    async fn of_a_world() -> (World, Self) {
        let database = Database::create().await;
        let mut connection = database.connect().await;
        for setting in ["log_statement = 'all'", "client_min_messages = 'log'"] {
            let alter = sqlx::AssertSqlSafe(format!("alter database {} set {setting}", database.name()));
            sqlx::raw_sql(alter).execute(&mut connection).await.unwrap();
        }
        let logged: Arc<Mutex<Vec<String>>> = Arc::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(Collector(Arc::clone(&logged))));
        (World::on_database(Arc::new(database)).await, Self { logged, _guard: guard })
    }

    /// The statements since the last call, each by its first two words.
    fn take(&self) -> Vec<String> {
        let logged = std::mem::take(&mut *self.logged.lock().unwrap());
        // Every connection starts with its settings.
        let of_flows = logged.iter().filter(|statement| !statement.contains("note_system"));
        of_flows.map(|statement| statement.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect()
    }
}

struct Collector(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Collector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::postgres::notice" {
            let mut notice = Notice::default();
            event.record(&mut notice);
            // `statement: begin`, or `execute sqlx_s_1: select …`.
            let statement = notice.0.split_once(": ").filter(|(how, _)| *how == "statement" || how.starts_with("execute "));
            self.0.lock().unwrap().extend(statement.map(|(_, statement)| statement.trim().to_owned()));
        }
    }
}

/// The text of a notice.
#[derive(Default)]
struct Notice(String);

impl Visit for Notice {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.0);
        }
    }
}

async fn publish(world: &World, merchant: MerchantId, order: Value) {
    let body = Bytes::from(message([order]).to_string());
    let received = wire::orders::order::read(&body).unwrap_or_else(|_| panic!("{body:?}"));
    accept_orders(&world.app, merchant, received, &body).await.unwrap();
}

async fn start(world: &World, merchant: MerchantId, order: &str, units: u32) -> String {
    let text = mail_back(order, units).to_string();
    let wanted = wire::returns::api::read(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    let started = start_return(&world.app, None, merchant, &wanted, None).await.unwrap();
    serde_json::from_str::<Value>(&started.answer).unwrap()["rma_identifier"].as_str().unwrap().to_owned()
}

async fn report(world: &World, merchant: MerchantId, event: &Value) -> EventOutcome {
    try_report(world, merchant, event).await.unwrap()
}

async fn try_report(world: &World, merchant: MerchantId, event: &Value) -> Result<EventOutcome, CarrierEventError> {
    let text = event.to_string();
    let event = wire::returns::carrier::read(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"));
    carrier_event(&world.app, merchant, &event).await
}

/// Returns of the shop, each with a label.
async fn labelled(shop: &Shop<'_>, count: usize) -> Vec<String> {
    let mut returns = Vec::new();
    for number in 0..count {
        let order = format!("L-{number}");
        shop.merchant.sells(&order, 2).await;
        let rma = shop.merchant.starts_a_return(&order, 2).await;
        shop.merchant.carrier_says(&rma, "label_issued").await;
        returns.push(rma);
    }
    returns
}

/// Every change of a return is read by one statement, and written by one together with its message.
#[tokio::test]
async fn a_flow_of_a_return_costs_few_statements() {
    let (world, statements) = Statements::of_a_world().await;
    let shop = world.shop("acme").await;
    let merchant = shop.merchant.id;
    publish(&world, merchant, sold("A-1", 4)).await;

    statements.take();
    let rma = start(&world, merchant, "A-1", 4).await;
    let started = ["begin; select", "select identifier,", "select merchant_id,", "-- Orders,", "with taken", "commit"];
    assert_eq!(statements.take(), started, "a return is started");

    let mut label = reported(&rma, "label_issued");
    label["tracking_number"] = "T-1".into();
    assert_eq!(report(&world, merchant, &label).await, EventOutcome::Moved(rma.clone()));
    statements.take();

    assert_eq!(report(&world, merchant, &reported(&rma, "in_transit")).await, EventOutcome::Moved(rma.clone()));
    assert_eq!(statements.take(), ["begin; select", "with locked", "with taken", "commit"], "a scan moves the return");

    let mut repeated = reported(&rma, "in_transit");
    repeated.as_object_mut().unwrap().remove("rma_identifier");
    repeated["tracking_number"] = "T-1".into();
    assert_eq!(report(&world, merchant, &repeated).await, EventOutcome::Unchanged(rma.clone()));
    assert_eq!(statements.take(), ["begin; select", "with locked", "commit"], "a scan is repeated, by the tracking number");

    assert!(resend_return(&world.app, "test", merchant, &rma).await.unwrap().is_some());
    assert_eq!(statements.take(), ["begin; select", "with locked", "insert into", "with taken", "commit"], "a return is sent again");

    publish(&world, merchant, refunded(sold("A-1", 4), [refund_for(&rma, "F-1", 4)])).await;
    let settled = statements.take();
    assert_eq!(settled.iter().filter(|statement| *statement == "with locked").count(), 1, "{settled:?}");
    assert_eq!(settled.iter().filter(|statement| *statement == "with taken").count(), 1, "{settled:?}");
    // Two of them look at the order once more after the commit, because it changed while it had a return.
    // On a cluster, each look holds the cell in a transaction of its own.
    let most = if world.database.is_on_a_cluster() { 19 } else { 15 };
    assert!(settled.len() <= most, "a refund settles a return: {settled:?}");

    let received = shop.receives().await;
    assert_eq!(received.len(), 5, "each change owed one message");
}

/// A resend changes the return's sequence, and none of its units. Rows that are not written keep their version.
#[tokio::test]
async fn only_what_changed_of_a_return_is_written() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let merchant = &shop.merchant;
    merchant.sells("A-1", 3).await;
    let rma = merchant.starts_a_return("A-1", 3).await;
    let versions = async || world.database.texts("select xmin::text from rma_item order by position").await;
    let new = versions().await;

    assert_eq!(merchant.asks_again_for(&rma).await.status, 202);
    assert_eq!(versions().await, new, "a resend writes no unit");

    merchant.carrier_says(&rma, "label_issued").await;
    let labelled = versions().await;
    let changed = |now: &[String], before: &[String]| now.iter().zip(before).filter(|(now, before)| now != before).count();
    assert_eq!(changed(&labelled, &new), 3, "every unit has the label");

    assert_eq!(merchant.publishes(&message([refunded(sold("A-1", 3), [refund_for(&rma, "F-1", 1)])])).await.status, 200);
    assert_eq!(changed(&versions().await, &labelled), 1, "one unit is refunded");
    let shown = merchant.looks_at(&rma).await;
    assert_eq!((&shown["status"], &shown["sequence"]), (&"CREATED".into(), &4.into()));
}

/// Two changes at once: whoever waits for the lock sees the units as the other has left them.
#[tokio::test]
async fn a_change_that_waited_for_another_builds_on_it() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let merchant = &shop.merchant;
    merchant.sells("A-1", 2).await;
    let rma = merchant.starts_a_return("A-1", 2).await;
    merchant.carrier_says(&rma, "label_issued").await;

    // Another transaction moves the parcel, and commits while the resend waits for the return.
    let mut other = world.database.connect().await;
    let moved = "begin; update rma set sequence = sequence + 1; update rma_item set parcel = 'TRANSIT'";
    sqlx::raw_sql(moved).execute(&mut other).await.unwrap();
    let asks_again = resend_return(&world.app, "test", merchant.id, &rma);
    let commit = async {
        let waiting = "select wait_event_type from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        world.database.becomes(waiting, &["Lock"]).await;
        sqlx::raw_sql("commit").execute(&mut other).await.unwrap();
    };
    let (resent, ()) = tokio::join!(asks_again, commit);
    let resent = resent.unwrap().unwrap();
    assert_eq!(resent.sequence, 4);
    assert!(resent.rma.units.iter().all(|unit| unit.parcel.as_str() == Some("TRANSIT")));
    let parcels = world.database.texts("select parcel from rma_item").await;
    assert_eq!(parcels, ["TRANSIT", "TRANSIT"]);
    let received = shop.receives().await;
    let (_, last) = received.last().unwrap();
    assert_eq!(last["items"][0]["package_tracking_status"], "TRANSIT");
}

/// Events that arrive while one is applied share a transaction, also those of several merchants.
#[tokio::test]
async fn events_at_the_same_time_share_a_transaction() {
    let (world, statements) = Statements::of_a_world().await;
    let shops = [world.shop("acme").await, world.shop("apex").await];
    let mut scans = Vec::new();
    for shop in &shops {
        let returns = labelled(shop, 3).await;
        scans.extend(returns.into_iter().map(|rma| (shop.merchant.id, rma)));
    }
    statements.take();
    let reports = scans.iter().map(async |(of, rma)| report(&world, *of, &reported(rma, "in_transit")).await);
    let outcomes = join_all(reports).await;

    // The first is alone, and so is one whose return somebody holds at that moment; the others share.
    let taken = statements.take();
    let count = |statement: &str| taken.iter().filter(|taken| *taken == statement).count();
    assert!(count("-- Returns") > 0, "{taken:?}");
    assert!(count("commit") < scans.len(), "{taken:?}");
    assert_eq!(count("-- Returns") + count("with taken"), count("commit"), "each transaction writes once: {taken:?}");
    for ((_, rma), outcome) in scans.iter().zip(outcomes) {
        assert_eq!(outcome, EventOutcome::Moved(rma.clone()));
    }
    for shop in &shops {
        assert_eq!(shop.receives().await.len(), 9, "each change of three returns owed one message");
    }
    let database = &world.database;
    let positions = database.texts("select position::text from message where position > 0 order by merchant_id, message.position").await;
    let dense: Vec<String> = (1..=9).map(|position| position.to_string()).collect();
    assert_eq!(positions, [dense.clone(), dense].concat());
    let newest = "select last::text from feed_counter join message using (merchant_id) where message_id = last_message and position = last";
    assert_eq!(database.texts(newest).await, ["9", "9"]);
    assert_eq!(database.texts("select distinct parcel from rma_item").await, ["TRANSIT"]);
    let noted = database.texts("select event || ' ' || parcels::text from rma_event where sequence = 3").await;
    assert_eq!(noted, vec!["rma.tracking_updated {TRANSIT}"; 6]);
}

/// Nobody waits for a return that somebody else holds: neither behind it nor together with it.
#[tokio::test]
async fn a_return_that_is_held_holds_up_nobody_else() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let of = shop.merchant.id;
    let returns = labelled(&shop, 5).await;
    let mut other = world.database.connect().await;
    let held = format!("begin; update rma set sequence = sequence where identifier in ('{}', '{}')", returns[0], returns[1]);
    sqlx::raw_sql(sqlx::AssertSqlSafe(held)).execute(&mut other).await.unwrap();

    let scan = async |at: usize| report(&world, of, &reported(&returns[at], "in_transit")).await;
    let held_up = async { tokio::join!(scan(0), scan(1)) };
    let others = async {
        let outcomes = tokio::join!(scan(2), scan(3), scan(4));
        sqlx::raw_sql("commit").execute(&mut other).await.unwrap();
        outcomes
    };
    let ((first, second), (third, fourth, fifth)) = tokio::join!(held_up, others);
    for (outcome, rma) in [first, second, third, fourth, fifth].into_iter().zip(&returns) {
        assert_eq!(outcome, EventOutcome::Moved(rma.clone()));
    }
    assert_eq!(shop.receives().await.len(), 15);
}

/// A batch takes what moves a return and owes one message. Everything else ends as if it had come alone.
#[tokio::test]
async fn an_event_in_a_batch_ends_as_if_it_had_come_alone() {
    let world = World::new().await;
    let (shop, away) = (world.shop("acme").await, world.shop("apex").await);
    let of = shop.merchant.id;
    let returns = labelled(&shop, 3).await;
    shop.merchant.carrier_says(&returns[1], "in_transit").await;
    shop.merchant.sells("A-1", 1).await;
    let early = shop.merchant.starts_a_return("A-1", 1).await;
    let gone = labelled(&away, 1).await.remove(0);

    let says = async |merchant: MerchantId, rma: &str, event: &str| try_report(&world, merchant, &reported(rma, event)).await;
    let (moved, known, kept, unknown, also, delivered) = tokio::join!(
        says(of, &returns[0], "in_transit"),
        says(of, &returns[1], "in_transit"),
        says(of, &early, "in_transit"),
        says(of, "R-0000-0000", "in_transit"),
        says(of, &returns[2], "in_transit"),
        says(of, &returns[2], "delivered"),
    );
    assert_eq!(moved.unwrap(), EventOutcome::Moved(returns[0].clone()));
    assert_eq!(known.unwrap(), EventOutcome::Unchanged(returns[1].clone()));
    assert_eq!(kept.unwrap(), EventOutcome::Waiting(Some(early)));
    assert!(matches!(unknown, Err(CarrierEventError::NoSuchReturn)));
    assert_eq!(also.unwrap(), EventOutcome::Moved(returns[2].clone()));
    assert_eq!(delivered.unwrap(), EventOutcome::Moved(returns[2].clone()), "the events of a return keep their order");

    // A merchant that has moved is refused, and the others are not.
    let closed = format!("insert into moved_merchant values ('{}', 'elsewhere', true, now())", away.merchant.id.0);
    sqlx::raw_sql(sqlx::AssertSqlSafe(closed)).execute(&mut world.database.connect().await).await.unwrap();
    let (first, refused, third) =
        tokio::join!(says(of, &returns[0], "delivered"), says(away.merchant.id, &gone, "in_transit"), says(of, &returns[1], "delivered"),);
    assert!(matches!(refused, Err(CarrierEventError::Failed(Failed::Moved))));
    assert_eq!(first.unwrap(), EventOutcome::Moved(returns[0].clone()));
    assert_eq!(third.unwrap(), EventOutcome::Moved(returns[1].clone()));
}
