//! Drop-ship orders as merchants submit them, and as merchants and warehouses see them.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::{Terms, issue_credential};
use domain::merchants::access::{Scope, Scopes};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, drop_ship, drop_ship_in_full, shipment};

#[tokio::test]
async fn an_order_is_taken_once_and_its_repeat_is_answered_as_known() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let first = merchant.gives(&drop_ship_in_full("A-1")).await;
    assert_eq!(first.status, 201, "{}", first.text);
    assert_eq!(first.body["drop_ship_orders"][0]["result"], "created");
    let again = merchant.gives(&drop_ship_in_full("A-1")).await;
    assert_eq!((again.status.as_u16(), &again.body["drop_ship_orders"][0]["result"]), (200, &json!("unchanged")));
    assert_eq!(again.body["drop_ship_orders"][0]["id"], first.body["drop_ship_orders"][0]["id"]);
    // Only the content matters, not its formatting.
    let mut spelled_out = drop_ship_in_full("A-1");
    spelled_out["shipping_address"]["street2"] = Value::Null;
    spelled_out["price_cents"] = json!(15_000.0);
    assert_eq!(merchant.gives(&spelled_out).await.status, 200);
    assert_eq!((world.database.count("drop_ship_order").await, world.database.count("message").await), (1, 0));
}

#[tokio::test]
async fn the_same_name_with_other_content_is_refused_and_nothing_of_its_message_is_taken() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.has_shipped("A-1", &[1]).await;
    let reply = merchant.gives(&json!({ "drop_ship_orders": [drop_ship("A-0", &[1]), drop_ship("A-1", &[2])] })).await;
    assert_eq!(reply.status, 409, "{}", reply.text);
    assert!(reply.body["message"].as_str().unwrap().contains("drop_ship_orders[1].client_identifier"), "{}", reply.text);
    assert_eq!(world.database.count("drop_ship_order").await, 1);
    // Another merchant has its own identifiers.
    world.merchant("other").await.has_shipped("A-1", &[2]).await;
}

#[tokio::test]
async fn a_list_is_taken_all_or_none_and_every_fault_has_its_path() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = drop_ship("A-2", &[1, 0]);
    wrong["expected_delivery_date"] = "tomorrow".into();
    wrong["shipping_address"].as_object_mut().unwrap().remove("city");
    let reply = merchant.gives(&json!({ "drop_ship_orders": [drop_ship("A-1", &[1]), wrong] })).await;
    let mut faults = reply.faults();
    faults.sort();
    assert_eq!(
        faults,
        [
            "drop_ship_orders[1].expected_delivery_date invalid",
            "drop_ship_orders[1].order_items[1].quantity invalid",
            "drop_ship_orders[1].shipping_address.city missing_field",
        ]
    );
    let mut twice = drop_ship("A-1", &[1, 1]);
    twice["order_items"][1]["client_identifier"] = "L1".into();
    assert_eq!(merchant.gives(&twice).await.faults(), ["order_items[1].client_identifier invalid"]);
    let both = json!({ "drop_ship_orders": [drop_ship("A-1", &[1]), drop_ship("A-1", &[1])] });
    assert_eq!(merchant.gives(&both).await.faults(), ["drop_ship_orders[1].client_identifier invalid"]);
    let many: Vec<Value> = (0..101).map(|at| drop_ship(&format!("M-{at}"), &[1])).collect();
    assert_eq!(merchant.gives(&json!({ "drop_ship_orders": many })).await.faults(), ["drop_ship_orders invalid"]);
    assert_eq!(merchant.gives(&json!({})).await.faults().len(), 3);
    assert_eq!(world.database.count("drop_ship_order").await, 0);
    assert_eq!(merchant.gives(&json!({ "drop_ship_orders": many[..100] })).await.status, 201);
}

#[tokio::test]
async fn merchants_give_orders_and_warehouses_report_on_them() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let narrow = async |name: &str, scope| {
        let terms = Terms::open(Scopes::from_iter([scope]), name);
        let issued = issue_credential(&world.app, "test", merchant.id, &terms).await.unwrap();
        let secret = secrecy::ExposeSecret::expose_secret(&issued.client_secret).to_owned();
        let wanted = json!({ "grant_type": "client_credentials", "client_id": issued.client_id, "client_secret": secret });
        world.asks_for_a_token(&wanted).await.body["access_token"].as_str().unwrap().to_owned()
    };
    let (shop, warehouse) = (narrow("shop", Scope::Orders).await, narrow("warehouse", Scope::Warehouse).await);
    let call = async |token: &str, method: Method, path: &str, body: Value| {
        world.ask(method, path, |request| request.bearer_auth(token).json(&body)).await.status.as_u16()
    };
    assert_eq!(call(&warehouse, Method::POST, "/v1/drop_ship_orders", drop_ship("A-1", &[1])).await, 403);
    assert_eq!(call(&shop, Method::POST, "/v1/drop_ship_orders", drop_ship("A-1", &[1])).await, 201);
    for token in [&shop, &warehouse] {
        assert_eq!(call(token, Method::GET, "/v1/drop_ship_orders", Value::Null).await, 200);
        assert_eq!(call(token, Method::GET, "/v1/drop_ship_orders/A-1", Value::Null).await, 200);
    }
    assert_eq!(call(&shop, Method::POST, "/v1/drop_ship_orders/A-1/ship", shipment("S1", &[("L1", 1)])).await, 403);
    assert_eq!(call(&warehouse, Method::POST, "/v1/drop_ship_orders/A-1/ship", shipment("S1", &[("L1", 1)])).await, 200);
}

#[tokio::test]
async fn orders_are_listed_newest_first_by_the_page_and_by_status() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for name in ["A-1", "A-2", "A-3"] {
        merchant.has_shipped(name, &[1]).await;
        // Orders submitted in the same millisecond have no defined order.
        world.time_passes(Duration::from_millis(1));
    }
    merchant.warehouse_reports("A-2", "ship", &shipment("S1", &[("L1", 1)])).await;
    let list = async |query: &str| merchant.calls(Method::GET, &format!("/v1/drop_ship_orders{query}"), |request| request).await;
    let names = |page: &Value| {
        let orders = page["items"].as_array().unwrap().iter();
        orders.map(|order| order["client_identifier"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = list("?limit=2").await.body;
    assert_eq!((names(&first), first["next"].is_string()), (vec!["A-3".to_owned(), "A-2".to_owned()], true));
    let rest = list(&format!("?limit=2&cursor={}", first["next"].as_str().unwrap())).await.body;
    assert_eq!((names(&rest), &rest["next"]), (vec!["A-1".to_owned()], &json!(null)));
    assert_eq!(names(&list("?status=accepted").await.body), ["A-3", "A-1"]);
    assert_eq!(names(&list("?status=shipped").await.body), ["A-2"]);
    for wrong in ["?status=sent", "?limit=0", "?limit=101", "?cursor=x"] {
        assert_eq!(list(wrong).await.status, 400, "{wrong}");
    }
}
