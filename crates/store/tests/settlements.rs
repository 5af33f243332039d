//! Settling: lanes continue, and counts are exact, whatever comes together in a batch.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    dead_code,
    reason = "a test unwraps freely and talks to the database directly"
)]

mod cluster;
mod database;
mod place;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use sqlx::PgConnection;
use store::messages::leases;
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settled, Settlement};
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::place::Place;

/// The merchant, and its endpoint.
const ACME: Uuid = Uuid::from_u128(1);
const BUCKET: u8 = 7;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:30:00Z".parse().unwrap()
}

/// The id of the message or attempt `number`.
fn id(number: u128) -> Uuid {
    let millis = u128::try_from(now().timestamp_millis()).unwrap();
    Uuid::from_u128((millis << 80) + number)
}

/// A database with one endpoint whose bucket is held.
struct Scene {
    store: Store,
    hold: Hold,
    beside: PgConnection,
    /// It is there as long as the scene.
    _place: Place,
}

impl Scene {
    async fn new(of: &str) -> Self {
        let place = Place::create(of).await;
        let patience = Duration::from_secs(10);
        let limits = PoolLimits {
            sizes: PoolSizes { flows: 1, engine: 4, readers: 1, feed: 1, apart: 1, tokens: 1 },
            acquire: patience,
            statement: patience,
            lock: patience,
            console: 0,
        };
        let store = place.store(limits);
        let deliverer = Uuid::from_u128(9);
        let known = leases::Known { name: "a test", version: "1.0.0", calls: 0, takes_part: true };
        leases::renew(&store, deliverer, 600.0, &known).await.unwrap();
        let holds = leases::take(&store, deliverer, 256, 600.0).await.unwrap();
        let hold = holds.into_iter().find(|hold| hold.bucket == BUCKET).unwrap();
        Self { store, hold, beside: place.connect().await, _place: place }
    }

    /// Owes the message `number` in `lane`, parked or due now.
    async fn owe(&mut self, number: u128, lane: &str, sequence: i64, parked: bool) {
        sqlx::query(
            "insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
             values ($1, $2, $1, $3, case when $4 then 'infinity' else $5 end, 0, 0, false, $6)",
        )
        .bind(ACME)
        .bind(id(number))
        .bind(sequence)
        .bind(parked)
        .bind(now())
        .bind(lane)
        .execute(&mut self.beside)
        .await
        .unwrap();
    }

    fn finished(&self, number: u128) -> Settlement {
        Settlement { hold: self.hold, merchant: MerchantId(ACME), message: id(number), disposition: Disposition::Finished }
    }

    /// A call for the message `number` that began so many seconds after now, and was answered with 200.
    fn call(&self, number: u128, seconds: i64) -> Attempt {
        Attempt {
            hold: self.hold,
            id: id(1_000 + number),
            merchant: MerchantId(ACME),
            message: id(number),
            endpoint: EndpointId(ACME),
            started_at: now() + TimeDelta::seconds(seconds),
            took_ms: 20,
            number: 1,
            by_hand: false,
            status: Some(200),
            outcome: "200".to_owned(),
            reason: None,
            answer: None,
            counted_as: Some("rma"),
        }
    }

    async fn settle(&self, settlements: &[Settlement], attempts: &[Attempt]) -> Settled {
        let (settlements, attempts): (Vec<_>, Vec<_>) = (settlements.iter().collect(), attempts.iter().collect());
        settlements::settle(&self.store, &settlements, &attempts, now()).await.unwrap()
    }

    async fn texts(&mut self, query: &'static str) -> Vec<String> {
        sqlx::query_scalar(query).fetch_all(&mut self.beside).await.unwrap()
    }
}

const OWED: &str =
    "select lane || ' ' || sequence || case when due_at = 'infinity' then ' parked' else ' due' end from delivery order by lane, sequence";
const COUNTED: &str = "select to_char(hour at time zone 'UTC', 'HH24:MI') || ' ' || outcome || ' ' || count || ' until ' \
    || to_char(last_at at time zone 'UTC', 'HH24:MI:SS') from attempt_hourly order by hour, outcome";
const DELIVERED: &str =
    "select to_char(hour at time zone 'UTC', 'HH24:MI') || ' ' || sum(count) from delivered_hourly group by hour order by hour";

#[tokio::test]
async fn a_lane_continues_after_everything_that_was_removed_with_its_head() {
    let mut scene = Scene::new("lane_continues").await;
    for (number, parked) in [(1, false), (2, true), (3, true), (4, true)] {
        scene.owe(number, "R-1", i64::try_from(number).unwrap(), parked).await;
    }
    scene.owe(5, "R-2", 1, false).await;
    scene.owe(6, "R-2", 2, false).await;
    // The head and the second of R-1 end together; R-2 has a follower that was never parked.
    let over = [scene.finished(2), scene.finished(1), scene.finished(5)];
    let settled = scene.settle(&over, &[]).await;
    assert_eq!(settled.unparked, [(MerchantId(ACME), EndpointId(ACME))], "one lane had its next message parked");
    assert_eq!(scene.texts(OWED).await, ["R-1 3 due", "R-1 4 parked", "R-2 2 due"]);
}

#[tokio::test]
async fn what_belongs_to_a_merchant_that_has_moved_is_left_to_its_new_cell() {
    let mut scene = Scene::new("moved_away").await;
    scene.owe(1, "R-1", 1, false).await;
    sqlx::query("insert into moved_merchant (merchant_id, cell, closed, marked_at) values ($1, 'b', true, $2)")
        .bind(ACME)
        .bind(now())
        .execute(&mut scene.beside)
        .await
        .unwrap();
    let call = scene.call(1, 1);
    let settled = scene.settle(&[scene.finished(1)], std::slice::from_ref(&call)).await;
    assert_eq!((settled.held, settled.unparked), (vec![scene.hold], Vec::new()), "the bucket is still held");
    assert!(!settlements::announce(&scene.store, &call).await.unwrap(), "no call is made");
    assert_eq!(scene.texts(OWED).await, ["R-1 1 due"]);
    assert_eq!(scene.texts(COUNTED).await, Vec::<String>::new());
    assert!(matches!(scene.store.begin(MerchantId(ACME)).await, Err(store::Failed::Moved)));
}

#[tokio::test]
async fn a_batch_is_counted_by_the_hour_and_only_once() {
    let mut scene = Scene::new("counted_once").await;
    for number in 1..=4 {
        scene.owe(number, &format!("R-{number}"), 1, false).await;
    }
    let over = [scene.finished(1), scene.finished(2), scene.finished(3), scene.finished(4)];
    let half_an_hour = 1_800;
    let calls = [
        scene.call(1, 5),
        scene.call(2, 2),
        scene.call(3, half_an_hour),
        Attempt { status: Some(503), outcome: "503".to_owned(), ..scene.call(4, 3) },
    ];
    // As after a commit whose confirmation was lost.
    for _ in 0..2 {
        assert_eq!(scene.settle(&over, &calls).await.held, [scene.hold]);
        assert_eq!(scene.texts(COUNTED).await, ["12:00 200 2 until 12:30:05", "12:00 503 1 until 12:30:03", "13:00 200 1 until 13:00:00"]);
        assert_eq!(scene.texts(DELIVERED).await, ["12:00 2", "13:00 1"]);
    }
    scene.owe(5, "R-5", 1, false).await;
    scene.settle(&[scene.finished(5)], &[scene.call(5, 1)]).await;
    assert_eq!(scene.texts(COUNTED).await.first().unwrap(), "12:00 200 3 until 12:30:05", "the newest call stays the newest");
}

#[tokio::test]
async fn what_was_held_by_somebody_else_or_before_changes_nothing() {
    let mut scene = Scene::new("held_before").await;
    scene.owe(1, "R-1", 1, false).await;
    for hold in [Hold { epoch: scene.hold.epoch - 1, ..scene.hold }, Hold { owner: Uuid::from_u128(8), ..scene.hold }] {
        let settlement = Settlement { hold, ..scene.finished(1) };
        let attempt = Attempt { hold, ..scene.call(1, 0) };
        assert!(scene.settle(&[settlement], &[attempt]).await.held.is_empty());
        assert_eq!(scene.texts(OWED).await, ["R-1 1 due"]);
        assert!(scene.texts(COUNTED).await.is_empty());
    }
}
