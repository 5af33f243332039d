//! The merchant's systems fail while a shopper waits: the shopper gets an error and can go on.

use std::time::{Duration, Instant};

use backhaul::delivery::secrets::authentication::{Authentication, OAuth, Style};
use backhaul::flow::messages::configure_endpoint::EndpointChange;
use sandbox::merchant::{Answer, TOKEN_PATH};

use crate::world::World;

/// A world in which shoppers wait at most this long.
async fn patient_for(millis: u64) -> World {
    World::with(&[("BACKHAUL__OUTBOUND__VARIANTS_TIMEOUT_MS", &millis.to_string())]).await
}

#[tokio::test]
async fn a_merchant_that_errs_is_a_bad_gateway_and_the_shopper_can_go_on() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let big = format!("[{}]", " ".repeat(4 * 1024 * 1024));
    for (number, (what, answer)) in (1..).zip([
        ("an error", Answer::status(500)),
        ("a refusal", Answer::status(404)),
        ("a redirect", Answer::redirect(&shop.systems.url("/elsewhere"))),
        ("no content", Answer::status(204)),
        ("no JSON", Answer::ok().body("<html>")),
        ("no variants", Answer::ok()),
        ("too much", Answer::ok().body(big)),
        ("a part of an answer", Answer::ok().cut_short("[]")),
        ("a connection that breaks", Answer::reset()),
        ("a connection that ends", Answer::close()),
    ]) {
        // A change of the endpoint clears its cache and its earlier failures.
        shop.is_set(EndpointChange { slots: Some(number), ..EndpointChange::default() }).await;
        shop.systems.answer_next("/sku", [answer]);
        let reply = shop.offers_for("A-1").await;
        assert_eq!(reply.status, 502, "{what}: {}", reply.text);
        assert!(reply.body["message"].as_str().unwrap().contains("Go on with a refund or a gift card"), "{}", reply.text);
        assert!(reply.body["request_id"].is_string() && reply.body["errors"].as_array().unwrap().is_empty());
        assert_eq!(shop.offers_for("A-1").await.skus().len(), 2, "a failure is not cached: {what}");
    }
    assert_eq!(shop.systems.received_at("/elsewhere").len(), 0, "redirects are not followed");
}

#[tokio::test]
async fn a_merchant_that_is_unreachable_is_a_bad_gateway() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    let url = shop.systems.url("/sku/{variant_identifier}/variants");
    let nobody = sandbox::merchant::Merchant::start().await.unwrap();
    let gone = nobody.url("/sku/{variant_identifier}/variants");
    nobody.stop().await;
    shop.is_set(EndpointChange { url: Some(gone), ..EndpointChange::default() }).await;
    assert_eq!(shop.offers_for("A-1").await.status, 502);
    assert_eq!(shop.reports().await, ["1 unreachable"]);
    shop.is_set(EndpointChange { url: Some(url), ..EndpointChange::default() }).await;
    assert_eq!(shop.offers_for("A-1").await.status, 200);
}

/// The only test that waits for real: shoppers are promised an answer in three seconds.
#[tokio::test]
async fn a_shopper_waits_for_three_seconds_and_no_longer() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    shop.systems.answer("/sku", Answer::hang());
    let began = Instant::now();
    let reply = shop.offers_for("A-1").await;
    let waited = began.elapsed();
    assert!((Duration::from_secs(3)..Duration::from_secs(6)).contains(&waited), "{waited:?}");
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert!(reply.body["message"].as_str().unwrap().contains("Go on with a refund or a gift card"), "{}", reply.text);
    assert_eq!(shop.reports().await, ["1 timed out"]);
    let returned = shop.merchant.starts_a_return("A-1", 1).await;
    assert!(returned.starts_with("R-"), "the shopper can go on");
}

#[tokio::test]
async fn the_time_covers_the_token_and_the_whole_answer() {
    let world = patient_for(300).await;
    let dripping = world.catalogue("dripping").await;
    dripping.systems.answer("/sku", Answer::ok().drip(Duration::from_millis(20), None));
    assert_eq!(dripping.offers_for("A-1").await.status, 503);
    let hanging = world.catalogue("hanging").await;
    hanging.is_set(EndpointChange { authentication: Some(oauth(&hanging.systems)), ..EndpointChange::default() }).await;
    hanging.systems.answer(TOKEN_PATH, Answer::hang());
    assert_eq!(hanging.offers_for("A-1").await.status, 503);
    assert_eq!((hanging.asked().len(), hanging.reports().await), (0, vec!["1 timed out".to_owned()]));
}

fn oauth(systems: &sandbox::merchant::Merchant) -> Authentication {
    let (token_url, client_id) = (systems.url(TOKEN_PATH), "us".to_owned());
    Authentication::OAuth(OAuth { token_url, client_id, client_secret: "secret".into(), scope: None, style: Style::Json, extra: None })
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once_and_the_call_made_again() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    shop.is_set(EndpointChange { authentication: Some(oauth(&shop.systems)), ..EndpointChange::default() }).await;
    shop.systems.requires_token("/sku");
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
    shop.systems.revoke_tokens();
    world.time_passes(Duration::from_mins(1));
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2, "shoppers do not notice");
    assert_eq!((shop.asked().len(), shop.systems.token_fetches()), (3, 2));
    assert_eq!(shop.reports().await, ["2 200", "1 401"]);

    shop.systems.answer("/sku", Answer::unauthorized());
    world.time_passes(Duration::from_mins(1));
    assert_eq!(shop.offers_for("A-1").await.status, 502);
    assert_eq!((shop.asked().len(), shop.systems.token_fetches()), (5, 3), "once, not repeatedly");
}

#[tokio::test]
async fn a_merchant_that_fails_in_a_row_is_left_in_peace_until_a_call_goes_well() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    shop.systems.answer("/sku", Answer::status(503));
    for _ in 0..7 {
        assert_eq!(shop.offers_for("A-1").await.status, 502);
    }
    assert_eq!(shop.asked().len(), 5, "after five failures no call is made");
    assert_eq!(shop.reports().await, ["5 503"]);
    world.time_passes(Duration::from_millis(29_999));
    assert_eq!((shop.offers_for("A-1").await.status.as_u16(), shop.asked().len()), (502, 5));
    world.time_passes(Duration::from_millis(1));
    for _ in 0..2 {
        assert_eq!((shop.offers_for("A-1").await.status.as_u16(), shop.asked().len()), (502, 6), "one call probes");
    }
    shop.systems.answer("/sku", Answer::usual());
    world.time_passes(Duration::from_secs(30));
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
    assert_eq!(shop.asked().len(), 7);
}

#[tokio::test]
async fn new_settings_of_an_endpoint_are_tried_at_once() {
    let world = World::new().await;
    let [shop, other] = [world.catalogue("acme").await, world.catalogue("other").await];
    shop.systems.answer("/sku", Answer::status(500));
    for _ in 0..6 {
        assert_eq!(shop.offers_for("A-1").await.status, 502);
    }
    assert_eq!(other.offers_for("A-1").await.status, 200, "another merchant is not affected");
    shop.systems.answer("/sku", Answer::usual());
    assert_eq!((shop.offers_for("A-1").await.status.as_u16(), shop.asked().len()), (502, 5));
    shop.is_set(EndpointChange { slots: Some(7), ..EndpointChange::default() }).await;
    assert_eq!(shop.offers_for("A-1").await.status, 200);
}

#[tokio::test]
async fn a_merchant_that_does_not_know_a_variant_is_asked_for_others() {
    let world = World::new().await;
    let shop = world.catalogue("acme").await;
    shop.sells_with("A-2", Some("V-GONE")).await;
    for _ in 0..8 {
        assert_eq!(shop.offers_for("A-2").await.status, 502);
    }
    assert_eq!(shop.asked().len(), 8);
    assert_eq!(shop.offers_for("A-1").await.skus().len(), 2);
}
