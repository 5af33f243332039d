//! Monitoring: the gauges of delivery, and a check that alarms, dashboard and documents name only existing metrics.

use std::collections::BTreeSet;
use std::time::Duration;

use backhaul::flow::messages::configure_endpoint as flow;
use backhaul::platform::metrics::CertificateLabels;
use domain::merchants::operator::Role;
use domain::messages::message::Interface;
use reqwest::Method;
use sandbox::merchant::Answer;

use crate::world::World;
use crate::world::receiver::{PATH, impatient};

const ALARMS: &str = include_str!("../../../../../ops/alarms.yml");
const ALARM_TESTS: &str = include_str!("../../../../../ops/alarms.test.yml");
const DASHBOARD: &str = include_str!("../../../../../ops/grafana-dashboard.json");
const DOCUMENT: &str = include_str!("../../../../../docs/operations.md");

/// The metrics that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.starts_with("backhaul_")).collect()
}

impl World {
    /// Waits until a metric has this value; the gauges are updated every few seconds.
    pub async fn shows(&self, metric: &str, value: u64) {
        let asking = async {
            while self.metric(metric).await != value {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(30), asking).await.is_err() {
            assert_eq!(self.metric(metric).await, value, "{metric}");
        }
    }
}

#[tokio::test]
async fn every_metric_that_alarms_dashboard_and_documents_name_is_there() {
    let world = World::with(&[("BACKHAUL__LIMITS__REQUESTS_PER_MINUTE", "5")]).await;
    let merchant = world.merchant("shop").await;
    merchant.publishes_text("{").await;
    merchant.publishes(&crate::world::message([crate::world::order("O-1")])).await;
    while merchant.calls(Method::GET, "/v1/orders/O-1", |request| request).await.status != 429 {}
    let receiver = world.receiver("acme").await;
    receiver.is_owed("R-1", 1).await;
    world.deliver_all_due().await;
    // As a listener with TLS does.
    let certificate = CertificateLabels { file: "server.pem".to_owned() };
    world.app.metrics.certificate_ends.get_or_create(&certificate).set(1);
    let (_, page) = world.admin("/metrics").await;
    let samples: BTreeSet<&str> =
        page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(['{', ' ']).next()).collect();
    for (place, text) in [("alarms", ALARMS), ("their tests", ALARM_TESTS), ("dashboard", DASHBOARD), ("document", DOCUMENT)] {
        let names = named(text);
        assert!(names.len() > 8, "{place}: {names:?}");
        for name in names {
            // The document names a histogram as a whole.
            assert!(
                samples.contains(name) || samples.contains(format!("{name}_bucket").as_str()),
                "{place}: {name} is not on the page: {samples:?}"
            );
        }
    }
}

#[test]
fn every_alarm_has_its_test_and_its_entry_in_the_runbook() {
    let alarms: Vec<&str> = ALARMS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alarms.len() > 10);
    for alarm in alarms {
        assert!(DOCUMENT.contains(&format!("\n### {alarm}\n")), "the runbook has no entry for {alarm}");
        assert!(ALARM_TESTS.contains(&format!("\n        alertname: {alarm}\n")), "no test lets {alarm} fire");
        assert!(ALARM_TESTS.contains(&format!("alertname: {alarm}, exp_alerts: []")), "no test keeps {alarm} silent");
    }
}

#[test]
fn the_dashboard_is_json_with_panels() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().iter().all(|panel| !panel["targets"].as_array().unwrap().is_empty()));
}

#[tokio::test]
async fn the_pages_of_the_portal_and_what_shoppers_do_there_are_counted() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    let pat = world.shopper("acme");
    assert!(pat.finds("A-1", "sam@example.com").await.says("We can’t find that order"));
    pat.finds("A-1", "pat@example.com").await;
    pat.sends("items", &[("line", "L1"), ("quantity-1", "1")]).await;
    pat.sends("items/1/reason", &[("reason", "TOO_SMALL")]).await;
    let check = pat.sends("how", &[("how", "mail-back")]).await;
    let done = pat.confirms(&check).await;
    assert_eq!(done.heading(), "Your return is confirmed");
    pat.confirms(&check).await;
    pat.opens("/assets/absent.css").await;
    for (step, count) in
        [("order_missed", 1), ("order_found", 1), ("return_confirmed", 1), ("return_refused", 0), ("order_refused", 0), ("link_asked", 0)]
    {
        assert_eq!(world.metric(&format!(r#"backhaul_portal_steps_total{{step="{step}"}}"#)).await, count, "{step}");
    }
    let pages = async |status: &str| world.metric(&format!(r#"backhaul_pages_total{{surface="portal",status="{status}"}}"#)).await;
    let (shown, led_on, wrong) = (pages("2xx").await, pages("3xx").await, pages("4xx").await);
    assert!(shown >= 5 && led_on >= 5, "{shown} shown, {led_on} led on");
    assert_eq!(pages("5xx").await, 0);
    let timed = world.metric(r#"backhaul_page_seconds_count{surface="portal"}"#).await;
    assert_eq!(timed, shown + led_on + wrong, "every page is timed");
    assert_eq!(world.metric(r#"backhaul_page_seconds_count{surface="console"}"#).await, 0);
}

#[tokio::test]
async fn the_pages_of_the_console_and_its_sign_ins_are_counted() {
    let world = World::new().await;
    let events = async |event: &str| world.metric(&format!(r#"backhaul_security_events_total{{event="{event}"}}"#)).await;
    let (_, page) = world.admin("/metrics").await;
    assert!(page.contains(r#"backhaul_security_events_total{event="sign_in.refused"} 0"#), "it is there from the start: {page}");
    let person = world.console(Role::Support).await;
    let signed_in = events("sign_in.succeeded").await;
    assert_eq!(person.enters("not the password").await.status, 422);
    assert_eq!(person.signs_in().await.location, "/");
    assert_eq!((events("sign_in.refused").await, events("sign_in.succeeded").await), (1, signed_in + 1));
    let pages = async |status: &str| world.metric(&format!(r#"backhaul_pages_total{{surface="console",status="{status}"}}"#)).await;
    let (shown, wrong) = (pages("2xx").await, pages("4xx").await);
    assert_eq!(person.get("/").await.status, 200);
    assert_eq!(person.get("/audit").await.status, 403);
    assert_eq!((pages("2xx").await, pages("4xx").await), (shown + 1, wrong + 1));
    assert_eq!(pages("5xx").await, 0);
}

#[tokio::test]
async fn what_waits_is_counted_and_paused_endpoints_have_no_part_in_it() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    let paused = world.receiver("paused").await;
    let hopeless = world.receiver_with("hopeless", impatient()).await;
    flow::pause_endpoint(&world.app, "test", paused.merchant, Interface::Rma).await.unwrap();
    paused.is_owed("R-1", 1).await;
    hopeless.systems.answer(PATH, Answer::status(500));
    hopeless.is_owed("R-1", 1).await;
    world.five_retries_pass().await;
    receiver.systems.answer(PATH, Answer::ok().held());
    receiver.is_owed("R-1", 1).await;
    receiver.systems.wait_for(1, Duration::from_secs(10)).await.unwrap();
    world.time_passes(Duration::from_secs(61));
    for (metric, value) in [
        ("backhaul_delivery_past_due", 1),
        ("backhaul_delivery_oldest_due_seconds", 61),
        (r#"backhaul_failure_queue{interface="rma"}"#, 1),
        ("backhaul_delivery_buckets", 256),
        ("backhaul_delivery_buckets_unowned", 0),
        ("backhaul_delivery_partitions_ahead_days", 14),
    ] {
        world.shows(&world.of_its_cell(metric), value).await;
    }
    receiver.systems.answer(PATH, Answer::ok());
    receiver.systems.release();
    world.shows(&world.of_its_cell("backhaul_delivery_past_due"), 0).await;
}
