//! Announcing ASNs: goods on their way to a warehouse, and how long a merchant may change an announcement.

use domain::merchants::access::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, asn, scan, the_unit, units_of};

#[tokio::test]
async fn an_asn_is_new_then_known_and_never_another() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let first = asn("A-1", &[units_of("SHOE", 3), the_unit("U-1")]);
    let reply = merchant.posts_asns(std::slice::from_ref(&first)).await;
    assert_eq!((reply.status.as_u16(), &reply.body["inbound_asns"][0]["result"]), (201, &json!("created")), "{}", reply.text);
    // The same content in another notation.
    let mut same = first.clone();
    same["cartons"][0]["details"][1]["quantity"] = 1.into();
    same["carrier"] = Value::Null;
    same["unknown"] = "ignored".into();
    let reply = merchant.posts_asns(&[same]).await;
    assert_eq!((reply.status.as_u16(), &reply.body["inbound_asns"][0]["result"]), (200, &json!("unchanged")));
    let mut other = first;
    other["cartons"][0]["details"][0]["quantity"] = 4.into();
    let reply = merchant.posts_asns(&[asn("A-2", &[units_of("SHOE", 1)]), other]).await;
    assert_eq!(reply.status, 409);
    assert!(reply.body["message"].as_str().unwrap().contains("A-1"), "{}", reply.text);
    // Nothing from that request was accepted.
    let listed = merchant.calls(Method::GET, "/v1/inbound_asns", |request| request).await;
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
    // Another merchant has its own numbers.
    let stranger = world.merchant("stranger").await;
    stranger.announces("A-1", &[units_of("HAT", 1)]).await;
    assert_eq!(merchant.looks_at_asn("A-1").await["announced"], 4);
}

#[tokio::test]
async fn a_message_is_all_or_nothing_and_every_fault_has_its_path() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = asn("A-2", &[units_of("SHOE", 1), units_of("SHOE", 1)]);
    wrong["cartons"][0]["details"][1]["line_identifier"] = "1".into();
    let reply = merchant.posts_asns(&[asn("A-1", &[units_of("SHOE", 1)]), wrong.clone()]).await;
    assert_eq!(reply.faults(), ["inbound_asns[1].cartons[0].details[1].line_identifier invalid"]);
    wrong["asn_number"] = "A 2".into();
    wrong["to"] = json!("MAIN");
    let reply = merchant.posts_asns(&[asn("A-1", &[units_of("SHOE", 1)]), wrong]).await;
    assert_eq!(reply.faults(), ["inbound_asns[1].asn_number invalid", "inbound_asns[1].to invalid_type"]);
    assert_eq!(world.database.count("inbound_asn").await, 0);
    let many: Vec<Value> = (0..=100).map(|number| asn(&number.to_string(), &[units_of("SHOE", 1)])).collect();
    assert_eq!(merchant.posts_asns(&many).await.faults(), ["inbound_asns invalid"]);
    assert_eq!(merchant.posts_asns(&many[1..]).await.status, 201);
}

/// Checks that everything in `expected` is shown.
fn holds(shown: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(expected) => expected.iter().for_each(|(name, expected)| holds(&shown[name], expected, &format!("{at}.{name}"))),
        Value::Array(expected) => {
            expected.iter().enumerate().for_each(|(nth, expected)| holds(&shown[nth], expected, &format!("{at}[{nth}]")));
        }
        _ => assert_eq!(shown, expected, "{at}"),
    }
}

#[tokio::test]
async fn an_asn_is_shown_as_it_was_announced() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut full = asn("A-1", &[the_unit("U-1")]);
    let more = json!({
        "reference_line_identifier": "L1", "client_unit_identifier": "C-1", "upc": "0001", "program_identifier": "P-2",
        "serial_number": "SN-1", "vendor_identifier": "V-1", "condition": "TT", "eligibility_flags": ["OUTLET", "DONATE"],
        "merchant": "Acme", "concept": "Acme Home", "asin": "B000000001", "return_reason": "TOO_SMALL", "quantity": 1,
    });
    full["cartons"][0]["details"][0].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    full["cartons"][0]["identifier"] = "BOX-1".into();
    full["cartons"][0]["reference"] = json!({ "type": "RA", "identifier": "RA-1", "alternate_identifier": "RA-1b" });
    for (name, value) in [("program_identifier", "P-1"), ("channel", "RTV"), ("tracking_number", "1Z1"), ("carrier", "UPS")] {
        full[name] = value.into();
    }
    full["ship_date"] = "2026-03-02T08:00:00Z".into();
    full["cartons"].as_array_mut().unwrap().push(json!({ "details": [{ "line_identifier": "2", "sku": "SOCK", "quantity": 2 }] }));
    assert_eq!(merchant.posts_asns(&[full.clone()]).await.status, 201);
    let shown = merchant.looks_at_asn("A-1").await;
    holds(&shown, &full, "");
    assert_eq!((&shown["state"], &shown["announced"], &shown["received"]), (&json!("open"), &json!(3), &json!(0)));
}

#[tokio::test]
async fn an_asn_can_be_changed_until_its_first_unit_arrives() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let merchant = &yard.merchant;
    merchant.announces("A-1", &[units_of("SHOE", 3)]).await;
    let mut later = asn("A-1", &[units_of("SHOE", 2), the_unit("U-1")]);
    later["ship_date"] = "2026-03-05T08:00:00Z".into();
    let reply = merchant.changes_asn("A-1", &later).await;
    assert_eq!((reply.status.as_u16(), &reply.body["announced"]), (200, &json!(3)), "{}", reply.text);
    assert_eq!(reply.body["ship_date"], "2026-03-05T08:00:00Z");
    assert_eq!(merchant.changes_asn("A-1", &later).await.status, 200);
    assert_eq!(merchant.changes_asn("A-1", &asn("A-2", &[units_of("SHOE", 1)])).await.faults(), ["asn_number invalid"]);
    assert_eq!(merchant.changes_asn("A-9", &later).await.status, 404);
    // A replay is compared with the changed ASN.
    assert_eq!(merchant.posts_asns(&[later.clone()]).await.status, 200);
    assert_eq!(merchant.scans(&[scan("A-1", "U-1")]).await, ["received 2"]);
    let reply = merchant.changes_asn("A-1", &asn("A-1", &[units_of("SHOE", 5)])).await;
    assert_eq!(reply.status, 409);
    assert!(reply.text.contains("The ASN is receiving and can no longer be changed"), "{}", reply.text);
    assert_eq!(merchant.cancels_asn("A-1").await.status, 409);
    assert_eq!(merchant.looks_at_asn("A-1").await["state"], "receiving");
}

#[tokio::test]
async fn an_asn_is_cancelled_for_good() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    let merchant = &yard.merchant;
    merchant.announces("A-1", &[units_of("SHOE", 3)]).await;
    for _ in 0..2 {
        let reply = merchant.cancels_asn("A-1").await;
        assert_eq!((reply.status.as_u16(), &reply.body["state"]), (200, &json!("canceled")));
    }
    assert_eq!(merchant.changes_asn("A-1", &asn("A-1", &[units_of("SHOE", 1)])).await.status, 409);
    assert_eq!(merchant.closes_asn("A-1").await.status, 409);
    assert_eq!(merchant.posts_asns(&[asn("A-1", &[units_of("SHOE", 3)])]).await.body["inbound_asns"][0]["state"], "canceled");
    assert_eq!(merchant.cancels_asn("A-9").await.status, 404);
}

#[tokio::test]
async fn asns_are_listed_newest_first_and_by_shipment() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for number in 0..5 {
        let mut of = asn(&format!("A-{number}"), &[units_of("SHOE", 2), the_unit("U-1")]);
        of["shipment_identifier"] = format!("S-{}", number % 2).into();
        assert_eq!(merchant.posts_asns(&[of]).await.status, 201);
        world.time_passes(std::time::Duration::from_secs(1));
    }
    let page = async |query: &str| {
        let reply = merchant.calls(Method::GET, &format!("/v1/inbound_asns{query}"), |request| request).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let numbers = reply.body["items"].as_array().unwrap().iter().map(|of| of["asn_number"].as_str().unwrap().to_owned());
        (numbers.collect::<Vec<_>>(), reply.body["next"].as_str().map(ToOwned::to_owned))
    };
    let (first, next) = page("?limit=3").await;
    assert_eq!(first, ["A-4", "A-3", "A-2"]);
    assert_eq!(page(&format!("?limit=3&cursor={}", next.unwrap())).await, (vec!["A-1".to_owned(), "A-0".to_owned()], None));
    assert_eq!(page("?shipment_identifier=S-1").await.0, ["A-3", "A-1"]);
    for wrong in ["?limit=0", "?limit=101", "?cursor=x", "?shipment_identifier=%00"] {
        assert_eq!(merchant.calls(Method::GET, &format!("/v1/inbound_asns{wrong}"), |request| request).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_merchants_system_announces_and_so_does_a_warehouses() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    for (scope, announces, receives) in [(Scope::Orders, 201, 403), (Scope::Warehouse, 201, 200), (Scope::Carrier, 403, 403)] {
        let token = world.token_for(&yard.merchant, scope).await;
        let body = json!({ "inbound_asns": [asn(scope.as_str(), &[units_of("SHOE", 1)])] });
        let reply = world.ask(Method::POST, "/v1/inbound_asns", |request| request.bearer_auth(&token).json(&body)).await;
        assert_eq!(reply.status, announces, "{scope:?}");
        if announces == 403 {
            assert!(reply.text.contains("lacks the scope orders or warehouse"), "{}", reply.text);
        }
        let body = json!({ "units": [scan("orders", "U-1")] });
        let reply = world.ask(Method::POST, "/v1/receipts", |request| request.bearer_auth(&token).json(&body)).await;
        assert_eq!(reply.status, receives, "{scope:?}");
    }
}

#[tokio::test]
async fn a_warehouse_that_serves_two_merchants_holds_a_credential_of_each() {
    let world = World::new().await;
    let (first, second) = (world.yard("acme").await, world.yard("globex").await);
    for yard in [&first, &second] {
        yard.merchant.announces("A-1", &[units_of("SHOE", 1)]).await;
    }
    let (one, other) =
        (world.token_for(&first.merchant, Scope::Warehouse).await, world.token_for(&second.merchant, Scope::Warehouse).await);
    let mut unit = scan("A-1", "U-1");
    unit["sku"] = "SHOE".into();
    for token in [&one, &other] {
        // The same ASN number and unit, but two merchants: the token alone decides whose they are.
        let body = json!({ "units": [unit] });
        let reply = world.ask(Method::POST, "/v1/receipts", |request| request.bearer_auth(token).json(&body)).await;
        assert_eq!(reply.body["units"][0]["result"], "received", "{}", reply.text);
    }
    assert_eq!((first.gets().await.len(), second.gets().await.len()), (1, 1));
}
