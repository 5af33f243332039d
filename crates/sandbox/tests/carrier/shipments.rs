//! Shipments: created, found, bought and refunded.

use sandbox::carrier::{Carrier, Shipment};
use serde_json::{Value, json};

use crate::caller::{LONG, World, error, read, shipment};

#[tokio::test]
async fn whoever_does_not_show_the_key_is_turned_away() {
    let world = World::new().await;
    let url = world.url("v2/shipments/1");
    assert_eq!(error(world.client.get(&url)).await, (401, "APIKEY.INACTIVE".to_owned()));
    assert_eq!(error(world.client.get(&url).basic_auth("another", None::<&str>)).await.0, 401);
    assert_eq!(error(world.client.get(&url).bearer_auth(world.carrier.api_key())).await.0, 401);
    assert_eq!(error(world.client.get(&url).basic_auth(world.carrier.api_key(), Some("any"))).await, (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_new_shipment_has_rates_and_no_label() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    assert!(made["id"].as_str().unwrap().starts_with("shp_"));
    assert_eq!((&made["object"], &made["mode"], &made["reference"]), (&json!("Shipment"), &json!("test"), &json!("RMA-1")));
    assert_eq!((&made["status"], &made["is_return"]), (&json!("unknown"), &json!(false)));
    assert_eq!(made["to_address"]["company"], "Shop");
    for field in ["postage_label", "tracking_code", "tracker", "selected_rate", "refund_status"] {
        assert_eq!(made.get(field), Some(&Value::Null), "{field}");
    }
    assert!(made["created_at"].as_str().unwrap().ends_with('Z') && made["updated_at"] == made["created_at"]);
    let rates = made["rates"].as_array().unwrap();
    assert_eq!(rates.len(), 3);
    assert_eq!((&rates[0]["service"], &rates[0]["rate"], &rates[0]["currency"]), (&json!("Ground"), &json!("6.08"), &json!("USD")));
    assert!(rates.iter().all(|rate| rate["carrier"] == "SimCarrier" && rate["delivery_days"].is_u64()));
}

#[tokio::test]
async fn a_shipment_is_found_by_its_id_and_by_its_reference() {
    let world = World::new().await;
    let made = world.ship("RMA-1/a b").await;
    let id = made["id"].as_str().unwrap();
    assert_eq!(read(world.get(&format!("v2/shipments/{id}"))).await, (200, made.clone()));
    assert_eq!(read(world.get("v2/shipments/RMA-1%2Fa%20b")).await, (200, made));
    assert_eq!(error(world.get("v2/shipments/RMA-2")).await.0, 404);
    assert_eq!(error(world.get("v2/elsewhere")).await.0, 404);
}

#[tokio::test]
async fn the_oldest_shipment_of_a_reference_answers_for_it() {
    let world = World::new().await;
    let (oldest, newer) = (world.ship("RMA-1").await, world.ship("RMA-1").await);
    assert_ne!(oldest["id"], newer["id"]);
    assert_eq!(read(world.get("v2/shipments/RMA-1")).await.1["id"], oldest["id"]);
    assert_eq!(world.carrier.shipments().len(), 2);
}

#[tokio::test]
async fn an_incomplete_address_is_refused_and_says_what_it_lacks() {
    let world = World::new().await;
    let mut body = shipment("RMA-1", "Ada");
    body["shipment"]["from_address"]["zip"] = json!("");
    body["shipment"]["to_address"] = json!(null);
    let (status, answer) = read(world.post("v2/shipments", &body)).await;
    assert_eq!(status, 422);
    let fields: Vec<&str> = answer["error"]["errors"].as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap()).collect();
    assert!(fields.contains(&"from_address.zip") && fields.contains(&"to_address.street1"), "{fields:?}");
    assert!(world.carrier.shipments().is_empty());
}

#[tokio::test]
async fn a_label_that_is_not_a_pdf_is_not_on_sale() {
    let world = World::new().await;
    for options in [json!(null), json!({}), json!({"label_format": "PNG"})] {
        let mut body = shipment("RMA-1", "Ada");
        body["shipment"]["options"] = options.clone();
        let (status, answer) = read(world.post("v2/shipments", &body)).await;
        assert_eq!((status, &answer["error"]["errors"][0]["field"]), (422, &json!("options.label_format")), "{options}");
    }
    assert!(world.carrier.shipments().is_empty());
}

#[tokio::test]
async fn what_is_no_json_or_too_much_is_refused() {
    let world = World::new().await;
    assert_eq!(error(world.post("v2/shipments", &json!({})).body("{")).await.0, 400);
    assert_eq!(error(world.post("v2/shipments", &json!("x".repeat(100_000)))).await.0, 413);
}

#[tokio::test]
async fn a_bought_shipment_has_a_label_and_a_tracker() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    let (status, bought) = world.buy(&made).await;
    assert_eq!((status, &bought["id"], &bought["status"]), (200, &made["id"], &json!("pre_transit")));
    let code = bought["tracking_code"].as_str().unwrap();
    assert!(code.strip_prefix("SIM").is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit())), "{code}");
    assert_eq!(bought["selected_rate"], made["rates"][0]);
    assert_eq!(bought["postage_label"]["label_file_type"], "application/pdf");
    assert!(bought["postage_label"]["label_url"].as_str().unwrap().starts_with(world.carrier.url()));
    let tracker = &bought["tracker"];
    assert!(tracker["id"].as_str().unwrap().starts_with("trk_"));
    assert_eq!((&tracker["tracking_code"], &tracker["status"]), (&json!(code), &json!("pre_transit")));
    assert_eq!(read(world.get("v2/shipments/RMA-1")).await.1, bought);
}

#[tokio::test]
async fn a_label_is_not_bought_twice_nor_after_its_refund() {
    let world = World::new().await;
    let made = world.ship("RMA-1").await;
    assert_eq!(world.buy(&made).await.0, 200);
    let (status, answer) = world.buy(&made).await;
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("SHIPMENT.POSTAGE.EXISTS")));
    let refund = || world.post("v2/shipments/RMA-1/refund", &json!({}));
    let (status, refunded) = read(refund()).await;
    assert_eq!((status, &refunded["refund_status"]), (200, &json!("submitted")));
    assert_eq!(error(refund()).await, (422, "SHIPMENT.REFUND.FAILURE".to_owned()));
    let (status, answer) = world.buy(&made).await;
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("SHIPMENT.POSTAGE.FAILURE")));
    assert_eq!(world.carrier.bought("RMA-1"), 1);
    let [Shipment { bought: 1, refunded: 1, reference: Some(_), tracking_code: Some(_), .. }] = &world.carrier.shipments()[..] else {
        panic!("{:?}", world.carrier.shipments());
    };
}

#[tokio::test]
async fn only_what_was_bought_is_refunded_and_only_its_own_rate_bought() {
    let world = World::new().await;
    let (made, other) = (world.ship("RMA-1").await, world.ship("RMA-2").await);
    let refund = world.post("v2/shipments/RMA-1/refund", &json!({}));
    assert_eq!(error(refund).await, (422, "SHIPMENT.REFUND.UNAVAILABLE".to_owned()));
    let buy = world.post("v2/shipments/RMA-1/buy", &json!({"rate": {"id": other["rates"][0]["id"]}}));
    assert_eq!(error(buy).await.0, 422);
    assert_eq!(error(world.post("v2/shipments/RMA-3/refund", &json!({}))).await.0, 404);
    let buy = world.post("v2/shipments/RMA-1/buy", &json!({"rate": {"id": made["rates"][2]["id"]}}));
    assert_eq!(read(buy).await.1["selected_rate"]["service"], "Express");
}

#[tokio::test]
async fn labels_are_counted_by_reference_and_waited_for() {
    let world = World::new().await;
    for reference in ["RMA-1", "RMA-1", "RMA-2"] {
        let made = world.ship(reference).await;
        world.buy(&made).await;
    }
    world.ship("RMA-1").await;
    assert_eq!((world.carrier.bought("RMA-1"), world.carrier.bought("RMA-2"), world.carrier.bought("RMA-3")), (2, 1, 0));
    assert_eq!(world.carrier.wait_for_labels(3, LONG).await.unwrap().len(), 4);
    assert!(world.carrier.wait_for_labels(4, std::time::Duration::ZERO).await.is_err());
}

#[tokio::test]
async fn a_carrier_that_stopped_refuses_connections_and_another_takes_its_place() {
    let world = World::new().await;
    world.ship("RMA-1").await;
    let (address, get) = (world.carrier.address(), world.get("v2/shipments/RMA-1"));
    let World { carrier, client } = world;
    carrier.stop().await;
    assert!(get.send().await.unwrap_err().is_connect());
    let world = World { carrier: Carrier::start_at(address).await.unwrap(), client };
    assert_eq!(error(world.get("v2/shipments/RMA-1")).await.0, 404);
}
