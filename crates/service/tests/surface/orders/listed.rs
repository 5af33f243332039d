//! The list of orders.

use std::time::Duration;

use domain::merchants::access::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Merchant, Reply, World, message, order};

async fn lists(merchant: &Merchant<'_>, query: &str) -> Reply {
    merchant.calls(Method::GET, &format!("/v1/orders{query}"), |request| request).await
}

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap_or_else(|| panic!("{page}")).iter().map(|item| item["identifier"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn orders_are_listed_by_their_last_change() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let stranger = world.merchant("other").await;
    assert_eq!(lists(&merchant, "").await.body, json!({ "items": [], "next": null }));
    merchant.publishes(&message([order("A-1"), order("A-2")])).await.results();
    world.time_passes(Duration::from_mins(1));
    let mut cancelled = order("A-3");
    cancelled["status"] = "Cancelled".into();
    merchant.publishes(&message([cancelled])).await.results();
    world.time_passes(Duration::from_mins(1));
    let mut changed = order("A-1");
    changed["updated_at"] = "2026-03-01T11:59:59Z".into();
    changed["tags"] = json!(["changed"]);
    merchant.publishes(&message([changed])).await.results();

    let whole = lists(&merchant, "").await.body;
    assert_eq!((names(&whole), &whole["next"]), (vec!["A-1", "A-3", "A-2"], &Value::Null), "{whole}");
    let newest = &whole["items"][0];
    assert_eq!((&newest["revision"], &newest["received_at"]), (&json!(2), &json!("2026-03-01T12:02:00Z")));
    assert_eq!((&newest["changed_at"], &newest["updated_at"]), (&json!("2026-03-01T12:02:00Z"), &json!("2026-03-01T11:59:59Z")));
    let fields: Vec<&String> = newest.as_object().unwrap().keys().collect();
    let told = ["changed_at", "created_at", "has_returns", "has_warnings", "identifier", "received_at", "revision", "status", "updated_at"];
    assert_eq!(fields.len(), told.len(), "nothing personal: {fields:?}");
    assert!(told.iter().all(|name| newest.get(name).is_some()), "{newest}");

    for since in ["?since=2026-03-01T12:01:00Z", "?since=2026-03-01T12:01:00Z&limit=2"] {
        let changed = lists(&merchant, since).await.body;
        assert_eq!((names(&changed), &changed["next"]), (vec!["A-1", "A-3"], &Value::Null), "nothing older follows: {changed}");
    }
    assert_eq!(names(&lists(&merchant, "?since=2026-03-01T12:01:00Z&status=Cancelled").await.body), ["A-3"]);
    assert_eq!(names(&lists(&merchant, "?status=Shipped&since=2026-03-02T00:00:00Z").await.body), Vec::<&str>::new());
    assert_eq!(names(&lists(&stranger, "").await.body), Vec::<&str>::new(), "each merchant's on its own");
    for wrong in ["?since=yesterday", "?status=shipped", "?status=", "?since=", "?status=Shipped&status=Created"] {
        let refused = lists(&merchant, wrong).await;
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.text);
    }
}

#[tokio::test]
async fn a_list_of_orders_is_read_to_its_end_although_many_changed_at_once() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let sent: Vec<String> = (0..60).map(|number| format!("A-{number:02}.ö")).collect();
    merchant.publishes(&message(sent.iter().map(|identifier| order(identifier)))).await.results();
    let (mut seen, mut query) = (Vec::new(), "?limit=7".to_owned());
    loop {
        let page = lists(&merchant, &query).await.body;
        seen.extend(names(&page).into_iter().map(ToOwned::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("?limit=7&cursor={next}");
    }
    let mut expected = sent;
    expected.reverse();
    assert_eq!(seen, expected, "the highest identifier first, among those that changed at once");
}

#[tokio::test]
async fn an_order_that_changes_while_the_list_is_read_is_found_by_the_time_it_began() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    merchant.publishes(&message([order("A-1")])).await.results();
    world.time_passes(Duration::from_mins(1));
    merchant.publishes(&message([order("A-2")])).await.results();
    world.time_passes(Duration::from_mins(1));
    let began = "2026-03-01T12:02:00Z";
    let first = lists(&merchant, "?limit=1").await.body;
    assert_eq!(names(&first), ["A-2"]);
    let mut changed = order("A-1");
    changed["updated_at"] = "2026-03-01T11:59:59Z".into();
    changed["tags"] = json!(["changed"]);
    merchant.publishes(&message([changed])).await.results();

    let rest = lists(&merchant, &format!("?limit=1&cursor={}", first["next"].as_str().unwrap())).await.body;
    assert_eq!((names(&rest), &rest["next"]), (Vec::new(), &Value::Null), "it is ahead of the pages to come");
    assert_eq!(names(&lists(&merchant, &format!("?since={began}")).await.body), ["A-1"]);
}

#[tokio::test]
async fn the_list_of_orders_takes_the_scope_of_orders() {
    let world = World::new().await;
    let narrow = world.merchant_with("acme", World::all_scopes_but(Scope::Orders)).await;
    assert_eq!(lists(&narrow, "").await.status, 403);
}
