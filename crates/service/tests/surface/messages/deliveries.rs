//! Delivery to merchants' systems: in order per subject, signed, retried on failure, and given up into the
//! failure queue.

use std::time::{Duration, Instant};

use backhaul::delivery::secrets::authentication::{Authentication, OAuth, Style};
use backhaul::flow::messages::configure_endpoint::{self as flow, EndpointChange};
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use backhaul::flow::messages::retry_message::{Asker, RetryMessageError, retry_message};
use backhaul::flow::messages::work_on_failure::{FailureAction, work_on_failure};
use domain::messages::message::{Interface, Kind};
use reqwest::Method;
use sandbox::merchant::Answer;
use store::messages::outbox::Message;
use tokio::net::{TcpSocket, TcpStream};

use crate::world::receiver::PATH;
use crate::world::{World, beginning};

#[tokio::test]
async fn a_message_is_delivered_once_and_signed() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let id = receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;

    let requests = receiver.systems.received_at(PATH);
    let [request] = requests.as_slice() else { panic!("one request, not {}", requests.len()) };
    receiver.verifies(request);
    assert_eq!(request.message_id(), Some(id.to_string().as_str()));
    assert_eq!(request.header("x-service-event"), Some("rma.created"));
    assert_eq!(request.header("x-service-api-version"), Some("1"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!((request.sequence(), request.attempt()), (Some(1), Some(1)));
    assert_eq!(request.json()["rma_identifier"], "R-1");
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| (attempt.number, attempt.status)).collect::<Vec<_>>(), [(1, Some(200))]);
    assert_eq!(world.metric(&world.of_its_cell(r#"backhaul_delivery_attempts_total{interface="rma",outcome="200"}"#)).await, 1);
}

#[tokio::test]
async fn a_message_to_an_endpoint_with_nothing_else_to_do_is_called_without_being_read() {
    const HANDED_OVER: &str = "backhaul_delivery_handed_over_total";
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    assert_eq!(world.metric(HANDED_OVER).await, 0, "the settings of the endpoint have to be read");
    let id = receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!(world.metric(HANDED_OVER).await, 1);
    let requests = receiver.systems.received_at(PATH);
    let [read, handed] = requests.as_slice() else { panic!("two requests, not {}", requests.len()) };
    receiver.verifies(handed);
    assert_eq!(handed.message_id(), Some(id.to_string().as_str()));
    assert_eq!((handed.sequence(), handed.attempt(), handed.json()["step"].as_i64()), (Some(2), Some(1), Some(2)));
    for name in ["content-type", "x-service-event", "x-service-api-version"] {
        assert_eq!(handed.header(name), read.header(name), "{name}");
    }
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| (attempt.number, attempt.status)).collect::<Vec<_>>(), [(1, Some(200))]);
    assert_eq!((world.owed().await, world.failures().await), (0, 0));

    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    receiver.is_owed("R-1", 3).await;
    world.deliver_all_due().await;
    receiver.is_owed("R-1", 4).await;
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 2", "R-1 3", "R-2 1"], "one that is not next waits for the one before it");

    flow::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    receiver.is_owed("R-3", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived().len(), 4, "a paused endpoint is not called");
    let handed = world.metric(HANDED_OVER).await;
    flow::resume_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((receiver.arrived().len(), world.metric(HANDED_OVER).await), (5, handed), "what waited is read");
}

#[tokio::test]
async fn messages_of_a_subject_go_one_after_the_other_and_subjects_side_by_side() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    for sequence in 1..=5 {
        receiver.is_owed("R-1", sequence).await;
    }
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1"], "the first failed, so the others wait");
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-2 1"], "another subject does not");

    world.time_passes(Duration::from_millis(5_500));
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-2 1", "R-1 1", "R-1 2", "R-1 3", "R-1 4", "R-1 5"]);
    assert_eq!(world.owed().await, 0);
    assert_eq!(world.metric("backhaul_delivery_lanes_rescued_total").await, 0);
}

#[tokio::test]
async fn endpoints_with_more_messages_than_slots_are_drained_side_by_side() {
    let world = World::new().await;
    let few = || EndpointChange { slots: Some(2), ..EndpointChange::default() };
    let receivers = [world.receiver_with("acme", few()).await, world.receiver_with("globex", few()).await];
    for number in 10..40 {
        for receiver in &receivers {
            receiver.is_owed(&format!("R-{number}"), 1).await;
        }
    }
    world.deliver_all_due().await;
    let expected: Vec<String> = (10..40).map(|number| format!("R-{number} 1")).collect();
    for receiver in &receivers {
        let mut arrived = receiver.arrived();
        arrived.sort_unstable();
        assert_eq!(arrived, expected, "each once");
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
    for counted in ["select sum(count)::text from attempt_hourly", "select sum(count)::text from delivered_hourly"] {
        assert_eq!(world.database.texts(counted).await, ["60"], "{counted}");
    }
}

#[tokio::test]
async fn an_endpoint_that_always_fails_has_six_attempts_at_the_scheduled_times_and_its_lane_moves_on() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(503).body("down for maintenance"));
    let id = receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    for (attempt, wait) in [5, 40, 320, 2_560, 20_480].into_iter().enumerate() {
        assert_eq!(receiver.systems.count(), attempt + 1);
        world.time_passes(Duration::from_millis(wait * 1_000 - 1));
        world.deliver_all_due().await;
        assert_eq!(receiver.systems.count(), attempt + 1, "not before its time");
        world.time_passes(Duration::from_secs(wait) / 10 + Duration::from_millis(1));
        if attempt == 4 {
            receiver.systems.answer_next(PATH, [Answer::status(503)]);
            receiver.systems.answer(PATH, Answer::ok());
        }
        world.deliver_all_due().await;
    }
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(attempts.iter().take(4).all(|attempt| attempt.answer.as_deref() == Some(b"down for maintenance")));
    assert_eq!(receiver.arrived().last().unwrap(), "R-1 2", "the lane moved on");
    assert_eq!((world.owed().await, world.failures().await), (0, 1));
    let numbers: Vec<u32> = receiver.systems.received_at(PATH).iter().filter_map(sandbox::merchant::Received::attempt).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 1]);
}

fn oauth(token_url: String) -> Authentication {
    let client_id = "backhaul".to_owned();
    Authentication::OAuth(OAuth { token_url, client_id, client_secret: "secret".into(), scope: None, style: Style::Json, extra: None })
}

#[tokio::test]
async fn a_refused_token_is_replaced_and_the_call_made_again_without_being_counted() {
    let world = World::new().await;
    let systems = sandbox::merchant::Merchant::start().await.unwrap();
    systems.expect_client("backhaul", "secret");
    systems.requires_token(PATH);
    let authentication = Some(oauth(systems.tokens().url()));
    let receiver = world.receiver_at("acme", systems, EndpointChange { authentication, ..EndpointChange::default() }).await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    receiver.systems.revoke_tokens();
    let id = receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;

    assert_eq!(receiver.systems.token_fetches(), 2);
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| (attempt.number, attempt.status)).collect::<Vec<_>>(), [(1, Some(401)), (1, Some(200))]);
    assert_eq!(world.owed().await, 0);
}

#[tokio::test]
async fn tokens_are_not_fetched_more_often_than_calls_are_made() {
    let world = World::new().await;
    let systems = sandbox::merchant::Merchant::start().await.unwrap();
    systems.answer(PATH, Answer::unauthorized());
    let authentication = Some(oauth(systems.tokens().url()));
    let receiver = world.receiver_at("acme", systems, EndpointChange { authentication, ..EndpointChange::default() }).await;
    receiver.is_owed("R-1", 1).await;
    for wait in [0, 6, 45, 360, 2_900, 23_000] {
        world.time_passes(Duration::from_secs(wait));
        world.deliver_all_due().await;
    }
    assert_eq!(world.failures().await, 1);
    let calls = receiver.systems.received_at(PATH).len();
    assert_eq!(calls, 12, "six attempts, each with its second call");
    assert!(receiver.systems.token_fetches() <= calls, "{}", receiver.systems.token_fetches());
}

#[tokio::test]
async fn a_paused_endpoint_is_not_called_and_goes_on_when_it_is_resumed() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    flow::pause_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!((receiver.systems.count(), world.owed().await), (0, 2));
    flow::resume_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((receiver.arrived(), world.owed().await), (vec!["R-1 1".to_owned(), "R-1 2".to_owned()], 0));
}

#[tokio::test]
async fn what_is_owed_to_a_removed_endpoint_goes_to_the_failure_queue() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(500));
    for (subject, sequence) in [("R-1", 1), ("R-1", 2), ("R-2", 1)] {
        receiver.is_owed(subject, sequence).await;
    }
    world.deliver_all_due().await;
    flow::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((world.owed().await, world.failures().await), (0, 3));
    // Without an endpoint a message is stored, but nothing is owed.
    receiver.is_owed("R-3", 1).await;
    assert_eq!((world.owed().await, world.database.count("message").await), (0, 4));
}

#[tokio::test]
async fn a_changed_endpoint_counts_from_the_next_attempt() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let change = EndpointChange { url: Some(receiver.systems.url("/elsewhere")), ..EndpointChange::default() };
    flow::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    assert_eq!((receiver.systems.received_at("/elsewhere").len(), world.owed().await), (1, 0));
}

#[tokio::test]
async fn while_a_secret_changes_both_sign() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let new = flow::rotate_secret(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let request = receiver.systems.received_at(PATH);
    let request = request.first().unwrap();
    receiver.verifies(request);
    let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(world.app.now().timestamp()).unwrap());
    request.verify(secrecy::ExposeSecret::expose_secret(&new), now).unwrap();
    world.time_passes(Duration::from_hours(24));
    receiver.is_owed("R-2", 1).await;
    world.deliver_all_due().await;
    let request = receiver.systems.received_at(PATH);
    assert_eq!(request.last().unwrap().header("webhook-signature").unwrap().split(' ').count(), 1, "the previous secret has expired");
}

#[tokio::test]
async fn a_trial_is_sent_once_and_is_in_no_report_and_no_failure_queue() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::status(418).body("short and stout"));
    let id = flow::test_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    world.deliver_all_due().await;
    let requests = receiver.systems.received_at(PATH);
    let [request] = requests.as_slice() else { panic!("one request, not {}", requests.len()) };
    receiver.verifies(request);
    assert_eq!((request.header("x-service-event"), request.header("x-service-trial")), (Some("endpoint.test"), Some("true")));
    assert_eq!(request.json()["items"][0]["order_identifier"], "TRIAL-A-1", "it reads as a real one");
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
    assert_eq!(attempts.iter().map(|attempt| attempt.status).collect::<Vec<_>>(), [Some(418)]);
    assert_eq!((world.owed().await, world.failures().await, world.database.count("attempt_hourly").await), (0, 0, 0));
}

#[tokio::test]
async fn a_discarded_message_is_dropped_and_its_lane_goes_on() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::status(500)]);
    let first = receiver.is_owed("R-1", 1).await;
    let second = receiver.is_owed("R-1", 2).await;
    receiver.is_owed("R-1", 3).await;
    world.deliver_all_due().await;
    // The head waits for its retry, and the others are parked behind it.
    for message in [first, second] {
        let mut tx = world.app.begin(receiver.merchant).await.unwrap();
        assert!(store::messages::deliveries::discard(&mut tx, message).await.unwrap());
        tx.commit().await.unwrap();
    }
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 1", "R-1 3"]);
    assert_eq!((world.owed().await, world.failures().await), (0, 0));
}

#[tokio::test]
async fn an_endpoint_may_have_a_schedule_of_its_own() {
    let world = World::new().await;
    let waits = Some(vec![10, 20, 1, 1, 30]);
    let receiver = world.receiver_with("acme", EndpointChange { waits, ..EndpointChange::default() }).await;
    receiver.systems.answer(PATH, Answer::status(500));
    receiver.is_owed("R-1", 1).await;
    for (wait, calls) in [(0, 1), (9, 1), (2, 2), (19, 2), (3, 3), (2, 4), (2, 5), (29, 5), (4, 6), (100_000, 6)] {
        world.time_passes(Duration::from_secs(wait));
        world.deliver_all_due().await;
        assert_eq!(receiver.systems.count(), calls);
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 1));
}

#[tokio::test]
async fn there_are_five_retries_whatever_the_schedule_of_an_endpoint() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let set = |waits: Vec<i64>| {
        let change = EndpointChange { waits: Some(waits), ..EndpointChange::default() };
        flow::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change)
    };
    for wrong in [vec![1], vec![1; 4], vec![1; 6], vec![0, 1, 1, 1, 1]] {
        let refused = set(wrong).await.unwrap_err().to_string();
        assert_eq!(refused, "every message is retried five times, so a schedule must have exactly five waits, each of 1 second to 7 days");
    }
    set(vec![1; 5]).await.unwrap();

    // A version before this one stored any number of waits.
    receiver.systems.answer(PATH, Answer::status(500));
    for (stored, waits) in [(vec![1_i64, 2], [1, 2, 320, 2_560, 20_480]), (vec![1; 10], [1; 5])] {
        let mut connection = world.database.connect().await;
        let storing = sqlx::query("update endpoint set waits = $1, revision = revision + 1").bind(&stored);
        storing.execute(&mut connection).await.unwrap();
        let before = receiver.systems.count();
        receiver.is_owed(&format!("R-{}", stored.len()), 1).await;
        world.deliver_all_due().await;
        for wait in waits {
            world.time_passes(Duration::from_secs(wait + wait / 10 + 1));
            world.deliver_all_due().await;
        }
        world.time_passes(Duration::from_hours(24));
        world.deliver_all_due().await;
        assert_eq!(receiver.systems.count() - before, 6, "{stored:?}");
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 2));
}

#[tokio::test]
async fn whatever_goes_wrong_with_a_call_is_a_failure_like_any_other() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let elsewhere = sandbox::merchant::Merchant::start().await.unwrap();
    let answers = [
        (Answer::redirect(&elsewhere.url("/rmas")), "302"),
        (Answer::status(404), "404"),
        (Answer::unauthorized(), "401"),
        (Answer::reset(), "unreachable"),
        (Answer::close(), "unreachable"),
    ];
    for (number, (answer, outcome)) in answers.into_iter().enumerate() {
        receiver.systems.answer_next(PATH, [answer]);
        let id = receiver.is_owed(&format!("R-{number}"), 1).await;
        world.deliver_all_due().await;
        let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap();
        assert_eq!(attempts.iter().map(|attempt| attempt.outcome.as_str()).collect::<Vec<_>>(), [outcome]);
    }
    assert_eq!(elsewhere.count(), 0, "a redirect is not followed");
    assert_eq!(world.owed().await, 5, "each is retried");
    let outcomes = world.database.texts("select distinct outcome from attempt_hourly order by outcome").await;
    assert_eq!(outcomes, ["302", "401", "404", "unreachable"], "and counted by its outcome");
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    assert_eq!(world.owed().await, 0);
}

#[tokio::test]
async fn an_answer_without_a_body_is_as_good_and_one_with_a_body_is_kept() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::status(204), Answer::status(201).body(r#"{"message":"thanks"}"#)]);
    receiver.is_owed("R-1", 1).await;
    let second = receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!(world.owed().await, 0);
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, second).await.unwrap();
    assert_eq!(attempts.first().unwrap().answer.as_deref(), Some(br#"{"message":"thanks"}"#.as_slice()));
}

#[tokio::test]
async fn no_interface_needs_a_body_in_its_answer() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let systems = sandbox::merchant::Merchant::start().await.unwrap();
    // What an exchange order's answer means is another matter; variants are asked for, not told.
    let told = |interface: &Interface| !matches!(interface, Interface::ExchangeOrder | Interface::ExchangeVariants);
    for interface in Interface::ALL.into_iter().filter(told) {
        let change = EndpointChange { url: Some(systems.url(interface.path())), ..EndpointChange::default() };
        flow::set_endpoint(&world.app, "test", merchant.id, interface, change).await.unwrap();
        let answers = [Answer::status(200), Answer::status(204), Answer::ok().body("thanks"), Answer::ok().body(r#"{"message":"thanks"}"#)];
        let mut sent = Vec::new();
        for (sequence, answer) in (1..).zip(answers) {
            systems.answer_next(interface.path(), [answer]);
            let mut tx = world.app.begin(merchant.id).await.unwrap();
            let (id, kind, subject) = (world.app.mint(), Kind::Of(interface), format!("{interface} {sequence}"));
            tx.owe(Message { id, kind, event: "test", subject, sequence, body: "{}".to_owned(), due_at: world.app.now() });
            world.app.commit(tx).await.unwrap();
            world.deliver_all_due().await;
            sent.push(id);
        }
        assert_eq!((world.owed().await, world.failures().await), (0, 0), "{interface}");
        let mut answers = Vec::new();
        for id in sent {
            let attempts = store::messages::attempts::list(world.app.cell(), merchant.id, id).await.unwrap();
            let [attempt] = attempts.as_slice() else { panic!("{interface}: one attempt, not {}", attempts.len()) };
            answers.push(String::from_utf8(attempt.answer.clone().unwrap_or_default()).unwrap());
        }
        assert_eq!(answers, ["", "", "thanks", r#"{"message":"thanks"}"#], "{interface}: kept for debugging");
    }
}

#[tokio::test]
async fn a_receiver_is_known_by_whatever_it_asks_for() {
    let world = World::new().await;
    let ways = [
        (Authentication::None, "authorization", None),
        (Authentication::Bearer("opaque".into()), "authorization", Some("Bearer opaque")),
        (Authentication::Basic { user: "us".to_owned(), password: "pass".into() }, "authorization", Some("Basic dXM6cGFzcw==")),
        (Authentication::ApiKey { header: "X-Key".to_owned(), value: "opaque".into() }, "x-key", Some("opaque")),
    ];
    for (number, (authentication, header, value)) in ways.into_iter().enumerate() {
        let change = EndpointChange {
            authentication: Some(authentication),
            version_header: Some(("X-Their-Version".to_owned(), "7".to_owned())),
            ..EndpointChange::default()
        };
        let receiver = world.receiver_with(&format!("acme-{number}"), change).await;
        receiver.is_owed("R-1", 1).await;
        world.deliver_all_due().await;
        let requests = receiver.systems.received_at(PATH);
        let request = requests.first().unwrap();
        assert_eq!(request.header(header), value);
        assert_eq!((request.header("x-their-version"), request.header("x-service-api-version")), (Some("7"), None));
        assert_eq!(request.body().as_ref(), br#"{"rma_identifier":"R-1","step":1}"#, "the body is sent as written");
    }
    // None of these secrets can be read from the database.
    let kept = world.database.texts("select encode(authentication, 'escape') || encode(secret, 'escape') from endpoint").await;
    assert!(kept.iter().all(|kept| !kept.contains("opaque") && !kept.contains("pass")), "{kept:?}");
}

#[tokio::test]
async fn an_endpoint_takes_ten_calls_at_once_and_twenty_a_second_unless_something_else_is_set() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.answer(PATH, Answer::ok().held());
    for number in 0..15 {
        receiver.is_owed(&format!("R-{number}"), 1).await;
    }
    let delivering = world.deliver_all_due();
    let watching = async {
        receiver.systems.wait_for(10, Duration::from_secs(10)).await.unwrap();
        receiver.systems.answer(PATH, Answer::ok());
        receiver.systems.release();
    };
    tokio::join!(delivering, watching);
    assert_eq!((receiver.systems.most_at_once(), receiver.systems.count()), (10, 15));
    let usual = world.database.texts("select slots || ' ' || per_second from endpoint").await;
    assert_eq!(usual, ["10 10000"], "the test has set the rate");
    let other = world.merchant("other").await;
    let change = EndpointChange { url: Some(receiver.systems.url("/other")), ..EndpointChange::default() };
    flow::set_endpoint(&world.app, "test", other.id, Interface::Rma, change).await.unwrap();
    let change = EndpointChange { slots: Some(3), per_second: Some(7), ..EndpointChange::default() };
    let usual = world.database.texts("select slots || ' ' || per_second from endpoint where per_second < 10000").await;
    assert_eq!(usual, ["10 20"]);
    flow::set_endpoint(&world.app, "test", other.id, Interface::Rma, change).await.unwrap();
    let set = world.database.texts("select slots || ' ' || per_second from endpoint where per_second < 10000").await;
    assert_eq!(set, ["3 7"]);
}

#[tokio::test]
async fn a_connection_has_5_seconds_and_a_call_20() {
    let world = World::new().await;
    let settings = &world.app.settings.outbound;
    assert_eq!((settings.connect_timeout(), settings.call_timeout()), (Duration::from_secs(5), Duration::from_secs(20)));
    let hurried = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "200")]).await;
    let receiver = hurried.receiver("acme").await;
    receiver.systems.answer_next(PATH, [Answer::hang(), Answer::ok().drip(Duration::from_millis(20), None)]);
    let messages = [receiver.is_owed("R-1", 1).await, receiver.is_owed("R-2", 1).await];
    hurried.deliver_all_due().await;
    for message in messages {
        let attempts = store::messages::attempts::list(hurried.app.cell(), receiver.merchant, message).await.unwrap();
        assert_eq!(attempts.iter().map(|attempt| attempt.outcome.as_str()).collect::<Vec<_>>(), ["timed out"]);
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_is_given_up_before_the_call_is() {
    // Once its queue is full, nobody is let in.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = socket.listen(1).unwrap();
    let address = full.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connection) = tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
        waiting.push(connection.unwrap());
    }
    let world = World::with(&[("BACKHAUL__OUTBOUND__CONNECT_TIMEOUT_MS", "300")]).await;
    let receiver = world.receiver("acme").await;
    let change = EndpointChange { url: Some(format!("http://{address}{PATH}")), ..EndpointChange::default() };
    flow::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    let message = receiver.is_owed("R-1", 1).await;
    let began = Instant::now();
    world.deliver_all_due().await;
    assert!(began.elapsed() < Duration::from_secs(10), "the call itself would have 20 seconds");
    let attempts = store::messages::attempts::list(world.app.cell(), receiver.merchant, message).await.unwrap();
    let attempt = attempts.first().unwrap();
    assert_eq!((attempt.outcome.as_str(), attempt.reason.as_deref()), ("unreachable", Some("connecting timed out")));
}

#[tokio::test]
async fn messages_are_kept_for_thirty_days_and_dropped_with_their_week() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let id = receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    let (first, before) = (
        "select relname::text from pg_class where oid = to_regclass('message_20260223')",
        "select relname::text from pg_class where oid = to_regclass('message_20260216')",
    );
    store::messages::partitions::make(world.app.cell(), beginning() - chrono::TimeDelta::days(7), 1).await.unwrap();
    let engineer = async || receiver.engineer().await.calls(Method::GET, &format!("/v1/messages/{id}"), |request| request).await;
    // A deliverer looks after the partitions when it starts. It drops the week before the message's, which is older than thirty days.
    world.time_passes(Duration::from_hours(30 * 24));
    let deliverer = backhaul::worker::start(&world.app);
    world.database.becomes(before, &[]).await;
    assert_eq!(world.database.texts(first).await, ["message_20260223"]);
    assert_eq!(engineer().await.status, 200);
    deliverer.leave().await;
    world.time_passes(Duration::from_hours(24));
    let deliverer = backhaul::worker::start(&world.app);
    world.database.becomes(first, &[]).await;
    assert_eq!(engineer().await.status, 404);
    deliverer.leave().await;
}

#[tokio::test]
async fn a_delivery_whose_message_is_gone_ends_in_the_failure_queue_and_its_lane_goes_on() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let gone = receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-1", 2).await;
    sqlx::query("delete from message where message_id = $1").bind(gone).execute(&mut world.database.connect().await).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 2"]);
    let failed = "select kind || ' ' || subject || ' ' || sequence || ' ' || state || ': ' || reason from failure";
    assert_eq!(world.database.texts(failed).await, ["rma R-1 1 open: message missing"]);
    // There is nothing left to send, neither one by one nor with all others.
    let refused = retry_message(&world.app, Asker::Operator("test"), receiver.merchant, gone).await.unwrap_err();
    assert!(matches!(refused, RetryMessageError::Erased), "{refused}");
    let everything = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(1_000) };
    let (_, total) = retry_failures(&world.app, "test", receiver.merchant, everything).await.unwrap();
    assert_eq!(total, 0);
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select count(*)::text from retry_job where ended_at is null", &["0"]).await;
    world.deliver_all_due().await;
    assert_eq!((world.owed().await, receiver.systems.count()), (0, 1));
    work_on_failure(&world.app, "test", receiver.merchant, gone, FailureAction::Discard).await.unwrap();
}
