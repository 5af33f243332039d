//! The feed is numbered without a gap, in the order of commits. A position outlives its database system: after a failover, or after a
//! backup is restored elsewhere, readers continue where they were, and whoever has read further than the backup is told. And reading a
//! page is cheap, however many days are kept.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test unwraps freely and talks to the database directly"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use domain::id::MerchantId;
use domain::messages::feed::{Cursor, Position, Refused};
use domain::messages::message::{Interface, Kind};
use domain::node::mode::Mode;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sandbox::postgres::Cluster;
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection};
use store::messages::feed::{self, Reading};
use store::messages::outbox::Message;
use store::messages::partitions;
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

const MERCHANT: MerchantId = MerchantId(Uuid::from_u128(7));

/// A cluster for one test. It is stopped when the test ends.
struct Temporary(Cluster);

impl Temporary {
    fn dir(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("backhaul-feed-{name}-{}", std::process::id()))
    }

    fn start(name: &str) -> Self {
        Self(Cluster::start(&Self::dir(name)).unwrap())
    }

    async fn migrated(name: &str) -> Self {
        let cluster = Self::start(name);
        store::node::installation::migrate(&cluster.0.url("postgres"), Mode::Sandbox, now()).await.unwrap();
        let counters = "insert into feed_counter (merchant_id, last, floor, live)
            select lpad(to_hex(n), 32, '0')::uuid, 0, 0, true from generate_series(7, 9) as n";
        sqlx::raw_sql(counters).execute(&mut cluster.connect().await).await.unwrap();
        cluster
    }

    fn store(&self) -> Store {
        let patience = Duration::from_secs(10);
        let limits = PoolLimits {
            sizes: PoolSizes { flows: 12, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
            acquire: patience,
            statement: patience,
            lock: patience,
            console: 0,
        };
        Store::new(&self.0.url("postgres"), limits).unwrap()
    }

    async fn connect(&self) -> PgConnection {
        PgConnectOptions::from_str(&self.0.url("postgres")).unwrap().connect().await.unwrap()
    }

    async fn epoch(&self) -> i32 {
        sqlx::query_scalar("select feed_epoch from installation").fetch_one(&mut self.connect().await).await.unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.0.stop();
    }
}

fn now() -> chrono::DateTime<chrono::Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// An id of the day that all messages belong to.
fn id(number: u128) -> Uuid {
    Uuid::from_u128((u128::try_from(now().timestamp_millis()).unwrap() << 80) | (7 << 76) | (2 << 62) | number)
}

/// Writes the message `number`. Fails if it was not committed.
async fn write(store: &Store, number: u128) -> Result<(), store::Failed> {
    let (subject, kind) = (format!("R-{number}"), Kind::Of(Interface::Rma));
    let mut tx = store.begin(MERCHANT).await?;
    tx.owe(Message { id: id(number), kind, event: "rma.created", subject, sequence: 1, body: "{}".to_owned(), due_at: now() });
    tx.commit().await.map(drop)
}

/// A reader that follows the feed of a merchant.
struct Reader {
    merchant: MerchantId,
    at: Position,
    seen: Vec<Uuid>,
}

impl Reader {
    fn new() -> Self {
        Self::of(MERCHANT)
    }

    fn of(merchant: MerchantId) -> Self {
        Self { merchant, at: Position::START, seen: Vec::new() }
    }

    /// Reads a page. Returns false if it is empty. Positions follow each other.
    async fn read(&mut self, store: &Store, most: u32) -> bool {
        let Reading::Page(page) = feed::page(store, self.merchant, Cursor::At(self.at), most).await.unwrap() else {
            panic!("it is refused at {:?}", self.at)
        };
        for event in &page.events {
            assert_eq!(event.at.number, self.at.number + 1, "there is no gap");
            self.at = event.at;
            self.seen.push(event.at.message);
        }
        !page.events.is_empty()
    }

    async fn read_all(&mut self, store: &Store) {
        while self.read(store, 7).await {}
    }

    /// The reason that it cannot read on.
    async fn refusal(&self, store: &Store) -> Option<Refused> {
        match feed::page(store, self.merchant, Cursor::At(self.at), 5).await.unwrap() {
            Reading::Page(_) => None,
            Reading::Refused(refused) => Some(refused),
        }
    }
}

#[tokio::test]
async fn a_cursor_goes_on_after_a_failover() {
    let primary = Temporary::migrated("primary").await;
    let standby = Temporary(primary.0.standby(&Temporary::dir("standby")).unwrap());
    let before = primary.store();
    let mut reader = Reader::new();
    let writers: Vec<_> = (0..8_u128)
        .map(|writer| {
            let store = before.clone();
            // Each writes until the primary is gone, and remembers what it has committed.
            tokio::spawn(async move {
                let mut written = Vec::new();
                for number in writer * 100_000.. {
                    match write(&store, number).await {
                        Ok(()) => written.push(id(number)),
                        Err(_) => break,
                    }
                }
                written
            })
        })
        .collect();
    while reader.seen.len() < 100 {
        reader.read(&before, 5).await;
    }
    primary.0.halt(sandbox::postgres::Halt::Immediate).unwrap();
    let mut written = Vec::new();
    for writer in writers {
        written.append(&mut writer.await.unwrap());
    }
    standby.0.promote().unwrap();

    let after = standby.store();
    for number in 1_000_000..1_000_020 {
        write(&after, number).await.unwrap();
        written.push(id(number));
        reader.read(&after, 5).await;
    }
    reader.read_all(&after).await;
    let seen: BTreeSet<Uuid> = reader.seen.iter().copied().collect();
    assert_eq!(seen.len(), reader.seen.len(), "no message was read twice");
    let missed: Vec<&Uuid> = written.iter().filter(|id| !seen.contains(*id)).collect();
    assert_eq!(missed, Vec::<&Uuid>::new(), "of {}", written.len());
    assert!(seen.len() <= written.len() + 8, "beyond that, at most one commit in progress per writer");
    assert_eq!(standby.epoch().await, 0, "a failover does not start an epoch");
}

#[tokio::test]
async fn a_cursor_goes_on_in_another_cluster_into_which_a_backup_was_restored_unless_it_is_ahead_of_the_backup() {
    let old = Temporary::migrated("old").await;
    let before = old.store();
    let (mut reader, mut ahead) = (Reader::new(), Reader::new());
    for number in 0..50 {
        write(&before, number).await.unwrap();
    }
    while reader.seen.len() < 45 {
        reader.read(&before, 5).await;
    }
    let new = Temporary::start("new");
    old.0.restore_into(&new.0, "postgres").unwrap();
    // What is committed after the backup is lost, and one reader has seen it.
    for number in 50..55 {
        write(&before, number).await.unwrap();
    }
    ahead.read_all(&before).await;
    assert_eq!(ahead.at.number, 55);
    before.close().await;

    let after = new.store();
    assert_eq!(ahead.refusal(&after).await, Some(Refused::Restored), "its position was never given");
    // Many connections are opened at once.
    let all: Vec<_> = (100..120)
        .map(|number| {
            tokio::spawn({
                let after = after.clone();
                async move { write(&after, number).await }
            })
        })
        .collect();
    for one in all {
        one.await.unwrap().unwrap();
    }
    assert_eq!(ahead.refusal(&after).await, Some(Refused::Restored), "another message is at its position");
    reader.read_all(&after).await;
    let (first, rest) = reader.seen.split_at(50);
    assert_eq!(first, (0..50).map(id).collect::<Vec<_>>(), "messages from before the backup come first");
    let written: BTreeSet<Uuid> = rest.iter().copied().collect();
    assert_eq!((rest.len(), written), (20, (100..120).map(id).collect()));
    assert_eq!(reader.at.number, 70);
    assert_eq!(new.epoch().await, 1, "the version before goes by it");
}

#[tokio::test]
async fn a_reader_that_comes_after_retention_is_told_that_something_is_gone() {
    let cluster = Temporary::migrated("retention").await;
    let store = cluster.store();
    let mut slow = Reader::new();
    for number in 0..3 {
        write(&store, number).await.unwrap();
    }
    assert!(slow.read(&store, 2).await);
    let mut quick = Reader::new();
    quick.read_all(&store).await;
    // Two more of the week after, and one of this week that is committed between them.
    let next_week = id(10).as_u128() + ((7 * 86_400_000) << 80);
    for (number, id) in [(4, Uuid::from_u128(next_week)), (5, id(5)), (6, Uuid::from_u128(next_week + 1))] {
        let (subject, kind) = (format!("R-{number}"), Kind::Of(Interface::Rma));
        let mut tx = store.begin(MERCHANT).await.unwrap();
        tx.owe(Message { id, kind, event: "rma.created", subject, sequence: 1, body: "{}".to_owned(), due_at: now() });
        tx.commit().await.unwrap();
    }
    let mut current = Reader::new();
    current.read_all(&store).await;
    assert_eq!(current.at.number, 6);

    let week_over = "2026-03-02T00:00:00Z".parse().unwrap();
    assert_eq!(partitions::drop_before(&store, week_over).await.unwrap(), Vec::<String>::new());
    assert_eq!((slow.refusal(&store).await, quick.refusal(&store).await), (Some(Refused::Removed), Some(Refused::Removed)));
    assert_eq!(Reader::new().refusal(&store).await, Some(Refused::Removed), "whoever had read nothing has missed something too");
    assert_eq!(current.refusal(&store).await, None);
    let floor = feed::beginning(&store, MERCHANT).await.unwrap();
    assert_eq!((floor.number, floor.message), (5, id(5)), "the highest position that was dropped");
    let mut late = Reader { at: floor, ..Reader::new() };
    late.read_all(&store).await;
    assert_eq!((late.at, late.seen.len()), (current.at, 1));
    // The position is the floor's, and the message is not.
    let elsewhere = Reader { at: Position { message: id(99), ..floor }, ..Reader::new() };
    assert_eq!(elsewhere.refusal(&store).await, Some(Refused::Restored));
    assert_eq!(feed::end(&store, MERCHANT).await.unwrap(), Cursor::At(current.at));
}

/// A transaction that was committed: when its commit began and ended, by a clock that all share, and its messages.
struct Committed {
    began: usize,
    ended: usize,
    messages: Vec<Uuid>,
}

/// Writes transactions of random length. Some messages are written early, and some transactions are rolled back.
async fn write_randomly(store: Store, merchant: MerchantId, writer: u64, clock: Arc<AtomicUsize>) -> Vec<Committed> {
    let mut rng = StdRng::seed_from_u64(writer);
    let mut committed = Vec::new();
    for transaction in 0..25_u64 {
        let mut tx = store.begin(merchant).await.unwrap();
        let mut messages = Vec::new();
        for sequence in 1..=rng.random_range(1..=3_i64) {
            let id = id(u128::from(writer * 1_000_000 + transaction * 100) + u128::try_from(sequence).unwrap());
            messages.push(id);
            let (subject, kind) = (format!("R-{writer}-{transaction}"), Kind::Of(Interface::Rma));
            tx.owe(Message { id, kind, event: "rma.created", subject, sequence, body: "{}".to_owned(), due_at: now() });
            if rng.random_range(0..4) == 0 {
                tx.write_early().await.unwrap();
            }
            // Slow transactions are the point of this test.
            tokio::time::sleep(Duration::from_micros(rng.random_range(0..2_000))).await;
        }
        if rng.random_range(0..5) == 0 {
            tx.rollback().await.unwrap();
            continue;
        }
        let began = clock.fetch_add(1, Ordering::SeqCst);
        tx.commit().await.unwrap();
        committed.push(Committed { began, ended: clock.fetch_add(1, Ordering::SeqCst), messages });
    }
    committed
}

/// The writers of each merchant.
const WRITERS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_many_writers_commit_is_numbered_without_a_gap_in_the_order_of_their_commits() {
    let cluster = Temporary::migrated("numbered").await;
    let (store, clock, done) = (cluster.store(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let merchants = [7, 8, 9].map(|number| MerchantId(Uuid::from_u128(number)));
    let readers = merchants.map(|merchant| {
        let (store, done) = (store.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let mut reader = Reader::of(merchant);
            while !done.load(Ordering::SeqCst) {
                if !reader.read(&store, 4).await {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
            reader.read_all(&store).await;
            reader
        })
    });
    let writers: Vec<Vec<_>> = (0_u64..)
        .zip(merchants)
        .map(|(nth, merchant)| {
            let ours = nth * WRITERS..(nth + 1) * WRITERS;
            ours.map(|writer| tokio::spawn(write_randomly(store.clone(), merchant, writer, Arc::clone(&clock)))).collect()
        })
        .collect();
    let mut committed = Vec::new();
    for of_merchant in writers {
        let mut all = Vec::new();
        for writer in of_merchant {
            all.append(&mut writer.await.unwrap());
        }
        committed.push(all);
    }
    done.store(true, Ordering::SeqCst);
    for (reader, committed) in readers.into_iter().zip(committed) {
        let reader = reader.await.unwrap();
        let written: usize = committed.iter().map(|transaction| transaction.messages.len()).sum();
        assert_eq!(reader.seen.len(), written, "each message once");
        let place: HashMap<Uuid, usize> = reader.seen.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        for one in &committed {
            let places: Vec<usize> = one.messages.iter().map(|id| place[id]).collect();
            assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "a transaction stands together, in the order owed: {places:?}");
            for later in committed.iter().filter(|later| one.ended < later.began) {
                assert!(places[0] < place[&later.messages[0]], "what commits later comes later");
            }
        }
    }
}

/// The recorded statement with these words.
fn statement(words: &[&str]) -> String {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    std::fs::read_dir(dir)
        .unwrap()
        .map(|file| serde_json::from_str::<Value>(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap())
        .find_map(|file| file["query"].as_str().filter(|query| words.iter().all(|word| query.contains(word))).map(str::to_owned))
        .unwrap_or_else(|| panic!("run `make gen`: {words:?}"))
}

#[tokio::test]
async fn a_process_that_stops_before_its_commit_holds_its_merchant_up_for_two_seconds() {
    let cluster = Temporary::migrated("stopped").await;
    let store = cluster.store();
    let mut stopped = cluster.connect().await;
    let last = statement(&["where merchant_id = $1 and $10", "insert into delivery"]);
    let call = format!(
        "begin; prepare last as {last}; execute last ('{}', '{}', 1, 'rma', 'rma.created', 'R-1', '{{}}', '2026-03-01T12:00:00Z', false, true, null)",
        MERCHANT.0,
        id(1),
    );
    let began = Instant::now();
    sqlx::raw_sql(AssertSqlSafe(call)).execute(&mut stopped).await.unwrap();
    // Another merchant does not wait for it.
    let mut tx = store.begin(MerchantId(Uuid::from_u128(8))).await.unwrap();
    let (subject, kind) = ("R-2".to_owned(), Kind::Of(Interface::Rma));
    tx.owe(Message { id: id(2), kind, event: "rma.created", subject, sequence: 1, body: "{}".to_owned(), due_at: now() });
    tx.commit().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());

    write(&store, 3).await.unwrap();
    assert!((2_000..8_000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    assert!(sqlx::raw_sql("commit").execute(&mut stopped).await.is_err(), "its session was ended");
    let mut reader = Reader::new();
    reader.read_all(&store).await;
    assert_eq!(reader.seen, [id(3)], "the number that it had taken was given to another message");
}

/// The number of buffers that a plan touched.
fn buffers(plan: &Value) -> i64 {
    let top = &plan[0]["Plan"];
    top["Shared Hit Blocks"].as_i64().unwrap() + top["Shared Read Blocks"].as_i64().unwrap()
}

#[tokio::test]
async fn a_page_touches_few_buffers_however_many_days_and_messages_there_are() {
    let cluster = Temporary::migrated("pages").await;
    let mut connection =
        PgConnectOptions::from_str(&cluster.0.url("postgres")).unwrap().options(store::FEED_PLANS).connect().await.unwrap();
    let statement = statement(&["and position >= $2", "from message"]);
    for setup in ["select make_partitions('2026-02-01T00:00:00Z', 46)", "vacuum analyze message"] {
        sqlx::raw_sql(setup).execute(&mut connection).await.unwrap();
    }
    // Plan while the table is empty, which happens once in every installation.
    sqlx::raw_sql(AssertSqlSafe(format!("prepare page as {statement}"))).execute(&mut connection).await.unwrap();
    let mut touched = Vec::new();
    for messages in [0, 60_000] {
        // Two merchants, 44 days.
        let fill = format!(
            "insert into message (merchant_id, message_id, position, sequence, kind, event, subject, body)
             select ('00000000-0000-0000-0000-00000000000' || 7 + n % 2)::uuid,
                 (left(first_id('2026-02-01T00:00:00Z'::timestamptz + n * interval '63 seconds')::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
                 1 + n / 2, 1, 'rma', 'rma.created', 'R-' || n, repeat('x', 1500)
             from generate_series(0, {messages} - 1) as n"
        );
        sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut connection).await.unwrap();
        for after in [0, 15_000, 29_500] {
            let call = format!("explain (analyze, buffers, format json) execute page ('{}', {after}, 102)", MERCHANT.0);
            let plan: String = sqlx::raw_sql(AssertSqlSafe(call))
                .fetch_one(&mut connection)
                .await
                .map(|row| sqlx::Row::try_get_unchecked(&row, 0).unwrap())
                .unwrap();
            let plan: Value = serde_json::from_str(&plan).unwrap();
            assert_eq!(plan[0]["Plan"]["Actual Rows"].as_f64().unwrap() > 100.0, messages > 0);
            touched.push(buffers(&plan));
        }
    }
    assert!(touched.iter().all(|touched| *touched <= 500), "{touched:?}");
}

#[tokio::test]
async fn a_database_without_a_schema_can_be_connected_to() {
    let empty = Temporary::start("empty");
    assert_eq!(empty.store().mode().await.unwrap(), None);
}
