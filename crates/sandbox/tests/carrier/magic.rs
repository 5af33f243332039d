//! Parcels that move by themselves.

use serde_json::json;

use crate::caller::{LONG, World, error, event, read, shipment, statuses};

#[tokio::test]
async fn the_shoppers_name_decides_what_becomes_of_the_parcel() {
    for (word, play) in
        [("SIM-TRANSIT", &["in_transit"][..]), ("SIM-DELIVERED", &["in_transit", "delivered"]), ("SIM-LOST", &["in_transit", "failure"])]
    {
        let world = World::new().await;
        let listener = world.listener().await;
        let code = world.parcel_of(&format!("Ada {word}")).await;
        assert!(code.starts_with(&format!("{word}-")), "{code}");
        assert_ne!(code, world.parcel_of(word).await, "numbers are unique");
        world.carrier.webhooks_settled(LONG).await.unwrap();
        let mut received = listener.received();
        received.retain(|received| event(received)["result"]["tracking_code"] == code.as_str());
        assert_eq!(statuses(&received), play);
    }
}

#[tokio::test]
async fn the_street_decides_too_and_a_plain_parcel_waits_for_its_scans() {
    let world = World::new().await;
    let listener = world.listener().await;
    let mut body = shipment("RMA-1", "Ada");
    body["shipment"]["from_address"]["street1"] = json!("1 SIM-LOST St");
    let (_, made) = read(world.post("v2/shipments", &body)).await;
    let (_, bought) = world.buy(&made).await;
    assert!(bought["tracking_code"].as_str().unwrap().starts_with("SIM-LOST-"));
    assert_eq!(bought["status"], "pre_transit", "the purchase is answered before the parcel moves");
    world.parcel_of("Ada").await;
    world.carrier.webhooks_settled(LONG).await.unwrap();
    assert_eq!(statuses(&listener.received()), ["in_transit", "failure"]);
    assert_eq!(read(world.get("v2/shipments/RMA-1")).await.1["status"], "failure");
}

#[tokio::test]
async fn a_magic_number_that_is_followed_plays_once() {
    let world = World::new().await;
    let listener = world.listener().await;
    let follow = |code: &str| world.post("v2/trackers", &json!({"tracker": {"tracking_code": code}}));
    let (status, tracker) = read(follow("SIM-DELIVERED")).await;
    assert_eq!((status, &tracker["object"], &tracker["status"]), (201, &json!("Tracker"), &json!("unknown")));
    let (_, again) = read(follow("SIM-DELIVERED")).await;
    assert_eq!((&again["id"], &again["status"]), (&tracker["id"], &json!("delivered")));
    assert_eq!(read(follow("1Z999")).await.0, 201);
    assert_eq!(error(follow("")).await.0, 422);
    world.carrier.webhooks_settled(LONG).await.unwrap();
    assert_eq!(statuses(&listener.received()), ["in_transit", "delivered"]);
}
