//! The endpoints of all merchants that have been reported as failing.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};

use crate::{Failed, Store};

/// An endpoint that has been reported as failing.
#[derive(Clone, Debug)]
pub struct FailingEndpoint {
    pub merchant: MerchantId,
    pub handle: String,
    pub merchant_name: String,
    pub endpoint: EndpointId,
    pub interface: String,
    pub failing_since: DateTime<Utc>,
    pub paused: bool,
    /// The messages that wait for it, counted up to the bound that was asked for.
    pub waiting: i64,
    /// The open entries of the interface in the failure queue, counted up to the same bound.
    pub given_up: i64,
    /// The outcome of the newest call of an open entry.
    pub reason: Option<String>,
}

/// The failing endpoints of merchants, or those of our own `internal` work, those that have failed longest first, with at most `counted` messages of each counted; and whether there are
/// more of them.
pub async fn failing(store: &Store, internal: bool, most: i64, counted: i64) -> Result<(Vec<FailingEndpoint>, bool), Failed> {
    let rows = sqlx::query!(
        r#"
        with told as materialized (
            -- Over all merchants; what follows is bound to each.
            select endpoint_notice.merchant_id, endpoint_notice.endpoint_id, endpoint_notice.failing_since
            from endpoint_notice
            where endpoint_notice.failing_since is not null
                and exists (
                    select from endpoint
                    where endpoint.merchant_id = endpoint_notice.merchant_id and endpoint.endpoint_id = endpoint_notice.endpoint_id
                        and endpoint.removed_at is null and endpoint.internal = $3
                )
            order by endpoint_notice.failing_since
            limit $1::bigint + 1
        )
        select (select count(*) from told) > $1::bigint as "more!", told.merchant_id, told.endpoint_id, told.failing_since as "failing_since!", merchant.handle, merchant.name,
            endpoint.interface, endpoint.paused_at is not null as "paused!",
            (
                select count(*)
                from (
                    select from delivery
                    where delivery.merchant_id = told.merchant_id and delivery.endpoint_id = told.endpoint_id
                    -- The order keeps the planner on the endpoint's index.
                    order by delivery.due_at
                    limit $2
                ) as waiting
            ) as "waiting!",
            (
                select count(*)
                from (
                    -- Also those of an endpoint of the interface that was removed: they are worked on together.
                    select
                    from endpoint as same
                    join failure on failure.merchant_id = told.merchant_id and failure.endpoint_id = same.endpoint_id
                        and failure.state in ('open', 'contacted')
                    where same.merchant_id = told.merchant_id and same.interface = endpoint.interface
                    limit $2
                ) as given_up
            ) as "given_up!",
            newest.reason as "reason?"
        from (select * from told order by told.failing_since limit $1) as told
        join merchant on merchant.merchant_id = told.merchant_id
        join endpoint on endpoint.merchant_id = told.merchant_id and endpoint.endpoint_id = told.endpoint_id
        left join lateral (
            select failure.reason
            from failure
            where failure.merchant_id = told.merchant_id and failure.endpoint_id = told.endpoint_id
                and failure.state in ('open', 'contacted')
            order by failure.failed_at desc
            limit 1
        ) as newest on true
        order by told.failing_since
        "#,
        most,
        counted,
        internal,
    )
    .fetch_all(&store.pool)
    .await?;
    let more = rows.iter().any(|row| row.more);
    let failing = rows.into_iter().map(|row| FailingEndpoint {
        merchant: MerchantId(row.merchant_id),
        handle: row.handle,
        merchant_name: row.name,
        endpoint: EndpointId(row.endpoint_id),
        interface: row.interface,
        failing_since: row.failing_since,
        paused: row.paused,
        waiting: row.waiting,
        given_up: row.given_up,
        reason: row.reason,
    });
    Ok((failing.collect(), more))
}
