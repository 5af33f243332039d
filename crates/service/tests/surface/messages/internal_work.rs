//! Internal work goes through the delivery engine, and merchants see nothing of it.

use std::time::Duration;

use backhaul::app::NoApp;
use domain::id::MerchantId;
use domain::messages::message::{Internal, Kind};
use reqwest::Method;
use sandbox::mailbox::{Answer, Mailbox};
use sandbox::merchant::Merchant as Systems;
use serde_json::json;
use store::messages::outbox::Message;
use uuid::Uuid;

use crate::binary::{backhaul, out};
use crate::world::World;

/// The secret of the operator's webhook.
pub const HOOK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

impl World {
    /// A world whose mails go to `mailbox`, and whose operator takes webhooks at `operator`.
    pub async fn with_operator(mailbox: &Mailbox, operator: &Systems) -> Self {
        Self::with(&[
            ("BACKHAUL__MAIL__URL", &format!("{}?tls=none", mailbox.url())),
            ("BACKHAUL__MAIL__FROM", "notices@shop.example.com"),
            ("BACKHAUL__NOTICES__WEBHOOK_URL", &operator.url("/hook")),
            ("BACKHAUL__NOTICES__WEBHOOK_SECRET", HOOK_SECRET),
        ])
        .await
    }

    /// Owes internal work, as a flow of `merchant` does.
    async fn owes_work(&self, merchant: MerchantId, kind: Internal, subject: &str, body: &str) -> Uuid {
        let id = self.app.mint();
        let mut tx = self.app.begin(merchant).await.unwrap();
        let (kind, subject, body) = (Kind::Internal(kind), subject.to_owned(), body.to_owned());
        tx.owe(Message { id, kind, event: "tested", subject, sequence: 1, body, due_at: self.app.now() });
        self.app.commit(tx).await.unwrap();
        id
    }

    async fn owes_a_mail(&self, merchant: MerchantId, subject: &str) -> Uuid {
        let body = json!({ "to": "pat@example.com", "subject": subject, "text": "Hello" }).to_string();
        self.owes_work(merchant, Internal::Mail, subject, &body).await
    }
}

#[tokio::test]
async fn a_mail_is_tried_again_on_schedule_and_stays_the_same_mail() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let merchant = world.merchant("acme").await;
    // The server accepts the first mail, but its response is lost.
    mailbox.answer_next([Answer::Disconnect]);
    let id = world.owes_a_mail(merchant.id, "M-1").await;
    world.deliver_all_due().await;
    assert_eq!((mailbox.count(), world.owed().await), (1, 1));
    world.time_passes(Duration::from_millis(5_500));
    world.deliver_all_due().await;
    assert_eq!((mailbox.count(), world.owed().await), (2, 0));
    let expected = format!("<{id}@shop.example.com>");
    assert!(mailbox.received().iter().all(|mail| mail.message_id() == Some(&expected)), "at least once, and always the same");
    assert_eq!(world.metric(&world.of_its_cell(r#"backhaul_delivery_attempts_total{interface="mail",outcome="250"}"#)).await, 1);
}

#[tokio::test]
async fn the_operators_webhook_is_called_and_signed() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let merchant = world.merchant("acme").await;
    let id = world.owes_work(merchant.id, Internal::OperatorHook, "H-1", r#"{"event":"tested"}"#).await;
    world.deliver_all_due().await;
    let calls = operator.received_at("/hook");
    let [call] = calls.as_slice() else { panic!("one call, not {}", calls.len()) };
    let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(world.app.now().timestamp()).unwrap());
    call.verify(HOOK_SECRET, now).unwrap();
    assert_eq!((call.message_id(), call.header("x-service-event")), (Some(id.to_string().as_str()), Some("tested")));
    assert_eq!((call.json()["event"].as_str(), world.owed().await), (Some("tested"), 0));
}

#[tokio::test]
async fn work_that_is_given_up_is_on_the_operators_list_and_merchants_see_nothing_of_it() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let receiver = world.receiver("acme").await;
    let engineer = receiver.engineer().await;
    mailbox.answer(Answer::TryLater);
    let id = world.owes_a_mail(receiver.merchant, "M-1").await;
    for (attempt, wait) in [0, 5, 40, 320, 2_560, 20_480].into_iter().enumerate() {
        world.time_passes(Duration::from_secs(wait) + Duration::from_secs(wait) / 10);
        world.deliver_all_due().await;
        assert_eq!(store::messages::attempts::list(world.app.cell(), receiver.merchant, id).await.unwrap().len(), attempt + 1);
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 1));

    // No request of the merchant shows it.
    assert_eq!(engineer.gets("/v1/messages").await.body["items"], json!([]));
    assert_eq!(engineer.gets("/v1/messages?state=failed").await.body["items"], json!([]));
    assert_eq!(engineer.gets("/v1/messages?subject=M-1").await.body["items"], json!([]));
    assert_eq!(engineer.gets("/v1/events").await.body["items"], json!([]));
    let endpoints = engineer.gets("/v1/endpoints").await;
    assert_eq!(endpoints.body["items"].as_array().unwrap().len(), 1, "{}", endpoints.text);
    assert_eq!(endpoints.body["items"][0]["failed"], 0);
    for table in ["attempt_hourly", "delivered_hourly"] {
        assert_eq!(world.database.count(table).await, 0, "no report counts it");
    }
    let asks = [
        (Method::GET, format!("/v1/messages/{id}"), 404),
        (Method::POST, format!("/v1/messages/{id}/retry"), 404),
        (Method::GET, "/v1/messages?interface=mail".to_owned(), 400),
        (Method::GET, "/v1/events?interface=mail".to_owned(), 400),
    ];
    for (method, path, status) in asks {
        assert_eq!(engineer.calls(method, &path, |request| request).await.status, status, "{path}");
    }

    // The operator has a list of its own.
    let command = |words: &[&str]| {
        let words = [words, &["--merchant", "acme", "-o", "json"]].concat();
        serde_json::from_str::<serde_json::Value>(&out(&backhaul(&world.database, &words))).unwrap()
    };
    assert_eq!(command(&["failures", "list"])["items"], json!([]));
    assert_eq!(command(&["endpoint", "list"])["items"].as_array().unwrap().len(), 1);
    let ours = command(&["failures", "list", "--internal"]);
    assert_eq!(
        (&ours["items"][0]["interface"], &ours["items"][0]["reason"], &ours["items"][0]["count"]),
        (&json!("mail"), &json!("451"), &json!(1))
    );
    assert_eq!(command(&["failures", "list", "--interface", "mail"])["items"][0]["message_id"], json!(id.to_string()));
    assert_eq!(command(&["messages", "list", "--interface", "mail"])["items"].as_array().unwrap().len(), 1);
    world.shows(&world.of_its_cell("backhaul_internal_failures"), 1).await;
    assert_eq!(world.metric(&world.of_its_cell(r#"backhaul_failure_queue{interface="rma"}"#)).await, 0);

    // And retries it once the server accepts mails.
    mailbox.answer(Answer::Accept);
    let asker = backhaul::flow::messages::retry_message::Asker::Operator("test");
    backhaul::flow::messages::retry_message::retry_message(&world.app, asker, receiver.merchant, id).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(world.database.texts("select state from failure").await, ["resolved"]);
    world.owes_a_mail(receiver.merchant, "M-2").await;
    let ours = i64::try_from(Internal::ALL.len()).unwrap();
    assert_eq!(world.database.count("endpoint").await, 1 + ours, "endpoints for internal work are created once");
}

#[tokio::test]
async fn flows_of_one_merchant_do_not_wait_for_each_other() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let merchant = world.merchant("acme").await;
    // The first flows of all run together: each creates what is missing, without a deadlock.
    let kinds = [Internal::Mail, Internal::OperatorHook];
    let flows = (0..8).map(|at| {
        let kind = kinds[at % 2];
        let world = &world;
        let merchant = merchant.id;
        async move { world.owes_work(merchant, kind, &format!("W-{at}"), r#"{"to":"a@example.com","subject":"s","text":"t"}"#).await }
    });
    futures::future::join_all(flows).await;
    // From then on, an open transaction does not hold up another.
    let mut open = world.app.begin(merchant.id).await.unwrap();
    let (kind, subject, body) = (Kind::Internal(Internal::Mail), "W-9".to_owned(), "{}".to_owned());
    open.owe(Message { id: world.app.mint(), kind, event: "tested", subject, sequence: 1, body, due_at: world.app.now() });
    open.write_early().await.unwrap();
    world.owes_a_mail(merchant.id, "W-10").await;
    open.rollback().await.unwrap();
    world.deliver_all_due().await;
    assert_eq!((mailbox.count(), operator.received_at("/hook").len(), world.owed().await), (5, 4, 0));
}

#[tokio::test]
async fn a_service_does_not_start_with_a_mail_server_or_a_webhook_that_cannot_be_used() {
    let world = World::new().await;
    let with = |name: &str, value: &str| {
        let database = world.app.settings.database.url().to_owned();
        let variables =
            [("DATABASE_URL", database.as_str()), ("BACKHAUL__MODE", "sandbox"), ("BACKHAUL__MAIL__FROM", "nobody"), (name, value)];
        let settings = backhaul::platform::config::Settings::load(
            None,
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter(),
        );
        let entropy = backhaul::platform::entropy::Entropy::seeded(1);
        backhaul::app::App::new(settings.unwrap(), world.app.clock.clone(), entropy).err().map(|error: NoApp| error.to_string())
    };
    let wrong = [
        ("BACKHAUL__MAIL__URL", "smtps://mail.example.com", "mail.from is not an e-mail address"),
        ("BACKHAUL__NOTICES__WEBHOOK_URL", "http://10.0.0.1/hook", "notices.webhook_url cannot be called"),
        ("BACKHAUL__NOTICES__WEBHOOK_URL", "https://hooks.example.com/", "notices.webhook_secret: a secret must be"),
    ];
    for (name, value, why) in wrong {
        let error = with(name, value).unwrap();
        assert!(error.starts_with(why), "{error}");
    }
}
