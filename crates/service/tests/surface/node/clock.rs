//! Moving a sandbox's clock: everything that becomes due by then happens.

use std::time::{Duration, SystemTime};

use backhaul::flow::node::advance_clock::{AdvanceClockError, advance_clock};
use backhaul::flow::returns::wake_returns::wake_returns;
use backhaul::heartbeat;
use backhaul::platform::clock::Span;
use chrono::TimeDelta;
use domain::node::mode::Mode;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::Value;
use store::node::installation;

use crate::binary::{Served, backhaul, command, err, out};
use crate::world::receiver::PATH;
use crate::world::{Database, World, beginning};

/// The days on which partitions for messages begin.
const DAYS: &str = "select right(relname, 8)::text from pg_class
    where relname ~ '^message_[0-9]{8}$' and relnamespace = current_schema()::regnamespace order by 1";
/// The clock's offset in seconds.
const AHEAD: &str = "select (clock_ahead_us / 1000000)::text from installation";

impl World {
    /// Moves the clock on this node.
    async fn clock_advances(&self, by: &str) {
        advance_clock(&self.app, "test", by.parse().unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn every_node_hears_of_a_moved_clock_with_its_next_beat() {
    let world = World::new().await;
    let other = world.node_with_its_own_clock().await;
    heartbeat::beat(&other.app, 1).await.unwrap();
    world.clock_advances("1d12h").await;
    assert_eq!((world.app.now(), other.app.now()), (beginning() + TimeDelta::hours(36), beginning()));
    heartbeat::beat(&other.app, 2).await.unwrap();
    assert_eq!(other.app.now(), beginning() + TimeDelta::hours(36));
    assert_eq!((other.app.clock.wall(), other.app.clock.uptime()), (beginning(), world.app.clock.uptime()));

    // Moves add up, whichever node makes them, and a process that starts later uses the same clock.
    advance_clock(&other.app, "test", "30m".parse().unwrap()).await.unwrap();
    let later = world.node_with_its_own_clock().await;
    later.app.renew_clock().await.unwrap();
    assert_eq!(later.app.clock.ahead(), TimeDelta::minutes(36 * 60 + 30));
}

#[tokio::test]
async fn two_who_move_the_clock_at_once_both_count_and_the_days_are_there() {
    let world = World::new().await;
    let other = world.node_with_its_own_clock().await;
    let days = |days: i64| Span::of(TimeDelta::days(days));
    let (first, second) = tokio::join!(advance_clock(&world.app, "one", days(40)), advance_clock(&other.app, "two", days(50)));
    assert_eq!(first.unwrap().ahead.max(second.unwrap().ahead), TimeDelta::days(90));
    world.app.renew_clock().await.unwrap();
    assert_eq!(world.app.clock.ahead(), TimeDelta::days(90));
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    assert_eq!((receiver.arrived().len(), world.owed().await), (1, 0));
}

#[tokio::test]
async fn retries_follow_a_moved_clock_and_are_signed_with_the_real_time() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(503));
    let id = receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    for (attempt, wait) in ["6s", "1m", "6m", "1h", "7h"].into_iter().enumerate() {
        assert_eq!(receiver.systems.count(), attempt + 1);
        world.clock_advances(wait).await;
        world.deliver_all_due().await;
    }
    assert_eq!((receiver.systems.count(), world.owed().await, world.failures().await), (6, 0, 1));
    let real = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(beginning().timestamp()).unwrap());
    for received in receiver.systems.received_at(PATH) {
        received.verify(&receiver.secret, real).unwrap();
    }
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.last().unwrap().started_at, world.app.now(), "on the moved clock the last one was hours later");
}

#[tokio::test]
async fn a_deliverer_notices_by_itself_that_the_clock_was_moved_elsewhere() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    shop.systems.answer_next(PATH, [Answer::status(503)]);
    // The clock is fixed, so only the move makes anything due.
    world.deliver_all_due().await;
    assert_eq!(shop.systems.count(), 1);
    let elsewhere = world.node_with_its_own_clock().await;
    elsewhere.clock_advances("31d").await;
    heartbeat::beat(&world.app, 1).await.unwrap();
    world.database.becomes("select status from rma", &["CANCELED"]).await;
    world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    assert_eq!(shop.systems.count(), 3, "the retry, and the cancelled return");
}

#[tokio::test]
async fn a_shopper_is_reminded_after_21_days_and_the_return_is_called_off_after_9_more() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives().await.len(), 1);

    world.clock_advances("20d23h59m").await;
    wake_returns(&world.app).await.unwrap();
    assert_eq!((shop.receives().await.len(), mailbox.count()), (0, 1), "the confirmation, and no reminder before its time");
    world.clock_advances("1m").await;
    wake_returns(&world.app).await.unwrap();
    assert_eq!((shop.receives().await.len(), mailbox.count()), (0, 2));
    let mail = mailbox.received().remove(1);
    assert_eq!(mail.header("Date"), Some("Sun, 01 Mar 2026 12:00:00 +0000"), "clocks outside did not move");

    world.clock_advances("9d").await;
    wake_returns(&world.app).await.unwrap();
    let received = shop.receives().await;
    assert_eq!(
        received.iter().map(|(event, body)| (event.as_str(), body["status"].as_str())).collect::<Vec<_>>(),
        [("rma.canceled", Some("CANCELED"))]
    );
    assert_eq!(received[0].1["rma_identifier"], rma.as_str());
}

#[tokio::test]
async fn a_token_ends_when_the_moved_clock_says_so() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    assert_eq!(merchant.looks_up("A-1").await.status, 404);
    world.clock_advances("24h59m").await;
    assert_eq!(merchant.looks_up("A-1").await.status, 404);
    world.clock_advances("1m").await;
    assert_eq!(merchant.looks_up("A-1").await.status, 401);
}

#[tokio::test]
async fn the_days_of_the_new_time_are_there_before_anybody_hears_of_it() {
    let world = World::new().await;
    // The process ends in between: the partitions exist, but the clock is not moved.
    let cut = "create trigger cut before update of clock_ahead_us on installation for each row execute function refuse_to_change()";
    world.database.home().execute(cut).await;
    let failed = advance_clock(&world.app, "test", "60d".parse().unwrap()).await.unwrap_err();
    assert!(matches!(failed, AdvanceClockError::Failed(_)), "{failed}");
    let days = world.database.texts(DAYS).await;
    assert_eq!(days, ["20260223", "20260302", "20260309", "20260427", "20260504", "20260511"], "two weeks ahead of either time");
    let other = world.node_with_its_own_clock().await;
    heartbeat::beat(&other.app, 1).await.unwrap();
    assert_eq!((world.app.now(), other.app.now()), (beginning(), beginning()));
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;

    // The next attempt finds the partitions and carries on.
    world.database.home().execute("drop trigger cut on installation").await;
    world.clock_advances("60d").await;
    assert_eq!(world.database.texts(DAYS).await, days);
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!((receiver.arrived().len(), world.owed().await), (2, 0));
    let written = world.database.texts("select count(*)::text from message_20260427").await;
    assert_eq!(written, ["1"]);

    // A later migration uses the moved clock as well.
    world.database.execute("drop table message_20260511; drop table attempt_20260511").await;
    installation::migrate(&world.database.url, Mode::Sandbox, beginning()).await.unwrap();
    assert_eq!(world.database.texts(DAYS).await, days);
}

#[tokio::test]
async fn a_clock_that_was_moved_is_not_wrong() {
    let world = World::new().await;
    let node = world.node_with_a_clock_wrong_by(TimeDelta::zero()).await;
    node.clock_advances("21d").await;
    let (status, body) = node.admin("/readyz").await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(r#""clock""#), "{body}");
    assert!(out(&backhaul(&world.database, &["doctor"])).contains("ms from the database's"));
}

#[tokio::test]
async fn production_keeps_real_time() {
    let database = Database::create_empty().await;
    installation::migrate(&database.url, Mode::Production, beginning()).await.unwrap();
    // Whatever the settings say, the database knows its own mode.
    assert_eq!(
        err(&backhaul(&database, &["clock", "advance", "6h"])),
        "error: this is a production installation: only the clock of a sandbox can be moved\n"
    );
    assert_eq!(database.texts(DAYS).await.len(), 3, "no partition was created");
    let mut connection = database.connect().await;
    let moved = "update installation set clock_ahead_us = 1, clock_moved_by = 'x', clock_moved_at = now()";
    let refused = sqlx::query(moved).execute(&mut connection).await.unwrap_err();
    assert!(refused.to_string().contains("clock_of_production_is_never_moved"), "{refused}");
}

#[tokio::test]
async fn a_clock_goes_neither_back_nor_beyond_ten_years() {
    let world = World::new().await;
    let says = |by: &str| err(&backhaul(&world.database, &["clock", "advance", by]));
    assert!(says("-6h").contains("the clock can only be moved forward"));
    assert!(says("0h").contains("the clock must be moved by at least one second"));
    assert!(says("3651d").contains("the clock can be moved by at most ten years"));
    assert!(says("soon").contains("a time span must be given in days, hours, minutes and seconds, such as 6h, 30m or 1d12h"));
    world.clock_advances("3649d").await;
    let refused = advance_clock(&world.app, "test", "1d1s".parse().unwrap()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the clock is 3649d ahead of real time and can be 3650d ahead at most");
    world.clock_advances("1d").await;
    let mut connection = world.database.connect().await;
    for (change, why) in [
        ("update installation set clock_ahead_us = clock_ahead_us - 1", "the clock never goes back"),
        ("update installation set clock_ahead_us = clock_ahead_us + 1", "clock_is_ten_years_ahead_at_most"),
        ("update installation set clock_moved_by = null", "clock_is_ahead_iff_somebody_moved_it"),
    ] {
        let refused = sqlx::query(change).execute(&mut connection).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[tokio::test]
async fn the_program_moves_and_shows_the_clock_and_a_running_service_follows() {
    let database = Database::create().await;
    let shows = |words: &[&str]| -> Value { serde_json::from_str(&out(&backhaul(&database, &[words, &["-o", "json"]].concat()))).unwrap() };
    let before = shows(&["clock", "show"]);
    assert_eq!((&before["ahead"], &before["moved_by"]), (&"0s".into(), &Value::Null));
    assert_eq!(before["now"], before["real_time"]);
    let served = Served::start(command(&database).arg("serve"));
    let moved = shows(&["clock", "advance", "1d12h"]);
    assert_eq!((&moved["ahead"], &moved["moved_by"]), (&"1d12h".into(), &"cli:tester".into()));
    let logged: Value = serde_json::from_str(&served.wait_for("the sandbox's clock was moved")).unwrap();
    assert_eq!(logged["ahead"], "1d12h");
    assert_eq!(shows(&["clock", "show"])["moved_at"], moved["moved_at"]);
    assert_eq!(database.texts(AHEAD).await, ["129600"]);

    // A command uses the moved clock as well.
    let added = shows(&["merchant", "add", "acme", "--name", "Acme Shoes"]);
    assert!(added["created_at"].as_str() >= moved["now"].as_str(), "{added}");
}
