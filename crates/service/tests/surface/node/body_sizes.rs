//! Routes for callers who have not shown yet who they are take small bodies only.

use crate::world::World;
use crate::world::carrier::{signed, tracker_event};

#[tokio::test]
async fn a_token_request_has_at_most_16_kib() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut request = merchant.credentials();
    let pad = |request: &serde_json::Value, size: usize| size - request.to_string().len() - r#","pad":"""#.len();
    let padding = pad(&request, 16 * 1024);
    request["pad"] = "x".repeat(padding).into();
    assert_eq!((request.to_string().len(), world.asks_for_a_token(&request).await.status.as_u16()), (16 * 1024, 200));
    request["pad"] = "x".repeat(padding + 1).into();
    let refused = world.asks_for_a_token(&request).await;
    assert_eq!(refused.status, 413, "{}", refused.text);
    assert_eq!(refused.body["message"], "The body exceeds the limit of 16384 bytes (16 KiB).");
}

#[tokio::test]
async fn a_carrier_webhook_has_at_most_256_kib() {
    let world = World::new().await;
    let carried = world.shop_with_a_carrier("acme").await;
    let path = carried.shop.merchant.webhooks();
    let sends = async |size: usize| {
        let event = tracker_event("evt_1", "9400100000000000000000", "in_transit").to_string();
        let body = format!("{event}{}", " ".repeat(size - event.len()));
        world.receives_webhook(&path, Some(&signed(&carried.secret, &body)), &body).await
    };
    assert_eq!(sends(256 * 1024).await.status, 200);
    let refused = sends(256 * 1024 + 1).await;
    assert_eq!(refused.status, 413, "{}", refused.text);
    assert_eq!(refused.body["message"], "The body exceeds the limit of 262144 bytes (256 KiB).");
}
