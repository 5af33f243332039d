//! The partitions of messages and attempts: made ahead and dropped without holding anybody up, by the database's clock.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use store::messages::partitions;

use crate::binary::{Served, command};
use crate::world::{Database, World};

/// The partitions of messages.
const WEEKS: &str = "select relname::text from pg_class
    where relname ~ '^message_[0-9]{8}$' and relnamespace = current_schema()::regnamespace order by relname";

/// The time that a statement may take while partitions are maintained.
const PROMPT: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_backup_that_holds_the_tables_holds_up_no_writer_and_no_reader_while_partitions_are_made_and_dropped() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let store = world.app.cell();
    let at = |time: &str| wire::time::read(time).unwrap();
    partitions::make(store, at("2025-12-01T00:00:00Z"), 7).await.unwrap();
    let before = world.database.texts(WEEKS).await;
    let mut backup = world.database.connect().await;
    // As pg_dump does, which holds its locks until it ends.
    sqlx::raw_sql("begin; select count(*) from message; select count(*) from attempt").execute(&mut backup).await.unwrap();
    let maintain = async {
        let made = partitions::make(store, at("2026-06-01T00:00:00Z"), 7).await;
        // Fails, unless the deliverer below is just trying to do the same.
        let _ = partitions::drop_before(store, at("2026-01-01T00:00:00Z")).await;
        made
    };
    let work = async {
        for number in 1..=20 {
            let began = Instant::now();
            receiver.is_owed(&format!("R-{number}"), 1).await;
            world.deliver_all_due().await;
            assert!(began.elapsed() < PROMPT, "message {number} waited {:?}", began.elapsed());
        }
    };
    let (made, ()) = tokio::time::timeout(Duration::from_secs(30), Box::pin(async { tokio::join!(maintain, work) }))
        .await
        .expect("maintenance and work wait for the backup");
    assert!(made.unwrap() > 0, "partitions are made during the backup");
    assert_eq!(world.database.texts(WEEKS).await[0], before[0], "what the backup reads is not dropped under it");
    sqlx::raw_sql("commit").execute(&mut backup).await.unwrap();
    let dropping = async {
        // Nothing is done while the deliverer does the same.
        while world.database.texts(WEEKS).await[0] == before[0] {
            assert_eq!(partitions::drop_before(store, at("2026-01-01T00:00:00Z")).await.unwrap(), Vec::<String>::new());
        }
    };
    tokio::time::timeout(Duration::from_secs(30), dropping).await.expect("it is dropped after the backup");
    let after = world.database.texts(WEEKS).await;
    assert!(before[0].starts_with("message_202512") && *after[0] > *"message_20260101", "{before:?} {after:?}");
    assert_eq!(receiver.arrived().len(), 20);
}

#[tokio::test]
async fn weeks_are_made_ahead_and_dropped_by_their_bounds_unless_something_of_them_is_owed() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let store = world.app.cell();
    let weeks = || world.database.texts(WEEKS);
    let at = |time: &str| wire::time::read(time).unwrap();
    assert_eq!(partitions::make(store, at("2026-02-28T00:00:00Z"), 3).await.unwrap(), 0, "the migration has created them");
    assert_eq!(partitions::make(store, at("2026-02-22T23:59:59Z"), 1).await.unwrap(), 2, "one of messages, one of attempts");
    receiver.is_owed("R-1", 1).await;
    assert_eq!(weeks().await, ["message_20260216", "message_20260223", "message_20260302", "message_20260309"]);
    // Its name says nothing about what it holds.
    world.database.execute("alter table message_20260302 rename to message_20250302").await;
    assert_eq!(partitions::drop_before(store, at("2026-02-23T00:00:00Z")).await.unwrap(), Vec::<String>::new());
    assert_eq!(weeks().await, ["message_20250302", "message_20260223", "message_20260309"]);
    assert_eq!(partitions::drop_before(store, at("2026-03-02T00:00:00Z")).await.unwrap(), ["message_20260223"], "it is still owed");
    world.deliver_all_due().await;
    assert_eq!(partitions::drop_before(store, at("2026-03-02T00:00:00Z")).await.unwrap(), Vec::<String>::new());
    assert_eq!(weeks().await, ["message_20250302", "message_20260309"]);
}

#[tokio::test]
async fn days_that_an_earlier_version_made_stay_and_weeks_begin_after_them() {
    let world = World::new().await;
    let days = "create table message_20260317 partition of message
            for values from (first_id('2026-03-17Z')) to (first_id('2026-03-18Z'));
        create table message_20260318 partition of message
            for values from (first_id('2026-03-18Z')) to (first_id('2026-03-19Z'))";
    world.database.execute(days).await;
    let first = wire::time::read("2026-03-16T00:00:00Z").unwrap();
    partitions::make(world.app.cell(), first, 14).await.unwrap();
    let bounds = "select to_char(time_of_id(from_id), 'MM-DD') || ' ' || to_char(time_of_id(to_id), 'MM-DD')
        from partitions_of('message') where time_of_id(from_id) >= '2026-03-16Z'";
    assert_eq!(world.database.texts(bounds).await, ["03-16 03-17", "03-17 03-18", "03-18 03-19", "03-19 03-23", "03-23 03-30"]);
}

#[tokio::test]
async fn a_node_whose_clock_is_40_days_ahead_drops_nothing() {
    let world = World::new().await;
    let (right, wrong) =
        (world.node_with_a_clock_wrong_by(TimeDelta::zero()).await, world.node_with_a_clock_wrong_by(TimeDelta::days(40)).await);
    right.app.maintain_partitions().await.unwrap();
    let receiver = right.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    right.deliver_all_due().await;
    let before = world.database.texts(WEEKS).await;
    wrong.app.maintain_partitions().await.unwrap();
    assert_eq!(world.database.texts(WEEKS).await, before);
    // Nor does a node of an earlier version, which says itself until when it keeps.
    partitions::drop_before(wrong.app.cell(), wrong.app.now()).await.unwrap();
    assert_eq!(world.database.texts(WEEKS).await, before);
    assert_eq!(world.database.count("message").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_starts_after_weeks_makes_todays_partition_before_it_serves() {
    // Its partitions are around the moment at which every test begins, and a program lives in real time.
    let database = Database::create().await;
    let served = Served::start(command(&database).args(["serve", "--role", "api"]));
    let today = "select name from partitions_of('message') where time_of_id(from_id) <= now() and time_of_id(to_id) > now()";
    assert_eq!(database.texts(today).await.len(), 1);
    assert!(served.terminate().0);
}
