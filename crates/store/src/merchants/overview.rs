//! The merchants with what is wrong with them, a page at a time. Counts are bounded, so that a page costs little whatever is stored.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::messages::late::GRACE;
use crate::{Failed, Store};

/// The merchants of a page.
pub const PAGE: usize = 15;
/// Counts stop here; a count that reaches it means "at least".
pub const MOST_COUNTED: i64 = 10;

/// A filter on merchants.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// A part of the handle or the name.
    pub words: Option<String>,
    /// live, onboarding, paused, or failing for those with an endpoint that has been reported as failing.
    pub state: Option<String>,
}

/// A merchant in the list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: MerchantId,
    pub handle: String,
    pub name: String,
    pub paused_at: Option<DateTime<Utc>>,
    pub live_at: Option<DateTime<Utc>>,
    pub endpoints: i64,
    /// Endpoints that have been reported as failing.
    pub failing: i64,
    /// Open entries of the failure queue, up to [`MOST_COUNTED`].
    pub failures: i64,
    /// Messages that should have been sent at least a minute ago, up to [`MOST_COUNTED`]. Paused endpoints are left out.
    pub past_due: i64,
}

/// The merchants after the handle `after`, by handle; one more than a page if there are more.
pub async fn list(store: &Store, filter: &Filter, after: Option<&str>, now: DateTime<Utc>) -> Result<Vec<Listed>, Failed> {
    let words = filter.words.as_deref().map(str::to_lowercase);
    let limit = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
    let rows = sqlx::query!(
        r#"
        select
            shown.merchant_id, shown.handle, shown.name, shown.paused_at, shown.live_at,
            of_endpoints.number as "endpoints!", of_endpoints.failing as "failing!",
            open_failures.number as "failures!", late.number as "past_due!"
        from (
            select merchant_id, handle, name, paused_at, live_at
            from merchant
            where ($1::text is null or handle > $1)
                and ($2::text is null or position($2 in handle) > 0 or position($2 in lower(name)) > 0)
                and ($3::text is null or case
                    when $3 = 'failing' then merchant_id = any (array (
                        select endpoint_notice.merchant_id
                        from endpoint_notice where failing_since is not null
                            and exists (
                                select from endpoint
                                where endpoint.merchant_id = endpoint_notice.merchant_id
                                    and endpoint.endpoint_id = endpoint_notice.endpoint_id
                                    and endpoint.removed_at is null and not endpoint.internal
                            )
                    ))
                    else $3 = case when paused_at is not null then 'paused' when live_at is null then 'onboarding' else 'live' end
                end)
            order by handle
            limit $4
        ) as shown
        -- Bound to each merchant of the page by the join.
        cross join lateral (
            select count(*) as number, count(*) filter (where endpoint_notice.failing_since is not null) as failing
            from endpoint
            left join endpoint_notice
                on endpoint_notice.merchant_id = shown.merchant_id and endpoint_notice.endpoint_id = endpoint.endpoint_id
            where endpoint.merchant_id = shown.merchant_id and endpoint.removed_at is null and not endpoint.internal
        ) as of_endpoints
        cross join lateral (
            select count(*) as number
            from (
                select from failure
                where failure.merchant_id = shown.merchant_id and failure.state in ('open', 'contacted')
                limit $5
            ) as open
        ) as open_failures
        cross join lateral (
            select count(*) as number
            from (
                select
                from endpoint
                cross join lateral (
                    select from delivery
                    where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                        and delivery.due_at <= $6
                    -- Both orders keep the planner on an index: other merchants are owed messages, this one may be owed none.
                    order by delivery.due_at
                    limit $5
                ) as due
                where endpoint.merchant_id = shown.merchant_id and endpoint.paused_at is null and endpoint.removed_at is null
                    and not endpoint.internal
                    -- Few merchants are owed anything; their endpoints alone are looked at.
                    and (
                        select delivery.message_id
                        from delivery
                        where delivery.merchant_id = shown.merchant_id
                        order by delivery.message_id
                        limit 1
                    ) is not null
                limit $5
            ) as counted
        ) as late
        order by shown.handle
        "#,
        after,
        words.as_deref(),
        filter.state.as_deref(),
        limit,
        MOST_COUNTED,
        now - GRACE,
    )
    .fetch_all(&store.pool)
    .await?;
    let listed = rows.into_iter().map(|row| Listed {
        id: MerchantId(row.merchant_id),
        handle: row.handle,
        name: row.name,
        paused_at: row.paused_at,
        live_at: row.live_at,
        endpoints: row.endpoints,
        failing: row.failing,
        failures: row.failures,
        past_due: row.past_due,
    });
    Ok(listed.collect())
}

/// A change of a merchant's settings, from the audit trail.
#[derive(Clone, Debug)]
pub struct Change {
    pub id: Uuid,
    pub actor: String,
    pub action: String,
    pub detail: String,
    pub done_at: DateTime<Utc>,
}

/// The newest changes to the data of `merchant`.
pub async fn changes(store: &Store, merchant: MerchantId, most: i64) -> Result<Vec<Change>, Failed> {
    let changes = sqlx::query_as!(
        Change,
        r#"
        select audit_id as id, actor, action, detail, done_at
        from audit
        where merchant_id = $1
        order by audit_id desc
        limit $2
        "#,
        merchant.0,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(changes)
}
