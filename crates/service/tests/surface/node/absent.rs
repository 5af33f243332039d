//! A route that does not exist is told apart from a record that is absent.

use domain::merchants::operator::Role;
use reqwest::Method;
use serde_json::json;

use crate::world::{Reply, World};

/// Asks for problem details as in RFC 9457.
async fn problem(world: &World, token: &str, method: Method, path: &str) -> Reply {
    let accept = "application/problem+json";
    let reply = world.ask(method, path, |request| request.bearer_auth(token).header("Accept", accept)).await;
    assert_eq!(reply.header("content-type"), accept, "{path}: {}", reply.text);
    reply
}

#[tokio::test]
async fn a_wrong_route_and_an_absent_record_have_different_words_and_codes() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let wrong = merchant.calls(Method::GET, "/v1/order/4711", |request| request).await;
    assert_eq!((wrong.status.as_u16(), &wrong.body["code"]), (404, &json!("no_such_route")), "{}", wrong.text);
    assert_eq!(wrong.body["message"], "There is no such route; see /openapi.json.");
    for (method, path, told) in [
        (Method::GET, "/v1/orders/4711", "acme has no order 4711."),
        (Method::GET, "/v1/orders/47%2011/returnable", "acme has no order 47 11."),
        (
            Method::GET,
            "/v1/orders/4711/lines/L9/exchange_options?reason=TOO_SMALL",
            "acme has no order 4711, or that order has no line L9.",
        ),
        (Method::GET, "/v1/returns/R-2222-2222", "acme has no return R-2222-2222."),
        (Method::GET, "/v1/returns/R-2222-2222/label", "acme has no return R-2222-2222, or no label was bought for it yet."),
        (Method::POST, "/v1/returns/R-2222-2222/resend", "acme has no return R-2222-2222."),
        (Method::GET, "/v1/order_imports/7", "acme has no import 7."),
        (Method::GET, "/v1/messages/7", "acme has no message 7; messages are kept for 30 days."),
        (Method::POST, "/v1/work_items/7/close", "acme has no open case 7."),
        (Method::GET, "/v1/inbound_asns/A-9", "acme has no inbound ASN A-9."),
        (Method::POST, "/v1/expected_returns/R-2222-2222/close", "acme has no return R-2222-2222."),
        (Method::GET, "/v1/outbound_shipments/S-9", "acme has no shipment S-9."),
        (Method::GET, "/v1/drop_ship_orders/D-9", "acme has no drop-ship order D-9."),
    ] {
        let absent = merchant.calls(method, path, |request| request).await;
        assert_eq!((absent.status.as_u16(), &absent.body["code"]), (404, &json!("not_found")), "{path}: {}", absent.text);
        let message = absent.body["message"].as_str().unwrap();
        assert!(message.starts_with(told), "{path}: {message}");
    }
}

#[tokio::test]
async fn problem_details_have_a_type_for_each() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let wrong = problem(&world, &merchant.token, Method::GET, "/v1/nothing").await;
    assert_eq!((&wrong.body["type"], &wrong.body["status"]), (&json!("urn:backhaul:problem:no-such-route"), &json!(404)));
    let absent = problem(&world, &merchant.token, Method::GET, "/v1/orders/4711").await;
    assert_eq!(absent.body["type"], "urn:backhaul:problem:not-found");
    assert!(absent.body["detail"].as_str().unwrap().starts_with("acme has no order 4711."), "{}", absent.text);
    let method = problem(&world, &merchant.token, Method::DELETE, "/v1/orders/4711").await;
    assert_eq!((method.status.as_u16(), &method.body["type"]), (405, &json!("about:blank")));
    assert!(method.header("allow").contains("GET"), "{}", method.header("allow"));
}

#[tokio::test]
async fn the_operator_api_tells_a_wrong_route_and_a_wrong_method() {
    let world = World::new().await;
    let script = world.script(Role::Viewer).await;
    let wrong = script.reads("merchants/list").await;
    assert_eq!((wrong.status.as_u16(), &wrong.body["type"]), (404, &json!("urn:backhaul:problem:no-such-route")), "{}", wrong.text);
    assert_eq!(wrong.body["detail"], "There is no such route in the operator API; see /admin/v1/openapi.json.");
    let method = script.calls("merchant/list", &json!({})).await;
    assert_eq!((method.status.as_u16(), method.header("allow")), (405, "GET"));
    let absent = script.reads("merchant/show?handle=nobody").await;
    assert_eq!((absent.status.as_u16(), &absent.body["type"]), (422, &json!("about:blank")), "the command was refused: {}", absent.text);
}
