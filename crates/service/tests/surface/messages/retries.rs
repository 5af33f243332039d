//! Retries by hand: one message at a time, or all messages of an endpoint.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{self as endpoint, EndpointChange};
use backhaul::flow::messages::retry_failures::{RetryFailuresError, RetryRequest, cancel_retries, retry_failures};
use backhaul::flow::messages::retry_message::{Asker, Retried, RetryMessageError, retry_message};
use backhaul::flow::messages::work_on_failure::{FailureAction, work_on_failure};
use domain::messages::message::{Interface, Kind};
use sandbox::merchant::Answer;
use store::messages::failures::{self, Of};
use uuid::Uuid;

use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// Makes `count` messages of different subjects fail until they are given up.
async fn given_up(receiver: &Receiver<'_>, count: usize) -> Vec<Uuid> {
    let world = receiver.world;
    receiver.systems.answer(PATH, Answer::status(503));
    let mut ids = Vec::new();
    for at in 0..count {
        ids.push(receiver.is_owed(&format!("R-{at}"), 1).await);
    }
    world.five_retries_pass().await;
    assert_eq!(world.owed().await, 0);
    receiver.systems.answer(PATH, Answer::ok());
    ids
}

/// The entries of the failure queue, by subject.
const STATES: &str = "select subject || ' ' || state || ' after ' || attempts from failure order by subject";

async fn retry(receiver: &Receiver<'_>, id: Uuid) -> Result<Retried, RetryMessageError> {
    retry_message(&receiver.world.app, Asker::Operator("test"), receiver.merchant, id).await
}

#[tokio::test]
async fn a_failed_message_is_tried_again_with_the_same_id_and_bytes_and_is_resolved_when_it_arrives() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let id = given_up(&receiver, 1).await[0];
    let retried = retry(&receiver, id).await.unwrap();
    assert_eq!(retried, Retried { attempt: 7, overtaken: false });
    world.deliver_all_due().await;
    let calls = receiver.systems.received_at(PATH);
    assert_eq!(calls.iter().map(|call| call.attempt().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    assert!(calls.iter().all(|call| call.message_id() == Some(id.to_string().as_str()) && call.json() == calls[0].json()));
    assert_eq!((world.owed().await, world.database.texts(STATES).await), (0, vec!["R-0 resolved after 6".to_owned()]));
    let audit = world.database.texts("select actor || ' ' || action from audit where action like 'message%'").await;
    assert_eq!(audit, ["test message.retried"]);
}

#[tokio::test]
async fn a_message_that_fails_again_is_back_in_the_failure_queue_with_a_fresh_round_behind_it() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let id = given_up(&receiver, 1).await[0];
    for round in 1..=2 {
        receiver.systems.answer(PATH, Answer::status(500));
        retry(&receiver, id).await.unwrap();
        world.five_retries_pass().await;
        assert_eq!(world.database.texts(STATES).await, [format!("R-0 open after {}", 6 + 6 * round)]);
    }
    assert_eq!(world.database.texts("select reason from failure").await, ["500"]);
}

#[tokio::test]
async fn a_delivered_message_is_sent_once_more_in_a_lane_of_its_own() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let id = receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    let retried = retry(&receiver, id).await.unwrap();
    assert_eq!(retried, Retried { attempt: 2, overtaken: true });
    assert!(retried.warning().unwrap().starts_with("Newer messages"));
    // A newer message of the same subject does not wait for it.
    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    world.deliver_all_due().await;
    receiver.is_owed("R-1", 3).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2", "R-1 1", "R-1 3"]);
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived().last().unwrap(), "R-1 1");
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn a_message_that_is_owed_absent_foreign_or_without_an_endpoint_is_not_tried_again() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let other = world.receiver("other").await;
    let failed = given_up(&receiver, 1).await[0];
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let owed = receiver.is_owed("R-9", 1).await;
    assert!(matches!(retry(&receiver, owed).await, Err(RetryMessageError::StillOwed)));
    assert!(matches!(retry(&receiver, Uuid::nil()).await, Err(RetryMessageError::NoSuchMessage(_))));
    assert!(matches!(retry(&other, failed).await, Err(RetryMessageError::NoSuchMessage(_))));
    retry(&receiver, failed).await.unwrap();
    assert!(matches!(retry(&receiver, failed).await, Err(RetryMessageError::StillOwed)), "the second time it is owed");
    endpoint::resume_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let refused = retry(&receiver, failed).await.unwrap_err();
    assert!(refused.to_string().contains("`backhaul endpoint set --merchant HANDLE`"), "{refused}");
    let trial = endpoint::test_endpoint(&world.app, "test", other.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert!(matches!(retry(&other, trial).await, Err(RetryMessageError::Trial)));
}

#[tokio::test]
async fn what_was_owed_to_a_removed_endpoint_goes_to_the_one_that_follows_it() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let id = receiver.is_owed("R-0", 1).await;
    endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(world.database.texts(STATES).await, ["R-0 open after 0"]);
    let change = EndpointChange { url: Some(receiver.systems.url(PATH)), ..EndpointChange::default() };
    endpoint::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    retry(&receiver, id).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-0 1"]);
    assert_eq!(world.database.texts(STATES).await, ["R-0 resolved after 0"]);
}

#[tokio::test]
async fn everything_of_an_interface_includes_what_was_owed_to_endpoints_that_were_removed() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let replace = async || {
        endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
        world.deliver_all_due().await;
        let change = EndpointChange { url: Some(receiver.systems.url(PATH)), per_second: Some(10_000), ..impatient() };
        endpoint::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    };
    given_up(&receiver, 2).await;
    replace().await;
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    receiver.is_owed("R-2", 1).await;
    world.time_passes(Duration::from_secs(1));
    replace().await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-3", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    assert_eq!(world.database.texts(STATES).await, ["R-0 open after 6", "R-1 open after 6", "R-2 open after 0", "R-3 open after 6"]);
    let before = receiver.systems.count();

    // One job delivers all of them to the endpoint that is there now, in the order in which they were given up.
    let (_, total) =
        retry_failures(&world.app, "test", receiver.merchant, RetryRequest { per_second: Some(3), ..EVERYTHING }).await.unwrap();
    assert_eq!(total, 4);
    a_second_passes(&world, "3").await;
    a_second_passes(&world, "4").await;
    the_job_ends(&world).await;
    let mut arrived = receiver.arrived().split_off(before);
    assert_eq!(arrived.pop().as_deref(), Some("R-3 1"));
    arrived.sort();
    assert_eq!(arrived, ["R-0 1", "R-1 1", "R-2 1"]);
    assert_eq!(world.database.texts("select distinct state from failure").await, ["resolved"]);
}

#[tokio::test]
async fn a_failed_message_can_be_tried_again_when_its_day_is_long_gone() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 2).await;
    world.time_passes(Duration::from_hours(24 * 40));
    store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
    assert!(store::messages::partitions::drop_before(world.app.cell(), world.app.now()).await.unwrap().is_empty());
    assert_eq!(world.database.count("message").await, 0);
    retry(&receiver, ids[0]).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(receiver.systems.received_at(PATH).last().unwrap().json()["rma_identifier"], "R-0");
    // Nor is it lost when it is given up again.
    receiver.systems.answer(PATH, Answer::status(500));
    retry(&receiver, ids[1]).await.unwrap();
    world.five_retries_pass().await;
    assert_eq!(world.database.texts(STATES).await, ["R-0 resolved after 6", "R-1 open after 12"]);
    assert_eq!(world.owed().await, 0);
}

const EVERYTHING: RetryRequest = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(4) };

/// A second passes, and the newest job has released this many messages.
async fn a_second_passes(world: &World, released: &str) {
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select released::text from retry_job order by job_id desc limit 1", &[released]).await;
    world.deliver_all_due().await;
}

/// Waits until the newest job has ended.
async fn the_job_ends(world: &World) {
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select (ended_at is not null)::text from retry_job order by job_id desc limit 1", &["true"]).await;
}

#[tokio::test]
async fn everything_of_an_endpoint_is_tried_again_no_faster_than_it_is_told_to() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 12).await;
    let preview = failures::groups(world.app.cell(), receiver.merchant, Of::Merchant, None).await.unwrap();
    let [group] = preview.as_slice() else { panic!("one group: {preview:?}") };
    assert_eq!((group.interface.as_str(), group.reason.as_str(), group.count), ("rma", "503", 12));
    let (_, total) = retry_failures(&world.app, "test", receiver.merchant, EVERYTHING).await.unwrap();
    assert_eq!(total, 12);
    assert!(matches!(retry_failures(&world.app, "test", receiver.merchant, EVERYTHING).await, Err(RetryFailuresError::JobRunning)));
    for released in ["4", "8", "12"] {
        a_second_passes(&world, released).await;
    }
    the_job_ends(&world).await;
    let states = world.database.texts("select distinct state from failure").await;
    assert_eq!((states, receiver.systems.count()), (vec!["resolved".to_owned()], 72 + 12));
}

#[tokio::test]
async fn a_job_leaves_half_of_the_slots_to_others() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", EndpointChange { slots: Some(6), ..impatient() }).await;
    given_up(&receiver, 10).await;
    receiver.systems.answer(PATH, Answer::ok().held());
    let wanted = RetryRequest { per_second: Some(1_000), ..EVERYTHING };
    retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap();
    world.time_passes(Duration::from_secs(1));
    receiver.systems.wait_for(60 + 3, Duration::from_secs(20)).await.unwrap();
    world.time_passes(Duration::from_secs(1));
    receiver.is_owed("live", 1).await;
    receiver.systems.wait_for(60 + 4, Duration::from_secs(20)).await.unwrap();
    assert_eq!(receiver.systems.received_at(PATH).last().unwrap().json()["rma_identifier"], "live");
    assert_eq!((world.database.texts("select released::text from retry_job").await, world.owed().await), (vec!["3".to_owned()], 4));
    receiver.systems.answer(PATH, Answer::ok());
    receiver.systems.release();
    for released in ["6", "9", "10"] {
        world.deliver_all_due().await;
        a_second_passes(&world, released).await;
    }
}

#[tokio::test]
async fn a_job_that_is_called_off_releases_nothing_more() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 10).await;
    let (job, _) = retry_failures(&world.app, "test", receiver.merchant, EVERYTHING).await.unwrap();
    a_second_passes(&world, "4").await;
    cancel_retries(&world.app, "test", receiver.merchant, job).await.unwrap();
    assert!(matches!(cancel_retries(&world.app, "test", receiver.merchant, job).await, Err(RetryFailuresError::NoSuchJob(_))));
    // Another process takes over the rest.
    world.time_passes(Duration::from_secs(10));
    let (_, total) = retry_failures(&world.app, "test", receiver.merchant, EVERYTHING).await.unwrap();
    assert_eq!(total, 6);
    a_second_passes(&world, "4").await;
    a_second_passes(&world, "6").await;
    assert_eq!(world.database.texts("select released::text from retry_job order by job_id").await, ["4", "6"]);
    assert_eq!(receiver.systems.count(), 60 + 10);
}

#[tokio::test]
async fn a_job_goes_on_where_a_deliverer_that_is_gone_has_left_it_and_sends_nothing_twice() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 20).await;
    retry_failures(&world.app, "test", receiver.merchant, EVERYTHING).await.unwrap();
    a_second_passes(&world, "4").await;
    a_second_passes(&world, "8").await;
    let Receiver { merchant, systems, .. } = receiver;
    let mut world = world;
    drop(world.deliverer.take());
    sqlx::query("update delivery_bucket set leased_until = now() - interval '1 second'")
        .execute(&mut world.database.connect().await)
        .await
        .unwrap();
    let next = backhaul::worker::start(&world.app);
    world.deliverer.set(next).ok().unwrap();
    let receiver = Receiver { world: &world, merchant, systems, secret: String::new() };
    for released in ["12", "16", "20"] {
        a_second_passes(&world, released).await;
    }
    the_job_ends(&world).await;
    let mut arrived: Vec<String> = receiver.arrived().split_off(120);
    assert_eq!(arrived.len(), 20);
    arrived.sort();
    arrived.dedup();
    assert_eq!(arrived.len(), 20, "each once");
}

#[tokio::test]
async fn only_what_failed_since_a_time_is_tried_again() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 3).await;
    world.time_passes(Duration::from_hours(1));
    let since = world.app.now();
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("later", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    let wanted = RetryRequest { since: Some(since), ..EVERYTHING };
    let (_, total) = retry_failures(&world.app, "test", receiver.merchant, wanted).await.unwrap();
    assert_eq!(total, 1);
    a_second_passes(&world, "1").await;
    assert_eq!(receiver.arrived().last().unwrap(), "later 1");
}

#[tokio::test]
async fn people_note_down_what_they_do_about_a_failure() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    let ids = given_up(&receiver, 2).await;
    for action in
        [FailureAction::AssignOwner("sam".to_owned()), FailureAction::AddNote("their firewall".to_owned()), FailureAction::MarkContacted]
    {
        work_on_failure(&world.app, "cli:sam", receiver.merchant, ids[0], action).await.unwrap();
    }
    let entry = failures::find(world.app.cell(), receiver.merchant, ids[0]).await.unwrap().unwrap();
    assert_eq!((entry.state.as_str(), entry.owner.as_deref(), entry.note.as_deref()), ("contacted", Some("sam"), Some("their firewall")));
    assert_eq!(entry.contacted_at, Some(world.app.now()));
    // Discarding the entry of a message that is being retried cancels the retry too.
    endpoint::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    retry(&receiver, ids[1]).await.unwrap();
    work_on_failure(&world.app, "cli:sam", receiver.merchant, ids[1], FailureAction::Discard).await.unwrap();
    assert!(work_on_failure(&world.app, "cli:sam", receiver.merchant, ids[1], FailureAction::MarkContacted).await.is_err());
    world.deliver_all_due().await;
    assert_eq!(world.owed().await, 0);
    let states = world.database.texts(STATES).await;
    assert_eq!(states, ["R-0 contacted after 6", "R-1 discarded after 6"]);
    let audit = world.database.texts("select action from audit where action like 'failure.%' order by action").await;
    assert_eq!(audit, ["failure.contacted", "failure.discarded", "failure.noted", "failure.owned"]);
}
