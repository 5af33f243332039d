//! The plans of the statements behind reports: they read only the rollups, and only one merchant's days.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    dead_code,
    unreachable_pub,
    reason = "a test unwraps freely and talks to the database directly; other tests use more of the shared modules"
)]

mod database;
mod explained;

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use sqlx::ConnectOptions as _;
use store::messages::reports;
use store::{PoolLimits, PoolSizes, Store};
use uuid::Uuid;

use self::explained::Explained;

/// 100 merchants with one endpoint each, and 100 days of every hour: 240,000 rows in each rollup.
const FILL: &str = "
    insert into attempt_hourly (merchant_id, endpoint_id, hour, count, number, kind, outcome)
    select lpad(to_hex(merchant), 32, '0')::uuid, lpad(to_hex(merchant), 32, '0')::uuid,
        timestamptz '2026-03-01T00:00:00Z' - make_interval(hours => hour), 7, 1, 'rma', '200'
    from generate_series(1, 100) as merchant, generate_series(1, 2400) as hour
    order by hour, merchant;
    insert into delivered_hourly (merchant_id, endpoint_id, hour, count, within_ms, attempts, kind)
    select merchant_id, endpoint_id, hour, count, 50, 1, kind from attempt_hourly order by hour, merchant_id;";

#[tokio::test]
async fn reports_touch_the_rollups_alone_and_by_their_indexes() {
    let options = database::create("reports").await;
    let mut beside = options.connect().await.unwrap();
    explained::switch_on(&mut beside, options.get_database().unwrap()).await;
    sqlx::raw_sql(FILL).execute(&mut beside).await.unwrap();
    sqlx::raw_sql("vacuum analyze").execute(&mut beside).await.unwrap();
    let patience = Duration::from_mins(1);
    let limits = PoolLimits {
        sizes: PoolSizes { flows: 1, engine: 10, readers: 4, feed: 4, apart: 4, tokens: 1 },
        acquire: patience,
        statement: patience,
        lock: patience,
        console: 0,
    };
    let store = Store::new(options.to_url_lossy().as_str(), limits).unwrap();
    let explained = Explained::listen();
    let to: DateTime<Utc> = "2026-03-01T00:00:00Z".parse().unwrap();
    let merchant = MerchantId(Uuid::from_u128(7));
    // Often enough for PostgreSQL to switch to a generic plan.
    for days in [1, 30, 92].into_iter().cycle().take(12) {
        let from = to - TimeDelta::days(days);
        let attempts = reports::attempts(&store, merchant, from, to).await.unwrap();
        let delivered = reports::delivered(&store, merchant, from, to).await.unwrap();
        let whole = usize::try_from(days).unwrap();
        assert_eq!((attempts.len(), delivered.len()), (whole, whole));
        assert!(attempts.iter().all(|day| day.count == 7 * 24) && delivered.iter().all(|day| day.count == 7 * 24));
        let plans = explained.take();
        let scans: Vec<BTreeSet<String>> = plans.iter().map(explained::Plan::scans).collect();
        let expected = [["attempt_hourly_by_hour of attempt_hourly"], ["delivered_hourly_pkey of delivered_hourly"]];
        assert_eq!(scans, expected.map(|scans| scans.map(str::to_owned).into_iter().collect::<BTreeSet<_>>()), "{plans:?}");
        // At most one page per row, because the rows of an hour lie together.
        let most = 24 * u64::try_from(days).unwrap() + 100;
        assert!(plans.iter().all(|plan| plan.pages() <= most), "{days} days: {plans:?}");
    }
}
