//! Replays: the delivered messages of a time range are sent once more, in order.

use std::time::Duration;

use backhaul::flow::messages::replay_messages::{ReplayError, ReplayRequest, replay_messages};
use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use sandbox::merchant::Answer;

use crate::binary::{backhaul, err, out};
use crate::merchants::console_merchants::{NOTHING, actor};
use crate::world::receiver::{PATH, Receiver, impatient};
use crate::world::{World, beginning};

/// The newest job: `released left-out state`.
const JOB: &str = "select released || ' ' || left_out || case when cancelled_at is not null then ' cancelled' when ended_at is not null then ' done' else '' end from replay_job order by job_id desc limit 1";

fn minute(minute: i64) -> DateTime<Utc> {
    beginning() + TimeDelta::minutes(minute)
}

/// Delivers these messages at once, a minute after those before.
async fn deliver(receiver: &Receiver<'_>, messages: &[(&str, i64)]) {
    receiver.world.time_passes(Duration::from_mins(1));
    for (subject, sequence) in messages {
        receiver.is_owed(subject, *sequence).await;
    }
    receiver.world.deliver_all_due().await;
}

/// A second passes, and the newest job is so far.
async fn a_second_passes(world: &World, job: &str) {
    world.time_passes(Duration::from_secs(1));
    world.database.becomes(JOB, &[job]).await;
    world.deliver_all_due().await;
}

async fn replay(receiver: &Receiver<'_>, from: DateTime<Utc>, to: DateTime<Utc>, per_second: i32) -> Result<uuid::Uuid, ReplayError> {
    let request = ReplayRequest { interface: Interface::Rma, from, to, per_second: Some(per_second) };
    replay_messages(&receiver.world.app, "test", receiver.merchant, request).await
}

#[tokio::test]
async fn a_replay_sends_exactly_the_range_in_order_with_the_same_ids_and_bytes() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    deliver(&receiver, &[("R-1", 1), ("R-2", 1)]).await;
    deliver(&receiver, &[("R-1", 2), ("R-1", 3), ("R-1", 4)]).await;
    deliver(&receiver, &[("R-1", 5)]).await;
    world.time_passes(Duration::from_mins(10));
    let before = receiver.systems.received_at(PATH);
    let reported = "select coalesce(sum(count), 0)::text from delivered_hourly";
    let counted = world.database.texts(reported).await;

    let console = world.console(Role::Manager).await;
    let form = "/merchants/acme/endpoints/rma/replay";
    let preview = console.get(&format!("{form}?from=2026-03-01T12:02&to=2026-03-01T12:03&per_second=1000")).await.text;
    assert!(preview.contains("Replay 3 messages") && preview.contains("0, and what is erased"), "{preview}");
    assert!(
        preview.contains(
            "backhaul endpoint replay --merchant acme rma --from 2026-03-01T12:02:00Z --to 2026-03-01T12:03:00Z --per-second 1000"
        ),
        "{preview}"
    );
    let fields = [("from", "2026-03-01T12:02:00Z"), ("to", "2026-03-01T12:03:00Z"), ("per_second", "1000")];
    let job = console.post(form, &fields).await.location;
    assert!(console.get(&job).await.text.contains("Runs"));
    // Live messages do not wait for it.
    receiver.is_owed("R-1", 6).await;
    a_second_passes(&world, "3 0 done").await;

    let after = receiver.systems.received_at(PATH).split_off(before.len());
    let replayed: Vec<_> = after.iter().filter(|call| call.json()["step"] != 6).collect();
    assert_eq!(replayed.iter().map(|call| call.json()["step"].as_i64().unwrap()).collect::<Vec<_>>(), [2, 3, 4]);
    for call in replayed {
        let first = before.iter().find(|first| first.message_id() == call.message_id()).expect("the same id");
        assert_eq!((first.json(), call.attempt()), (call.json(), Some(2)));
        receiver.verifies(call);
    }
    assert_eq!(world.owed().await, 0);
    // The reports count the live message, and none of the replayed ones again.
    let counted: i64 = counted[0].parse().unwrap();
    assert_eq!(world.database.texts(reported).await, [(counted + 1).to_string()]);
    let page = console.get(&job).await.text;
    assert!(page.contains("Done") && page.contains("3 sent once more") && page.contains("100 %"), "{page}");
    let audit = world.database.texts("select actor || ' ' || action from audit where action like 'replay%'").await;
    assert_eq!(audit, [format!("{} replay_job.made", actor(&console))]);
}

#[tokio::test]
async fn a_replay_keeps_its_rate_and_can_be_cancelled() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let subjects: Vec<String> = (0..6).map(|at| format!("R-{at}")).collect();
    let messages: Vec<(&str, i64)> = subjects.iter().map(|subject| (subject.as_str(), 1)).collect();
    deliver(&receiver, &messages).await;
    world.time_passes(Duration::from_mins(1));
    let console = world.console(Role::Manager).await;
    let fields = [("from", "2026-03-01T12:00:00Z"), ("to", "2026-03-01T12:02:00Z"), ("per_second", "2")];
    let job = console.post("/merchants/acme/endpoints/rma/replay", &fields).await.location;
    a_second_passes(&world, "2 0").await;
    assert_eq!(receiver.systems.count(), 8);
    assert!(matches!(replay(&receiver, minute(0), minute(1), 1).await, Err(ReplayError::JobRunning)));
    assert_eq!(console.post("/merchants/acme/endpoints/rma/replay", &fields).await.status, 409);
    let preview = console.get(&format!("{job}/cancel")).await.text;
    assert!(preview.contains("The 2 messages that were released are still delivered."), "{preview}");
    assert_eq!(console.post(&format!("{job}/cancel"), &NOTHING).await.status, 303);
    assert!(console.get(&job).await.text.contains("Cancelled"));
    world.time_passes(Duration::from_secs(10));
    world.deliver_all_due().await;
    assert_eq!(world.database.texts(JOB).await, ["2 0 cancelled"]);
    assert_eq!((receiver.systems.count(), world.owed().await), (8, 0));
    assert_eq!(console.post(&format!("{job}/cancel"), &NOTHING).await.status, 409, "once");
    // The rest can be replayed afterwards.
    replay(&receiver, minute(0), minute(2), 1_000).await.unwrap();
    a_second_passes(&world, "6 0 done").await;
    assert_eq!(receiver.systems.count(), 14);
}

#[tokio::test]
async fn what_never_arrived_is_owed_or_was_erased_is_left_out() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    deliver(&receiver, &[("R-1", 1), ("R-2", 1)]).await;
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-3", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    sqlx::raw_sql("update message set erased = true, body = '{}' where subject = 'R-2'")
        .execute(&mut world.database.connect().await)
        .await
        .unwrap();
    world.time_passes(Duration::from_mins(5));
    let before = receiver.systems.count();
    let console = world.console(Role::Viewer).await;
    let page = console.get("/merchants/acme/endpoints/rma/replay?from=2026-03-01T12:00&to=2026-03-01T12:05").await.text;
    assert!(page.contains("2, and what is erased") && !page.contains("<button class=\"btn danger go\""), "{page}");
    replay(&receiver, minute(0), minute(5), 1_000).await.unwrap();
    a_second_passes(&world, "1 2 done").await;
    assert_eq!(receiver.arrived().split_off(before), ["R-1 1"]);
    // The failed one is still in the failure queue, untouched.
    assert_eq!(world.database.texts("select subject || ' ' || state from failure").await, ["R-3 open"]);
}

#[tokio::test]
async fn messages_of_a_subject_wait_for_each_other_while_a_replay_fails() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    deliver(&receiver, &[("R-1", 1), ("R-1", 2)]).await;
    world.time_passes(Duration::from_mins(1));
    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    replay(&receiver, minute(0), minute(2), 1_000).await.unwrap();
    a_second_passes(&world, "2 0 done").await;
    receiver.is_owed("R-1", 3).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2", "R-1 1", "R-1 3"], "the live message does not wait");
    world.time_passes(Duration::from_secs(2));
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived().split_off(4), ["R-1 1", "R-1 2"]);
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn a_range_that_cannot_be_replayed_is_refused() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    world.time_passes(Duration::from_hours(40 * 24));
    let now = world.app.now();
    assert!(matches!(replay(&receiver, now, now - TimeDelta::hours(1), 1).await, Err(ReplayError::Range)));
    assert!(matches!(replay(&receiver, now, now + TimeDelta::hours(1), 1).await, Err(ReplayError::Range)));
    assert!(matches!(replay(&receiver, now - TimeDelta::days(30), now, 1).await, Err(ReplayError::TooOld)));
    assert!(matches!(replay(&receiver, now - TimeDelta::days(1), now, 0).await, Err(ReplayError::Rate)));
    let console = world.console(Role::Manager).await;
    let page = console.get("/merchants/acme/endpoints/rma/replay?from=yesterday&to=today").await;
    assert!(page.status == 200 && page.text.contains("Write both times as"), "{}", page.text);
    assert_eq!(world.database.count("replay_job").await, 0);
}

#[tokio::test]
async fn replays_are_started_listed_and_cancelled_on_the_command_line() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    deliver(&receiver, &[("R-1", 1), ("R-2", 1)]).await;
    world.time_passes(Duration::from_mins(1));
    let run = |words: &[&str]| backhaul(&world.database, &[&["endpoint"], words].concat());
    let range = ["replay", "--merchant", "acme", "rma", "--from", "2026-03-01T12:00:00Z", "--to", "2026-03-01T12:02:00Z"];
    // The program's own clock is years ahead of this world's messages.
    let refused = err(&run(&range));
    assert!(refused.contains("the range begins more than 29 days ago"), "{refused}");
    let job = replay(&receiver, minute(0), minute(2), 1).await.unwrap().to_string();
    let listed: serde_json::Value = serde_json::from_str(&out(&run(&["replays", "--merchant", "acme", "-o", "json"]))).unwrap();
    assert_eq!((&listed["items"][0]["job_id"], &listed["items"][0]["state"]), (&job.as_str().into(), &"at work".into()));
    let cancelled: serde_json::Value =
        serde_json::from_str(&out(&run(&["cancel-replay", "--merchant", "acme", &job, "-o", "json"]))).unwrap();
    assert_eq!(cancelled["items"][0]["state"], "cancelled");
    assert!(err(&run(&["cancel-replay", "--merchant", "acme", &job])).contains("has no running replay"));
}
