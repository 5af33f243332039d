//! The console's pages on the intake: refused messages, warnings and imports.

use std::time::Duration;

use backhaul::flow::messages::count_days::count_days;
use backhaul::flow::orders::count_intake::count_intake;
use domain::merchants::operator::Role;
use serde_json::json;

use crate::world::{World, message, order, sold};

#[tokio::test]
async fn a_refused_message_stands_with_its_faults_beside_its_lines_and_nothing_personal() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = order("T-1");
    wrong["currency"] = "dollars<b>".into();
    wrong["customer"]["email"] = "pat@example.com".into();
    wrong["secret"] = "S-E-C".into();
    wrong["items"][0].as_object_mut().unwrap().remove("sku");
    assert_eq!(merchant.publishes(&message([order("T-0"), wrong])).await.status, 422);
    assert_eq!(merchant.publishes_text("{\"returns_portal_order\": ").await.status, 400);
    assert_eq!(merchant.publishes(&message([order("T-2")])).await.status, 200);
    let viewer = world.console(Role::Viewer).await;
    let list = viewer.get("/intake").await.page();
    assert!(list.contains("2 shown") && list.contains("T-0, T-1") && list.contains(".currency"), "{list}");
    assert!(viewer.get("/intake?merchant=acme&until=2020-01-01").await.page().contains("No refused message fits these filters"));
    assert!(viewer.get("/intake?merchant=nobody").await.page().contains("There is no merchant with this handle."));
    let pages: Vec<&str> = list.split("href=\"/merchants/acme/refused/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let [malformed, faulty] = pages[..] else { panic!("two refused messages: {list}") };
    let page = viewer.get(&format!("/merchants/acme/refused/{faulty}")).await.page();
    let line = page.split("<tr").find(|row| row.contains("dollars")).expect("the line at fault");
    assert!(line.contains("class=\"ch\"") && line.contains("dollars&#60;b&#62;") && line.contains("<b>Fault.</b>"), "{line}");
    assert!(page.contains("&#34;sku&#34;: missing") && page.contains("1 entry without a fault"), "{page}");
    for hidden in ["pat@example.com", "S-E-C", "secret"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
        let kept = world.database.texts("select coalesce(excerpt, '') || faults from intake_refusal").await;
        assert!(!kept.iter().any(|kept| kept.contains("pat@example.com") || kept.contains("S-E-C")), "{kept:?}");
    }
    let page = viewer.get(&format!("/merchants/acme/refused/{malformed}")).await.page();
    assert!(page.contains("Nothing of the message is kept"), "{page}");
    assert_eq!(viewer.get("/merchants/acme/refused/00000000-0000-0000-0000-000000000000").await.status, 404);
}

#[tokio::test]
async fn warnings_are_counted_by_merchant_field_and_day() {
    let world = World::new().await;
    let (acme, north) = (world.merchant("acme").await, world.merchant("north").await);
    let wrong = |identifier: &str| {
        let mut order = sold(identifier, 1);
        order["total_amount_cents"] = 1.into();
        order
    };
    assert_eq!(acme.publishes(&message([wrong("A-1"), wrong("A-2")])).await.status, 200);
    assert_eq!(acme.publishes(&message([wrong("A-3")])).await.status, 200);
    assert_eq!(north.publishes(&message([wrong("N-1")])).await.status, 200);
    // What is only checked, and what adds up, does not count.
    assert_eq!(acme.checks(&message([wrong("A-4")])).await.status, 200);
    assert_eq!(acme.publishes(&message([sold("A-5", 1)])).await.status, 200);
    let viewer = world.console(Role::Viewer).await;
    assert!(viewer.get("/intake/warnings").await.page().contains("No warnings on this day"), "nothing is stored yet");
    count_intake(&world.app).await.unwrap();
    count_intake(&world.app).await.unwrap();
    let all = viewer.get("/intake/warnings").await.page();
    assert!(all.contains("2 shown") && all.contains("<code>total_amount_cents</code>"), "{all}");
    assert!(all.contains("/intake/warnings?merchant=acme&amp;day=") && all.contains("has=warnings\">3</a>"), "{all}");
    assert_eq!(acme.publishes(&message([wrong("A-6")])).await.status, 200);
    count_intake(&world.app).await.unwrap();
    let trend = viewer.get("/intake/warnings?merchant=acme").await.page();
    assert!(trend.contains("4 warnings in 28 days") && trend.contains("4 on the highest one"), "{trend}");
    let earlier = viewer.get("/intake/warnings?merchant=acme&day=2020-01-01").await.page();
    assert!(earlier.contains("0 warnings in 28 days") && earlier.contains("No warnings on these days"), "{earlier}");
    assert!(viewer.get("/intake/warnings?day=soon").await.page().contains("The day cannot be read."));
}

#[tokio::test]
async fn orders_are_reported_by_the_day_and_by_what_became_of_them() {
    let world = World::new().await;
    let (acme, north) = (world.merchant("acme").await, world.merchant("north").await);
    assert_eq!(acme.publishes(&message([sold("A-1", 1), sold("A-2", 1)])).await.status, 200);
    assert_eq!(acme.publishes(&message([sold("A-1", 1)])).await.status, 200);
    assert_eq!(acme.publishes(&json!({"orders": 1})).await.status, 422);
    assert_eq!(acme.checks(&message([sold("A-3", 1)])).await.status, 200, "what is only checked does not count");
    assert_eq!(north.publishes(&message([sold("N-1", 1)])).await.status, 200);
    count_intake(&world.app).await.unwrap();
    world.time_passes(Duration::from_hours(24));
    let mut changed = sold("A-1", 1);
    changed["updated_at"] = json!("2026-03-01T12:00:00Z");
    assert_eq!(acme.publishes(&message([changed])).await.status, 200);
    count_intake(&world.app).await.unwrap();
    let viewer = world.console(Role::Viewer).await;
    let csv = viewer.get("/reports/intake.csv?merchant=acme&days=2").await.text;
    let heads = "day,created,updated,unchanged,stale,messages_taken,messages_refused\r\n";
    assert_eq!(csv, format!("{heads}2026-03-01,2,0,1,0,2,1\r\n2026-03-02,0,1,0,0,1,0\r\n"));
    let page = viewer.get("/reports/intake?merchant=acme").await.page();
    assert!(
        page.contains("New orders: 2. Updated: 1. Unchanged: 1.") && page.contains("Messages taken: 3. Refused for a fault in them: 1"),
        "{page}"
    );
    // Over all merchants, once the days are summed up.
    while count_days(&world.app).await.unwrap() {}
    let all = viewer.get("/reports/intake.csv?days=2").await.text;
    assert_eq!(all, format!("{heads}2026-03-01,3,0,1,0,3,1\r\n2026-03-02,0,1,0,0,1,0\r\n"));
    assert!(!viewer.get("/reports/returns.csv?merchant=acme").await.text.contains("order"), "they are not figures of returns");
}

#[tokio::test]
async fn an_import_stands_with_its_progress_and_each_refused_line() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let mut wrong = order("I-2");
    wrong["currency"] = "dollars".into();
    let reply = merchant.imports(&[order("I-1"), wrong, order("I-3")]).await;
    let id = reply.body["import_id"].as_str().unwrap();
    let viewer = world.console(Role::Viewer).await;
    let list = viewer.get("/intake/imports?merchant=acme").await.page();
    assert!(list.contains("1 shown") && list.contains(&format!("/merchants/acme/imports/{id}")) && list.contains(">Done<"), "{list}");
    let page = viewer.get(&format!("/merchants/acme/imports/{id}")).await.page();
    assert!(page.contains("3 lines read") && page.contains("1 shown of 1") && !page.contains("data-renew"), "{page}");
    assert!(page.contains("<code>I-2</code>") && page.contains("<code>currency</code>"), "{page}");
    let rest = viewer.get(&format!("/merchants/acme/imports/{id}?after=2")).await.page();
    assert!(rest.contains("There are no more."), "{rest}");
    // While somebody reads its lines, the page renews itself; a lease that is over was left by a process that ended.
    let becomes = async |until: &str| {
        let statement = format!("update order_import set state = 'running', owner = import_id, leased_until = '{until}'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut world.database.connect().await).await.unwrap();
    };
    becomes("2100-01-01").await;
    let page = viewer.get(&format!("/merchants/acme/imports/{id}")).await.page();
    assert!(page.contains("data-renew=\"2\"") && page.contains(">Runs<"), "{page}");
    becomes("2020-01-01").await;
    let page = viewer.get(&format!("/merchants/acme/imports/{id}")).await.page();
    assert!(page.contains(">Broke off<") && !page.contains("data-renew"), "{page}");
    assert_eq!(viewer.get("/merchants/acme/imports/00000000-0000-0000-0000-000000000000").await.status, 404);
}
