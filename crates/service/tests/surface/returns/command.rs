//! `backhaul returns …`, run as a program.

use reqwest::Method;
use sandbox::merchant::{Answer, Mood};
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::World;

/// The output of `backhaul returns WORDS -o json`.
fn returns(world: &World, words: &[&str]) -> Value {
    let output = backhaul(&world.database, &[&["returns"], words, &["-o", "json"]].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

fn refused(world: &World, words: &[&str]) -> String {
    err(&backhaul(&world.database, &[&["returns"], words].concat()))
}

async fn audit(world: &World) -> Vec<String> {
    sqlx::query_scalar("select actor || ' ' || action || ' ' || detail from audit where action like 'return.%' order by audit_id")
        .fetch_all(&mut world.database.connect().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn support_finds_returns_by_order_tracking_number_status_and_time() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 3).await;
    merchant.sells("A-2", 1).await;
    let first = merchant.starts_a_return("A-1", 2).await;
    world.time_passes(std::time::Duration::from_mins(1));
    let second = merchant.starts_a_return("A-2", 1).await;
    merchant.carrier_says(&second, "label_issued").await;
    assert_eq!(merchant.calls(Method::POST, &format!("/v1/returns/{first}/cancel"), |request| request).await.status, 200);
    let names = |words: &[&str]| -> Vec<String> {
        let found = returns(&world, &[&["list", "--merchant", "acme"], words].concat());
        found["items"].as_array().unwrap().iter().map(|found| found["rma_identifier"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), [second.as_str(), first.as_str()], "newest first");
    assert_eq!(names(&["--order", "A-1"]), [first.as_str()]);
    assert_eq!(names(&["--tracking-number", &format!("T-{second}")]), [second.as_str()]);
    assert_eq!(names(&["--status", "CANCELED"]), [first.as_str()]);
    assert_eq!(names(&["--since", "2026-03-01T12:00:30Z"]), [second.as_str()]);
    assert_eq!(names(&["--limit", "1"]), [second.as_str()]);
    let table = out(&backhaul(&world.database, &["returns", "list", "--merchant", "acme", "--limit", "1"]));
    let (headers, more) = (table.lines().next().unwrap(), table.lines().last().unwrap());
    let columns = ["RETURN", "ORDER", "STATUS", "METHOD", "UNITS", "EXCHANGE", "CREATED", "UPDATED"];
    assert_eq!(headers.split_whitespace().collect::<Vec<_>>(), columns);
    let next = more.strip_prefix("There may be more. To continue, add --cursor ").unwrap();
    assert_eq!(names(&["--cursor", next]), [first.as_str()]);
    assert_eq!(
        out(&backhaul(&world.database, &["returns", "list", "--merchant", "acme", "--order", "A-3"])),
        "No returns of acme match.\n"
    );
    assert!(
        refused(&world, &["list", "--merchant", "acme", "--status", "gone"])
            .contains("unknown status of a return; it is one of CREATED, PARTIAL_REFUND, REFUNDED, CANCELED")
    );
}

#[tokio::test]
async fn support_sees_where_a_return_stands_to_the_cent() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 2).await;
    out(&backhaul(&world.database, &["policy", "set", "--merchant", "acme", "--method", "mail-back:499:deducted"]));
    let rma = shop.merchant.starts_a_return("A-1", 2).await;
    assert_eq!(shop.receives().await.len(), 1);
    shop.merchant.carrier_says(&rma, "label_issued").await;

    let spelled = rma.replace('-', "").to_lowercase();
    let mut shown = returns(&world, &["show", "--merchant", "acme", &spelled]);
    let messages = |shown: &Value| -> Vec<String> {
        let messages = shown["messages"].as_array().unwrap().iter();
        messages
            .map(|message| format!("{} {} {}", message["sequence"], message["event"].as_str().unwrap(), message["state"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(messages(&shown), ["1 rma.created delivered", "2 rma.tracking_updated owed"]);
    shown.as_object_mut().unwrap().remove("messages");
    assert_eq!(shown, shop.merchant.looks_at(&rma).await, "the rest is as the merchant sees it");

    let table = out(&backhaul(&world.database, &["returns", "show", "--merchant", "acme", &rma]));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.lines().map(words).collect();
    for row in [
        "status CREATED".to_owned(),
        "return_shipping_cost_cents 499".to_owned(),
        format!("L1 2 SHOE-42 TOO_SMALL REFUND T-{rma} PRE_TRANSIT - -"),
        "L1 1 5000 0 400 5400 250 0 5150".to_owned(),
        "L1 2 5000 0 400 5400 249 0 5151".to_owned(),
        "all 10000 0 800 10800 499 0 10301".to_owned(),
    ] {
        assert!(rows.contains(&words(&row)), "{row} in {table}");
    }
    assert!(refused(&world, &["show", "--merchant", "acme", "R-2222-2222"]).contains("`backhaul returns list --merchant acme`"));
}

#[tokio::test]
async fn whoever_cancels_or_resends_a_return_leaves_an_audit_row() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    let (first, second) = (shop.merchant.starts_a_return("A-1", 1).await, shop.merchant.starts_a_return("A-1", 1).await);
    let scanned = shop.merchant.starts_a_return("A-1", 1).await;
    shop.merchant.carrier_says(&scanned, "label_issued").await;
    shop.merchant.carrier_says(&scanned, "in_transit").await;

    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    assert_eq!(returns(&world, &["resend", "--merchant", "acme", &first])["sequence"], 2);
    let cancelled = returns(&world, &["cancel", "--merchant", "acme", &first, "--yes"]);
    assert_eq!((&cancelled["status"], &cancelled["cancel_reason"]), (&json!("CANCELED"), &json!("canceled_by_operator")));
    assert_eq!(returns(&world, &["cancel", "--merchant", "acme", &first])["sequence"], 3, "a repeat changes nothing");
    for (verb, status) in [("resend", 202), ("cancel", 200)] {
        let reply = shop.merchant.calls(Method::POST, &format!("/v1/returns/{second}/{verb}"), |request| request).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_eq!(shop.merchant.looks_at(&second).await["cancel_reason"], "canceled_by_merchant");
    assert!(
        refused(&world, &["cancel", "--merchant", "acme", &scanned]).contains("the return cannot be cancelled: the carrier has scanned it")
    );
    for verb in ["cancel", "resend"] {
        assert!(refused(&world, &[verb, "--merchant", "acme", "R-2222-2222"]).contains("acme has no return R-2222-2222"));
    }
    let mut rows = audit(&world).await;
    rows.sort();
    let expected = [
        format!("cli:tester return.canceled {first}"),
        format!("cli:tester return.resent {first}"),
        format!("merchant return.canceled {second}"),
        format!("merchant return.resent {second}"),
    ];
    assert_eq!(rows, expected);
    let shown = returns(&world, &["show", "--merchant", "acme", &first]);
    let events: Vec<&str> = shown["messages"].as_array().unwrap().iter().map(|message| message["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["rma.created", "rma.resent", "rma.canceled"]);
}

#[tokio::test]
async fn support_turns_an_exchange_that_cannot_be_placed_into_refunds() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    boutique.orders.next([Mood::PlacingThen(Answer::close())]);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    assert!(refused(&world, &["convert-exchange", "--merchant", "acme", &rma]).contains("the exchange order is still owed"));
    assert_eq!(returns(&world, &["list", "--merchant", "acme"])["items"][0]["exchange"], "pending");
    boutique.everything_is_tried().await;
    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    let unconfirmed = refused(&world, &["convert-exchange", "--merchant", "acme", &rma]);
    assert!(unconfirmed.contains("an attempt has no recorded answer") && unconfirmed.contains("--yes"), "{unconfirmed}");
    let converted = returns(&world, &["convert-exchange", "--yes", "--merchant", "acme", &rma.to_lowercase()]);
    assert_eq!((&converted["exchange"]["state"], &converted["items"][0]["refund_type"]), (&json!("converted"), &json!("REFUND")));
    let events: Vec<&str> = converted["messages"].as_array().unwrap().iter().map(|message| message["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["rma.created", "rma.exchange_converted"]);
    assert!(refused(&world, &["convert-exchange", "--merchant", "acme", &rma]).contains("the exchange order is already converted"));
    assert!(refused(&world, &["convert-exchange", "--merchant", "acme", "R-2222-2222"]).contains("acme has no return R-2222-2222"));
    boutique.shop.merchant.sells("A-2", 1).await;
    let plain = boutique.shop.merchant.starts_a_return("A-2", 1).await;
    assert!(refused(&world, &["convert-exchange", "--merchant", "acme", &plain]).contains("the return has no exchange"));
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'exchange.converted'").await;
    assert_eq!(audit, [format!("cli:tester {rma}")]);
}

#[tokio::test]
async fn support_records_the_order_that_was_placed_after_all() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::PlacingThen(Answer::status(500)));
    let rma = boutique.exchanges("A-1").await;
    boutique.everything_is_tried().await;
    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    let placed = ["exchange-placed", &rma, "--order", "X-7", "--merchant", "acme"];
    let shown = returns(&world, &placed);
    assert_eq!((&shown["exchange"]["state"], &shown["items"][0]["exchange_order_identifier"]), (&json!("placed"), &json!("X-7")));
    assert_eq!(returns(&world, &placed)["sequence"], 2, "a repeat changes nothing");
    let other = ["exchange-placed", &rma, "--order", "X-8", "--merchant", "acme"];
    assert!(refused(&world, &other).contains("already known as X-7"));
    boutique.shop.merchant.sells("A-2", 1).await;
    let plain = boutique.shop.merchant.starts_a_return("A-2", 1).await;
    assert!(refused(&world, &["exchange-placed", &plain, "--order", "X-8", "--merchant", "acme"]).contains("has no exchange"));
    assert!(refused(&world, &["exchange-placed", &rma, "--order", "", "--merchant", "acme"]).contains("1 to 255 characters"));
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'exchange.recorded'").await;
    assert_eq!(audit, [format!("cli:tester {rma}")]);
}

#[tokio::test]
async fn an_exchange_goes_to_another_address_and_is_asked_about_if_the_order_may_exist() {
    let world = World::new().await;
    let boutique = world.boutique("acme").await;
    boutique.orders.mood(Mood::Refusing(503));
    boutique.orders.next([Mood::PlacingThen(Answer::close())]);
    let rma = boutique.exchanges("A-1").await;
    world.deliver_all_due().await;
    let there = ["--name", "Sam Sample", "--street1", "2 Example Street", "--city", "Newtown", "--country-code"];
    let words = |rest: &[&'static str]| [&["exchange-address", "--merchant", "acme", rma.as_str()], &there[..], rest].concat();
    assert!(refused(&world, &words(&["US"])).contains("the exchange order is still owed"));
    boutique.everything_is_tried().await;
    // The program uses the system clock, so its messages need today's partition.
    store::messages::partitions::make(world.app.cell(), chrono::Utc::now() - chrono::TimeDelta::days(1), 3).await.unwrap();
    assert!(refused(&world, &words(&["usa"])).contains("two capital letters, such as US"));
    assert!(refused(&world, &words(&["US"])).contains("an attempt has no recorded answer"));
    assert_eq!(returns(&world, &words(&["US", "--yes"]))["exchange"]["state"], "pending");
    let asks =
        "select body::json -> 'shipping_address' ->> 'city' from message where kind = 'exchange_order' order by message_id desc limit 1";
    assert_eq!(world.database.texts(asks).await, ["Newtown"]);
    assert!(refused(&world, &words(&["US", "--yes"])).contains("the exchange order is still owed"));
}
