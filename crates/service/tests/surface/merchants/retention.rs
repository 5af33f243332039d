//! Retention: everything that grows has an end, and personal data is overwritten when the merchant's retention ends.

use std::time::Duration;

use backhaul::delivery::timer::Timer as _;
use backhaul::flow::messages::configure_endpoint::set_endpoint;
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use backhaul::timers::Timers;
use domain::messages::message::{Interface, Kind};
use reqwest::Method;
use sandbox::merchant::Answer;

use super::erasing::{CANARY, infested, infested_tables};
use crate::binary::{backhaul, err, out};
use crate::world::receiver::{PATH, impatient};
use crate::world::{World, drop_ship_in_full, mail_back, message, refund_for, refunded, sold};

const DAY: Duration = Duration::from_hours(24);

impl World {
    /// Runs the timers until they have nothing left to do.
    pub async fn timers_run(&self) {
        let timers = Timers::new(self.app.clone());
        while timers.run().await {}
    }

    /// Lets days pass, with partitions for the new time.
    async fn days_pass(&self, days: u32) {
        self.time_passes(DAY * days);
        store::messages::partitions::make(self.app.cell(), self.app.now(), 1).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_personal_in_an_order_and_its_returns_is_overwritten_400_days_after_the_last_change() {
    let world = World::new().await;
    let mut carried = world.shop_with_a_carrier("acme").await;
    let order = infested("A-1", 1);
    carried.shop.merchant.publishes(&message([order.clone(), infested("A-2", 1)])).await;
    let rma = carried.shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    world.days_pass(20).await;
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    carried.shop.merchant.publishes(&message([refunded(order, [refund_for(&rma, "F1", 1)])])).await;
    assert_eq!(carried.receives_events().await, ["refunded"]);

    let fingerprints = "select identifier from customer_order where num_nonnulls(email_fingerprint, zip_fingerprint) > 0 order by 1";
    world.days_pass(380).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(fingerprints).await, ["A-1"], "A-2 was last changed 400 days ago");
    world.days_pass(20).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(fingerprints).await, Vec::<String>::new());
    assert!(!infested_tables(&world).await.contains(&"customer_order".to_owned()));
    for table in ["label", "label_order", "parcel"] {
        assert_eq!(world.database.count(table).await, 0, "{table} of a return whose retention has ended");
    }
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    assert_eq!(carried.shop.merchant.looks_at(&rma).await["status"], "REFUNDED", "the return itself stays");
}

#[tokio::test]
async fn what_is_personal_in_a_drop_ship_order_is_overwritten_when_retention_ends() {
    let world = World::new().await;
    let shipper = world.drop_shipper("acme").await;
    for (identifier, over) in [("D-1", true), ("D-2", false)] {
        let mut order = drop_ship_in_full(identifier);
        order["shipping_address"]["name"] = format!("{CANARY} {identifier}").into();
        shipper.merchant.gives(&order).await;
        if over {
            let reason = serde_json::json!({ "reject_reason": "out of stock" });
            shipper.merchant.warehouse_reports(identifier, "reject", &reason).await;
        }
    }
    assert_eq!(shipper.receives_events().await.len(), 1);
    let named = "select client_identifier from drop_ship_order where content like '%canary%' order by 1";
    world.days_pass(400).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(named).await, ["D-2"], "the warehouse still needs the address of the other");
}

#[tokio::test]
async fn an_order_whose_messages_are_still_in_the_failure_queue_waits_for_them() {
    let world = World::new().await;
    let mut shop = world.shop("acme").await;
    set_endpoint(&world.app, "test", shop.merchant.id, Interface::Rma, impatient()).await.unwrap();
    shop.systems.answer(PATH, Answer::status(503));
    shop.merchant.publishes(&message([infested("A-1", 1), infested("A-2", 1)])).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.publishes(&message([refunded(infested("A-1", 1), [refund_for(&rma, "F1", 1)])])).await;
    for _message in ["created", "refunded"] {
        world.five_retries_pass().await;
    }
    assert_eq!((world.owed().await, world.failures().await), (0, 2));
    world.days_pass(400).await;
    world.timers_run().await;
    let personal = "select identifier from customer_order where email_fingerprint is not null";
    assert_eq!(world.database.texts(personal).await, ["A-1"]);
    shop.systems.answer(PATH, Answer::ok());
    shop.merchant.token = shop.merchant.gets_a_token().await;
    let retry = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(10) };
    retry_failures(&world.app, "test", shop.merchant.id, retry).await.unwrap();
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select (ended_at is not null)::text from retry_job", &["true"]).await;
    world.deliver_all_due().await;
    assert_eq!(shop.merchant.looks_at(&rma).await["rma_identifier"], rma.as_str());
    world.days_pass(2).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(personal).await, Vec::<String>::new(), "it is looked at again the next day");
}

#[tokio::test]
async fn an_entry_of_the_failure_queue_is_deleted_30_days_after_it_was_resolved_and_not_before() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    let first = receiver.is_owed("R-1", 1).await;
    receiver.is_owed("R-2", 1).await;
    world.five_retries_pass().await;
    assert_eq!(world.failures().await, 2);
    world.days_pass(60).await;
    world.timers_run().await;
    assert_eq!(world.failures().await, 2, "open entries stay");
    let mut tx = world.app.begin(receiver.merchant).await.unwrap();
    assert!(store::messages::failures::discard(&mut tx, first).await.unwrap());
    world.app.commit(tx).await.unwrap();
    world.timers_run().await;
    for (days, kept) in [(29, 2), (1, 1), (100, 1)] {
        world.days_pass(days).await;
        world.timers_run().await;
        assert_eq!(world.failures().await, kept, "after {days} more days");
    }
}

#[tokio::test]
async fn a_labels_pdf_and_qr_code_are_deleted_after_90_days_and_its_return_goes_on() {
    let world = World::new().await;
    let mut carried = world.shop_with_a_carrier("acme").await;
    let (rma, _) = carried.has_a_code("A-1").await;
    carried.shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(&rma, "F1", 1)])])).await;
    for (days, found) in [(89, 200), (1, 404)] {
        world.days_pass(days).await;
        world.timers_run().await;
        carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
        assert_eq!(carried.shop.merchant.asks_for_the_label(&rma).await.status, found, "after {days} more days");
        assert_eq!(carried.shop.merchant.asks_for_the_code(&rma).await.status, found, "after {days} more days");
    }
    assert_eq!(world.database.count("label").await, 1, "its tracking number stays");
}

#[tokio::test]
async fn what_is_counted_or_kept_for_repeats_is_deleted_even_if_the_merchant_never_comes_back() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let wanted = mail_back("A-1", 1);
    let start = shop.merchant.calls(Method::POST, "/v1/returns", |request| request.header("Idempotency-Key", "k1").json(&wanted)).await;
    shop.receives().await;
    // Closed, so that nothing more happens to it.
    let rma = start.body["rma_identifier"].as_str().unwrap();
    shop.merchant.publishes(&message([refunded(sold("A-1", 1), [refund_for(rma, "F1", 1)])])).await;
    shop.receives().await;
    let rows = async || {
        let mut counts = Vec::new();
        for table in ["access_token", "idempotency_key", "attempt_hourly", "delivered_hourly"] {
            counts.push(world.database.count(table).await);
        }
        counts
    };
    assert_eq!(rows().await, [1, 1, 1, 1]);
    world.timers_run().await;
    assert_eq!(rows().await, [1, 1, 1, 1]);
    world.days_pass(3).await;
    world.timers_run().await;
    assert_eq!(rows().await, [0, 0, 1, 1]);
    world.days_pass(398).await;
    world.timers_run().await;
    assert_eq!(rows().await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn whoever_gets_a_token_clears_a_bounded_number_of_expired_ones() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut connection = world.database.connect().await;
    let many = "with one as materialized (select * from access_token)
        insert into access_token (merchant_id, token_hash, client_id, scopes, issued_at, expires_at)
        select merchant_id, sha256(n::text::bytea), client_id, scopes, issued_at - interval '9 days', issued_at - interval '8 days' + n * interval '1 second'
        from one, generate_series(1, 5000) as n";
    sqlx::raw_sql(many).execute(&mut connection).await.unwrap();
    merchant.gets_a_token().await;
    assert_eq!(world.database.count("access_token").await, 4902, "a hundred of them");
    world.timers_run().await;
    assert_eq!(world.database.count("access_token").await, 2);
}

#[tokio::test]
async fn an_order_that_is_sent_again_after_its_retention_is_kept_as_long_again() {
    let world = World::new().await;
    let mut merchant = world.merchant("acme").await;
    merchant.publishes(&message([infested("A-1", 1)])).await;
    let personal = "select identifier from customer_order where email_fingerprint is not null";
    world.days_pass(400).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(personal).await, Vec::<String>::new());
    merchant.token = merchant.gets_a_token().await;
    merchant.publishes(&message([infested("A-1", 1)])).await;
    world.days_pass(399).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(personal).await, ["A-1"]);
    world.days_pass(1).await;
    world.timers_run().await;
    assert_eq!(world.database.texts(personal).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_operator_sets_how_long_a_merchant_keeps_personal_data() {
    let world = World::new().await;
    for handle in ["acme", "bolt"] {
        world.merchant(handle).await.publishes(&message([infested("A-1", 1)])).await;
    }
    let set = |days: &str| backhaul(&world.database, &["merchant", "set", "acme", "--retention-days", days, "-o", "json"]);
    assert!(err(&set("7")).contains("7 is not in 30..=3650"));
    let shown: serde_json::Value = serde_json::from_str(&out(&set("90"))).unwrap();
    assert_eq!(shown["retention_days"], 90);
    assert!(err(&backhaul(&world.database, &["merchant", "set", "acme"])).contains("required"));
    let audited = "select actor || ' ' || detail from audit where action = 'merchant.retention_changed'";
    assert_eq!(world.database.texts(audited).await, ["cli:tester acme: 90 days"]);
    let personal = "select handle from customer_order join merchant using (merchant_id) where email_fingerprint is not null order by 1";
    for (days, kept) in [(89, vec!["acme", "bolt"]), (1, vec!["bolt"])] {
        world.days_pass(days).await;
        world.timers_run().await;
        assert_eq!(world.database.texts(personal).await, kept, "after {days} more days");
    }
}

#[tokio::test]
async fn retry_jobs_are_listed_for_90_days_after_their_end() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    receiver.systems.answer(PATH, Answer::status(503));
    receiver.is_owed("R-1", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok());
    let retry = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(10) };
    retry_failures(&world.app, "test", receiver.merchant, retry).await.unwrap();
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select (ended_at is not null)::text from retry_job", &["true"]).await;
    for (days, kept) in [(89, 1), (2, 0)] {
        world.days_pass(days).await;
        world.timers_run().await;
        assert_eq!(world.database.count("retry_job").await, kept, "after {days} more days");
    }
}
