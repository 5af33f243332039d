//! Checks that the counts for reports match the stored history exactly.

use anyhow::ensure;
use sqlx::PgConnection;

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
