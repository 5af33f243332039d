//! `backhaul policy …`, run as a program.

use reqwest::Method;
use serde_json::{Value, json};

use crate::binary::{backhaul, err, out};
use crate::world::{World, mail_back, message, sold};

/// The output of `backhaul policy WORDS -o json`.
fn policy(world: &World, words: &[&str]) -> Value {
    let output = backhaul(&world.database, &[&["policy"], words, &["-o", "json"]].concat());
    serde_json::from_str(&out(&output)).unwrap()
}

/// The error output of a `backhaul policy set` that fails.
fn refused(world: &World, words: &[&str]) -> String {
    err(&backhaul(&world.database, &[&["policy", "set", "--merchant", "acme"], words].concat()))
}

async fn audit(world: &World) -> Vec<(String, String)> {
    sqlx::query_as("select actor, detail from audit where action = 'policy.changed' order by audit_id")
        .fetch_all(&mut world.database.connect().await)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_policy_changes_in_what_is_named_and_nothing_else() {
    let world = World::new().await;
    world.merchant("acme").await;
    let usual = policy(&world, &["show", "--merchant", "acme"]);
    let free = |method: &str| json!({ "method": method, "fee_cents": 0, "deducted": false });
    assert_eq!(
        (&usual["window_days"], &usual["managed_receiving"], &usual["express_limit_pounds"], &usual["exchange_reasons"]),
        (&json!(30), &json!(false), &json!(20.0), &json!(["TOO_SMALL", "TOO_LARGE"]))
    );
    assert_eq!(usual["methods"], json!([free("mail-back"), free("express-returns")]));

    let mut expected = usual.clone();
    let ways = ["--method", "mail-back:499:deducted", "--method", "customer-keep"];
    expected["methods"] = json!([{ "method": "mail-back", "fee_cents": 499, "deducted": true }, free("customer-keep")]);
    assert_eq!(policy(&world, &[&["set", "--merchant", "acme"], &ways[..]].concat()), expected);
    let more = ["--window-days", "45", "--reason", "TORN", "--reason", "TOO_LATE", "--managed-receiving", "on", "--express-limit", "12.5"];
    expected["window_days"] = 45.into();
    expected["reasons"] = json!(["TORN", "TOO_LATE"]);
    expected["exchange_reasons"] = json!([]);
    expected["managed_receiving"] = true.into();
    expected["express_limit_pounds"] = 12.5.into();
    assert_eq!(policy(&world, &[&["set", "--merchant", "acme"], &more[..]].concat()), expected);
    expected["exchange_reasons"] = json!(["TORN"]);
    assert_eq!(policy(&world, &["set", "--merchant", "acme", "--exchange-reason", "TORN"]), expected);
    expected["exchange_reasons"] = json!([]);
    assert_eq!(policy(&world, &["set", "--merchant", "acme", "--no-exchange-reason"]), expected);
    expected["tags"] = json!([{ "tag": "clearance", "rule": "final_sale" }, { "tag": "finalsale", "rule": "allowed" }]);
    assert_eq!(policy(&world, &["set", "--merchant", "acme", "--tag", "Clear-ance=final_sale", "--tag", "final sale=allowed"]), expected);
    expected["tags"] = json!([{ "tag": "finalsale", "rule": "allowed" }]);
    assert_eq!(policy(&world, &["set", "--merchant", "acme", "--no-tag", "CLEARANCE"]), expected);
    assert_eq!(policy(&world, &["show", "--merchant", "acme"]), expected);

    let table = out(&backhaul(&world.database, &["policy", "show", "--merchant", "acme"]));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.lines().map(words).collect();
    for row in ["window_days 45", "managed_receiving on", "express_limit_pounds 12.5", "mail-back 499 yes", "finalsale allowed"] {
        assert!(rows.contains(&words(row)), "{row} in {table}");
    }
    let who = || "cli:tester".to_owned();
    assert_eq!(
        audit(&world).await,
        [
            (who(), "methods: mail-back:499:deducted, customer-keep".to_owned()),
            (who(), "window_days: 45; reasons: TORN, TOO_LATE; managed_receiving: true; express_limit_pounds: 12.5".to_owned()),
            (who(), "exchange_reasons: TORN".to_owned()),
            (who(), "exchange_reasons: ".to_owned()),
            (who(), "tag clearance: final_sale; tag finalsale: allowed".to_owned()),
            (who(), "no tag clearance".to_owned()),
        ]
    );
}

#[tokio::test]
async fn a_policy_that_is_not_sound_is_told_by_sentences_and_stays_as_it_was() {
    let world = World::new().await;
    world.merchant("acme").await;
    let error = refused(&world, &["--window-days", "0", "--reason", "A", "--reason", "A", "--tag", "_=gift", "--express-limit", "0"]);
    assert_eq!(
        error,
        "error: the policy was not changed:\n\
        - the return window must be 1 to 3,650 days\n\
        - a reason is listed twice: \"A\"\n\
        - the weight limit of express-returns must be above 0 pounds\n\
        - a tag must have at least one letter or digit\n"
    );
    assert!(refused(&world, &["--method", "mail-back:4.99"]).contains("mail-back:499:deducted, with the fee in cents"));
    assert!(refused(&world, &["--tag", "sale"]).contains("clearance=final_sale"));
    assert!(refused(&world, &["--tag", "sale=no"]).contains("the rule of a tag must be one of final_sale, gift_card"));
    assert!(refused(&world, &["--express-limit", "ten"]).contains("in pounds, such as 20 or 12.5"));
    assert!(refused(&world, &["--exchange-reason", "TORN"]).contains("one of the reasons, or NOT_GIVEN: \"TORN\""));
    assert!(refused(&world, &["--no-tag", "sale"]).contains("`backhaul policy show --merchant HANDLE`"));
    assert!(refused(&world, &[]).contains("no change was given"));
    assert!(err(&backhaul(&world.database, &["policy", "show", "--merchant", "nobody"])).contains("`backhaul merchant list`"));
    assert_eq!(policy(&world, &["show", "--merchant", "acme"])["window_days"], 30);
    assert!(audit(&world).await.is_empty());
}

#[tokio::test]
async fn a_new_policy_counts_from_the_next_return_on() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 2).await;
    let free = merchant.starts_a_return("A-1", 1).await;
    policy(&world, &["set", "--merchant", "acme", "--method", "mail-back:499:deducted"]);
    let paid = merchant.starts(&mail_back("A-1", 1)).await.body;
    assert_eq!(
        (&paid["return_shipping_cost_cents"], &paid["items"][0]["money"]["shopper_refund_amount_cents"]),
        (&499.into(), &4_901.into())
    );
    assert_eq!(merchant.looks_at(&free).await["return_shipping_cost_cents"], 0, "returns under way keep their terms");
}

#[tokio::test]
async fn what_the_operator_sets_is_what_shoppers_meet() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    policy(
        &world,
        &[
            "set",
            "--merchant",
            "acme",
            "--window-days",
            "20",
            "--reason",
            "TORN",
            "--managed-receiving",
            "on",
            "--tag",
            "clearance=final_sale",
        ],
    );
    let mut tagged = sold("A-1", 2);
    tagged["items"][0]["tags"] = json!(["Clear-Ance"]);
    assert_eq!(merchant.publishes(&message([tagged])).await.results(), ["created"]);
    let returnable = merchant.calls(Method::GET, "/v1/orders/A-1/returnable", |request| request).await.body;
    assert_eq!((&returnable["items"][0]["returnable"], &returnable["reasons"]), (&json!(0), &json!(["TORN"])));
    assert_eq!(returnable["items"][0]["held"][0]["reason"], "final_sale");

    policy(&world, &["set", "--merchant", "acme", "--no-tag", "clearance"]);
    let returnable = merchant.calls(Method::GET, "/v1/orders/A-1/returnable", |request| request).await.body;
    let line = &returnable["items"][0];
    assert_eq!((&line["returnable"], &line["returnable_until"]), (&json!(2), &json!("2026-03-11T09:00:00Z")));
    let mut wanted = mail_back("A-1", 1);
    let refused = merchant.starts(&wanted).await;
    assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (422, &json!("items[0].return_reason")));
    assert_eq!(refused.body["errors"][0]["message"], "must be one of TORN, NOT_GIVEN");
    for reason in ["TORN", "NOT_GIVEN"] {
        wanted["items"][0]["return_reason"] = reason.into();
        let started = merchant.starts(&wanted).await;
        assert_eq!(started.status, 201, "{}", started.text);
        assert_eq!(started.body["items"][0]["receiving_status"], "PENDING");
    }
}

#[tokio::test]
async fn what_shoppers_have_instead_of_the_money_is_part_of_the_policy() {
    let world = World::new().await;
    world.boutique("acme").await.shop.merchant.sells("A-1", 1).await;
    world.merchant("plain").await;
    let terms = |shown: &Value| ["gift_card_sku", "gift_card_bonus_cents", "concept", "refusals_are_final"].map(|name| shown[name].clone());
    assert_eq!(terms(&policy(&world, &["show", "--merchant", "plain"])), [json!(null), json!(0), json!(null), json!(false)]);
    let set = policy(
        &world,
        &["set", "--merchant", "plain", "--gift-card", "CARD:A:750", "--concept", "Example Brand", "--refusals-are-final", "on"],
    );
    assert_eq!(terms(&set), [json!("CARD:A"), json!(750), json!("Example Brand"), json!(true)]);
    let set = policy(&world, &["set", "--merchant", "plain", "--gift-card", "CARD", "--refusals-are-final", "off"]);
    assert_eq!(terms(&set), [json!("CARD"), json!(0), json!("Example Brand"), json!(false)]);
    assert_eq!(
        terms(&policy(&world, &["set", "--merchant", "plain", "--no-gift-card"])),
        [json!(null), json!(0), json!("Example Brand"), json!(false)]
    );
    assert_eq!(terms(&policy(&world, &["set", "--merchant", "plain", "--no-concept"])), [json!(null), json!(0), json!(null), json!(false)]);
    assert_eq!(terms(&policy(&world, &["show", "--merchant", "acme"]))[0], "GIFT-CARD", "another merchant has its own policy");
    assert!(refused(&world, &["--gift-card", "CARD:much"]).contains("write gift cards as GIFT-CARD or GIFT-CARD:500"));
    assert!(refused(&world, &["--gift-card", "CARD", "--no-gift-card"]).contains("cannot be used with"));
    let changes: Vec<String> = audit(&world).await.into_iter().map(|(_, detail)| detail).collect();
    assert!(changes.ends_with(&[
        "gift_card: CARD:A, bonus_cents: 750; concept: Example Brand; refusals_are_final: true".to_owned(),
        "gift_card: CARD, bonus_cents: 0; refusals_are_final: false".to_owned(),
        "no gift_card".to_owned(),
        "no concept".to_owned(),
    ]));
}
