//! The console's report of returns: every return is counted once, on the day on which it was started.

use std::time::Duration;

use domain::merchants::operator::Role;

use crate::world::console::Console;
use crate::world::{World, message, refund_for, refunded, sold};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The lines of a CSV without its head.
async fn lines(console: &Console<'_>, query: &str) -> Vec<String> {
    let csv = console.get(&format!("/reports/returns.csv?{query}")).await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    csv.page().lines().skip(1).map(str::to_owned).collect()
}

/// Timers run after every hour of these, as they do in real life.
async fn hours_pass(world: &World, hours: u32) {
    for _ in 0..hours {
        world.time_passes(HOUR);
        world.timers_run().await;
    }
}

#[tokio::test]
async fn a_return_counts_once_on_the_day_of_its_start_however_far_it_gets() {
    let world = World::new().await;
    let mut carried = world.shop_with_a_carrier("acme").await;
    let other = world.shop("other").await;
    other.merchant.sells("B-1", 1).await;
    other.merchant.starts_a_return("B-1", 1).await;

    // Two returns are started on the first day, and one on the second.
    let sent = carried.has_a_return("A-1", 2).await;
    let cancelled = carried.has_a_return("A-2", 1).await;
    carried.receives_events().await;
    assert_eq!(carried.shop.merchant.cancels(&cancelled).await.status, 200);
    hours_pass(&world, 3).await;
    world.time_passes(21 * HOUR);
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    carried.has_a_return("A-3", 1).await;
    carried.receives_events().await;
    carried.shop.merchant.carrier_says(&sent, "in_transit").await;
    hours_pass(&world, 1).await;
    carried.shop.merchant.carrier_says(&sent, "delivered").await;
    hours_pass(&world, 2).await;
    world.time_passes(2 * DAY);
    carried.shop.merchant.token = carried.shop.merchant.gets_a_token().await;
    let order = refunded(sold("A-1", 2), [refund_for(&sent, "F-1", 2)]);
    assert_eq!(carried.shop.merchant.publishes(&message([order])).await.status, 200);

    let console = world.console(Role::Viewer).await;
    let stages = lines(&console, "merchant=acme&plot=stages").await;
    assert_eq!(stages[..2], ["started,3,,", "handed_over,1,2,2"], "an hour counts when it is over");
    hours_pass(&world, 2).await;
    console.signs_in().await;
    let stages = ["started,3,,", "handed_over,1,2,2", "received,0,,", "exchanged,0,,", "refunded,1,4,4", "canceled,1,1,1"];
    assert_eq!(lines(&console, "merchant=acme&plot=stages").await, stages);
    assert_eq!(
        lines(&console, "merchant=acme&since=2026-03-01&until=2026-03-02&plot=days").await,
        ["2026-03-01,2,1,1", "2026-03-02,1,0,0"]
    );
    assert_eq!(lines(&console, "merchant=acme&plot=asked_for").await, ["REFUND,4"]);
    let units: i64 = lines(&console, "merchant=acme&plot=products").await.iter().map(|line| units(line)).sum();
    assert_eq!(units, 4);
    // What the simulated carrier asks for each parcel, by its weight.
    let labels = lines(&console, "merchant=acme&plot=labels").await;
    assert_eq!(labels[0], "labels,SimCarrier,3");
    let cents: Vec<i64> =
        world.database.texts("select cost_cents::text from label").await.iter().map(|cents| cents.parse().unwrap()).collect();
    assert_eq!((cents.len(), labels[1].as_str()), (3, &*format!("cost_cents,USD,{}", cents.iter().sum::<i64>())));

    // All merchants together; products are nobody else's business.
    let stages = lines(&console, "plot=stages").await;
    assert_eq!(stages[0], "started,4,,");
    assert!(lines(&console, "plot=products").await.is_empty());
    let page = console.get("/reports/returns?merchant=acme").await.page();
    assert!(page.contains("Started on these days: 3. Refunded since: 1. Cancelled or expired since: 1"), "{page}");
}

/// The last cell of a line.
fn units(line: &str) -> i64 {
    line.rsplit(',').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn returns_from_before_the_report_existed_are_counted() {
    let world = World::new().await;
    let shop = world.shop("acme").await;
    shop.merchant.sells("A-1", 1).await;
    shop.merchant.starts_a_return("A-1", 1).await;
    hours_pass(&world, 2).await;
    let mut connection = world.database.connect().await;
    let before = "update report_mark set returns_until = '-infinity'; delete from report_day";
    sqlx::raw_sql(before).execute(&mut connection).await.unwrap();
    hours_pass(&world, 1).await;
    let console = world.console(Role::Viewer).await;
    assert_eq!(lines(&console, "merchant=acme&plot=stages").await[0], "started,1,,");
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_is_told_and_never_ignored_in_a_file() {
    let world = World::new().await;
    let console = world.console(Role::Viewer).await;
    let page = console.get("/reports/returns?merchant=nobody").await.page();
    assert!(page.contains("There is no merchant with this handle"), "{page}");
    assert_eq!(console.get("/reports/returns.csv?merchant=nobody").await.status, 422);
    assert_eq!(console.get("/reports/returns.csv?plot=nonsense").await.status, 404);
}
