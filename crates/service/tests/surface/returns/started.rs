//! Starting a return: its contents, and the reasons for refusing one.

use domain::returns::rma::policy::{Policy, Tag, TagRule};
use serde_json::{Value, json};

use crate::world::{World, line, mail_back, message, sold};

/// Every fault as `field: message`.
fn faults(body: &Value) -> Vec<String> {
    let faults = body["errors"].as_array().unwrap_or_else(|| panic!("{body}"));
    faults.iter().map(|fault| format!("{}: {}", fault["field"].as_str().unwrap(), fault["message"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_return_starts_as_created_with_a_message_on_each_unit() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut order = sold("A-1", 4);
    order["items"].as_array_mut().unwrap().push(line("L2", 1));
    order["items"][1]["shipped_date"] = "2026-02-19T09:00:00Z".into();
    order["items"][1]["sku"] = "SOCK-1".into();
    shop.merchant.publishes(&message([order])).await;
    let mut wanted = mail_back("A-1", 4);
    wanted["items"].as_array_mut().unwrap().push(json!({ "order_line_item_identifier": "L2" }));
    let reply = shop.merchant.starts(&wanted).await;
    assert_eq!((reply.status.as_u16(), &reply.body["status"]), (201, &json!("CREATED")), "{}", reply.text);
    let received = shop.receives().await;
    let [(event, body)] = received.as_slice() else { panic!("one message, not {received:?}") };
    assert_eq!((event.as_str(), &body["status"]), ("rma.created", &json!("CREATED")));
    let units: Vec<(&str, &str, &str)> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let text = |name: &str| item[name].as_str().unwrap();
            assert!(item["tracking_number"].is_null() && item["package_tracking_status"].is_null());
            (text("order_line_item_identifier"), text("sku"), text("return_reason"))
        })
        .collect();
    assert_eq!(units, [[("L1", "SHOE-42", "TOO_SMALL"); 4].as_slice(), &[("L2", "SOCK-1", "NOT_GIVEN")]].concat());
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_its_path_and_starts_nothing() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 3).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    assert_eq!(shop.receives_events().await, ["rma.created"]);
    let with = |name: &str, value: Value| {
        let mut wanted = mail_back("A-1", 1);
        match name.strip_prefix("items[0].") {
            Some(name) => wanted["items"][0][name] = value,
            None => wanted[name] = value,
        }
        wanted
    };
    let reasons = "must be one of TOO_SMALL, TOO_LARGE, CHANGED_MIND, NOT_AS_DESCRIBED, DAMAGED, WRONG_ITEM, NOT_GIVEN";
    let twice = json!([{ "order_line_item_identifier": "L1", "quantity": 2 }, { "order_line_item_identifier": "L1" }]);
    let refused = [
        ("order_identifier", json!("A-9"), "order_identifier: is not an order of the merchant".to_owned()),
        ("items[0].order_line_item_identifier", json!("L9"), "items[0].order_line_item_identifier: is not a line of the order".to_owned()),
        (
            "items[0].quantity",
            json!(3),
            "items[0].quantity: must be from 1 to 2; no more units of this line can be returned (1 in_return)".to_owned(),
        ),
        (
            "items[0].quantity",
            json!(0),
            "items[0].quantity: must be from 1 to 2; no more units of this line can be returned (1 in_return)".to_owned(),
        ),
        ("items", twice, "items[1].quantity: no more units of this line can be returned (1 in_return)".to_owned()),
        ("items[0].return_reason", json!("BORED"), format!("items[0].return_reason: {reasons}")),
        ("return_method", json!("customer-keep"), "return_method: must be one of mail-back, express-returns".to_owned()),
        (
            "giftee_email",
            json!("sam@example.com"),
            "giftee_email: is allowed only for gift orders, and this order is not a gift".to_owned(),
        ),
    ];
    for (field, value, expected) in refused {
        let reply = shop.merchant.starts(&with(field, value)).await;
        assert_eq!(reply.status, 422, "{field}: {}", reply.text);
        assert_eq!(faults(&reply.body), [expected]);
    }
    let mut all_at_once = with("items[0].return_reason", json!("BORED"));
    all_at_once["items"][0]["quantity"] = 9.into();
    all_at_once["giftee_email"] = "sam@example.com".into();
    let reply = shop.merchant.starts(&all_at_once).await;
    assert_eq!(reply.faults(), ["items[0].return_reason invalid", "items[0].quantity invalid", "giftee_email invalid"]);
    assert_eq!((world.database.count("rma").await, shop.receives_events().await), (1, vec![]));
}

#[tokio::test]
async fn what_is_missing_or_of_another_type_is_told_at_once() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let reply = shop.merchant.starts(&json!({ "items": [{ "quantity": "one" }] })).await;
    let mut faults = reply.faults();
    faults.sort_unstable();
    let expected = [
        "items[0].order_line_item_identifier missing_field",
        "items[0].quantity invalid_type",
        "order_identifier missing_field",
        "return_method missing_field",
    ];
    assert_eq!(faults, expected);
}

#[tokio::test]
async fn the_reasons_are_the_merchants_and_giving_none_is_always_allowed() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { reasons: vec!["TORN".to_owned()], ..Policy::default() }).await;
    shop.merchant.sells("A-1", 5).await;
    assert_eq!(shop.merchant.asks_what_can_come_back("A-1").await["reasons"], json!(["TORN"]));
    for (reason, status) in [("TOO_SMALL", 422), ("TORN", 201), ("NOT_GIVEN", 201)] {
        let mut wanted = mail_back("A-1", 1);
        wanted["items"][0]["return_reason"] = reason.into();
        assert_eq!(shop.merchant.starts(&wanted).await.status, status, "{reason}");
    }
    shop.merchant.has_policy(&Policy { reasons: vec![], ..Policy::default() }).await;
    let mut without = mail_back("A-1", 1);
    without["items"][0].as_object_mut().unwrap().remove("return_reason");
    assert_eq!(shop.merchant.starts(&without).await.body["items"][0]["return_reason"], "NOT_GIVEN");
}

#[tokio::test]
async fn a_gift_is_returned_by_whoever_got_it() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let tags = [(Tag::new("present"), TagRule::Gift)].into_iter().collect();
    shop.merchant.has_policy(&Policy { tags, ..Policy::default() }).await;
    for (order, tag) in [("A-1", "Gift"), ("A-2", "present")] {
        let mut gift = sold(order, 1);
        gift["tags"] = json!([tag]);
        shop.merchant.publishes(&message([gift])).await;
        assert_eq!(shop.merchant.asks_what_can_come_back(order).await["gift"], true);
        let mut wanted = mail_back(order, 1);
        assert_eq!(shop.merchant.starts(&wanted).await.faults(), ["giftee_email missing_field"]);
        wanted["giftee_email"] = "sam@example.com".into();
        assert_eq!(shop.merchant.starts(&wanted).await.status, 201);
        let (_, body) = shop.receives().await.remove(0);
        assert_eq!((&body["gift_refund_only"], &body["giftee_email"]), (&json!(true), &json!("sam@example.com")));
    }
    shop.merchant.sells("A-3", 1).await;
    shop.merchant.starts_a_return("A-3", 1).await;
    let (_, body) = shop.receives().await.remove(0);
    assert_eq!((&body["gift_refund_only"], body.get("giftee_email")), (&json!(false), None));
}

#[tokio::test]
async fn names_of_returns_in_a_row_have_nothing_in_common() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 40).await;
    let mut names = Vec::new();
    for _ in 0..40 {
        names.push(merchant.starts_a_return("A-1", 1).await);
    }
    for (at, name) in names.iter().enumerate() {
        assert!(name.len() == 11 && name.starts_with("R-") && name.chars().nth(6) == Some('-'), "{name}");
        for other in &names[..at] {
            assert!(name[2..6] != other[2..6] && name[7..] != other[7..], "{name} and {other}");
            let alike = name[2..].chars().zip(other[2..].chars()).filter(|(a, b)| a == b && *a != '-').count();
            assert!(alike <= 4, "{name} and {other}");
        }
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_ne!(sorted, names, "nor do they go up");
}
