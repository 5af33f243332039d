//! The work list: cases that a person must decide or mend.

use std::time::Duration;

use domain::returns::work::WorkKind;
use reqwest::Method;
use serde_json::{Value, json};
use store::returns::work_items::{self, WorkItem};

use crate::binary::{backhaul, err, out};
use crate::world::{Merchant, Reply, World};

/// Opens a case for each subject, one after the other.
async fn has_cases(merchant: &Merchant<'_>, subjects: &[&str]) {
    let app = &merchant.world.app;
    let mut tx = app.begin(merchant.id).await.unwrap();
    for subject in subjects {
        merchant.world.time_passes(Duration::from_secs(1));
        let (id, reason) = (app.mint(), format!("The carrier refuses the label of {subject}."));
        let item = WorkItem { id, kind: WorkKind::LabelRefused, subject: (*subject).to_owned(), reason, opened_at: app.now() };
        work_items::open(&mut tx, &item).await.unwrap();
    }
    app.commit(tx).await.unwrap();
}

async fn lists(merchant: &Merchant<'_>, query: &str) -> Reply {
    merchant.calls(Method::GET, &format!("/v1/work_items{query}"), |request| request).await
}

fn subjects(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["subject"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn open_cases_are_listed_newest_first_page_by_page() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    has_cases(&merchant, &["R-1", "R-2", "R-3"]).await;
    has_cases(&world.merchant("other").await, &["R-9"]).await;
    let first = lists(&merchant, "?limit=2").await.body;
    assert_eq!((subjects(&first), first["next"].is_string()), (vec!["R-3", "R-2"], true));
    let case = &first["items"][0];
    assert_eq!((&case["kind"], &case["opened_at"]), (&json!("label_refused"), &json!("2026-03-01T12:00:03Z")));
    assert_eq!(case["reason"], "The carrier refuses the label of R-3.");
    let second = lists(&merchant, &format!("?limit=2&cursor={}", first["next"].as_str().unwrap())).await.body;
    assert_eq!((subjects(&second), &second["next"]), (vec!["R-1"], &json!(null)));
    let whole = lists(&merchant, "?limit=3").await.body;
    assert_eq!((subjects(&whole).len(), &whole["next"]), (3, &json!(null)));
    for query in ["?limit=0", "?limit=101", "?limit=x", "?cursor=x"] {
        assert_eq!(lists(&merchant, query).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn a_case_is_closed_by_hand_once() {
    let world = World::new().await;
    let (merchant, other) = (world.merchant("acme").await, world.merchant("other").await);
    has_cases(&merchant, &["R-1", "R-2"]).await;
    let listed = lists(&merchant, "").await.body;
    let path = format!("/v1/work_items/{}/close", listed["items"][0]["work_item_id"].as_str().unwrap());
    let close = async |merchant: &Merchant<'_>, path: &str| merchant.calls(Method::POST, path, |request| request).await.status.as_u16();
    assert_eq!(close(&other, &path).await, 404, "another merchant's");
    assert_eq!((close(&merchant, &path).await, close(&merchant, &path).await), (204, 404));
    assert_eq!(close(&merchant, "/v1/work_items/x/close").await, 404);
    assert_eq!(subjects(&lists(&merchant, "").await.body), ["R-1"]);
    let audit = world.database.texts("select actor || ' ' || action || ' ' || detail from audit where action = 'work.closed'").await;
    assert_eq!(audit, ["merchant work.closed label_refused R-2"]);
}

#[tokio::test]
async fn support_works_through_the_list() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let work = |words: &[&str]| backhaul(&world.database, &[&["returns", "work"], words].concat());
    assert_eq!(out(&work(&["list", "--merchant", "acme"])), "acme has no open cases.\n");
    has_cases(&merchant, &["R-1", "R-2"]).await;
    let table = out(&work(&["list", "--merchant", "acme"]));
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows[0].split_whitespace().collect::<Vec<_>>(), ["KIND", "SUBJECT", "OPENED", "REASON"]);
    assert!(rows[1].starts_with("label_refused") && rows[1].contains("R-2") && rows[2].contains("R-1"), "{table}");
    let listed: Value = serde_json::from_str(&out(&work(&["list", "--merchant", "acme", "--limit", "1", "-o", "json"]))).unwrap();
    assert_eq!((listed["items"].as_array().unwrap().len(), &listed["items"][0]["subject"]), (1, &json!("R-2")));
    let done = ["done", "R-2", "--kind", "label_refused", "--merchant", "acme"];
    assert_eq!(out(&work(&done)), "Closed the case label_refused of R-2.\n");
    assert!(err(&work(&done)).contains("`backhaul returns work list --merchant acme`"));
    assert!(err(&work(&["done", "R-1", "--kind", "lost", "--merchant", "acme"])).contains("unknown kind of case"));
    assert_eq!(subjects(&lists(&merchant, "").await.body), ["R-1"]);
}
