//! Whether the reports' counts are exactly what the history says, after whatever happened.

use anyhow::ensure;
use sqlx::PgConnection;

/// What differs between the attempts, trials aside, and their counts by the hour.
const ATTEMPTS: &str = "
    with stored as (
        select merchant_id, attempt.endpoint_id, date_trunc('hour', started_at, 'UTC') as hour, kind, outcome, number, count(*) as count
        from attempt join message using (merchant_id, message_id)
        where kind <> 'endpoint_test'
        group by 1, 2, 3, 4, 5, 6
    ),
    counted as (select merchant_id, endpoint_id, hour, kind, outcome, number, count from attempt_hourly)
    select count(*) from ((table stored except table counted) union all (table counted except table stored)) as differing";

/// What differs between the messages that arrived, trials aside, and their counts by the hour. A call that was answered while
/// its process was cut off may be made again; the message counts by the one call that was settled with its end, which is the
/// only one with a success that is stored.
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

/// What differs between the messages that are neither waiting nor given up, trials aside, and how many were counted.
const ONCE: &str = "
    select (
        select count(*) from message
        where kind <> 'endpoint_test'
            and not exists (select from delivery where (delivery.merchant_id, delivery.message_id) = (message.merchant_id, message.message_id))
            and not exists (select from failure where (failure.merchant_id, failure.message_id) = (message.merchant_id, message.message_id))
    ) - (select coalesce(sum(count), 0)::bigint from delivered_hourly)";

/// Fails unless both rollups are what is stored.
pub(crate) async fn check(connection: &mut PgConnection) -> anyhow::Result<()> {
    for (what, query) in [("attempts", ATTEMPTS), ("deliveries", DELIVERED), ("messages delivered", ONCE)] {
        let differing: i64 = sqlx::query_scalar(query).fetch_one(&mut *connection).await?;
        ensure!(differing == 0, "the counts of {what} for the reports are not what is stored: {differing} differ");
    }
    Ok(())
}
