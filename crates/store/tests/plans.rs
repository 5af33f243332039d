//! The plans of the delivery engine's statements: they use their indexes and read no more than they return.
//!
//! The `delivery` table is normally almost empty, and a plan made for an empty table performs very badly in a burst. So this
//! test runs the store's own functions on its own connections, with 100,000 rows and with none, with statistics for either,
//! and checks the plans that PostgreSQL reports (`auto_explain`, which needs a superuser).
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test unwraps freely and talks to the database directly"
)]

mod database;
mod explained;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Kind};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};
use store::messages::deliveries::{self, DueQuery};
use store::messages::outbox::Message;
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settlement};
use store::messages::{backlog, leases, notices};
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::explained::{Explained, Plan};

/// The number of deliveries: 5,000 parked behind the head of one lane, 45,000 due at one endpoint, and 50,000 in lanes of
/// two at all the others, the second of each parked.
const ROWS: u32 = 100_000;
const PARKED: u32 = 5_000;
const ENDPOINTS: u32 = 1_000;
/// The endpoint with the long lane, and the flooded one.
const LONG: u32 = 0;
const FLOODED: u32 = 1;

/// The maximum number of pages that a statement may touch per row, plus a fixed number. Finding a row by an index takes 2 or
/// 3 pages and one of the table, and so do its message and the head of its lane. Writing a row updates 3 indexes. Measured:
/// up to 10 pages per row read, up to 17 per row written. A full scan would touch thousands.
const PAGES_PER_ROW: u64 = 25;
/// Enough transactions to use every connection of the pool.
const CONNECTIONS: usize = 20;
const PAGES_BESIDE: u64 = 100;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// The merchant `number`, who has the endpoint `number`.
fn merchant(number: u32) -> MerchantId {
    MerchantId(Uuid::from_u128(u128::from(number) + 1))
}

fn endpoint(number: u32) -> EndpointId {
    EndpointId(merchant(number).0)
}

fn bucket(of: u32) -> u8 {
    u8::try_from(of % 256).unwrap()
}

fn message(number: u32) -> Uuid {
    let millis = u128::try_from(now().timestamp_millis()).unwrap();
    Uuid::from_u128((millis << 80) + u128::from(number))
}

/// The endpoint that the message `number` is for, as in `FILL_DELIVERIES`.
fn owner(number: u32) -> u32 {
    match number {
        _ if number <= PARKED => LONG,
        _ if number < ROWS / 2 => FLOODED,
        _ => 2 + (number - ROWS / 2) % (ENDPOINTS - 2),
    }
}

/// The head of the lane `lane` of the endpoint `of`, one of those with lanes of two.
fn head(of: u32, lane: u32) -> u32 {
    ROWS / 2 + (of - 2) + lane * 2 * (ENDPOINTS - 2)
}

const FILL_ENDPOINTS: &str = "
    with feeds as (
        insert into feed_counter (merchant_id, last, floor, live)
        select lpad(to_hex(number + 1), 32, '0')::uuid, 0, 0, true from generate_series(0, $2 - 1) as number
    )
    insert into endpoint (merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url,
        key_id, authentication, secret)
    select id, id, $1, $1, 1, 10, 20, number % 256, 'rma', 'https://hooks.example.com/', 'k', '', ''
    from generate_series(0, $2 - 1) as number, lateral (select lpad(to_hex(number + 1), 32, '0')::uuid as id) as ids";

const FILL_DELIVERIES: &str = "
    with row as (
        select number, $4 + (number || ' us')::interval as due_at,
            case when number <= $3 then 0 when number < $1 / 2 then 1 else 2 + (number - $1 / 2) % ($2 - 2) end as endpoint,
            case when number < $1 / 2 then 0 else (number - $1 / 2) / ($2 - 2) end as turn
        from generate_series(0, $1 - 1) as number
    ),
    owed as (
        select lpad(to_hex(endpoint + 1), 32, '0')::uuid as id,
            (left(first_id($4)::text, 24) || lpad(to_hex(number), 12, '0'))::uuid as message_id,
            case when endpoint = 0 then number + 1 else 1 + turn % 2 end as sequence,
            case when endpoint = 0 then 'R-0' when endpoint = 1 then 'R-' || number else 'R-' || turn / 2 end as lane,
            case when endpoint = 0 and number > 0 or turn % 2 = 1 then 'infinity' else due_at end as due_at
        from row
    ),
    written as (
        insert into message (merchant_id, message_id, sequence, kind, event, subject, body)
        select id, message_id, sequence, 'rma', 'rma.created', lane, repeat('x', 500) from owed
    )
    insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
    select id, message_id, id, sequence, due_at, 0, 0, false, lane from owed";

/// A database, the store on it, and the plans that PostgreSQL reports.
struct Scene {
    options: PgConnectOptions,
    /// Opened before PostgreSQL started to report plans.
    beside: PgConnection,
    store: Store,
    holds: Vec<Hold>,
    /// True once deliveries are owed.
    filled: bool,
    explained: Explained,
}

impl Scene {
    /// An empty `delivery` table with statistics to match.
    async fn empty(of: &str) -> Self {
        let options = database::create(of).await;
        let mut beside = options.connect().await.unwrap();
        explained::switch_on(&mut beside, options.get_database().unwrap()).await;
        // Statistics change only when the test says so.
        let still = "alter table delivery set (autovacuum_enabled = off); alter table endpoint set (autovacuum_enabled = off); \
            alter table message_20260223 set (autovacuum_enabled = off)";
        sqlx::raw_sql(still).execute(&mut beside).await.unwrap();
        let patience = Duration::from_mins(1);
        let limits = PoolLimits {
            sizes: PoolSizes { flows: 2, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
            acquire: patience,
            statement: patience,
            lock: patience,
            console: 0,
        };
        let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
        let mut scene = Self { options, beside, store, holds: Vec::new(), filled: false, explained: Explained::listen() };
        scene.analyze().await;
        scene
    }

    async fn analyze(&mut self) {
        sqlx::raw_sql("vacuum analyze").execute(&mut self.beside).await.unwrap();
    }

    /// Inserts 100,000 deliveries without updating the statistics.
    async fn fill(&mut self) {
        let (rows, endpoints) = (i32::try_from(ROWS).unwrap(), i32::try_from(ENDPOINTS).unwrap());
        sqlx::query(FILL_ENDPOINTS).bind(now()).bind(endpoints).execute(&mut self.beside).await.unwrap();
        let filling = sqlx::query(FILL_DELIVERIES).bind(rows).bind(endpoints).bind(i32::try_from(PARKED).unwrap()).bind(now());
        assert_eq!(filling.execute(&mut self.beside).await.unwrap().rows_affected(), u64::from(ROWS));
        self.filled = true;
    }

    /// Takes all buckets.
    async fn lease(&mut self) {
        let (deliverer, known) = (Uuid::from_u128(7), leases::Known { name: "a test", version: "1.0.0", calls: 0, takes_part: true });
        leases::renew(&self.store, deliverer, 600.0, &known).await.unwrap();
        self.expect("the leases", 256, &[&[]]);
        self.holds = leases::take(&self.store, deliverer, 256, 600.0).await.unwrap();
        self.holds.sort_unstable();
        self.expect("taking", 256, &[&[]]);
        leases::renew(&self.store, deliverer, 600.0, &known).await.unwrap();
        self.expect("the leases", 256, &[&[]]);
    }

    fn hold(&self, of: u32) -> Hold {
        self.holds[usize::from(bucket(of))]
    }

    /// Checks the scans (`index of table`) of everything since the last call, and the pages for `rows` rows each.
    fn expect(&self, what: &str, rows: u64, scans: &[&[&str]]) -> Vec<Plan> {
        let plans = self.explained.take();
        assert_eq!(plans.len(), scans.len(), "{what}: {plans:#?}");
        for (plan, scans) in plans.iter().zip(scans) {
            let found = plan.scans();
            // Normally no merchant moves. When some do, the statistics of that table change, and PostgreSQL plans again.
            let read_whole = |scan: &String| scan.starts_with(explained::ALL) && !scan.ends_with(" of moved_merchant");
            assert!(!found.iter().any(read_whole), "{what}: {found:?}: {plan:?}");
            assert!(plan.most_sorted() <= 1_000, "{what}: {plan:?}");
            let most = PAGES_BESIDE + PAGES_PER_ROW * rows;
            assert!(plan.pages() <= most, "{what}: {} pages for {rows} rows: {plan:?}", plan.pages());
            // When there is no data, and among the few endpoints and the merchants that move, one index is as good as another.
            let tells = |scan: &&str| !scan.ends_with(" of endpoint") && !scan.ends_with(" of moved_merchant");
            let telling: Vec<&str> = found.iter().map(String::as_str).filter(tells).collect();
            assert!(!self.filled || telling == *scans, "{what}: {telling:?} and not {scans:?}: {plan:?}");
        }
        plans
    }
}

const KEY: &str = "delivery_pkey of delivery";
const BY_DUE: &str = "delivery_by_due of delivery";
const BY_LANE: &str = "delivery_by_lane of delivery";
const MESSAGE: &str = "message_pkey of message";
const FAILURE: &str = "failure_pkey of failure";
const TROUBLED: &[&str] = &["delivery_to_retry of delivery", "endpoint_notice_pkey of endpoint_notice", "failure_to_work_on of failure"];
const LOOKING_BACK: &[&str] = &["attempt_pkey of attempt", MESSAGE];
const READING: &[&str] = &[BY_DUE, BY_LANE, FAILURE, MESSAGE];

/// Reads due deliveries: of many endpoints, of the flooded one with few and with many messages in memory, and of the long
/// lane.
async fn read(scene: &Scene) {
    let wanted = |of: u32, limit| DueQuery { merchant: merchant(of), endpoint: endpoint(of), since: now(), limit };
    let readings = [
        ("of many", (2..66).map(|of| wanted(of, 10)).collect(), 0, 640),
        ("of one", vec![wanted(FLOODED, 256)], 200, 256),
        ("with many in flight", vec![wanted(FLOODED, 256)], 1_000, 256),
        ("of a long lane", vec![wanted(LONG, 256)], 0, 1),
    ];
    for (what, wanted, in_flight, rows) in readings {
        let in_flight: Vec<Uuid> = (PARKED + 1..).take(in_flight).map(message).collect();
        // Once on each connection, and again with the plan that was kept.
        for _ in 0..6 {
            let due = deliveries::due(&scene.store, &wanted, &in_flight, now() + TimeDelta::seconds(1)).await.unwrap();
            assert_eq!(due.iter().filter(|due| due.text.is_some()).count(), if scene.filled { rows } else { 0 }, "{what}");
            let plans = scene.expect(what, due.len() as u64, &[READING]);
            // It is planned once, however many messages are in memory.
            assert!(plans.iter().all(Plan::is_generic), "{what}: {plans:?}");
        }
    }
}

/// Runs the queries of the backstop and of maintenance, for all buckets and for a few.
async fn look(scene: &Scene) {
    for buckets in [0..=255, 0..=15] {
        let buckets: Vec<u8> = buckets.collect();
        let of_these = (0..ENDPOINTS).filter(|of| buckets.contains(&bucket(*of))).count();
        let found = deliveries::endpoints_with_work(&scene.store, &buckets, now() + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(found.len(), if scene.filled { of_these } else { 0 });
        scene.expect("endpoints with work", of_these as u64, &[&[BY_DUE]]);
        // However large the backlog, counting stops at the bound.
        let late = backlog::past_due(&scene.store, &buckets, now() + TimeDelta::seconds(1), 1_000).await.unwrap();
        assert!(late <= 1_000 && (late > 0) == scene.filled);
        scene.expect("past due", 1_000, &[&[BY_DUE]]);
        backlog::oldest_due(&scene.store, &buckets, now() + TimeDelta::seconds(1)).await.unwrap();
        scene.expect("oldest due", of_these as u64, &[&[BY_DUE]]);
        assert!(deliveries::cleanups(&scene.store, &buckets, 500).await.unwrap().is_empty());
        scene.expect("unwanted and removed", of_these as u64, &[&["delivery_to_discard of delivery"], &[BY_LANE]]);
    }
    let buckets: Vec<u8> = (0..=255).collect();
    let troubled = notices::troubled(&scene.store, &buckets, now()).await.unwrap().len();
    let scans: Vec<&[&str]> = std::iter::once(TROUBLED).chain(std::iter::repeat_n(LOOKING_BACK, troubled)).collect();
    scene.expect("endpoints in trouble", u64::from(ENDPOINTS), &scans);
    // Every parked row of the bucket is examined, and the head of its lane.
    assert!(deliveries::stuck(&scene.store, bucket(LONG)).await.unwrap().is_empty());
    scene.expect("stuck", u64::from(PARKED), &[&[BY_DUE, BY_LANE]]);
}

/// Settles a batch with each kind of outcome, in lane `lane` of 64 endpoints.
async fn settle(scene: &Scene, lane: u32) {
    let settlement = |of: u32| {
        let (disposition, number) = match of % 4 {
            0 => (Disposition::Finished, head(of, lane)),
            1 => (Disposition::Failed { attempts: 6, reason: "503".to_owned(), failed_at: now() }, head(of, lane)),
            2 => (Disposition::Postponed { due_at: now() + TimeDelta::seconds(5), attempts: 1 }, head(of, lane)),
            _ => (Disposition::Parked, head(of, lane) + ENDPOINTS - 2),
        };
        assert_eq!(owner(number), of);
        Settlement { hold: scene.hold(of), merchant: merchant(of), message: message(number), disposition }
    };
    let attempt = |of: u32| Attempt {
        hold: scene.hold(of),
        id: message(ROWS + head(of, lane)),
        merchant: merchant(of),
        message: message(head(of, lane)),
        endpoint: endpoint(of),
        started_at: now(),
        took_ms: 20,
        by_hand: false,
        number: 1,
        status: Some(if of.is_multiple_of(4) { 200 } else { 503 }),
        outcome: if of.is_multiple_of(4) { "200" } else { "503" }.to_owned(),
        reason: None,
        answer: None,
        counted_as: Some("rma"),
    };
    let settlements: Vec<Settlement> = (2..66).map(settlement).collect();
    let attempts: Vec<Attempt> = (2..66).map(attempt).collect();
    let settled = settlements::settle(&scene.store, &settlements.iter().collect::<Vec<_>>(), &attempts.iter().collect::<Vec<_>>(), now())
        .await
        .unwrap();
    assert_eq!((settled.held.len(), settled.unparked.len()), (64, if scene.filled { 32 } else { 0 }));
    let unparked: &[&[&str]] = if scene.filled { &[&[KEY]] } else { &[] };
    // The buckets, the failure queue, what is over with what follows it, what is later, what waits.
    let before: &[&[&str]] = &[&[], &[KEY, FAILURE, MESSAGE], &[BY_LANE, KEY], &[KEY], &[BY_LANE, KEY]];
    let delivered: &[&[&str]] = if scene.filled { &[&[]] } else { &[] };
    scene.expect("settling", 64, &[before, unparked, &[&[], &[]], delivered].concat());
}

/// Owes one more message to an endpoint.
async fn owe(scene: &Scene, number: u32) {
    let id = message(2 * ROWS + number);
    let message = || {
        let (kind, subject, body) = (Kind::Of(Interface::Rma), "R-9".to_owned(), "{}".to_owned());
        Message { id, kind, event: "rma.created", subject, sequence: number.into(), body, due_at: now() }
    };
    // The first time, a connection also reads the catalog, which grows with every migration.
    for _ in 0..CONNECTIONS {
        let mut tx = scene.store.begin(merchant(2)).await.unwrap();
        tx.owe(message());
        tx.write_early().await.unwrap();
        tx.rollback().await.unwrap();
    }
    let mut tx = scene.store.begin(merchant(2)).await.unwrap();
    scene.explained.take();
    tx.owe(message());
    let announced = tx.commit().await.unwrap();
    assert_eq!(announced.signals.len() + announced.next.len(), usize::from(scene.filled));
    scene.expect("owing", 1, &[&["delivery_by_lane of delivery", "feed_counter_pkey of feed_counter"]]);
}

#[tokio::test]
async fn the_engines_statements_go_by_their_indexes_whatever_the_statistics_say() {
    let mut scene = Scene::empty("plans").await;
    scene.lease().await;
    read(&scene).await;
    look(&scene).await;
    settle(&scene, 0).await;
    // A burst: the statistics and the cached plans are those of an empty table.
    scene.fill().await;
    read(&scene).await;
    look(&scene).await;
    settle(&scene, 1).await;
    scene.analyze().await;
    read(&scene).await;
    look(&scene).await;
    settle(&scene, 2).await;
    // Often enough for PostgreSQL to switch to a generic plan.
    for number in 1..=20 {
        owe(&scene, number).await;
    }
}

#[tokio::test]
async fn owing_goes_by_its_indexes_although_it_was_planned_when_nothing_waited() {
    let mut scene = Scene::empty("owing").await;
    // Often enough for PostgreSQL to switch to a generic plan.
    for number in 1..=3 {
        owe(&scene, number).await;
    }
    scene.fill().await;
    owe(&scene, 4).await;
}

#[tokio::test]
async fn a_scan_of_the_whole_table_does_not_go_unseen() {
    let mut scene = Scene::empty("seen").await;
    scene.fill().await;
    let options = scene.options.clone();
    let mut connection = options.connect().await.unwrap();
    scene.explained.take();
    sqlx::query("select count(*) from delivery where lane = $1").bind("R-0").execute(&mut connection).await.unwrap();
    let plans = scene.explained.take();
    let [plan] = plans.as_slice() else { panic!("one plan: {plans:?}") };
    assert_eq!(plan.scans().into_iter().collect::<Vec<_>>(), [format!("{} of delivery", explained::ALL)]);
    assert!(plan.pages() > 1_000, "{plan:?}");
}
