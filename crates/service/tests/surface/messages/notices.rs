//! Notices when an endpoint starts to fail, recovers, or fills the failure queue: one for each change.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::set_technical_contact;
use backhaul::flow::messages::configure_endpoint::{self as flow, EndpointChange};
use backhaul::flow::messages::retry_message::{Asker, retry_message};
use backhaul::flow::messages::work_on_failure::{FailureAction, work_on_failure};
use domain::messages::message::Interface;
use sandbox::mailbox::{self, Mailbox};
use sandbox::merchant::{Answer, Merchant as Systems, Received};
use serde_json::json;
use sqlx::Connection as _;

use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// A world with an operator and a mail server.
struct Stage {
    mailbox: Mailbox,
    operator: Systems,
    world: World,
}

impl Stage {
    async fn set() -> Self {
        let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
        let world = World::with_operator(&mailbox, &operator).await;
        Self { mailbox, operator, world }
    }

    /// A merchant with this technical contact.
    async fn receiver(&self, contact: &str, change: EndpointChange) -> Receiver<'_> {
        let receiver = self.world.receiver_with("acme", change).await;
        let merchant = store::merchants::accounts::find(self.world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
        set_technical_contact(&self.world.app, "test", &merchant, Some(contact)).await.unwrap();
        receiver
    }

    /// The subjects of the mails that arrived.
    fn mails(&self) -> Vec<String> {
        self.mailbox.received().iter().map(|mail| mail.subject().unwrap().to_owned()).collect()
    }

    /// The events that the operator's webhook received.
    fn hooks(&self) -> Vec<String> {
        self.operator.received_at("/hook").iter().map(|call| call.json()["event"].as_str().unwrap().to_owned()).collect()
    }

    /// Expires the leases of a killed process.
    async fn leases_run_out(&self) {
        let mut connection = self.world.database.connect().await;
        for statement in
            ["update delivery_bucket set leased_until = now() - interval '1 second' where owner is not null", "delete from deliverer"]
        {
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
    }

    async fn passes(&self, wait: Duration) {
        self.world.time_passes(wait);
        self.world.deliver_all_due().await;
    }
}

const CONTACT: &str = "pat@example.com";
const FAILING: &str = "acme: the endpoint for rma is failing";
const RECOVERED: &str = "acme: the endpoint for rma has recovered";
const GIVEN_UP: &str = "acme: messages for rma were given up";

#[tokio::test]
async fn an_endpoint_that_fails_and_recovers_is_told_of_once_each() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, EndpointChange::default()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    for wait in [0, 6, 45] {
        stage.passes(Duration::from_secs(wait)).await;
    }
    stage.passes(Duration::from_mins(4)).await;
    assert_eq!((receiver.systems.count(), stage.mails().len()), (3, 0), "it may be a short outage");
    stage.passes(Duration::from_secs(9)).await;
    assert_eq!((stage.mails(), stage.hooks()), (vec![FAILING.to_owned()], vec!["endpoint.failing".to_owned()]));
    // Further failures cause no notice.
    for wait in [100, 3_000] {
        stage.passes(Duration::from_secs(wait)).await;
    }
    assert_eq!((receiver.systems.count(), stage.mails().len(), stage.hooks().len()), (5, 1, 1));

    receiver.systems.answer(PATH, Answer::ok());
    stage.passes(Duration::from_hours(7)).await;
    stage.passes(Duration::from_mins(14)).await;
    assert_eq!((receiver.systems.count(), stage.mails().len()), (7, 1), "it may fail again");
    stage.passes(Duration::from_mins(1)).await;
    assert_eq!(stage.mails(), [FAILING, RECOVERED]);
    assert_eq!(stage.hooks(), ["endpoint.failing", "endpoint.recovered"]);
    receiver.is_owed("R-2", 1).await;
    stage.world.deliver_all_due().await;
    assert_eq!((stage.mails().len(), stage.hooks().len(), stage.world.owed().await), (2, 2, 0));

    let mails = stage.mailbox.received();
    assert_eq!(mails[0].envelope_to(), [CONTACT]);
    let text = mails[0].text().unwrap();
    for part in ["since 2026-03-01 12:00 UTC", &receiver.systems.url(PATH), "503", "2 messages"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let calls = stage.operator.received_at("/hook");
    let notice = calls[0].json();
    assert_eq!(
        notice,
        json!({
            "event": "endpoint.failing", "noticed_at": "2026-03-01T12:05:00Z", "merchant": "acme", "interface": "rma",
            "url": receiver.systems.url(PATH), "failing_since": "2026-03-01T12:00:00Z", "last_answer": "503", "waiting": 2, "failed": 0,
        })
    );
    assert_eq!((calls[0].sequence(), calls[1].sequence()), (Some(1), Some(2)));
}

#[tokio::test]
async fn a_failure_queue_that_fills_is_told_of_once_and_again_after_it_was_emptied() {
    let stage = Stage::set().await;
    // Other messages arrive meanwhile, so that the endpoint itself does not fail.
    let receiver = stage.receiver(CONTACT, impatient()).await;
    let give_up = async |subject: &str| {
        let id = receiver.is_owed(subject, 1).await;
        let refused = id.to_string();
        let answer = move |call: &Received| if call.message_id() == Some(&refused) { Answer::status(422) } else { Answer::ok() };
        receiver.systems.answer_by(PATH, answer);
        for attempt in 1..=6 {
            receiver.is_owed(&format!("{subject} too"), attempt).await;
            stage.passes(Duration::from_secs(2)).await;
        }
        receiver.systems.answer(PATH, Answer::ok());
        id
    };
    let (first, second) = (give_up("R-1").await, give_up("R-2").await);
    assert_eq!((stage.mails(), stage.hooks()), (vec![GIVEN_UP.to_owned()], vec!["endpoint.failures_open".to_owned()]));

    // One is retried and arrives, the other is discarded: the queue becomes empty, and then fills again.
    retry_message(&stage.world.app, Asker::Operator("test"), receiver.merchant, first).await.unwrap();
    stage.world.deliver_all_due().await;
    give_up("R-3").await;
    assert_eq!(stage.hooks().len(), 1, "there was always one left");
    for id in [second, first] {
        let discarded = work_on_failure(&stage.world.app, "test", receiver.merchant, id, FailureAction::Discard).await;
        assert_eq!(discarded.is_ok(), id == second);
    }
    let third = stage.world.database.texts("select message_id::text from failure where state = 'open'").await;
    retry_message(&stage.world.app, Asker::Operator("test"), receiver.merchant, third[0].parse().unwrap()).await.unwrap();
    stage.world.deliver_all_due().await;
    stage.passes(Duration::from_hours(8)).await;
    give_up("R-4").await;
    assert_eq!(stage.mails(), [GIVEN_UP, GIVEN_UP]);
    let fourth = stage.world.database.texts("select message_id::text from failure where state = 'open'").await;
    work_on_failure(&stage.world.app, "test", receiver.merchant, fourth[0].parse().unwrap(), FailureAction::Discard).await.unwrap();
    give_up("R-5").await;
    assert_eq!(stage.hooks(), ["endpoint.failures_open"; 2], "it was told a moment ago");
    stage.passes(Duration::from_hours(8)).await;
    assert_eq!(stage.hooks(), ["endpoint.failures_open"; 3]);
}

#[tokio::test]
async fn an_endpoint_with_short_waits_fails_when_its_messages_are_given_up() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, impatient()).await;
    receiver.systems.answer(PATH, Answer::reset());
    for subject in ["R-1", "R-2"] {
        receiver.is_owed(subject, 1).await;
    }
    stage.world.five_retries_pass().await;
    let mut hooks = stage.hooks();
    hooks.sort();
    assert_eq!(hooks, ["endpoint.failing", "endpoint.failures_open"]);
}

#[tokio::test]
async fn what_a_process_has_seen_is_told_by_the_next_one_when_it_is_killed() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, EndpointChange::default()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-1", 1).await;
    let deliver = async |waits: &[u64]| {
        let deliverer = backhaul::worker::start(&stage.world.app);
        for wait in waits {
            stage.world.time_passes(Duration::from_secs(*wait));
            deliverer.deliver_all_due().await;
        }
        // It is killed before it reports what it has seen.
        drop(deliverer);
        stage.leases_run_out().await;
    };
    deliver(&[0, 6, 45]).await;
    assert_eq!(stage.hooks(), [""; 0]);
    deliver(&[250]).await;
    assert_eq!(stage.hooks(), ["endpoint.failing"], "its successor knows that it has been failing since before");
    deliver(&[1]).await;
    assert_eq!(stage.hooks(), ["endpoint.failing"]);

    // The endpoint recovers, and the process is killed before it can report it.
    receiver.systems.answer(PATH, Answer::ok());
    let mut connection = stage.world.database.connect().await;
    let mut held = connection.begin().await.unwrap();
    sqlx::query("select from endpoint_notice for update").execute(&mut *held).await.unwrap();
    let deliverer = backhaul::worker::start(&stage.world.app);
    stage.world.time_passes(Duration::from_secs(100));
    receiver.systems.wait_for(4, Duration::from_secs(20)).await.unwrap();
    stage.world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    drop(deliverer);
    held.rollback().await.unwrap();
    stage.leases_run_out().await;
    deliver(&[0, 900]).await;
    assert_eq!(stage.hooks(), ["endpoint.failing", "endpoint.recovered"]);
    deliver(&[1]).await;
    assert_eq!(stage.mails(), [FAILING, RECOVERED]);
}

#[tokio::test]
async fn several_deliverers_tell_once() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    let deliverers = [(); 2].map(|()| backhaul::worker::start(&stage.world.app));
    stage.world.database.becomes("select count(distinct owner)::text from delivery_bucket", &["2"]).await;
    for number in 0..20 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    for attempts in ["1", "2", "3", "4", "5"] {
        stage.world.database.becomes("select coalesce(min(attempts), 0)::text from delivery", &[attempts]).await;
        stage.world.time_passes(Duration::from_secs(2));
    }
    stage.world.database.becomes("select count(*)::text from failure", &["20"]).await;
    stage.operator.wait_for(2, Duration::from_secs(20)).await.unwrap();
    stage.world.database.becomes("select count(*)::text from delivery", &["0"]).await;
    let mut hooks = stage.hooks();
    hooks.sort();
    assert_eq!(hooks, ["endpoint.failing", "endpoint.failures_open"]);
    for deliverer in deliverers {
        deliverer.leave().await;
    }
    stage.world.deliver_all_due().await;
    assert_eq!((stage.hooks().len(), stage.mails().len()), (2, 2));
}

#[tokio::test]
async fn a_mail_server_that_is_down_disturbs_no_delivery_and_notices_stay_in_order() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, impatient()).await;
    stage.mailbox.answer(mailbox::Answer::TryLater);
    receiver.systems.answer(PATH, Answer::status(503));
    for number in 0..3 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    stage.world.deliver_all_due().await;
    stage.passes(Duration::from_secs(2)).await;
    stage.passes(Duration::from_mins(5)).await;
    receiver.systems.answer(PATH, Answer::ok());
    stage.passes(Duration::from_secs(2)).await;
    assert_eq!(receiver.systems.count(), 12, "everything arrived at its fourth attempt");
    stage.passes(Duration::from_mins(15)).await;
    assert_eq!(stage.hooks(), ["endpoint.failing", "endpoint.recovered"]);
    stage.mailbox.answer(mailbox::Answer::Accept);
    let refused = stage.mailbox.count();
    stage.passes(Duration::from_hours(1)).await;
    assert_eq!(stage.mails()[refused..], [FAILING, RECOVERED]);
    assert_eq!(stage.world.owed().await, 0);
}

#[tokio::test]
async fn nobody_is_told_of_trials_or_of_an_endpoint_that_is_paused() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, EndpointChange::default()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    for _ in 0..4 {
        flow::test_endpoint(&stage.world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
        stage.passes(Duration::from_mins(2)).await;
    }
    for number in 0..3 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    stage.world.deliver_all_due().await;
    flow::pause_endpoint(&stage.world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    stage.passes(Duration::from_hours(1)).await;
    assert_eq!((stage.mails().len(), stage.hooks().len()), (0, 0));
    flow::resume_endpoint(&stage.world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    stage.world.deliver_all_due().await;
    assert_eq!((stage.mails().len(), stage.hooks().len()), (1, 1), "it still fails");
}

#[tokio::test]
async fn a_contact_that_is_no_address_gets_no_mail() {
    let stage = Stage::set().await;
    let receiver = stage.receiver("ops@example.com", impatient()).await;
    // As earlier versions took it.
    let earlier = "update merchant set technical_contact = 'the people on the third floor'";
    sqlx::query(earlier).execute(&mut stage.world.database.connect().await).await.unwrap();
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-1", 1).await;
    stage.world.five_retries_pass().await;
    let mut hooks = stage.hooks();
    hooks.sort();
    assert_eq!((hooks, stage.mailbox.count()), (vec!["endpoint.failing".to_owned(), "endpoint.failures_open".to_owned()], 0));
    assert_eq!(stage.world.database.count("failure").await, 1, "and no internal work is given up");
}

#[tokio::test]
async fn an_endpoint_that_fails_nine_times_out_of_ten_for_a_day_causes_a_handful_of_mails() {
    let stage = Stage::set().await;
    let receiver = stage.receiver(CONTACT, EndpointChange::default()).await;
    let calls = std::sync::atomic::AtomicUsize::new(0);
    receiver.systems.answer_by(PATH, move |_| {
        let number = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if number % 10 == 9 { Answer::ok() } else { Answer::status(503) }
    });
    for half_hour in 0..48 {
        receiver.is_owed(&format!("R-{half_hour}"), 1).await;
        for wait in [0, 50, 30 * 60 - 50] {
            stage.passes(Duration::from_secs(wait)).await;
        }
    }
    assert!(receiver.systems.count() > 150, "{}", receiver.systems.count());
    // Two outages at most, one recovery between them, and the messages that were given up.
    let mails = stage.mails();
    let count = |subject: &str| mails.iter().filter(|mail| *mail == subject).count();
    assert!(count(FAILING) <= 2 && count(RECOVERED) <= 1, "{mails:?}");
    assert_eq!((count(GIVEN_UP), stage.hooks().len()), (1, mails.len()), "{mails:?}");
}
