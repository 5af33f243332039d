//! Messages that are written while their interface has no endpoint: they wait, and are sent when the operator says so.

use std::time::Duration;

use backhaul::flow::messages::configure_endpoint::{self as flow, ConfigureEndpointError, Configured, EndpointChange};
use backhaul::flow::messages::count_dropped::count_dropped;
use backhaul::flow::messages::retry_message::{Asker, retry_message};
use domain::messages::message::Interface;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::Value;
use store::messages::partitions;

use crate::binary::{command, out};
use crate::world::receiver::{PATH, Receiver};
use crate::world::{Merchant, World};

/// Sets the endpoint for RMA messages.
async fn set(receiver: &Receiver<'_>, send_waiting: bool) -> Configured {
    let change =
        EndpointChange { url: Some(receiver.systems.url(PATH)), per_second: Some(10_000), send_waiting, ..EndpointChange::default() };
    flow::set_endpoint(&receiver.world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap()
}

/// A merchant's systems without an endpoint.
async fn without_an_endpoint<'w>(merchant: &Merchant<'w>) -> Receiver<'w> {
    let systems = Systems::start().await.unwrap();
    Receiver { world: merchant.world, merchant: merchant.id, systems, secret: String::new() }
}

/// The `subject sequence state` of each message, oldest first.
async fn listed(merchant: &Merchant<'_>) -> Vec<String> {
    let reply = merchant.gets("/v1/messages").await;
    let summary = |message: &Value| {
        format!("{} {} {}", message["subject"].as_str().unwrap(), message["sequence"], message["state"].as_str().unwrap())
    };
    reply.body["items"].as_array().unwrap().iter().rev().map(summary).collect()
}

#[tokio::test]
async fn messages_without_an_endpoint_wait_and_are_all_sent_in_order_when_one_is_set() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = without_an_endpoint(&merchant).await;
    for (subject, sequence) in [("R-1", 1), ("R-2", 1), ("R-1", 2), ("R-1", 3)] {
        receiver.is_owed(subject, sequence).await;
        world.time_passes(Duration::from_millis(1));
    }
    assert_eq!(listed(&merchant).await, ["R-1 1 unsent", "R-2 1 unsent", "R-1 2 unsent", "R-1 3 unsent"]);
    // The first of a subject fails once; those behind it wait, and so does what is written later.
    receiver.systems.answer_next(PATH, [Answer::status(500), Answer::status(500)]);
    let configured = set(&receiver, true).await;
    assert_eq!((configured.sent, configured.waiting), (4, 0));
    receiver.is_owed("R-1", 4).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.systems.count(), 2, "both subjects failed");
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    let of_the_first: Vec<String> = receiver.arrived().into_iter().filter(|arrived| arrived.starts_with("R-1")).collect();
    assert_eq!(of_the_first, ["R-1 1", "R-1 1", "R-1 2", "R-1 3", "R-1 4"]);
    assert_eq!(listed(&merchant).await, ["R-1 1 delivered", "R-2 1 delivered", "R-1 2 delivered", "R-1 3 delivered", "R-1 4 delivered"]);
    let again = set(&receiver, true).await;
    assert_eq!((again.sent, again.waiting, world.owed().await), (0, 0, 0), "each is sent once");
    let audit = world.database.texts("select action from audit where action like 'endpoint.%' order by action").await;
    assert_eq!(audit, ["endpoint.added", "endpoint.waiting_sent"]);
}

#[tokio::test]
async fn a_message_whose_subject_has_sent_newer_ones_goes_in_a_lane_of_its_own() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = without_an_endpoint(&merchant).await;
    receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-2", 1).await;
    world.time_passes(Duration::from_secs(1));
    let configured = set(&receiver, false).await;
    assert_eq!((configured.sent, configured.waiting), (0, 2), "nothing is sent without being asked for");
    receiver.is_owed("R-1", 2).await;
    world.deliver_all_due().await;
    assert_eq!(receiver.arrived(), ["R-1 2"]);
    assert_eq!(listed(&merchant).await, ["R-1 1 unsent", "R-2 1 unsent", "R-1 2 delivered"]);

    assert_eq!(set(&receiver, true).await.sent, 2);
    receiver.systems.answer(PATH, Answer::status(500));
    world.deliver_all_due().await;
    receiver.systems.answer(PATH, Answer::ok());
    receiver.is_owed("R-1", 3).await;
    receiver.is_owed("R-2", 2).await;
    world.deliver_all_due().await;
    let arrived = receiver.arrived();
    assert!(arrived.contains(&"R-1 3".to_owned()), "it does not wait for the older one: {arrived:?}");
    assert!(!arrived.contains(&"R-2 2".to_owned()), "nothing newer of this subject was sent, so it waits: {arrived:?}");
    world.time_passes(Duration::from_secs(6));
    world.deliver_all_due().await;
    assert_eq!((receiver.arrived().len(), world.owed().await), (1 + 2 + 1 + 3, 0));
}

#[tokio::test]
async fn an_unsent_message_is_sent_by_itself_or_not_at_all_once_it_is_erased() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = without_an_endpoint(&merchant).await;
    let alone = receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-2", 1).await;
    let erased = receiver.is_owed("R-3", 1).await;
    let erasing = sqlx::query("update message set erased = true where message_id = $1").bind(erased);
    erasing.execute(&mut world.database.connect().await).await.unwrap();
    set(&receiver, false).await;
    retry_message(&world.app, Asker::Operator("test"), receiver.merchant, alone).await.unwrap();
    assert_eq!((set(&receiver, true).await.sent, world.owed().await), (1, 2));
    world.deliver_all_due().await;
    let mut arrived = receiver.arrived();
    arrived.sort();
    assert_eq!(arrived, ["R-1 1", "R-2 1"]);
    assert_eq!(set(&receiver, false).await.waiting, 0);
    let asked = EndpointChange { send_waiting: true, ..EndpointChange::default() };
    let refused = flow::set_endpoint(&world.app, "test", receiver.merchant, Interface::ExchangeVariants, asked).await;
    assert!(matches!(refused, Err(ConfigureEndpointError::NothingWaits(Interface::ExchangeVariants))));
}

#[tokio::test]
async fn the_operator_is_told_how_many_messages_wait_and_how_to_send_them() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = without_an_endpoint(&merchant).await;
    for sequence in 1..=3 {
        receiver.is_owed("R-1", sequence).await;
    }
    let url = receiver.systems.url(PATH);
    let runs = |words: &[&str]| {
        let mut command = command(&world.database);
        command.env("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#).args(words);
        let output = command.output().unwrap();
        (out(&output), String::from_utf8(output.stderr).unwrap())
    };
    let (_, told) = runs(&["failures", "list", "--merchant", "acme"]);
    assert!(told.contains("3 messages for rma are unsent"), "{told}");
    let (secret, told) = runs(&["endpoint", "set", "--merchant", "acme", "rma", "--url", &url]);
    assert!(secret.contains("whsec_"), "{secret}");
    assert!(told.contains("3 messages for rma") && told.contains("`backhaul endpoint set --merchant acme rma --send-waiting`"), "{told}");
    assert_eq!(world.owed().await, 0);
    let (_, told) = runs(&["endpoint", "set", "--merchant", "acme", "rma", "--send-waiting"]);
    assert!(told.contains("3 messages for rma") && told.contains("are being sent"), "{told}");
    assert_eq!(world.owed().await, 3);
    let (_, told) = runs(&["endpoint", "set", "--merchant", "acme", "rma", "--slots", "5"]);
    assert_eq!(told, "", "nothing is left to tell");
}

#[tokio::test]
async fn messages_that_are_dropped_unsent_are_counted_and_shown() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let receiver = without_an_endpoint(&merchant).await;
    for sequence in 1..=2 {
        receiver.is_owed("R-1", sequence).await;
    }
    let drops = async |days: u64| {
        world.time_passes(Duration::from_hours(24 * days));
        partitions::make(world.app.cell(), world.app.now(), 1).await.unwrap();
        partitions::drop_before(world.app.cell(), world.app.now() - chrono::TimeDelta::days(30)).await.unwrap();
        count_dropped(&world.app).await.unwrap();
    };
    let shown = || {
        let shown = crate::binary::backhaul(&world.database, &["merchant", "show", "acme", "-o", "json"]);
        let shown: Value = serde_json::from_str(&out(&shown)).unwrap();
        (shown["unsent_messages"].as_i64().unwrap(), shown["dropped_unsent_messages"].as_i64().unwrap())
    };
    drops(30).await;
    assert_eq!(shown(), (2, 0), "they are kept for thirty days");
    receiver.is_owed("R-2", 1).await;
    drops(1).await;
    assert_eq!(shown(), (1, 2));
    assert_eq!(world.metric("backhaul_messages_dropped_unsent_total").await, 2);
    drops(36).await;
    assert_eq!(shown(), (0, 3));
    let told = crate::binary::backhaul(&world.database, &["failures", "list", "--merchant", "acme"]);
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("3 messages for rma were dropped after 30 days without being sent"), "{told}");
}
