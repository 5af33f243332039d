//! The cost of the console's reports: whatever is asked for, a report touches a bounded number of database pages, and takes a bounded
//! time.
//!
//! A year of rollups of `MERCHANTS` merchants: 100, or 1,000 with `make bench-reports`. The last line of output is a JSON object for scripts.
//! The pages come from `auto_explain`, which needs a superuser.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    dead_code,
    reason = "a test unwraps freely, talks to the database directly, and prints results for scripts"
)]

mod database;
mod explained;

use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::id::MerchantId;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use store::messages::report_days;
use store::orders::order_days::{self, Taken};
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::explained::Explained;

/// The maximum number of database pages that a report may touch.
const MOST_PAGES: u64 = 500;
/// The maximum time of 99 of 100 reports, in milliseconds, on an idle machine.
const MOST_MS: u128 = 200;

fn now() -> DateTime<Utc> {
    "2026-03-01T12:30:00Z".parse().unwrap()
}

const FILL_MERCHANTS: &str = "
    insert into merchant (merchant_id, handle, name, created_at)
    select lpad(to_hex(number), 32, '0')::uuid, 'merchant-' || number, 'A merchant', $1 from generate_series(1, $2) as number";

/// Each day has four interfaces with four outcomes, three numbers of attempts and eight times each: 60 figures.
const FILL_DAYS: &str = "
    insert into report_day (merchant_id, day, changed_at, interfaces, figures, details, counts)
    select merchant.merchant_id, $1::timestamptz::date - number, $1::timestamptz - make_interval(days => number), figure.interfaces,
        figure.figures, figure.details, figure.counts
    from generate_series(1, 365) as number, merchant, (
        select array_agg(interface) as interfaces, array_agg(figure) as figures, array_agg(detail) as details, array_agg(1000 + number) as counts
        from unnest(array['rma', 'exchange_order', 'inventory_receipt', 'outbound_asn']) as interface, (
            select 'outcome' as figure, detail, number
            from unnest(array['200', '401', '503', 'timed out']) with ordinality as one (detail, number)
            union all select 'delivered_at_attempt', number::text, number from generate_series(1, 3) as number
            union all select 'delivered_within_ms', (10 * number * number)::text, number from generate_series(1, 8) as number
        ) as one
    ) as figure
    order by number, merchant.merchant_id";

/// The hours of this day, which are not counted by the day yet.
const FILL_HOURS: &str = "
    insert into attempt_hourly (merchant_id, endpoint_id, hour, count, number, kind, outcome)
    select merchant_id, merchant_id, date_trunc('hour', $1::timestamptz) - make_interval(hours => hour), 7, 1, kind, outcome
    from generate_series(0, 12) as hour, merchant, unnest(array['rma', 'exchange_order', 'inventory_receipt', 'outbound_asn']) as kind,
        unnest(array['200', '503']) as outcome
    order by hour desc, kind, merchant_id";

const FILL_DELIVERED: &str = "
    insert into delivered_hourly (merchant_id, endpoint_id, hour, count, within_ms, attempts, kind)
    select merchant_id, merchant_id, date_trunc('hour', $1::timestamptz) - make_interval(hours => hour), 1, 10 * number * number, 1, kind
    from generate_series(0, 12) as hour, merchant, unnest(array['rma', 'exchange_order', 'inventory_receipt', 'outbound_asn']) as kind,
        generate_series(1, 7) as number
    order by hour desc, kind, number, merchant_id";

fn store(options: &PgConnectOptions) -> Store {
    let patience = Duration::from_hours(1);
    let limits = PoolLimits {
        sizes: PoolSizes { flows: 2, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
        acquire: patience,
        statement: patience,
        lock: patience,
        console: 0,
    };
    Store::new(options.to_url_lossy().as_str(), limits).unwrap()
}

/// Ends when a session of this database waits for a lock.
const SOMEBODY_WAITS: &str = "
    do $$ begin
        loop
            perform pg_stat_clear_snapshot();
            exit when exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock');
            perform pg_sleep(0.01);
        end loop;
    end $$";

#[tokio::test]
async fn two_that_add_to_a_new_day_at_once_are_both_counted() {
    let options = database::create("a_new_day").await;
    let (store, mut beside) = (store(&options), options.connect().await.unwrap());
    let (merchant, day) = (MerchantId(Uuid::from_u128(1)), now().date_naive());
    let taken = [Taken { day, figure: order_days::ORDER, value: "created", count: 3 }];
    let mut first = store.begin(merchant).await.unwrap();
    order_days::add(&mut first, &taken, now()).await.unwrap();
    let second = async {
        let mut second = store.begin(merchant).await.unwrap();
        order_days::add(&mut second, &taken, now()).await.unwrap();
        second.commit().await.unwrap();
    };
    let first = async {
        sqlx::raw_sql(SOMEBODY_WAITS).execute(&mut beside).await.unwrap();
        first.commit().await.unwrap();
    };
    tokio::join!(second, first);
    let counts: Vec<i64> = report_days::list(&store, merchant, day, day).await.unwrap().iter().map(|figure| figure.count).collect();
    assert_eq!(counts, [6]);
}

#[tokio::test]
async fn a_report_touches_at_most_500_pages() {
    let merchants: i32 = std::env::var("MERCHANTS").map_or(100, |count| count.parse().unwrap());
    let options = database::create("report_days").await;
    let mut beside = options.connect().await.unwrap();
    sqlx::query(FILL_MERCHANTS).bind(now()).bind(merchants).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_DAYS).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_HOURS).bind(now()).execute(&mut beside).await.unwrap();
    sqlx::query(FILL_DELIVERED).bind(now()).execute(&mut beside).await.unwrap();
    explained::switch_on(&mut beside, options.get_database().unwrap()).await;
    let store = store(&options);

    // What the timer does for every merchant, and for all of them together.
    let until = report_days::closed_until(now());
    let uncounted = report_days::list_uncounted(&store, until, 10_000).await.unwrap();
    assert_eq!(uncounted.len(), usize::try_from(merchants).unwrap());
    let counting = Instant::now();
    for merchant in uncounted {
        let mut tx = store.begin(merchant).await.unwrap();
        assert!(!report_days::count(&mut tx, until, now()).await.unwrap());
        tx.commit().await.unwrap();
    }
    let counted_ms = counting.elapsed().as_millis();
    assert_eq!(report_days::list_uncounted(&store, until, 1).await.unwrap(), []);
    report_days::sum_up(&store, now()).await.unwrap();
    sqlx::raw_sql("vacuum analyze").execute(&mut beside).await.unwrap();

    let explained = Explained::listen();
    let (mut most, mut most_of_all, mut took) = (0, 0, Vec::new());
    let today = now().date_naive();
    for round in 0..25_u32 {
        let whose = MerchantId(Uuid::from_u128(u128::from(1 + round * 3)));
        for days in [1, 14, 92] {
            // Every other report is of days long ago.
            let to = if round % 2 == 0 { today } else { today - TimeDelta::days(250) };
            let from: NaiveDate = to - TimeDelta::days(days - 1);
            let started = Instant::now();
            let figures = report_days::list(&store, whose, from, to).await.unwrap();
            took.push(started.elapsed().as_millis());
            assert!(figures.len() >= 40 * usize::try_from(days).unwrap(), "{}", figures.len());
            most = most.max(explained.take().iter().map(explained::Plan::pages).sum());
            let started = Instant::now();
            let figures = report_days::list_total(&store, from, to).await.unwrap();
            took.push(started.elapsed().as_millis());
            assert!(figures.len() >= 40 * usize::try_from(days).unwrap(), "{}", figures.len());
            most_of_all = most_of_all.max(explained.take().iter().map(explained::Plan::pages).sum());
        }
    }
    took.sort_unstable();
    let p99_ms = took[took.len() * 99 / 100];
    println!(
        r#"{{"bench":"reports","merchants":{merchants},"days":365,"most_pages":{most},"most_pages_of_all":{most_of_all},"p99_ms":{p99_ms},"counted_ms":{counted_ms}}}"#
    );
    assert!(most <= MOST_PAGES && most_of_all <= MOST_PAGES, "{most} and {most_of_all}");
    if merchants >= 1_000 {
        assert!(p99_ms < MOST_MS, "{p99_ms} ms");
    }
}
