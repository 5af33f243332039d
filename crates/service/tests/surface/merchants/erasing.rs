//! Erasing shoppers: owed messages go first, personal data is overwritten, and everything else carries on.

use std::time::Duration;

use backhaul::flow::merchants::erase_shopper::{EraseShopperError, Erased, ErasureTarget, discard_owed, erase_shopper, orders_of_shopper};
use backhaul::flow::messages::configure_endpoint::set_endpoint;
use backhaul::flow::messages::retry_failures::{RetryRequest, retry_failures};
use backhaul::flow::messages::retry_message::{Asker, RetryMessageError, retry_message};
use backhaul::flow::returns::wake_returns::wake_returns;
use domain::messages::message::{Interface, Kind};
use reqwest::Method;
use sandbox::mailbox::Mailbox;
use sandbox::merchant::{Answer, Merchant as Systems};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::binary::{backhaul, err, out};
use crate::world::receiver::{PATH, impatient};
use crate::world::{Merchant, Shop, World, drop_ship_in_full, exchange, mail_back, message, refund_for, refunded, sold};

/// The text that must be gone after erasing.
pub const CANARY: &str = "canary7f3a";
const EMAIL: &str = "canary7f3a@example.com";

/// An order with the canary in every field that can hold personal data.
pub fn infested(identifier: &str, quantity: u32) -> Value {
    let mut order = sold(identifier, quantity);
    let address = |who: &str| {
        let text = |what: &str| format!("{CANARY} {who} {what}");
        json!({ "name": text("name"), "street1": text("street"), "city": text("city"), "state": "NY", "zip_code": "10001",
            "country_code": "US", "phone": text("phone"), "door": text("door") })
    };
    order["customer"] =
        json!({ "identifier": CANARY, "first_name": CANARY, "last_name": CANARY, "email": EMAIL, "phone": CANARY, "nick": CANARY });
    order["shipping_address"] = address("ship");
    order["billing_address"] = address("bill");
    order["raw_status"] = CANARY.into();
    order[CANARY] = json!({ "greeting": [CANARY] });
    order["items"][0]["tracking_number"] = CANARY.into();
    order["items"][0]["engraving"] = CANARY.into();
    order["transactions"] = json!([{ "card": CANARY }]);
    order["discounts"] = json!([{ "code": CANARY }]);
    order
}

/// The tables with the canary anywhere in a row, as text or as bytes.
pub async fn infested_tables(world: &World) -> Vec<String> {
    let mut connection = world.database.connect().await;
    let tables =
        "select relname::text from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let hex = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let mut found = Vec::new();
    for table in tables {
        let look = format!("select count(*) from {table} as kept where kept::text like '%{CANARY}%' or kept::text like '%{hex}%'");
        let rows: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(look)).fetch_one(&mut connection).await.unwrap();
        if rows > 0 {
            found.push(table.split("_2026").next().unwrap().to_owned());
        }
    }
    found.dedup();
    found
}

impl Merchant<'_> {
    pub async fn erases(&self, order: &str) -> Result<Erased, EraseShopperError> {
        erase_shopper(&self.world.app, "test", self.id, &ErasureTarget::Order(order.to_owned())).await
    }

    async fn discards(&self, order: &str) -> usize {
        discard_owed(&self.world.app, "test", self.id, &ErasureTarget::Order(order.to_owned())).await.unwrap()
    }

    /// The first message about a return.
    async fn first_message_on(&self, rma: &str) -> String {
        let listed = self.calls(Method::GET, &format!("/v1/messages?subject={rma}"), |request| request).await;
        listed.body["items"].as_array().unwrap().last().unwrap()["message_id"].as_str().unwrap().to_owned()
    }

    async fn wants_again(&self, message: &str) -> (u16, Value) {
        let reply = self.calls(Method::POST, &format!("/v1/messages/{message}/retry"), |request| request).await;
        (reply.status.as_u16(), reply.body)
    }
}

impl Shop<'_> {
    /// Makes its systems fail, with a retry every second.
    async fn is_down(&self) {
        set_endpoint(&self.merchant.world.app, "test", self.merchant.id, Interface::Rma, impatient()).await.unwrap();
        self.systems.answer(PATH, Answer::status(503));
    }

    /// Delivers until every owed message is given up.
    async fn gives_up(&self) {
        let world = self.merchant.world;
        world.five_retries_pass().await;
        assert_eq!(world.owed().await, 0);
    }
}

#[tokio::test]
async fn nothing_is_erased_before_what_is_owed_is_delivered() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes(&message([infested("A-1", 1)])).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    assert!(matches!(shop.merchant.erases("A-1").await, Err(EraseShopperError::StillOwed(1))));
    assert_eq!(infested_tables(&world).await, ["customer_order"], "nothing was touched");
    assert!(shop.receives().await[0].1["rma_identifier"].is_string(), "an owed message arrives as written");
    assert_eq!(shop.merchant.erases("A-1").await.unwrap(), Erased { returns: 1, messages: 1 });
    assert_eq!(shop.merchant.erases("A-1").await.unwrap(), Erased { returns: 1, messages: 0 }, "the second time nothing is left to do");
    assert!(matches!(shop.merchant.erases("A-2").await, Err(EraseShopperError::NoSuchOrder)));
    let audit = world.database.texts("select actor || ' ' || action || ' ' || detail from audit where action like '%erased'").await;
    assert_eq!(audit, ["test order.erased A-1", "test order.erased A-1"]);
}

#[tokio::test]
async fn what_is_owed_or_given_up_can_be_discarded_first() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.is_down().await;
    for order in ["A-1", "A-2"] {
        shop.merchant.publishes(&message([infested(order, 1)])).await;
        shop.merchant.starts_a_return(order, 1).await;
        if order == "A-1" {
            shop.gives_up().await;
        }
    }
    world.deliver_all_due().await;
    for (order, owed) in [("A-1", 0), ("A-2", 1)] {
        assert!(matches!(shop.merchant.erases(order).await, Err(EraseShopperError::StillOwed(1))), "somebody may still retry it");
        assert_eq!(shop.merchant.discards(order).await, owed);
    }
    world.deliver_all_due().await;
    assert_eq!(world.database.texts("select state from failure").await, ["discarded"]);
    let calls = shop.systems.count();
    for order in ["A-1", "A-2"] {
        assert_eq!(shop.merchant.erases(order).await.unwrap().messages, 1);
    }
    world.time_passes(Duration::from_secs(10));
    world.deliver_all_due().await;
    assert_eq!((shop.systems.count(), infested_tables(&world).await), (calls, Vec::<String>::new()));
}

#[tokio::test]
async fn nothing_of_a_shopper_is_left_and_returns_and_refunds_go_on() {
    let (mailbox, operator) = (Mailbox::start().await.unwrap(), Systems::start().await.unwrap());
    let world = World::with_operator(&mailbox, &operator).await;
    let mut carried = world.shop_with_a_carrier("acme").await;
    let mut gift = infested("A-1", 2);
    gift["tags"] = json!(["gift"]);
    assert_eq!(carried.shop.merchant.publishes(&message([gift.clone(), sold("B-1", 1)])).await.results(), ["created", "created"]);
    carried.shop.systems.answer(PATH, Answer::ok().body(CANARY));
    let mut wanted = mail_back("A-1", 2);
    wanted["giftee_email"] = EMAIL.into();
    let start = async |merchant: &Merchant<'_>| {
        merchant.calls(Method::POST, "/v1/returns", |request| request.header("Idempotency-Key", "k1").json(&wanted)).await
    };
    let started = start(&carried.shop.merchant).await;
    let rma = started.body["rma_identifier"].as_str().unwrap().to_owned();
    assert_eq!(carried.receives_events().await, ["created", "PRE_TRANSIT"]);
    assert_eq!(start(&carried.shop.merchant).await.text, started.text, "the same again");
    world.time_passes(Duration::from_hours(24 * 21));
    store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
    wake_returns(&world.app).await.unwrap();
    world.deliver_all_due().await;
    assert_eq!(mailbox.count(), 2, "the confirmation and the reminder");
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    let merchant = &carried.shop.merchant;
    let mut refund = refund_for(&rma, "F1", 1);
    refund["note"] = CANARY.into();
    let paid = refunded(gift, [refund.clone()]);
    merchant.publishes(&message([paid.clone()])).await;
    assert_eq!(carried.receives_events().await, ["refund_recorded"]);

    let (shown, returnable) = (merchant.looks_at(&rma).await, merchant.asks_what_can_come_back("A-1").await);
    let infested = infested_tables(&world).await;
    assert_eq!(infested, ["attempt", "customer_order", "label", "message", "refund", "rma"], "the canary is found where it was put");
    let found = orders_of_shopper(&world.app, merchant.id, &EMAIL.to_uppercase()).await.unwrap();
    assert_eq!(found, ["A-1"]);
    assert_eq!(merchant.erases("A-1").await.unwrap().returns, 1);
    assert_eq!(infested_tables(&world).await, Vec::<String>::new());
    let fingerprints = "select identifier from customer_order where num_nonnulls(email_fingerprint, zip_fingerprint) > 0";
    assert_eq!(world.database.texts(fingerprints).await, ["B-1"], "others stay as they are");
    assert_eq!(orders_of_shopper(&world.app, merchant.id, EMAIL).await.unwrap(), Vec::<String>::new());

    assert_eq!((merchant.looks_at(&rma).await, merchant.asks_what_can_come_back("A-1").await), (shown, returnable));
    assert_eq!(merchant.asks_for_the_label(&rma).await.status, 404);
    let answers = "select answer || sum(get_byte(request_hash, at)) from idempotency_key, generate_series(0, 31) as at group by answer";
    let answers = world.database.texts(answers).await;
    assert!(answers.iter().all(|answer| answer == "{}0"), "{answers:?} are overwritten, or deleted because they expired");
    assert_eq!(merchant.publishes(&message([paid.clone()])).await.results(), ["unchanged"], "what is left of it is the same");
    assert_eq!(infested_tables(&world).await, Vec::<String>::new(), "and the shopper does not come back");
    let all = refunded(paid, [refund, refund_for(&rma, "F2", 1)]);
    merchant.publishes(&message([all])).await;
    assert_eq!(
        (carried.receives_events().await, &merchant.looks_at(&rma).await["status"]),
        (vec!["refunded".to_owned()], &json!("REFUNDED"))
    );
}

#[tokio::test]
async fn an_exchange_order_is_waited_for_and_then_erased() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.shop.merchant.publishes(&message([infested("A-1", 1)])).await;
    let rma = boutique.starts(&exchange("A-1", 1, "SHOE-43")).await;
    assert!(matches!(boutique.shop.merchant.erases("A-1").await, Err(EraseShopperError::ExchangePending)), "its return waits for it");
    world.deliver_all_due().await;
    assert_eq!(infested_tables(&world).await, ["customer_order", "message"]);
    assert_eq!(boutique.shop.merchant.erases("A-1").await.unwrap().messages, 3);
    assert_eq!((infested_tables(&world).await, boutique.exchange_of(&rma).await.0.as_str()), (vec![], "placed"));
}

#[tokio::test]
async fn a_drop_ship_order_is_erased_by_its_name_once_it_is_over() {
    let world = World::new().await;
    let shipper = world.drop_shipper("acme").await;
    let mut order = drop_ship_in_full("D-1");
    for address in ["shipping_address", "billing_address"] {
        order[address].as_object_mut().unwrap().values_mut().for_each(|value| *value = CANARY.into());
    }
    order["comments"] = CANARY.into();
    order["order_items"][0]["comments"] = CANARY.into();
    let merchant = &shipper.merchant;
    merchant.gives(&order).await;
    let of = ErasureTarget::DropShipOrder("D-1".to_owned());
    let erase = async || erase_shopper(&world.app, "test", merchant.id, &of).await;
    assert!(matches!(erase().await, Err(EraseShopperError::NotShipped)));
    merchant.warehouse_reports("D-1", "reject", &json!({ "reject_reason": CANARY, "comments": CANARY })).await;
    assert!(matches!(erase().await, Err(EraseShopperError::StillOwed(1))));
    assert_eq!(shipper.receives_events().await.len(), 1);
    assert_eq!(infested_tables(&world).await, ["drop_ship_order", "message"]);
    assert_eq!(erase().await.unwrap().messages, 1);
    assert_eq!(infested_tables(&world).await, Vec::<String>::new());
    let shown = &merchant.looks_at_drop_ship("D-1").await["order"];
    assert_eq!((&shown["status"], &shown["shipping_address"]["name"]), (&json!("rejected"), &json!("erased")));
    assert!(merchant.gives(&order).await.status.is_client_error(), "its name stays taken");
}

#[tokio::test]
async fn an_erased_message_is_gone_for_whoever_wants_it_sent_again() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.is_down().await;
    let mut messages = Vec::new();
    for order in ["A-1", "A-2"] {
        shop.merchant.sells(order, 1).await;
        let rma = shop.merchant.starts_a_return(order, 1).await;
        messages.push(shop.merchant.first_message_on(&rma).await);
    }
    shop.gives_up().await;
    let everything = RetryRequest { kind: Kind::Of(Interface::Rma), since: None, per_second: Some(10) };
    assert_eq!(retry_failures(&world.app, "test", shop.merchant.id, everything).await.unwrap().1, 2);
    shop.merchant.discards("A-1").await;
    shop.merchant.erases("A-1").await.unwrap();
    shop.systems.clear();
    shop.systems.answer(PATH, Answer::ok());
    world.time_passes(Duration::from_secs(1));
    world.database.becomes("select released || ' ' || (ended_at is not null) from retry_job", &["1 true"]).await;
    world.deliver_all_due().await;
    let sent = shop.systems.received_at(PATH);
    assert_eq!(sent.iter().map(|sent| sent.message_id().unwrap()).collect::<Vec<_>>(), [&messages[1]], "it is left out");

    let (status, body) = shop.merchant.wants_again(&messages[0]).await;
    assert!(status == 410 && body["message"].as_str().unwrap().contains("erased with the shopper's data"), "{status} {body}");
    let id: Uuid = messages[0].parse().unwrap();
    let refused = retry_message(&world.app, Asker::Operator("test"), shop.merchant.id, id).await;
    assert!(matches!(refused, Err(RetryMessageError::Erased)));
    let shown = shop.merchant.calls(Method::GET, &format!("/v1/messages/{id}"), |request| request).await.body;
    assert_eq!((&shown["erased"], &shown["body"], &shown["state"]), (&json!(true), &json!("{\"erased\":true}"), &json!("discarded")));
    let feed = shop.merchant.calls(Method::GET, "/v1/events", |request| request).await.body;
    assert_eq!((&feed["items"][0]["id"], &feed["items"][0]["body"]), (&json!(messages[0]), &json!({ "erased": true })));
    assert_eq!(shop.merchant.wants_again(&messages[1]).await.0, 202, "others can still be sent again");
}

#[tokio::test]
async fn whoever_erases_waits_for_whoever_tries_again_and_then_finds_it_owed() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let rma = shop.merchant.starts_a_return("A-1", 1).await;
    shop.receives().await;
    let id: Uuid = shop.merchant.first_message_on(&rma).await.parse().unwrap();
    let mut tx = world.app.begin(shop.merchant.id).await.unwrap();
    store::messages::retries::hold(&mut tx, id).await.unwrap();
    let candidate = store::messages::retries::find(&mut tx, id).await.unwrap().unwrap();
    let endpoint = store::messages::retries::endpoint(&mut tx, "rma").await.unwrap().unwrap();
    let waits = "select count(*)::text from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let tries_again = async {
        world.database.becomes(waits, &["1"]).await;
        store::messages::retries::insert(&mut tx, id, &candidate, endpoint, world.app.now()).await.unwrap();
        tx.commit().await.unwrap();
    };
    let (erased, ()) = tokio::join!(shop.merchant.erases("A-1"), tries_again);
    assert!(matches!(erased, Err(EraseShopperError::StillOwed(1))), "{erased:?}");
    assert_eq!(shop.receives().await[0].1["rma_identifier"], rma.as_str(), "it is sent as written");
}

#[tokio::test]
async fn the_operator_erases_by_address_and_is_told_what_stands_in_the_way() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.publishes(&message([infested("A-1", 1), infested("A-2", 1)])).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    let erase =
        |more: &[&str]| backhaul(&world.database, &[&["shopper", "erase", "--merchant", "acme", "-o", "json", "--yes"], more].concat());
    let refused = erase(&["--email", EMAIL]);
    assert!(err(&refused).contains("some orders were not erased"));
    let rows: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert!(rows["items"][0]["result"].as_str().unwrap().contains("--discard") && rows["items"][1]["result"] == "erased", "{rows}");
    shop.receives().await;
    let rows: Value = serde_json::from_str(&out(&erase(&["--email", EMAIL]))).unwrap();
    assert_eq!(rows["items"], json!([{ "order": "A-1", "result": "erased", "returns": 1, "messages": 1 }]));
    assert_eq!(infested_tables(&world).await, Vec::<String>::new());
    assert_eq!(serde_json::from_str::<Value>(&out(&erase(&["--email", EMAIL]))).unwrap()["items"], json!([]));
    assert!(err(&erase(&["--email", EMAIL, "--order", "A-1"])).contains("cannot be used with"));
}
