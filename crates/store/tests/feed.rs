//! A position in the feed outlives its database system: after a failover, or after a backup is restored elsewhere, readers
//! continue where they were. And reading a page is cheap, however many days are kept.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test unwraps freely and talks to the database directly"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use domain::id::MerchantId;
use domain::messages::feed::Position;
use domain::messages::message::{Interface, Kind};
use domain::node::mode::Mode;
use sandbox::postgres::Cluster;
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgConnection};
use store::messages::feed;
use store::messages::outbox::Message;
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

/// A reader that follows the feed.
struct Reader {
    at: Position,
    seen: Vec<Uuid>,
}

impl Reader {
    fn new() -> Self {
        Self { at: Position::BEGINNING, seen: Vec::new() }
    }

    /// Reads a page. Returns false if it is empty.
    async fn read(&mut self, store: &Store, most: u32) -> bool {
        let page = feed::page(store, MERCHANT, self.at, most).await.unwrap();
        self.at = page.last().map_or(self.at, |event| event.at);
        self.seen.extend(page.iter().map(|event| event.at.message));
        !page.is_empty()
    }

    async fn read_all(&mut self, store: &Store) {
        while self.read(store, 7).await {}
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

/// The number of messages written before a backup is restored: more transactions than restoring takes.
const WRITTEN: u128 = 1_500;

#[tokio::test]
async fn a_cursor_goes_on_in_another_cluster_into_which_a_backup_was_restored() {
    let old = Temporary::migrated("old").await;
    let before = old.store();
    let mut reader = Reader::new();
    // The old system's transaction numbers are far ahead of those that the new one starts with.
    for number in 0..WRITTEN {
        write(&before, number).await.unwrap();
    }
    while reader.seen.len() < usize::try_from(WRITTEN).unwrap() - 5 {
        reader.read(&before, 5).await;
    }
    let new = Temporary::start("new");
    old.0.restore_into(&new.0, "postgres").unwrap();
    before.close().await;

    let after = new.store();
    // Many connections are opened at once. The epoch grows once, before the first of them writes.
    let all: Vec<_> = (WRITTEN..WRITTEN + 20)
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
    assert_eq!(new.epoch().await, 1);
    let numbers: Vec<String> =
        sqlx::query_scalar("select distinct feed_epoch::text from message order by 1").fetch_all(&mut new.connect().await).await.unwrap();
    assert_eq!(numbers, ["0", "1"]);
    let lower: bool = sqlx::query_scalar(
        "select min(transaction::text::bigint) filter (where feed_epoch = 1) < max(transaction::text::bigint) filter (where feed_epoch = 0) from message",
    )
    .fetch_one(&mut new.connect().await)
    .await
    .unwrap();
    assert!(lower, "without an epoch the new messages would come before the cursor");
    reader.read_all(&after).await;
    let (first, rest) = reader.seen.split_at(usize::try_from(WRITTEN).unwrap());
    assert_eq!(first, (0..WRITTEN).map(id).collect::<Vec<_>>(), "messages from before the restore come first");
    let written: BTreeSet<Uuid> = rest.iter().copied().collect();
    assert_eq!((rest.len(), written), (20, (WRITTEN..WRITTEN + 20).map(id).collect()));
    after.close().await;
    write(&new.store(), WRITTEN + 20).await.unwrap();
    assert_eq!(new.epoch().await, 1, "the same system keeps its epoch");
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
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.sqlx");
    let statement = std::fs::read_dir(dir)
        .unwrap()
        .map(|file| serde_json::from_str::<Value>(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap())
        .find_map(|file| {
            file["query"].as_str().filter(|query| query.contains("pg_snapshot_xmin") && query.contains("from message")).map(str::to_owned)
        })
        .expect("run `make gen`");
    for setup in ["select make_partitions('2026-02-01T00:00:00Z', 46)", "vacuum analyze message"] {
        sqlx::raw_sql(setup).execute(&mut connection).await.unwrap();
    }
    // Plan while the table is empty, which happens once in every installation.
    sqlx::raw_sql(AssertSqlSafe(format!("prepare page as {statement}"))).execute(&mut connection).await.unwrap();
    let mut touched = Vec::new();
    for messages in [0, 60_000] {
        // Two merchants, 44 days, 100 messages per transaction; transaction numbers as large as the horizon allows.
        let fill = format!(
            "insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body)
             select ('00000000-0000-0000-0000-00000000000' || 7 + n % 2)::uuid,
                 (left(first_id('2026-02-01T00:00:00Z'::timestamptz + n * interval '63 seconds')::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
                 (1 + n / 100)::text::xid8, 0, 1, 'rma', 'rma.created', 'R-' || n, repeat('x', 1500)
             from generate_series(0, {messages} - 1) as n"
        );
        sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut connection).await.unwrap();
        for after in [0, 300, 590] {
            let call =
                format!("explain (analyze, buffers, format json) execute page ('{}', 0, '{after}', '{}', 101)", MERCHANT.0, Uuid::nil());
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
