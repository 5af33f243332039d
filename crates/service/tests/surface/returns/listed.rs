//! Looking at returns: a single one, or a filtered list, page by page.

use std::time::Duration;

use domain::merchants::access::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Merchant, Reply, World, message, plain_refund, refunded, sold};

impl Merchant<'_> {
    async fn lists_returns(&self, query: &str) -> Reply {
        self.calls(Method::GET, &format!("/v1/returns?{query}"), |request| request).await
    }

    /// The identifiers in a list, newest first.
    async fn lists_names(&self, query: &str) -> Vec<String> {
        let reply = self.lists_returns(query).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        names(&reply.body)
    }
}

fn names(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|listed| listed["rma_identifier"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_list_has_what_is_asked_for_and_nothing_else() {
    let world = World::new().await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("bolt").await);
    for order in ["A-1", "A-2", "A-3"] {
        merchant.sells(order, 3).await;
    }
    other.sells("A-1", 1).await;
    let foreign = other.starts_a_return("A-1", 1).await;
    let cancelled = merchant.starts_a_return("A-1", 1).await;
    assert_eq!(merchant.cancels(&cancelled).await.status, 200);
    world.time_passes(Duration::from_hours(1));
    let settled = merchant.starts_a_return("A-2", 2).await;
    merchant.publishes(&message([refunded(sold("A-2", 3), [plain_refund("F1", 2)])])).await;
    world.time_passes(Duration::from_hours(1));
    let labelled = merchant.starts_a_return("A-1", 2).await;
    merchant.carrier_says(&labelled, "label_issued").await;

    let (first, second, third) = (cancelled.as_str(), settled.as_str(), labelled.as_str());
    for (query, expected) in [
        ("", [third, second, first].as_slice()),
        ("order_identifier=A-1", &[third, first]),
        ("order_identifier=A-3", &[]),
        ("order_identifier=A-1&status=CANCELED", &[first]),
        ("status=CREATED", &[third]),
        ("status=REFUNDED", &[second]),
        ("status=PARTIAL_REFUND", &[]),
        (&format!("tracking_number=T-{labelled}"), &[third]),
        (&format!("tracking_number=T-{labelled}&status=CANCELED"), &[]),
        (&format!("tracking_number=T-{labelled}&order_identifier=A-2"), &[]),
        ("tracking_number=T-9", &[]),
        ("from=2026-03-01T13:00:00Z", &[third, second]),
        ("to=2026-03-01T13:00:00Z", &[first]),
        ("from=2026-03-01T13:00:00Z&to=2026-03-01T14:00:00Z", &[second]),
    ] {
        assert_eq!(merchant.lists_names(query).await, expected, "{query}");
    }
    assert_eq!(other.lists_names("").await, [foreign]);
    let listed = merchant.lists_returns("status=REFUNDED").await;
    let expected = json!({
        "rma_identifier": settled, "order_identifier": "A-2", "status": "REFUNDED", "return_method": "mail-back", "units": 2, "exchange": null,
        "created_at": "2026-03-01T13:00:00Z", "updated_at": "2026-03-01T13:00:00Z",
    });
    assert_eq!((&listed.body["items"][0], &listed.body["next"]), (&expected, &json!(null)));
}

#[tokio::test]
async fn pages_have_every_return_once() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.sells("A-1", 25).await;
    let mut started = Vec::new();
    for at in 0..23 {
        started.push(merchant.starts_a_return("A-1", 1).await);
        // Some of them share a timestamp.
        world.time_passes(Duration::from_millis(at % 3));
    }
    started.sort_unstable();
    for (filter, limit) in [("", 1), ("", 5), ("", 23), ("order_identifier=A-1&", 7), ("status=CREATED&", 10)] {
        let (mut paged, mut times, mut before) = (Vec::new(), Vec::new(), String::new());
        loop {
            let page = merchant.lists_returns(&format!("{filter}limit={limit}{before}")).await;
            let found = names(&page.body);
            let listed = page.body["items"].as_array().unwrap().iter();
            times.extend(listed.map(|listed| wire::time::read(listed["created_at"].as_str().unwrap()).unwrap()));
            assert!(!found.is_empty() && found.len() <= limit, "{}", page.text);
            paged.extend(found);
            let Some(next) = page.body["next"].as_str() else { break };
            before = format!("&cursor={next}");
        }
        paged.sort_unstable();
        assert_eq!(paged, started, "{filter}limit={limit}");
        assert!(times.is_sorted_by(|newer, older| newer >= older), "{times:?}");
    }
}

#[tokio::test]
async fn a_list_says_what_it_does_not_understand() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    for query in ["limit=0", "limit=101", "limit=x", "status=created", "from=yesterday", "to=1", "cursor=1", "order_identifier=%00"] {
        assert_eq!(merchant.lists_returns(query).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn a_return_is_found_in_any_spelling_and_by_its_merchant_alone() {
    let world = World::new().await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("bolt").await);
    merchant.sells("A-1", 1).await;
    let rma = merchant.starts_a_return("A-1", 1).await;
    let bare = rma.replace('-', "");
    for spelled in [&rma, &rma.to_lowercase(), &bare, &bare[1..].to_lowercase(), &format!("{}%20{}", &bare[1..5], &bare[5..])] {
        assert_eq!(merchant.looks_at(spelled).await["rma_identifier"], json!(rma), "{spelled}");
    }
    for (who, address) in [(&other, rma.as_str()), (&merchant, "R-2222-2222"), (&merchant, "what"), (&merchant, "%00")] {
        for (method, end) in [(Method::GET, ""), (Method::POST, "/cancel"), (Method::POST, "/resend")] {
            let reply = who.calls(method, &format!("/v1/returns/{address}{end}"), |request| request).await;
            assert_eq!(reply.status, 404, "{address}{end}");
        }
    }
    assert_eq!(merchant.looks_at(&rma).await["status"], "CREATED");
    let carrier = world.merchant_with("cab", [Scope::Carrier].into_iter().collect()).await;
    assert_eq!(carrier.lists_returns("").await.status, 403);
}
