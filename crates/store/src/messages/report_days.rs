//! Reports by the day: all figures of a merchant's day in one row, and the same over all merchants.
//!
//! A timer adds the hours that are over (`count`) and then sums up the days that it changed (`sum_up`). Hours after the merchant's mark
//! are read where they are counted.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// A figure of a day: how often a value occurred.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Figure {
    pub day: NaiveDate,
    /// The kind of the messages, as stored; empty for a figure that is not about messages.
    pub interface: String,
    /// The name of the figure, such as [`OUTCOME`].
    pub figure: String,
    pub value: String,
    pub count: i64,
}

/// Calls by their outcome.
pub const OUTCOME: &str = "outcome";
/// Delivered messages by the number of the attempt that succeeded.
pub const DELIVERED_AT_ATTEMPT: &str = "delivered_at_attempt";
/// Delivered messages by the time that they took: a bound of `domain::messages::promptness`.
pub const DELIVERED_WITHIN_MS: &str = "delivered_within_ms";

/// The time for which hours stay open after their end: by far longer than it takes to settle a call.
const OPEN_FOR: TimeDelta = TimeDelta::hours(1);
/// The hours that are counted at once.
pub(crate) const COUNTED_AT_ONCE: TimeDelta = TimeDelta::days(7);
/// The time for which days are kept, as hours are.
const KEPT_FOR: TimeDelta = TimeDelta::days(400);

/// The end of the last hour that is closed at `now`.
#[must_use]
pub fn closed_until(now: DateTime<Utc>) -> DateTime<Utc> {
    hour_of(now - OPEN_FOR)
}

/// The beginning of the hour of `time`.
pub(crate) fn hour_of(time: DateTime<Utc>) -> DateTime<Utc> {
    use chrono::DurationRound as _;
    time.duration_trunc(TimeDelta::hours(1)).unwrap_or(time)
}

/// The merchants with hours that are closed at `until` and not counted by the day yet.
pub async fn list_uncounted(store: &Store, until: DateTime<Utc>, most: i64) -> Result<Vec<MerchantId>, Failed> {
    let merchants = sqlx::query_scalar!(
        r#"
        select merchant.merchant_id
        from merchant
        left join report_mark on report_mark.merchant_id = merchant.merchant_id
        where exists (
            select from attempt_hourly
            where attempt_hourly.merchant_id = merchant.merchant_id
                and attempt_hourly.hour >= coalesce(report_mark.counted_until, '-infinity') and attempt_hourly.hour < $1
        )
        order by merchant.merchant_id
        limit $2
        "#,
        until,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(merchants.into_iter().map(MerchantId).collect())
}

/// Counts the merchant's next hours that are closed at `until` by the day. Returns whether there may be more.
pub async fn count(tx: &mut Tx, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<bool, Failed> {
    let mark = lock_mark(tx).await?.counted_until;
    let first = sqlx::query_scalar!(
        r#"select min(hour) as "hour" from attempt_hourly where merchant_id = $1 and hour >= $2 and hour < $3"#,
        tx.merchant().0,
        mark,
        until,
    )
    .fetch_one(tx.connection())
    .await?;
    let Some(first) = first else { return Ok(false) };
    let to = until.min(first + COUNTED_AT_ONCE);
    let figures = hours(tx, first, to).await?;
    for day in figures.chunk_by(|one, next| one.day == next.day) {
        add(tx, day, now).await?;
    }
    sqlx::query!("update report_mark set counted_until = $2 where merchant_id = $1", tx.merchant().0, to).execute(tx.connection()).await?;
    Ok(to < until)
}

/// The times up to which a merchant's hours are counted: those of its messages, and those of its returns.
pub(crate) struct Mark {
    pub(crate) counted_until: DateTime<Utc>,
    pub(crate) returns_until: DateTime<Utc>,
}

/// Locks the merchant's mark, so that no hour is counted twice.
pub(crate) async fn lock_mark(tx: &mut Tx) -> Result<Mark, Failed> {
    sqlx::query!(
        "insert into report_mark (merchant_id, counted_until, returns_until) values ($1, $2, $2) on conflict (merchant_id) do nothing",
        tx.merchant().0,
        DateTime::UNIX_EPOCH,
    )
    .execute(tx.connection())
    .await?;
    let mark = sqlx::query_as!(
        Mark,
        r#"
        select counted_until, greatest(returns_until, 'epoch') as "returns_until!"
        from report_mark
        where merchant_id = $1
        for update
        "#,
        tx.merchant().0,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(mark)
}

/// The figures of the merchant's hours from `from` until before `to`, by day.
async fn hours(tx: &mut Tx, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Vec<Figure>, Failed> {
    let figures = sqlx::query_as!(
        Figure,
        r#"
        select (hour at time zone 'UTC')::date as "day!", kind as "interface!", 'outcome' as "figure!", outcome as "value!",
            sum(count)::bigint as "count!"
        from attempt_hourly
        where merchant_id = $1 and hour >= $2 and hour < $3
        group by 1, 2, 4
        union all
        select (hour at time zone 'UTC')::date, kind, 'delivered_at_attempt', attempts::text, sum(count)::bigint
        from delivered_hourly
        where merchant_id = $1 and hour >= $2 and hour < $3
        group by 1, 2, 4
        union all
        select (hour at time zone 'UTC')::date, kind, 'delivered_within_ms', within_ms::text, sum(count)::bigint
        from delivered_hourly
        where merchant_id = $1 and hour >= $2 and hour < $3
        group by 1, 2, 4
        order by 1
        "#,
        tx.merchant().0,
        from,
        to,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(figures)
}

/// Adds the figures of one day to the merchant's row of it.
pub(crate) async fn add(tx: &mut Tx, figures: &[Figure], now: DateTime<Utc>) -> Result<(), Failed> {
    let Some(first) = figures.first() else { return Ok(()) };
    // The row is there and locked before it is read: others may add to it at the same time.
    sqlx::query!(
        r#"
        insert into report_day (merchant_id, day, changed_at, interfaces, figures, details, counts)
        values ($1, $2, $3, '{}', '{}', '{}', '{}')
        on conflict (merchant_id, day) do update set changed_at = excluded.changed_at
        "#,
        tx.merchant().0,
        first.day,
        now,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        r#"
        update report_day
        set interfaces = summed.interfaces, figures = summed.figures, details = summed.details, counts = summed.counts
        from (
            select array_agg(interface) as interfaces, array_agg(figure) as figures, array_agg(detail) as details,
                array_agg(count) as counts
            from (
                select interface, figure, detail, sum(count)::bigint as count
                from (
                    select of_day.interface, of_day.figure, of_day.detail, of_day.count
                    from report_day as stored
                    cross join lateral unnest(stored.interfaces, stored.figures, stored.details, stored.counts)
                        as of_day (interface, figure, detail, count)
                    where stored.merchant_id = $1 and stored.day = $2
                    union all
                    select * from unnest($3::text[], $4::text[], $5::text[], $6::bigint[])
                ) as both_of (interface, figure, detail, count)
                group by 1, 2, 3
            ) as added
        ) as summed
        where report_day.merchant_id = $1 and report_day.day = $2
        "#,
        tx.merchant().0,
        first.day,
        &figures.iter().map(|figure| figure.interface.as_str()).collect::<Vec<_>>() as &[&str],
        &figures.iter().map(|figure| figure.figure.as_str()).collect::<Vec<_>>() as &[&str],
        &figures.iter().map(|figure| figure.value.as_str()).collect::<Vec<_>>() as &[&str],
        &figures.iter().map(|figure| figure.count).collect::<Vec<_>>(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Sums up the days of all merchants that changed since this was last done. It is done again for the days of the last time, so that a
/// process that ended in the middle of it leaves nothing out.
pub async fn sum_up(store: &Store, now: DateTime<Utc>) -> Result<(), Failed> {
    let days = sqlx::query_scalar!(
        r#"
        select distinct day from report_day
        where changed_at >= coalesce((select max(summed_at) from report_total), '-infinity')
        order by day
        "#,
    )
    .fetch_all(&store.pool)
    .await?;
    for day in days {
        sqlx::query!(
            r#"
            insert into report_total (day, summed_at, interfaces, figures, details, counts)
            select $1, $2, array_agg(summed.interface), array_agg(summed.figure), array_agg(summed.detail), array_agg(summed.count)
            from (
                select of_day.interface, of_day.figure, of_day.detail, sum(of_day.count)::bigint as count
                from report_day
                cross join lateral unnest(report_day.interfaces, report_day.figures, report_day.details, report_day.counts)
                    as of_day (interface, figure, detail, count)
                -- Products are those of a merchant.
                where report_day.day = $1 and of_day.figure <> 'return_product'
                group by 1, 2, 3
            ) as summed
            on conflict (day) do update
            set summed_at = excluded.summed_at, interfaces = excluded.interfaces, figures = excluded.figures, details = excluded.details,
                counts = excluded.counts
            "#,
            day,
            now,
        )
        .execute(&store.pool)
        .await?;
    }
    Ok(())
}

/// The merchant's figures of the days from `from` to `to`, hours that are not counted by the day yet included.
pub async fn list(store: &Store, merchant: MerchantId, from: NaiveDate, to: NaiveDate) -> Result<Vec<Figure>, Failed> {
    let figures = sqlx::query_as!(
        Figure,
        r#"
        with mark as materialized (
            select coalesce(max(counted_until), '-infinity') as counted_until from report_mark where merchant_id = $1
        ),
        attempts as materialized (
            select (hour at time zone 'UTC')::date as day, kind, outcome, count
            from attempt_hourly
            where merchant_id = $1 and hour >= (select counted_until from mark) and hour >= $2::date::timestamp at time zone 'UTC'
                and hour < ($3::date + 1)::timestamp at time zone 'UTC'
        ),
        delivered as materialized (
            select (hour at time zone 'UTC')::date as day, kind, attempts, within_ms, count
            from delivered_hourly
            where merchant_id = $1 and hour >= (select counted_until from mark) and hour >= $2::date::timestamp at time zone 'UTC'
                and hour < ($3::date + 1)::timestamp at time zone 'UTC'
        )
        select day as "day!", interface as "interface!", figure as "figure!", value as "value!", sum(count)::bigint as "count!"
        from (
            select report_day.day, of_day.interface, of_day.figure, of_day.value, of_day.count
            from report_day
            cross join lateral unnest(report_day.interfaces, report_day.figures, report_day.details, report_day.counts)
                as of_day (interface, figure, value, count)
            where report_day.merchant_id = $1 and report_day.day between $2 and $3
            union all
            select day, kind, 'outcome', outcome, count from attempts
            union all
            select day, kind, 'delivered_at_attempt', attempts::text, count from delivered
            union all
            select day, kind, 'delivered_within_ms', within_ms::text, count from delivered
        ) as every (day, interface, figure, value, count)
        group by 1, 2, 3, 4
        order by 1, 2, 3, 4
        "#,
        merchant.0,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(figures)
}

/// The figures of all merchants of the days from `from` to `to`, as far as they were summed up.
pub async fn list_total(store: &Store, from: NaiveDate, to: NaiveDate) -> Result<Vec<Figure>, Failed> {
    let figures = sqlx::query_as!(
        Figure,
        r#"
        select report_total.day, of_day.interface as "interface!", of_day.figure as "figure!", of_day.value as "value!", of_day.count as "count!"
        from report_total
        cross join lateral unnest(report_total.interfaces, report_total.figures, report_total.details, report_total.counts)
            as of_day (interface, figure, value, count)
        where report_total.day between $1 and $2
        order by 1, 2, 3, 4
        "#,
        from,
        to,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(figures)
}

/// Deletes the merchant's days that are too old at `now`. Returns how many it deleted.
pub async fn forget(tx: &mut Tx, now: DateTime<Utc>) -> Result<u64, Failed> {
    let before = (now - KEPT_FOR).date_naive();
    let done = sqlx::query!("delete from report_day where merchant_id = $1 and day < $2", tx.merchant().0, before)
        .execute(tx.connection())
        .await?;
    Ok(done.rows_affected())
}

/// Deletes the days of all merchants together that are too old at `now`.
pub async fn forget_totals(store: &Store, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("delete from report_total where day < $1", (now - KEPT_FOR).date_naive()).execute(&store.pool).await?;
    Ok(())
}
