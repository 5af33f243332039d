//! Parcels of returns at the warehouse: they are received without an ASN, by the return or by the number on the label.

use domain::merchants::access::Scope;
use domain::money::Cents;
use domain::returns::rma::Method as ReturnMethod;
use domain::returns::rma::policy::{Offer, Policy};
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Merchant, Shop, WAREHOUSE, World, Yard, mail_back, message, scan, scan_for, sold};

/// A merchant with managed receiving, and endpoints for RMA messages and receipts.
async fn place(world: &World) -> (Shop<'_>, Yard<'_>) {
    let shop = world.shop("acme").await;
    shop.merchant.has_policy(&Policy { managed_receiving: true, ..Policy::default() }).await;
    let merchant = Merchant {
        world,
        id: shop.merchant.id,
        client_id: shop.merchant.client_id.clone(),
        client_secret: shop.merchant.client_secret.clone(),
        token: shop.merchant.token.clone(),
    };
    let yard = world.yard_of(merchant).await;
    (shop, yard)
}

/// A scan by the number on the label.
fn scan_by(number: &str, unit: &str, sku: &str) -> Value {
    json!({ "tracking_number": number, "unit_identifier": unit, "warehouse_identifier": WAREHOUSE, "condition": "A", "sku": sku })
}

/// An ASN of one line that announces two units of the return.
fn announced(number: &str, rma: &str) -> Value {
    let mut asn = crate::world::asn(number, &[json!({ "sku": "SHOE-42", "quantity": 2, "reference_line_identifier": "L1" })]);
    asn["cartons"][0]["reference"] = json!({ "type": "RMA", "identifier": rma });
    asn
}

/// An order of two units of `SHOE-42` on `L1` and one of `SOCK-1` on `L2`, and a return of all of them.
async fn return_of_two_lines(shop: &Shop<'_>, order: &str) -> String {
    let mut bought = sold(order, 2);
    bought["items"].as_array_mut().unwrap().push(crate::world::line("L2", 1));
    bought["items"][0]["sku"] = "SHOE-42".into();
    bought["items"][1]["sku"] = "SOCK-1".into();
    bought["items"][1]["shipped_date"] = "2026-02-19T09:00:00Z".into();
    assert_eq!(shop.merchant.publishes(&message([bought])).await.results(), ["created"]);
    let mut wanted = mail_back(order, 2);
    let socks = json!({ "order_line_item_identifier": "L2", "quantity": 1, "return_reason": "TOO_SMALL" });
    wanted["items"].as_array_mut().unwrap().push(socks);
    let reply = shop.merchant.starts(&wanted).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.body["rma_identifier"].as_str().unwrap().to_owned()
}

/// The receiving status of each unit of the messages that arrived.
async fn receiving_told(shop: &Shop<'_>) -> Vec<String> {
    let told = |(event, body): (String, Value)| {
        let units = body["items"].as_array().unwrap().iter().map(|item| item["receiving_status"].as_str().unwrap_or("null"));
        format!("{event}: {}", units.collect::<Vec<_>>().join(" "))
    };
    shop.receives().await.into_iter().map(told).collect()
}

#[tokio::test]
async fn a_parcel_is_received_by_its_return_or_by_the_number_on_its_label() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    let rma = return_of_two_lines(&shop, "O-1").await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.receives().await;
    let number = format!("T-{rma}");
    let mut by_sku = scan_for(&rma.to_lowercase(), "LP-1");
    (by_sku["line_identifier"], by_sku["sku"]) = (Value::Null, "SHOE-42".into());
    let reply = yard.merchant.posts_receipts(&[by_sku, scan_by(&number, "LP-2", "SOCK-1")]).await;
    let expected = json!({ "units": [
        { "unit_identifier": "LP-1", "result": "received", "asn_number": null, "rma_identifier": rma, "line_identifier": "L1",
          "exception": null, "message": null },
        { "unit_identifier": "LP-2", "result": "received", "asn_number": null, "rma_identifier": rma, "line_identifier": "L2",
          "exception": null, "message": null },
    ] });
    assert_eq!(reply.body, expected);
    assert_eq!(receiving_told(&shop).await, ["rma.received: RECEIVED PENDING RECEIVED"]);
    assert_eq!(yard.merchant.scans(&[scan_by(&number, "LP-3", "SHOE-42")]).await, ["received L1"]);
    assert_eq!(receiving_told(&shop).await, ["rma.received: RECEIVED RECEIVED RECEIVED"]);
    assert!(yard.gets().await.is_empty(), "the merchant has sent no ASN");
}

#[tokio::test]
async fn a_receipt_is_told_of_an_asn_only_and_the_return_of_both() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    shop.merchant.sells("O-1", 2).await;
    let rma = shop.merchant.starts_a_return("O-1", 2).await;
    assert_eq!(yard.merchant.posts_asns(&[announced("A-1", &rma)]).await.status, 201);
    shop.receives().await;
    let mut by_asn = scan("A-1", "LP-1");
    by_asn["line_identifier"] = "1".into();
    assert_eq!(yard.merchant.scans(&[by_asn, scan_for(&rma, "LP-2")]).await, ["received 1", "received L1"]);
    assert_eq!(yard.receives_events().await, ["LP-1 1"]);
    assert_eq!(receiving_told(&shop).await, ["rma.received: RECEIVED RECEIVED"]);
}

#[tokio::test]
async fn a_unit_is_received_once_for_its_return_or_against_an_asn() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    shop.merchant.sells("O-1", 4).await;
    let [one, other] = [shop.merchant.starts_a_return("O-1", 2).await, shop.merchant.starts_a_return("O-1", 2).await];
    assert_eq!(yard.merchant.posts_asns(&[announced("A-1", &one)]).await.status, 201);
    let mut by_asn = scan("A-1", "LP-1");
    by_asn["line_identifier"] = "1".into();
    let for_one = scan_for(&one, "LP-2");
    let mut again = for_one.clone();
    again["line_identifier"] = "L7".into();
    // Within a message and in the next one, the first scan of a plate counts.
    let first = yard.merchant.scans(&[by_asn.clone(), for_one.clone(), again.clone(), scan_for(&other, "LP-2")]).await;
    assert_eq!(first, ["received 1", "received L1", "already_received L1", "conflict L1"]);
    shop.receives().await;
    yard.gets().await;
    let mut on_asn = scan("A-1", "LP-2");
    on_asn["line_identifier"] = "1".into();
    let repeats = [
        (by_asn, "already_received", Some("A-1"), "1"),
        // The ASN's line belongs to the same return.
        (scan_for(&one, "LP-1"), "already_received", Some("A-1"), "1"),
        (scan_for(&other, "LP-1"), "conflict", Some("A-1"), "1"),
        (scan("A-9", "LP-1"), "conflict", Some("A-1"), "1"),
        (for_one, "already_received", None, "L1"),
        (again, "already_received", None, "L1"),
        (on_asn, "conflict", None, "L1"),
        (scan_for(&other, "LP-2"), "conflict", None, "L1"),
    ];
    for (scanned, result, asn, line) in repeats {
        let unit = yard.merchant.posts_receipts(std::slice::from_ref(&scanned)).await.body["units"][0].clone();
        let told = [&unit["result"], &unit["asn_number"], &unit["rma_identifier"], &unit["line_identifier"]];
        assert_eq!(told, [&json!(result), &json!(asn), &json!(one), &json!(line)], "{scanned}");
        let explained = unit["message"].as_str().is_some_and(|text| text.contains("for another ASN or return. Check its license plate."));
        assert_eq!(explained, result == "conflict", "{unit}");
    }
    assert_eq!((receiving_told(&shop).await, yard.gets().await.len()), (Vec::<String>::new(), 0), "nothing is told again");
    assert!(yard.merchant.exceptions("").await.is_empty());
}

#[tokio::test]
async fn of_those_who_receive_one_plate_at_once_one_does() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    shop.merchant.sells("O-1", 4).await;
    let [one, other] = [shop.merchant.starts_a_return("O-1", 2).await, shop.merchant.starts_a_return("O-1", 2).await];
    assert_eq!(yard.merchant.posts_asns(&[announced("A-1", &one)]).await.status, 201);
    shop.receives().await;
    let mut by_asn = scan("A-1", "LP-1");
    by_asn["line_identifier"] = "1".into();
    let scans = [by_asn, scan_for(&one, "LP-1"), scan_for(&other, "LP-1"), scan_for(&other, "LP-1")];
    let units = scans.map(|scanned| [scanned]);
    let results = futures::future::join_all(units.iter().map(|unit| yard.merchant.scans(unit))).await.concat();
    assert_eq!(results.iter().filter(|result| result.starts_with("received")).count(), 1, "{results:?}");
    assert_eq!(receiving_told(&shop).await.len(), 1);
    let receipts = yard.gets().await.len();
    assert_eq!(receipts, usize::from(results[0].starts_with("received")), "{results:?}");
}

#[tokio::test]
async fn what_a_return_does_not_expect_is_an_exception() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    let rma = return_of_two_lines(&shop, "O-1").await;
    shop.receives().await;
    let mut wrong_line = scan_for(&rma, "LP-1");
    wrong_line["line_identifier"] = "L9".into();
    let mut wrong_sku = scan_for(&rma, "LP-2");
    wrong_sku["sku"] = "SOCK-1".into();
    let socks = |unit: &str| {
        let mut scanned = scan_for(&rma, unit);
        scanned["line_identifier"] = "L2".into();
        scanned
    };
    let units =
        [wrong_line, wrong_sku, socks("LP-3"), socks("LP-4"), scan_for("R-2222-2222", "LP-5"), scan_by("T-unknown", "LP-6", "SOCK-1")];
    let expected = [
        "exception unexpected_unit",
        "exception unexpected_unit",
        "received L2",
        "exception over_received",
        "exception unknown_return",
        "exception unknown_return",
    ];
    assert_eq!(yard.merchant.scans(&units).await, expected);
    assert_eq!(receiving_told(&shop).await, ["rma.received: PENDING PENDING RECEIVED"]);
    yard.merchant.scans(&units).await;
    let listed = [
        format!("over_received {rma} LP-4 1 open"),
        format!("unexpected_unit {rma} LP-1 1 open"),
        format!("unexpected_unit {rma} LP-2 1 open"),
        "unknown_return R-2222-2222 LP-5 1 open".to_owned(),
        "unknown_return T-unknown LP-6 1 open".to_owned(),
    ];
    assert_eq!(yard.merchant.exceptions("").await, listed, "a repeat is listed once");
    assert_eq!(yard.merchant.exceptions(&format!("?rma_identifier={rma}")).await, listed[..3]);
    let both = format!("/v1/receiving_exceptions?rma_identifier={rma}&asn_number=A-1");
    assert_eq!(yard.merchant.calls(Method::GET, &both, |request| request).await.status, 400);
    // It is received after all, and the exception is settled.
    assert_eq!(yard.merchant.scans(&[scan_for(&rma, "LP-1")]).await, ["received L1"]);
    assert!(yard.merchant.exceptions("").await.contains(&format!("unexpected_unit {rma} LP-1 1 settled")));
}

#[tokio::test]
async fn a_rejected_unit_is_kept_and_the_return_still_waits() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    shop.receives().await;
    let mut rejected = scan_for(&rma, "LP-1");
    rejected["reject_reason"] = "COUNTERFEIT".into();
    assert_eq!(yard.merchant.scans(std::slice::from_ref(&rejected)).await, ["received L1"]);
    assert_eq!(receiving_told(&shop).await, Vec::<String>::new(), "it is not ready for a refund");
    assert_eq!(yard.merchant.expects("").await["items"][0]["lines"][0]["expected"], 1);
    let mut another = scan_for(&rma, "LP-2");
    another["reject_reason"] = "COUNTERFEIT".into();
    assert_eq!(yard.merchant.scans(&[another, scan_for(&rma, "LP-3")]).await, ["received L1", "received L1"]);
    assert_eq!(receiving_told(&shop).await, ["rma.received: RECEIVED"]);
    assert_eq!(yard.merchant.scans(&[rejected]).await, ["already_received L1"]);
}

#[tokio::test]
async fn what_the_shopper_keeps_is_not_expected() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    let keep = Offer { method: ReturnMethod::CustomerKeep, fee: Cents::default(), deducted: false };
    shop.merchant.has_policy(&Policy { managed_receiving: true, offers: vec![keep], ..Policy::default() }).await;
    shop.merchant.sells("O-1", 1).await;
    let mut kept = mail_back("O-1", 1);
    kept["return_method"] = "customer-keep".into();
    let reply = shop.merchant.starts(&kept).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let rma = reply.body["rma_identifier"].as_str().unwrap();
    assert_eq!(yard.merchant.expects("").await["items"], json!([]));
    assert_eq!(yard.merchant.scans(&[scan_for(rma, "LP-1")]).await, ["exception unexpected_unit"]);
}

#[tokio::test]
async fn a_scan_says_what_it_is_for_and_which_unit_it_is() {
    let world = World::new().await;
    let (_, yard) = place(&world).await;
    let mut nothing = scan("A-1", "LP-1");
    nothing["asn_number"] = Value::Null;
    let mut both = scan_for("R-2222-2222", "LP-2");
    both["asn_number"] = "A-1".into();
    let mut which = scan_for("R-2222-2222", "LP-3");
    which["line_identifier"] = Value::Null;
    let faults = yard.merchant.posts_receipts(&[nothing, both, which]).await.faults();
    assert_eq!(faults, ["units[0].asn_number missing_field", "units[1].rma_identifier invalid", "units[2].sku missing_field"]);
}

#[tokio::test]
async fn returns_are_expected_until_everything_has_arrived() {
    let world = World::new().await;
    let (shop, yard) = place(&world).await;
    let rma = return_of_two_lines(&shop, "O-1").await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    world.time_passes(std::time::Duration::from_millis(2));
    shop.merchant.sells("O-2", 2).await;
    let second = shop.merchant.starts_a_return("O-2", 1).await;
    let cancelled = shop.merchant.starts_a_return("O-2", 1).await;
    assert_eq!(shop.merchant.cancels(&cancelled).await.status, 200);

    let names = |body: &Value| {
        let listed = body["items"].as_array().unwrap().iter();
        listed.map(|of| of["rma_identifier"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let page = yard.merchant.expects("?limit=1").await;
    assert_eq!((names(&page), page["next"].is_string()), (vec![second.clone()], true));
    let rest = yard.merchant.expects(&format!("?limit=1&cursor={}", page["next"].as_str().unwrap())).await;
    assert_eq!((names(&rest), &rest["next"]), (vec![rma.clone()], &Value::Null));
    let number = format!("T-{rma}");
    let expected = json!([{
        "rma_identifier": rma, "order_identifier": "O-1", "return_method": "mail-back", "tracking_numbers": [number], "closed": false,
        "lines": [
            { "line_identifier": "L1", "sku": "SHOE-42", "title": rest["items"][0]["lines"][0]["title"], "expected": 2, "received": 0 },
            { "line_identifier": "L2", "sku": "SOCK-1", "title": rest["items"][0]["lines"][1]["title"], "expected": 1, "received": 0 },
        ],
        "created_at": rest["items"][0]["created_at"],
    }]);
    for query in [format!("?tracking_number={number}"), format!("?rma_identifier={rma}")] {
        assert_eq!(yard.merchant.expects(&query).await["items"], expected, "{query}");
    }
    let crossed = format!("?tracking_number={number}&rma_identifier={second}");
    for query in ["?tracking_number=T-0", "?rma_identifier=R-2222-2222", &crossed, &format!("?rma_identifier={cancelled}")] {
        assert!(names(&yard.merchant.expects(query).await).is_empty(), "{query}");
    }

    yard.merchant.receives_for(&rma, &["LP-1"]).await;
    let closed = yard.merchant.closes_return(&rma).await.body;
    let line = |body: &Value, at: usize| (body["lines"][at]["expected"].clone(), body["lines"][at]["received"].clone());
    assert_eq!((&closed["closed"], line(&closed, 0), line(&closed, 1)), (&json!(true), (1.into(), 1.into()), (1.into(), 0.into())));
    assert_eq!(names(&yard.merchant.expects("").await), [second.as_str(), rma.as_str()], "missing units may still come");
    let mut socks = scan_for(&rma, "LP-3");
    socks["line_identifier"] = "L2".into();
    assert_eq!(yard.merchant.scans(&[scan_for(&rma, "LP-2"), socks]).await, ["received L1", "received L2"]);
    assert_eq!(names(&yard.merchant.expects("").await), [second.as_str()]);
    assert!(names(&yard.merchant.expects(&format!("?rma_identifier={rma}")).await).is_empty());

    for bad in ["?limit=0", "?limit=101", "?cursor=x", "?tracking_number=%00", "?rma_identifier=%00"] {
        let reply = yard.merchant.calls(Method::GET, &format!("/v1/expected_returns{bad}"), |request| request).await;
        assert_eq!(reply.status, 400, "{bad}");
    }
    assert_eq!(yard.merchant.closes_return("R-2222-2222").await.status, 404);
    let other = world.merchant_with("other", World::all_scopes_but(Scope::Warehouse)).await;
    assert_eq!(other.calls(Method::GET, "/v1/expected_returns", |request| request).await.status, 403);
    let stranger = world.merchant("stranger").await;
    assert!(names(&stranger.expects(&format!("?rma_identifier={second}")).await).is_empty());
    assert_eq!(stranger.closes_return(&second).await.status, 404);
}
