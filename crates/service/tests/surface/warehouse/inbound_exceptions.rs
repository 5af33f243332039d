//! Receiving exceptions: no scanned unit is lost, and no missing unit is forgotten.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, scan, the_unit, units_of};

fn of_sku(number: &str, unit: &str, sku: &str) -> Value {
    let mut scanned = scan(number, unit);
    scanned["sku"] = sku.into();
    scanned
}

#[tokio::test]
async fn what_was_not_announced_is_an_exception_and_tells_the_merchant_nothing() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 1), the_unit("U-1")]).await;
    yard.merchant.announces("A-2", &[units_of("SOCK", 1)]).await;
    assert_eq!(yard.merchant.cancels_asn("A-2").await.status, 200);
    let mut wrong_line = scan("A-1", "LP-4");
    wrong_line["line_identifier"] = "9".into();
    let units = [
        of_sku("A-1", "LP-1", "SOCK"),
        of_sku("A-1", "LP-2", "SOCK"),
        of_sku("A-1", "LP-3", "SHOE"),
        wrong_line,
        of_sku("A-2", "LP-5", "SOCK"),
        of_sku("A-9", "LP-6", "SOCK"),
    ];
    let expected = [
        "received 1",
        "exception over_received",
        "exception unexpected_unit",
        "exception unexpected_unit",
        "exception canceled_asn",
        "exception unknown_asn",
    ];
    assert_eq!(yard.merchant.scans(&units).await, expected);
    assert_eq!(yard.receives_events().await, ["LP-1 1"]);
    // A repeat gives the same result, and is listed once.
    assert_eq!(yard.merchant.scans(&units[1..]).await, expected[1..]);
    let expected = [
        "canceled_asn A-2 LP-5 1 open",
        "over_received A-1 LP-2 1 open",
        "unexpected_unit A-1 LP-3 1 open",
        "unexpected_unit A-1 LP-4 1 open",
        "unknown_asn A-9 LP-6 1 open",
    ];
    assert_eq!(yard.merchant.exceptions("").await, expected);
    assert_eq!(yard.merchant.exceptions("?asn_number=A-9").await, ["unknown_asn A-9 LP-6 1 open"]);
    let page = yard.merchant.calls(Method::GET, "/v1/receiving_exceptions?limit=2", |request| request).await;
    assert_eq!((page.body["items"].as_array().unwrap().len(), page.body["next"].is_string()), (2, true));
    let rest = format!("?limit=5&cursor={}", page.body["next"].as_str().unwrap());
    assert_eq!(yard.merchant.exceptions(&rest).await.len(), 3);
}

#[tokio::test]
async fn a_unit_that_is_announced_after_all_is_received_and_its_exception_is_settled() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    assert_eq!(yard.merchant.scans(&[scan("A-1", "U-1")]).await, ["exception unknown_asn"]);
    yard.merchant.announces("A-1", &[the_unit("U-1")]).await;
    assert_eq!(yard.merchant.scans(&[scan("A-1", "U-1")]).await, ["received 1"]);
    assert_eq!(yard.merchant.exceptions("").await, ["unknown_asn A-1 U-1 1 settled"]);
    assert_eq!(yard.receives_events().await, ["U-1 1"]);
}

#[tokio::test]
async fn what_is_missing_when_an_asn_is_closed_is_listed_until_it_comes() {
    let world = World::new().await;
    let yard = world.yard("acme").await;
    yard.merchant.announces("A-1", &[units_of("SOCK", 3), the_unit("U-1")]).await;
    yard.merchant.scans(&[of_sku("A-1", "LP-1", "SOCK")]).await;
    for _ in 0..2 {
        let reply = yard.merchant.closes_asn("A-1").await;
        assert_eq!((reply.status.as_u16(), &reply.body["state"]), (200, &json!("closed")), "{}", reply.text);
    }
    assert_eq!(yard.merchant.exceptions("").await, ["short A-1 1 2 open", "short A-1 2 1 open"]);
    assert_eq!(yard.merchant.scans(&[of_sku("A-1", "LP-2", "SOCK"), scan("A-1", "U-1")]).await, ["received 1", "received 2"]);
    assert_eq!(yard.merchant.exceptions("").await, ["short A-1 1 1 open", "short A-1 2 0 settled"]);
    assert_eq!(
        yard.merchant.scans(&[of_sku("A-1", "LP-3", "SOCK"), of_sku("A-1", "LP-4", "SOCK")]).await,
        ["received 1", "exception over_received"]
    );
    assert_eq!(yard.merchant.exceptions("").await, ["over_received A-1 LP-4 1 open", "short A-1 1 0 settled", "short A-1 2 0 settled"]);
    assert_eq!(yard.receives_events().await, ["LP-1 1", "LP-2 1", "LP-3 1", "U-1 2"]);
    assert_eq!(yard.merchant.looks_at_asn("A-1").await["state"], "closed");
    assert_eq!(yard.merchant.closes_asn("A-9").await.status, 404);
}
