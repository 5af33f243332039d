//! The console's reports: every number equals the attempts, before and after hours are counted by the day.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::merchants::operator::Role;
use sandbox::merchant::Answer;

use crate::world::World;
use crate::world::console::{Console, between};
use crate::world::receiver::{PATH, impatient};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// Two merchants, three days: what arrives at once, what arrives after retries, and what never does.
async fn history(world: &World) {
    let acme = world.receiver_with("acme", impatient()).await;
    let other = world.receiver_with("other", impatient()).await;
    for day in 0..3_i64 {
        store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
        acme.systems.answer_next(PATH, [Answer::status(500), Answer::status(503), Answer::status(200), Answer::status(201)]);
        for number in 0..=day {
            acme.is_owed(&format!("R-{day}-{number}"), 1).await;
        }
        other.is_owed(&format!("R-{day}"), 1).await;
        world.five_retries_pass().await;
        world.time_passes(DAY);
    }
    store::messages::partitions::make(world.app.cell(), world.app.now(), 2).await.unwrap();
    acme.systems.answer(PATH, Answer::status(410));
    acme.is_owed("R-last", 1).await;
    world.five_retries_pass().await;
}

/// The lines of a CSV without its head, in order.
async fn lines(console: &Console<'_>, query: &str) -> Vec<String> {
    let csv = console.get(&format!("/reports.csv?{query}")).await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    let mut lines: Vec<String> = csv.page().lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Attempts by merchant, day and outcome.
const ANSWERS: &str =
    "select handle || '|' || to_char(started_at at time zone 'UTC', 'YYYY-MM-DD') || ',rma,' || outcome || '|' || count(*)
    from attempt join merchant using (merchant_id) group by handle, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD'), outcome";

/// Delivered messages and failed calls by merchant and day.
const DAYS: &str = "select handle || '|' || to_char(started_at at time zone 'UTC', 'YYYY-MM-DD')
        || '|' || count(*) filter (where status between 200 and 299) || '|' || count(*) filter (where status not between 200 and 299)
    from attempt join merchant using (merchant_id) group by handle, to_char(started_at at time zone 'UTC', 'YYYY-MM-DD')";

/// Delivered messages by merchant and attempt.
const ATTEMPTS: &str = "select handle || '|' || number || '|' || count(*)
    from attempt join merchant using (merchant_id) where status between 200 and 299 group by handle, number";

/// The sums of a merchant, or of all without one, as the report writes them.
async fn summed(world: &World, query: &'static str, whose: &str) -> Vec<String> {
    let mut sums: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for row in world.database.texts(query).await {
        let cells: Vec<&str> = row.split('|').collect();
        if whose.is_empty() || cells[0] == whose {
            let counts = sums.entry(cells[1].to_owned()).or_insert_with(|| vec![0; cells.len() - 2]);
            counts.iter_mut().zip(&cells[2..]).for_each(|(sum, count)| *sum += count.parse::<i64>().unwrap());
        }
    }
    let line = |(key, counts): (String, Vec<i64>)| format!("{key},{}", counts.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    let mut lines: Vec<String> = sums.into_iter().map(line).collect();
    lines.sort();
    lines
}

/// Compares every figure of a report with the attempts. Days without any are left out.
async fn equals_the_attempts(world: &World, console: &Console<'_>, query: &str, whose: &str) {
    assert_eq!(lines(console, &format!("{query}&plot=answers")).await, summed(world, ANSWERS, whose).await, "{query}");
    let mut days = lines(console, &format!("{query}&plot=days")).await;
    days.retain(|line| !line.ends_with(",0,0"));
    assert_eq!(days, summed(world, DAYS, whose).await, "{query}");
    assert_eq!(lines(console, &format!("{query}&plot=attempts")).await, summed(world, ATTEMPTS, whose).await, "{query}");
}

#[tokio::test]
async fn every_number_of_a_report_equals_the_attempts() {
    let world = World::new().await;
    history(&world).await;
    let console = world.console(Role::Viewer).await;
    equals_the_attempts(&world, &console, "merchant=acme", "acme").await;
    let before = console.get("/reports?merchant=acme").await.page();

    // Hours that are over are counted by the day, one by one, and the report stays the same.
    for wait in [Duration::ZERO, HOUR, HOUR, DAY] {
        world.time_passes(wait);
        world.timers_run().await;
        // The session has ended meanwhile.
        console.signs_in().await;
        equals_the_attempts(&world, &console, "merchant=acme", "acme").await;
        equals_the_attempts(&world, &console, "merchant=other", "other").await;
    }
    assert!(world.database.count("report_day").await >= 7);
    equals_the_attempts(&world, &console, "", "").await;
    let page = console.get("/reports?merchant=acme&since=2026-02-20&until=2026-03-04").await.page();
    let table = |page: &str| between(page, "<table class=\"heat\">", "</table>").to_owned();
    let cells = |page: &str| table(page).split("<td").filter(|cell| !cell.contains("h0")).count();
    assert_eq!(cells(&page), cells(&before), "{page}");
}

#[tokio::test]
async fn a_report_is_of_the_merchant_the_interface_and_the_days_in_its_address() {
    let world = World::new().await;
    history(&world).await;
    let console = world.console(Role::Viewer).await;
    let calls = async |query: &str| {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for line in lines(&console, &format!("{query}&plot=answers")).await {
            let cells: Vec<&str> = line.split(',').collect();
            *sums.entry(cells[0].to_owned()).or_default() += cells[3].parse::<i64>().unwrap();
        }
        sums.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(calls("merchant=other").await, [("2026-03-01".to_owned(), 1), ("2026-03-02".to_owned(), 1), ("2026-03-03".to_owned(), 1)]);
    assert_eq!(calls("merchant=other&since=2026-03-02&until=2026-03-02").await, [("2026-03-02".to_owned(), 1)]);
    assert_eq!(calls("merchant=other&days=2").await, [("2026-03-03".to_owned(), 1)]);
    assert_eq!(calls("merchant=other&interface=exchange_order").await, []);

    let page = console.get("/reports?merchant=other&interface=rma&since=2026-03-01&until=2026-03-04").await.page();
    for words in [
        "3 messages were delivered and 0 calls failed",
        "<title id=\"t-times\">",
        "at most 60 % too long",
        "/reports.csv?merchant=other&#38;interface=rma&#38;since=2026-03-01&#38;until=2026-03-04&#38;plot=times",
        "/messages?merchant=other&#38;interface=rma&#38;since=2026-03-01T00%3A00&#38;until=2026-03-02T00%3A00",
        "backhaul report deliveries --merchant other --from 2026-03-01 --to 2026-03-04 --csv",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    for (query, fault) in [
        ("merchant=nobody", "There is no merchant with this handle"),
        ("interface=fax", "There is no such interface"),
        ("days=93", "A report has 1 to 92 days"),
        ("days=0", "A report has 1 to 92 days"),
        ("since=2026-03-02&until=2026-03-01", "the first not after the last"),
    ] {
        assert!(console.get(&format!("/reports?{query}")).await.page().contains(fault), "{query}");
        assert_eq!(console.get(&format!("/reports.csv?{query}")).await.status, 422, "{query}");
    }
    assert_eq!(console.get("/reports.csv?plot=pie").await.status, 404);
    let empty = console.get("/reports?since=2026-01-01&until=2026-01-02").await.page();
    assert!(empty.contains("No calls on these days") && empty.contains("Nothing was delivered on these days"), "{empty}");
}

#[tokio::test]
async fn days_of_reports_are_deleted_after_400_days() {
    let world = World::new().await;
    history(&world).await;
    for (days, kept) in [(2, (7, 4)), (398, (1, 1)), (2, (0, 0))] {
        world.time_passes(DAY * days);
        world.timers_run().await;
        assert_eq!((world.database.count("report_day").await, world.database.count("report_total").await), kept, "after {days} more days");
    }
}
