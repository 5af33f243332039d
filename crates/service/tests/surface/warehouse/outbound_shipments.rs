//! Shipments out of a warehouse, as its systems create and move them.

use backhaul::flow::warehouse::configure_place::{TextChange, WarehouseChange, remove_warehouse, set_warehouse};
use domain::merchants::access::{Scope, Scopes};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::World;
use crate::world::warehouse::{carton, freight, to_vendor, transfer};

#[tokio::test]
async fn a_shipment_is_made_once_however_often_it_is_asked_for() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let first = dock.merchant.ships(&freight("A-1")).await;
    assert_eq!((first.status.as_u16(), &first.body["status"], &first.body["units"]), (201, &"pending".into(), &0.into()));
    let again = dock.merchant.ships(&freight("A-1")).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &first.body));
    // The same content with the fields in another order.
    let text = format!("  {}", serde_json::to_string_pretty(&freight("A-1")).unwrap());
    let reply = dock.merchant.calls(Method::POST, "/v1/outbound_shipments", |request| request.body(text)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let mut other = freight("A-1");
    other["channel"] = "Outlet".into();
    assert_eq!(dock.merchant.ships(&other).await.status, 409);
    // Removing a place does not turn a repeated request into a different one.
    remove_warehouse(&world.app, "test", dock.merchant.id, &"WH-2".parse().unwrap()).await.unwrap();
    assert_eq!(dock.merchant.ships(&freight("A-1")).await.status, 200);
    assert_eq!(dock.receives_events().await, Vec::<String>::new(), "no message is sent");
}

#[tokio::test]
async fn what_cannot_be_shipped_is_told_fault_by_fault() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let with = |name: &str, value: Value| {
        let mut wanted = freight("A-1");
        wanted[name] = value;
        wanted
    };
    let missing = |name: &str| {
        let mut wanted = freight("A-1");
        wanted.as_object_mut().unwrap().remove(name);
        wanted
    };
    for name in ["asn_number", "kind", "from_warehouse", "channel", "shipment_identifier", "ship_date"] {
        assert_eq!(dock.merchant.ships(&missing(name)).await.faults(), [format!("{name} missing_field")]);
    }
    assert_eq!(dock.merchant.ships(&missing("to_warehouse")).await.faults(), ["to_warehouse missing_field"]);
    for (wanted, fault) in [
        (with("asn_number", "A 1".into()), "asn_number invalid"),
        (with("asn_number", "a".repeat(249).into()), "asn_number invalid"),
        (with("kind", "gift".into()), "kind invalid"),
        (with("from_warehouse", "WH-9".into()), "from_warehouse invalid"),
        (with("to_warehouse", "WH-9".into()), "to_warehouse invalid"),
        (with("to_vendor", 1.into()), "to_vendor invalid"),
        (with("carrier_payment_type", "cash".into()), "carrier_payment_type invalid"),
        (with("ship_date", "soon".into()), "ship_date invalid"),
        (with("channel", 7.into()), "channel invalid_type"),
    ] {
        assert_eq!(dock.merchant.ships(&wanted).await.faults(), [fault], "{wanted}");
    }
    let mut vendor = to_vendor("A-1");
    vendor["to_vendor"] = 2.into();
    assert_eq!(dock.merchant.ships(&vendor).await.faults(), ["to_vendor invalid"]);
    // The warehouse's external identifier must be known, and the fault says how to set it.
    let mut back = transfer("A-1");
    back["to_warehouse"] = "WH-1".into();
    let reply = dock.merchant.ships(&back).await;
    assert_eq!(reply.faults(), ["to_warehouse invalid"]);
    assert!(reply.text.contains("backhaul warehouse set --merchant HANDLE WH-1 --stock-transfer-identifier"), "{}", reply.text);
    let unknown = WarehouseChange { external_identifier: TextChange::Clear, ..WarehouseChange::default() };
    set_warehouse(&world.app, "test", dock.merchant.id, &"WH-2".parse().unwrap(), unknown).await.unwrap();
    assert!(dock.merchant.ships(&freight("A-1")).await.text.contains("--external-identifier"));
    assert_eq!(world.database.count("outbound_shipment").await, 0);
    assert_eq!(
        dock.merchant.ships(&with("asn_number", "a".repeat(248).into())).await.status,
        422,
        "the number is valid, only the place is not"
    );
}

#[tokio::test]
async fn places_are_called_what_the_merchants_systems_call_them() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    let at = |body: &Value, place: &str| body[place]["identifier"].as_str().unwrap().to_owned();
    for (number, wanted) in [(1, transfer("A-1")), (2, freight("A-2")), (3, to_vendor("A-3"))] {
        assert_eq!(dock.merchant.ships(&wanted).await.status, 201);
        dock.merchant.adds(&format!("A-{number}"), number..number + 1).await;
    }
    // A shipment keeps the places as they were when it was created.
    let renamed = WarehouseChange { external_identifier: TextChange::Clear, ..WarehouseChange::default() };
    set_warehouse(&world.app, "test", dock.merchant.id, &"WH-1".parse().unwrap(), renamed).await.unwrap();
    assert_eq!(dock.merchant.ships(&freight("A-4")).await.status, 201);
    dock.merchant.adds("A-4", 4..5).await;
    let mut called = Vec::new();
    for number in ["A-1", "A-2", "A-3", "A-4"] {
        dock.merchant.does("ship", number).await;
        let messages = dock.receives().await;
        called.push((at(&messages[0].body, "from"), at(&messages[0].body, "to")));
    }
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(called, [pair("0042", "ST-43"), pair("0042", "0043"), pair("0042", "1"), pair("WH-1", "0043")]);
}

#[tokio::test]
async fn a_shipment_goes_from_pending_to_shipped_to_delivered_with_a_message_each() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    dock.merchant.adds("A-1", 1..4).await;
    assert_eq!(dock.receives_events().await, Vec::<String>::new(), "creating it and adding units send nothing");
    for (verb, status, sequence) in [("announce", "pending", 1), ("ship", "shipped", 2), ("deliver", "delivered", 3)] {
        let shown = dock.merchant.does(verb, "A-1").await;
        assert_eq!((&shown["status"], &shown["sequence"]), (&status.into(), &sequence.into()));
        let messages = dock.receives().await;
        assert_eq!(messages.iter().map(|message| message.event.clone()).collect::<Vec<_>>(), [format!("outbound_asn.{status}")]);
        assert_eq!((&messages[0].body["status"], &messages[0].sequence), (&status.into(), &sequence.to_string()));
        // A repeat is no error, and owes no message.
        assert_eq!(dock.merchant.does(verb, "A-1").await, shown);
        assert_eq!(dock.receives_events().await, Vec::<String>::new());
    }
    for verb in ["announce", "cancel"] {
        let reply = dock.merchant.asks_to(verb, "A-1").await;
        assert_eq!(reply.status, 409);
        assert!(reply.body["message"].as_str().unwrap().contains("The shipment is delivered"), "{}", reply.text);
    }
    assert_eq!(dock.merchant.does("ship", "A-1").await["status"], "delivered", "it did ship");
}

#[tokio::test]
async fn a_shipment_may_ship_without_being_announced() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    for verb in ["announce", "ship"] {
        let reply = dock.merchant.asks_to(verb, "A-1").await;
        assert_eq!(reply.status, 409);
        assert!(reply.text.contains("no units yet"), "{}", reply.text);
    }
    dock.merchant.adds("A-1", 1..3).await;
    assert_eq!(dock.merchant.asks_to("deliver", "A-1").await.status, 409, "it has not left");
    assert_eq!(dock.merchant.does("ship", "A-1").await["fixed"], true);
    assert_eq!(dock.receives_events().await, ["A-1 shipped 1"]);
    assert_eq!(dock.merchant.packs("A-1", [carton("C-1", [9])]).await.status, 409, "its units are fixed");
}

#[tokio::test]
async fn a_shipment_that_was_announced_is_called_off_aloud_and_another_one_silently() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    for (number, announced) in [("A-1", true), ("A-2", false)] {
        dock.merchant.makes(number).await;
        dock.merchant.adds(number, 1..4).await;
        if announced {
            dock.merchant.does("announce", number).await;
        }
        // Unless it is cancelled, it keeps its units.
        dock.merchant.makes(&format!("{number}-b")).await;
        assert_eq!(dock.merchant.packs(&format!("{number}-b"), [carton("C-1", 1..4)]).await.status, 422);
        dock.receives_events().await;
        assert_eq!(dock.merchant.does("cancel", number).await["status"], "canceled");
        let expected = if announced { vec!["A-1 canceled 2".to_owned()] } else { Vec::new() };
        assert_eq!(dock.receives_events().await, expected);
        dock.merchant.does("cancel", number).await;
        assert_eq!(dock.receives_events().await, Vec::<String>::new());
        for verb in ["announce", "ship", "deliver"] {
            assert_eq!(dock.merchant.asks_to(verb, number).await.status, 409, "{verb}");
        }
        assert_eq!(dock.merchant.packs(number, [carton("C-1", [7])]).await.status, 409);
        assert_eq!(dock.merchant.packs(&format!("{number}-b"), [carton("C-1", 1..4)]).await.status, 200, "they are free again");
        dock.merchant.does("cancel", &format!("{number}-b")).await;
    }
}

#[tokio::test]
async fn a_new_ship_date_is_told_if_the_shipment_was_announced() {
    let world = World::new().await;
    let dock = world.dock("acme").await;
    dock.merchant.makes("A-1").await;
    dock.merchant.adds("A-1", 1..2).await;
    let date = |reply: &crate::world::Reply| reply.body["ship_date"].as_str().unwrap().to_owned();
    assert_eq!(date(&dock.merchant.postpones("A-1", "2026-03-05T10:00:00+02:00").await), "2026-03-05T08:00:00Z");
    assert_eq!(dock.receives_events().await, Vec::<String>::new());
    dock.merchant.does("announce", "A-1").await;
    assert_eq!(dock.receives().await[0].body["ship_date"], "2026-03-05T08:00:00Z");
    assert_eq!(dock.merchant.postpones("A-1", "2026-03-06T08:00:00Z").await.status, 200);
    let messages = dock.receives().await;
    assert_eq!((messages.len(), messages[0].event.as_str(), messages[0].sequence.as_str()), (1, "outbound_asn.ship_date_changed", "2"));
    assert_eq!((&messages[0].body["ship_date"], &messages[0].body["status"]), (&"2026-03-06T08:00:00Z".into(), &"pending".into()));
    assert_eq!(dock.merchant.postpones("A-1", "2026-03-06T08:00:00Z").await.status, 200, "the same again");
    assert_eq!(dock.receives_events().await, Vec::<String>::new());
    dock.merchant.does("ship", "A-1").await;
    dock.receives_events().await;
    assert_eq!(dock.merchant.postpones("A-1", "2026-03-07T08:00:00Z").await.status, 409, "it is gone");
    let faulty = dock.merchant.calls(Method::PATCH, "/v1/outbound_shipments/A-1", |request| request.json(&json!({}))).await;
    assert_eq!(faulty.faults(), ["ship_date missing_field"]);
    assert_eq!(dock.merchant.looks_at_shipment("A-1").await["ship_date"], "2026-03-06T08:00:00Z");
    assert_eq!(dock.receives_events().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_warehouse_that_serves_two_merchants_has_a_credential_of_each() {
    let world = World::new().await;
    let narrow = Scopes::from_iter([Scope::Warehouse]);
    let [one, other] = [world.merchant_with("one", narrow).await, world.merchant_with("other", narrow).await];
    for merchant in [&one, &other] {
        merchant.has_places().await;
        // Each merchant has its own numbers and license plates.
        merchant.makes("A-1").await;
        merchant.adds("A-1", 1..3).await;
    }
    one.does("ship", "A-1").await;
    assert_eq!(
        (one.looks_at_shipment("A-1").await["status"].clone(), other.looks_at_shipment("A-1").await["status"].clone()),
        ("shipped".into(), "pending".into())
    );
    one.makes("A-2").await;
    assert_eq!(other.asks_to("ship", "A-2").await.status, 404);
    let orders = world.merchant_with("orders", World::all_scopes_but(Scope::Warehouse)).await;
    assert_eq!(orders.ships(&freight("A-3")).await.status, 403);
}

#[tokio::test]
async fn shipments_are_listed_newest_first_page_by_page() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_places().await;
    for number in 0..5 {
        world.time_passes(std::time::Duration::from_millis(2));
        merchant.makes(&format!("A-{number}")).await;
    }
    let (mut seen, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = merchant.calls(Method::GET, &format!("/v1/outbound_shipments{query}"), |request| request).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let numbers = page.body["items"].as_array().unwrap().iter();
        seen.extend(numbers.map(|shipment| shipment["asn_number"].as_str().unwrap().to_owned()));
        let Some(next) = page.body["next"].as_str() else { break };
        query = format!("?limit=2&cursor={next}");
    }
    assert_eq!(seen, ["A-4", "A-3", "A-2", "A-1", "A-0"]);
    for bad in ["?limit=0", "?limit=101", "?cursor=x", "?limit=x"] {
        assert_eq!(merchant.calls(Method::GET, &format!("/v1/outbound_shipments{bad}"), |request| request).await.status, 400, "{bad}");
    }
}
