//! Checks that the counts for reports match the stored history exactly.

use anyhow::ensure;
use backhaul::app::App;
use backhaul::show::messages::delivery_days::DeliveryDays;
use backhaul::show::messages::report::Range;
use chrono::{NaiveDate, TimeDelta};
use domain::id::MerchantId;
use sqlx::PgConnection;
use store::messages::report_days::{self, Figure};
use uuid::Uuid;

/// Differences between the attempts, except endpoint tests, and their hourly counts.
const ATTEMPTS: &str = "
    with stored as (
        select merchant_id, attempt.endpoint_id, date_trunc('hour', started_at, 'UTC') as hour, kind, outcome, number, count(*) as count
        from attempt join message using (merchant_id, message_id)
        where kind <> 'endpoint_test'
        group by 1, 2, 3, 4, 5, 6
    ),
    counted as (select merchant_id, endpoint_id, hour, kind, outcome, number, count from attempt_hourly)
    select count(*) from ((table stored except table counted) union all (table counted except table stored)) as differing";

/// Differences between the delivered messages, except endpoint tests, and their hourly counts. A call may be repeated if its
/// process crashed before settling it. Only the call that settled the message counts, and it is the only stored success.
const DELIVERED: &str = "
    with stored as (
        select merchant_id, attempt.endpoint_id, date_trunc('hour', started_at, 'UTC') as hour, kind, number as attempts, count(*) as count
        from attempt join message using (merchant_id, message_id)
        where kind <> 'endpoint_test' and status between 200 and 299
        group by 1, 2, 3, 4, 5
    ),
    counted as (
        select merchant_id, endpoint_id, hour, kind, attempts, sum(count)::bigint as count
        from delivered_hourly
        group by 1, 2, 3, 4, 5
    )
    select count(*) from ((table stored except table counted) union all (table counted except table stored)) as differing";

/// The difference between the number of messages neither waiting nor given up, except endpoint tests, and the number counted.
const ONCE: &str = "
    select (
        select count(*) from message
        where kind <> 'endpoint_test'
            and not exists (select from delivery where (delivery.merchant_id, delivery.message_id) = (message.merchant_id, message.message_id))
            and not exists (select from failure where (failure.merchant_id, failure.message_id) = (message.merchant_id, message.message_id))
    ) - (select coalesce(sum(count), 0)::bigint from delivered_hourly)";

/// Fails unless both rollups match the history.
pub(crate) async fn check(connection: &mut PgConnection) -> anyhow::Result<()> {
    for (what, query) in [("attempts", ATTEMPTS), ("deliveries", DELIVERED), ("messages delivered", ONCE)] {
        let differing: i64 = sqlx::query_scalar(query).fetch_one(&mut *connection).await?;
        ensure!(differing == 0, "the reports' counts of {what} do not match the history: {differing} differ");
    }
    Ok(())
}

/// Answers by day and interface, and delivered messages by attempt, as the attempts of a merchant say, or of all without one.
const SHOWN: &str = "
    with counted as (
        select (started_at at time zone 'UTC')::date as day, kind, outcome, number, status between 200 and 299 as delivered
        from attempt join message using (merchant_id, message_id)
        where kind <> 'endpoint_test' and ($1::uuid is null or merchant_id = $1)
    )
    select day || ' ' || kind || ' ' || outcome || ' ' || count(*) from counted group by day, kind, outcome
    union all
    select 'delivered at ' || number || ' ' || count(*) from counted where delivered group by number
    union all
    select 'delivered on ' || day || ' ' || count(*) from counted where delivered group by day
    union all
    select 'failed on ' || day || ' ' || count(*) from counted where delivered is not true group by day
    order by 1";

/// Fails unless the numbers of the console's reports equal the attempts: of each merchant before and after its hours were counted by
/// the day, and of all merchants. Returns the number of reports that were compared.
pub(crate) async fn check_reports(connection: &mut PgConnection, app: &App) -> anyhow::Result<usize> {
    let merchants: Vec<Uuid> = sqlx::query_scalar("select distinct merchant_id from attempt").fetch_all(&mut *connection).await?;
    let (from, to): (NaiveDate, NaiveDate) =
        sqlx::query_as("select min(started_at at time zone 'UTC')::date, max(started_at at time zone 'UTC')::date from attempt")
            .fetch_one(&mut *connection)
            .await?;
    let now = app.now();
    let mut compared = 0;
    for merchant in merchants {
        let of = MerchantId(merchant);
        equal(connection, Some(merchant), (from, to), &report_days::list(app.cell(), of, from, to).await?).await?;
        let mut tx = app.begin(of).await?;
        report_days::count(&mut tx, now + TimeDelta::hours(2), now).await?;
        app.commit(tx).await?;
        equal(connection, Some(merchant), (from, to), &report_days::list(app.cell(), of, from, to).await?).await?;
        compared += 2;
    }
    report_days::sum_up(app.cell(), now).await?;
    equal(connection, None, (from, to), &report_days::list_total(app.cell(), from, to).await?).await?;
    Ok(compared + 1)
}

/// Compares the numbers that a report shows with the attempts.
async fn equal(
    connection: &mut PgConnection,
    merchant: Option<Uuid>,
    (from, to): (NaiveDate, NaiveDate),
    figures: &[Figure],
) -> anyhow::Result<()> {
    let stored: Vec<String> = sqlx::query_scalar(SHOWN).bind(merchant).fetch_all(connection).await?;
    let range = Range::read(Some(&from.to_string()), Some(&to.to_string()), from.and_time(chrono::NaiveTime::MIN).and_utc())?;
    let report = DeliveryDays::new(range, None, figures);
    let mut shown: Vec<String> = Vec::new();
    for answer in &report.answers {
        let days = report.days.iter().zip(&answer.by_day).filter(|(_, count)| **count > 0);
        shown.extend(days.map(|(day, count)| format!("{} {} {} {count}", day.day, answer.interface, answer.outcome)));
    }
    shown.extend(report.at_attempt.iter().map(|(attempt, count)| format!("delivered at {attempt} {count}")));
    for day in &report.days {
        shown.extend((day.delivered > 0).then(|| format!("delivered on {} {}", day.day, day.delivered)));
        shown.extend((day.failed > 0).then(|| format!("failed on {} {}", day.day, day.failed)));
    }
    shown.sort();
    let mut stored = stored;
    stored.sort();
    ensure!(shown == stored, "a report of {merchant:?} shows {shown:?}, but the attempts are {stored:?}");
    Ok(())
}
