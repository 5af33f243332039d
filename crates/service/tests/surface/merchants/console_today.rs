//! The console's first page, the lists behind its numbers, and the search.

use std::time::Duration;

use backhaul::flow::merchants::configure_merchant::set_refund_days;
use backhaul::flow::messages::configure_endpoint::{self as endpoint, EndpointChange};
use chrono::TimeDelta;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use domain::returns::work::WorkKind;
use store::merchants::accounts;
use store::returns::work_items::{self, WorkItem};
use uuid::Uuid;

use crate::messages::console_pages::given_up;
use crate::world::console::between;
use crate::world::receiver::{PATH, Receiver, impatient};
use crate::world::{World, beginning, message, refund_for, refunded, scan, sold, units_of};

/// The time in which merchants promise refunds, unless they set another.
const PROMISED: Duration = Duration::from_hours(14 * 24);
const SECOND: Duration = Duration::from_secs(1);

/// The fields of a form without any.
const NOTHING: [(&str, &str); 0] = [];

const CASE: Uuid = Uuid::from_u128(0x01a1_ded7_1fe3_71de_873c_99f8_ac95_9092);

#[tokio::test]
async fn without_any_need_today_is_quiet() {
    let world = World::new().await;
    let console = world.console(Role::Viewer).await;
    let page = console.get("/").await.page();
    assert!(page.contains("Nothing needs you"), "{page}");
    assert!(page.contains("Sandbox"), "a sandbox says so: {page}");
}

#[tokio::test]
async fn a_refund_is_overdue_when_the_promise_has_passed_and_until_it_arrives() {
    let world = World::new().await;
    let mut shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    shop.merchant.carrier_says(&rma, "label_issued").await;
    shop.merchant.carrier_says(&rma, "in_transit").await;
    world.time_passes(PROMISED.saturating_sub(SECOND));
    let console = world.console(Role::Support).await;
    assert!(console.get("/refunds").await.page().contains("No refund is overdue"));
    world.time_passes(SECOND);
    let list = console.get("/refunds").await.page();
    assert!(list.contains("Refunds overdue: 1") && list.contains(&rma), "{list}");
    assert!(console.get("/").await.page().contains("1 refund is overdue"));
    shop.merchant.token = shop.merchant.gets_a_token().await;
    let sent = shop.merchant.publishes(&message([refunded(sold("O-1", 1), [refund_for(&rma, "F-1", 1)])])).await;
    assert_eq!(sent.results(), ["updated"], "{}", sent.text);
    assert!(console.get("/refunds").await.page().contains("No refund is overdue"));
}

#[tokio::test]
async fn a_merchants_own_promise_counts_for_goods_that_come_back_later() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    for order in ["O-1", "O-2"] {
        shop.merchant.sells(order, 1).await;
    }
    let first = shop.merchant.starts_a_return("O-1", 1).await;
    shop.merchant.carrier_says(&first, "label_issued").await;
    shop.merchant.carrier_says(&first, "in_transit").await;
    let merchant = accounts::find(world.app.cell(), &"acme".parse().unwrap()).await.unwrap().unwrap();
    set_refund_days(&world.app, "test", &merchant, 3).await.unwrap();
    let second = shop.merchant.starts_a_return("O-2", 1).await;
    shop.merchant.carrier_says(&second, "label_issued").await;
    shop.merchant.carrier_says(&second, "in_transit").await;
    world.time_passes(Duration::from_hours(3 * 24));
    let list = world.console(Role::Viewer).await.get("/refunds").await.page();
    assert!(list.contains(&second) && !list.contains(&first), "{list}");
}

#[tokio::test]
async fn receiving_exceptions_of_all_merchants_are_one_list() {
    let world = World::new().await;
    for handle in ["acme", "pebble"] {
        let yard = world.yard(handle).await;
        yard.merchant.announces(&format!("ASN-{handle}"), &[units_of("SKU-1", 1)]).await;
        yard.merchant.scans(&[scan("ASN-unknown", &format!("U-{handle}"))]).await;
    }
    let console = world.console(Role::Viewer).await;
    let page = console.get("/exceptions").await.page();
    assert!(page.contains("Receiving exceptions: 2") && page.contains("U-acme") && page.contains("U-pebble"), "{page}");
    assert!(console.get("/").await.page().contains("2 receiving exceptions"));
}

#[tokio::test]
async fn the_heading_of_a_list_repeats_the_number_on_each_of_its_pages() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let mut tx = world.app.begin(shop.merchant.id).await.unwrap();
    for number in 0..60 {
        let (id, subject) = (world.app.mint(), format!("R-{number}"));
        let case = WorkItem { id, kind: WorkKind::LabelRefused, subject, reason: "no".to_owned(), opened_at: world.app.now() };
        work_items::open(&mut tx, &case).await.unwrap();
    }
    tx.commit().await.unwrap();
    let console = world.console(Role::Viewer).await;
    assert!(console.get("/").await.page().contains("60 labels were refused by the carrier"));
    let first = console.get("/cases?kind=label_refused").await.page();
    let newer = between(&first, "<footer><a class=\"btn sm\" href=\"", "\"").replace("&amp;", "&");
    for page in [first, console.get(&newer).await.page()] {
        assert!(page.contains("<h1>Labels refused: 60</h1>"), "{page}");
    }
}

#[tokio::test]
async fn failing_endpoints_are_told_whatever_was_removed_and_the_link_shows_their_merchants() {
    let world = World::new().await;
    let fails = async |receiver: &Receiver<'_>, days: i32| {
        let insert = "insert into endpoint_notice (merchant_id, endpoint_id, sequence, failing_since)
            select merchant_id, endpoint_id, 0, $2 from endpoint where merchant_id = $1 and interface = 'rma'";
        let since = beginning() - TimeDelta::days(days.into());
        let mut connection = world.database.connect().await;
        sqlx::query(insert).bind(receiver.merchant.0).bind(since).execute(&mut connection).await.unwrap();
    };
    for number in 0..7 {
        let removed = world.receiver(&format!("removed-{number}")).await;
        fails(&removed, 30).await;
        endpoint::remove_endpoint(&world.app, "test", removed.merchant, Interface::Rma).await.unwrap();
    }
    let healthy = world.receiver("healthy").await;
    healthy.is_owed("R-1", 1).await;
    for number in 0..6 {
        fails(&world.receiver(&format!("failing-{number}")).await, number).await;
    }
    let console = world.console(Role::Viewer).await;
    let today = console.get("/").await.page();
    assert_eq!(today.matches("<span class=\"st bad\">Failing</span>").count(), 6, "five by name, and a link: {today}");
    assert!(today.contains(r#"<a href="/merchants?state=failing">More endpoints are failing</a>"#), "{today}");
    let list = console.get("/merchants?state=failing").await.page();
    let shown: Vec<&str> = list.split("<code class=\"faint\">").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(shown, ["failing-0", "failing-1", "failing-2", "failing-3", "failing-4", "failing-5"]);
}

#[tokio::test]
async fn messages_given_up_are_counted_as_their_list_shows_them() {
    let world = World::new().await;
    let receiver = world.receiver_with("acme", impatient()).await;
    given_up(&receiver, 2).await;
    // The interface gets another endpoint, which fails as well.
    endpoint::remove_endpoint(&world.app, "test", receiver.merchant, Interface::Rma).await.unwrap();
    let change = EndpointChange { url: Some(receiver.systems.url(PATH)), ..impatient() };
    endpoint::set_endpoint(&world.app, "test", receiver.merchant, Interface::Rma, change).await.unwrap();
    let insert = "insert into endpoint_notice (merchant_id, endpoint_id, sequence, failing_since)
        select merchant_id, endpoint_id, 0, timestamptz '2026-03-01 12:00Z' from endpoint where removed_at is null and interface = 'rma'
        on conflict (merchant_id, endpoint_id) do update set failing_since = excluded.failing_since";
    sqlx::query(insert).execute(&mut world.database.connect().await).await.unwrap();
    let console = world.console(Role::Viewer).await;
    let today = console.get("/").await.page();
    let at = "/failures?merchant=acme&amp;interface=rma";
    assert!(today.contains(&format!("<a class=\"num\" href=\"{at}\">2</a> given up")), "{today}");
    let list = console.get(&at.replace("&amp;", "&")).await.page();
    assert!(list.contains("<h1>Failure queue: 2</h1>"), "{list}");
    assert!(console.get("/failures").await.page().contains("<h1>Failure queue: 2</h1>"));
}

#[tokio::test]
async fn a_case_is_closed_once_and_under_the_persons_name() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    let case = WorkItem {
        id: CASE,
        kind: WorkKind::LabelRefused,
        subject: "R-<b>1".to_owned(),
        reason: "<script>alert(1)</script>".to_owned(),
        opened_at: world.app.now(),
    };
    let mut tx = world.app.begin(shop.merchant.id).await.unwrap();
    work_items::open(&mut tx, &case).await.unwrap();
    tx.commit().await.unwrap();
    let console = world.console(Role::Support).await;
    assert!(console.get("/").await.page().contains("1 label was refused by the carrier"));
    let list = console.get("/cases?kind=label_refused").await.page();
    assert!(list.contains("Labels refused: 1"), "{list}");
    assert!(list.contains("&#60;script&#62;") && !list.contains("<script>alert"), "stored text is escaped: {list}");
    let close = &format!("/cases/acme/{CASE}?kind=label_refused");
    assert!(console.get(close).await.page().contains("Close the case"));
    assert_eq!(console.post(close, &NOTHING).await.location, "/cases?kind=label_refused&closed=true");
    let again = console.post(close, &NOTHING).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let actors = world.database.texts("select actor || ' ' || action from audit where action = 'work.closed'").await;
    assert_eq!(actors, [format!("operator:{} work.closed", console.email)]);
}

#[tokio::test]
async fn the_search_finds_identifiers_of_all_merchants_and_keeps_addresses_out_of_urls() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("O-1", 1).await;
    let rma = shop.merchant.starts_a_return("O-1", 1).await;
    let console = world.console(Role::Support).await;
    let asked = console.post("/search", &[("q", "O-1")]).await;
    assert_eq!((asked.status, asked.location.as_str()), (303, "/search?q=O-1"));
    assert!(console.get("/search?q=O-1").await.page().contains("O-1"));
    let found = console.get(&format!("/search?q={rma}")).await.page();
    assert!(found.contains(&rma) && found.contains("Returns"), "{found}");
    assert!(console.get("/search?q=%27%3Cb%3E").await.page().contains("Nothing was found"));
    let email = "pat@example.com";
    let asked = console.post("/search", &[("q", email)]).await;
    assert!(asked.location.starts_with("/search/by-email/") && !asked.location.contains('@'), "{}", asked.location);
    let again = console.post("/search", &[("q", email)]).await;
    assert_ne!(asked.location, again.location, "the address of a result says nothing about the shopper");
    let found = console.get(&asked.location).await.page();
    assert!(found.contains("O-1") && !found.contains(email), "{found}");
    let viewer = world.console(Role::Viewer).await;
    assert_eq!(viewer.get(&asked.location).await.status, 403, "shoppers are not looked up by viewers");
    assert_eq!(console.get("/search/by-email/sandbox.AAAA").await.status, 404);
}
