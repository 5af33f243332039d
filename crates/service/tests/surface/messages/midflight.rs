//! Events during a call: lanes are parked and settled, messages discarded, and endpoints paused, changed and removed.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::pause_merchant;
use backhaul::flow::messages::configure_endpoint::{self as flow, EndpointChange};
use domain::messages::message::Interface;
use sandbox::merchant::Answer;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::world::World;
use crate::world::receiver::{PATH, Receiver, impatient};

/// Delivers everything due; `meanwhile` runs during the first call, which then gets `answer`.
async fn while_the_first_is_out(receiver: &Receiver<'_>, answer: Answer, meanwhile: impl AsyncFnOnce()) {
    let before = receiver.systems.count();
    receiver.systems.answer_next(PATH, [answer.held()]);
    let watching = async {
        receiver.systems.wait_for(before + 1, Duration::from_secs(10)).await.unwrap();
        meanwhile().await;
        receiver.systems.release();
    };
    tokio::join!(receiver.world.deliver_all_due(), watching);
}

/// The owed messages, by subject and sequence.
const OWED: &str = "select lane || ' ' || sequence || case when due_at = 'infinity' then ' parked' when attempts > 0 then ' later' else ' due' end \
    from delivery order by lane, sequence";
/// The failure queue: subject and sequence, attempts, reason.
const FAILED: &str = "select subject || ' ' || sequence || ' after ' || attempts || ': ' || reason from failure order by subject, sequence";
/// The attempts: subject and sequence, number, outcome.
const TRIED: &str = "select subject || ' ' || sequence || ' #' || number || ' ' || outcome \
    from attempt join message using (merchant_id, message_id) order by subject, sequence, number";

impl World {
    /// Checks the owed messages, the failure queue and the attempts.
    async fn keeps(&self, owed: &[&str], failed: &[&str], tried: &[&str]) {
        assert_eq!(self.database.texts(OWED).await, owed, "owed");
        assert_eq!(self.database.texts(FAILED).await, failed, "failed");
        assert_eq!(self.database.texts(TRIED).await, tried, "tried");
        assert_eq!(self.metric("backhaul_delivery_lanes_rescued_total").await, 0);
    }

    async fn discard(&self, receiver: &Receiver<'_>, message: Uuid) {
        let mut tx = self.app.begin(receiver.merchant).await.unwrap();
        assert!(store::messages::deliveries::discard(&mut tx, message).await.unwrap());
        tx.commit().await.unwrap();
    }

    /// Blocks all settling until the returned connection is dropped.
    async fn settles_nothing(&self) -> PgConnection {
        let mut connection = self.database.connect().await;
        sqlx::raw_sql("begin; select from delivery_bucket for update").execute(&mut connection).await.unwrap();
        connection
    }

    /// Waits until a settlement is blocked.
    async fn is_about_to_settle(&self) {
        let waiting = "select 'waits' from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' \
            and query like '%for share of delivery_bucket%'";
        self.database.becomes(waiting, &["waits"]).await;
    }
}

#[tokio::test]
async fn a_message_whose_parking_is_settled_before_its_head_goes_next() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        let settling = world.settles_nothing().await;
        receiver.is_owed("R-1", 2).await;
        world.is_about_to_settle().await;
        receiver.systems.release();
        drop(settling);
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2"]);
    world.keeps(&[], &[], &["R-1 1 #1 200", "R-1 2 #1 200"]).await;
}

#[tokio::test]
async fn a_message_that_was_to_be_parked_behind_a_head_that_is_gone_by_then_goes_next() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        let settling = world.settles_nothing().await;
        receiver.systems.release();
        world.is_about_to_settle().await;
        // The head's row is still there. Once another subject has arrived, every message owed before it has been read.
        receiver.is_owed("R-1", 2).await;
        receiver.is_owed("R-2", 1).await;
        receiver.systems.wait_for(2, Duration::from_secs(10)).await.unwrap();
        drop(settling);
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-2 1", "R-1 2"]);
    world.keeps(&[], &[], &["R-1 1 #1 200", "R-1 2 #1 200", "R-2 1 #1 200"]).await;
}

#[tokio::test]
async fn a_message_that_is_parked_together_with_the_end_of_its_head_goes_next() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        let settling = world.settles_nothing().await;
        // The writer blocks on this one, so that the next two gather.
        receiver.is_owed("R-0", 1).await;
        world.is_about_to_settle().await;
        receiver.is_owed("R-1", 2).await;
        receiver.is_owed("R-2", 1).await;
        receiver.systems.wait_for(3, Duration::from_secs(10)).await.unwrap();
        receiver.systems.release();
        drop(settling);
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-0 1", "R-2 1", "R-1 2"]);
    world.keeps(&[], &[], &["R-0 1 #1 200", "R-1 1 #1 200", "R-1 2 #1 200", "R-2 1 #1 200"]).await;
}

#[tokio::test]
async fn a_head_that_is_discarded_while_it_is_out_is_not_sent_again() {
    for (answer, outcome) in [(Answer::ok(), "R-1 1 #1 200"), (Answer::status(500), "R-1 1 #1 500")] {
        let world = World::new().await;
        let receiver = world.receiver("acme").await;
        let first = receiver.is_owed("R-1", 1).await;
        receiver.is_owed("R-1", 2).await;
        let third = receiver.is_owed("R-1", 3).await;
        while_the_first_is_out(&receiver, answer, async || {
            world.database.becomes(OWED, &["R-1 1 due", "R-1 2 parked", "R-1 3 parked"]).await;
            world.discard(&receiver, first).await;
            world.discard(&receiver, third).await;
            // Once the third is gone, the discarding of the first was seen as well: its row stays while its call is running.
            world.database.becomes(OWED, &["R-1 1 due", "R-1 2 parked"]).await;
            assert_eq!(receiver.arrived(), ["R-1 1"]);
        })
        .await;
        assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2"]);
        world.keeps(&[], &[], &[outcome, "R-1 2 #1 200"]).await;
    }
}

#[tokio::test]
async fn a_parked_message_that_is_discarded_is_never_sent_and_the_others_keep_waiting() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    let second = receiver.is_owed("R-1", 2).await;
    receiver.is_owed("R-1", 3).await;
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        world.database.becomes(OWED, &["R-1 1 due", "R-1 2 parked", "R-1 3 parked"]).await;
        world.discard(&receiver, second).await;
        world.database.becomes(OWED, &["R-1 1 due", "R-1 3 parked"]).await;
        assert_eq!(receiver.arrived(), ["R-1 1"]);
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 3"]);
    world.keeps(&[], &[], &["R-1 1 #1 200", "R-1 3 #1 200"]).await;
}

#[tokio::test]
async fn a_last_attempt_that_fails_lets_the_lane_go_on() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer_next(PATH, [(); 5].map(|()| Answer::status(500)));
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    for _retry in 0..4 {
        world.time_passes(Duration::from_secs(2));
        world.deliver_all_due().await;
    }
    let failed = ["R-1 1 #1 500", "R-1 1 #2 500", "R-1 1 #3 500", "R-1 1 #4 500", "R-1 1 #5 500"];
    world.keeps(&["R-1 1 later", "R-1 2 parked"], &[], &failed).await;
    world.time_passes(Duration::from_secs(2));
    while_the_first_is_out(&receiver, Answer::status(503), async || {
        receiver.is_owed("R-1", 3).await;
        world.database.becomes(OWED, &["R-1 1 later", "R-1 2 parked", "R-1 3 parked"]).await;
        assert_eq!(receiver.arrived(), ["R-1 1"; 6]);
    })
    .await;
    assert_eq!(receiver.arrived()[5..], ["R-1 1", "R-1 2", "R-1 3"]);
    let all = [failed.as_slice(), &["R-1 1 #6 503", "R-1 2 #1 200", "R-1 3 #1 200"]].concat();
    world.keeps(&[], &["R-1 1 after 6: 503"], &all).await;
}

#[tokio::test]
async fn an_endpoint_that_is_paused_while_a_call_is_out_gets_no_other() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    for (subject, sequence) in [("R-1", 1), ("R-1", 2)] {
        receiver.is_owed(subject, sequence).await;
    }
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        flow::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
        receiver.is_owed("R-2", 1).await;
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1"]);
    world.keeps(&["R-1 2 due", "R-2 1 due"], &[], &["R-1 1 #1 200"]).await;
    flow::resume_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2", "R-2 1"]);
    world.keeps(&[], &[], &["R-1 1 #1 200", "R-1 2 #1 200", "R-2 1 #1 200"]).await;
}

#[tokio::test]
async fn an_address_that_changes_while_a_call_is_out_counts_from_the_next_call() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    let elsewhere = EndpointChange { url: Some(receiver.systems.url("/elsewhere")), ..EndpointChange::default() };
    while_the_first_is_out(&receiver, Answer::status(500), async || {
        flow::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, elsewhere).await.unwrap();
        receiver.is_owed("R-2", 1).await;
        receiver.systems.wait_for_at("/elsewhere", 1, Duration::from_secs(10)).await.unwrap();
    })
    .await;
    world.keeps(&["R-1 1 later", "R-1 2 parked"], &[], &["R-1 1 #1 500", "R-2 1 #1 200"]).await;
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1"]);
    let elsewhere = receiver.systems.received_at("/elsewhere");
    let subjects: Vec<String> =
        elsewhere.iter().map(|received| format!("{} {}", received.json()["rma_identifier"], received.json()["step"])).collect();
    assert_eq!(subjects, [r#""R-2" 1"#, r#""R-1" 1"#, r#""R-1" 2"#]);
    world.keeps(&[], &[], &["R-1 1 #1 500", "R-1 1 #2 200", "R-1 2 #1 200", "R-2 1 #1 200"]).await;
}

#[tokio::test]
async fn an_endpoint_that_is_removed_while_a_call_is_out_gets_no_other() {
    let owed_failed = ["R-1 2 after 0: endpoint removed", "R-2 1 after 0: endpoint removed"];
    let all_failed = ["R-1 1 after 1: endpoint removed", owed_failed[0], owed_failed[1]];
    for (answer, failed, tried) in [(Answer::ok(), &owed_failed[..], "R-1 1 #1 200"), (Answer::status(500), &all_failed, "R-1 1 #1 500")] {
        let world = World::new().await;
        let receiver = world.receiver_with("acme", EndpointChange { slots: Some(1), ..EndpointChange::default() }).await;
        for (subject, sequence) in [("R-1", 1), ("R-1", 2), ("R-2", 1)] {
            receiver.is_owed(subject, sequence).await;
        }
        while_the_first_is_out(&receiver, answer, async || {
            flow::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
            // Messages that are not being sent are given up without waiting for the call.
            world.database.becomes(FAILED, &owed_failed).await;
        })
        .await;
        assert_eq!(receiver.arrived(), ["R-1 1"]);
        world.keeps(&[], failed, &[tried]).await;
    }
}

#[tokio::test]
async fn a_merchant_that_is_paused_is_still_sent_what_it_is_owed() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    while_the_first_is_out(&receiver, Answer::ok(), async || {
        let merchant = store::merchants::accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
        pause_merchant(&world.app, "test", &merchant).await.unwrap();
    })
    .await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2"], "only its own calls are refused");
    world.keeps(&[], &[], &["R-1 1 #1 200", "R-1 2 #1 200"]).await;
}
