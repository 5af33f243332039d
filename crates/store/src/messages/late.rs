//! The messages that are past due at merchants' endpoints: of all merchants, or of one. Paused and removed endpoints are left out.
//!
//! The index `delivery_by_due` starts with the endpoint, so each endpoint that is owed something costs one probe. A page
//! examines a fixed number of endpoints and says where to continue.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::{Failed, Store};

/// A message that has been due for longer is past due.
pub const GRACE: TimeDelta = TimeDelta::seconds(60);

/// The endpoints that are examined at a time.
const LOOKED_AT: i32 = 40;

/// An endpoint with messages that are past due.
#[derive(Clone, Debug)]
pub struct LateEndpoint {
    pub merchant: MerchantId,
    pub handle: String,
    pub merchant_name: String,
    pub endpoint: EndpointId,
    pub interface: String,
    /// The due time of the message that is late longest.
    pub oldest_due_at: DateTime<Utc>,
}

/// The endpoints that are examined for a page, and the last of them if there are more.
#[derive(Clone, Debug)]
pub struct Examined {
    pub endpoints: Vec<LateEndpoint>,
    /// The last endpoint that was examined. `None` if all were.
    pub more_after: Option<EndpointId>,
}

/// The endpoints of all merchants from `from` on with messages that were due at `before`, in the order of their ids.
pub async fn endpoints(store: &Store, from: EndpointId, before: DateTime<Utc>) -> Result<Examined, Failed> {
    let rows = sqlx::query!(
        r#"
        -- Across merchants: a probe of the index for each endpoint. The first delivery of an endpoint is the one due first.
        with recursive waiting as (
            (
                select delivery.endpoint_id, delivery.merchant_id, delivery.due_at, 1 as place
                from delivery
                where delivery.endpoint_id >= $1
                order by delivery.endpoint_id, delivery.due_at, delivery.message_id
                limit 1
            )
            union all
            select next.endpoint_id, next.merchant_id, next.due_at, waiting.place + 1
            from waiting
            cross join lateral (
                select delivery.endpoint_id, delivery.merchant_id, delivery.due_at
                from delivery
                where delivery.endpoint_id > waiting.endpoint_id
                order by delivery.endpoint_id, delivery.due_at, delivery.message_id
                limit 1
            ) as next
            where waiting.place < $3
        )
        select waiting.merchant_id as "merchant_id!", waiting.endpoint_id as "endpoint_id!", merchant.handle, merchant.name,
            endpoint.interface,
            case
                when waiting.due_at <= $2 and endpoint.paused_at is null and endpoint.removed_at is null and not endpoint.internal
                    then waiting.due_at
            end as oldest_due_at
        from waiting
        join merchant on merchant.merchant_id = waiting.merchant_id
        join endpoint on endpoint.merchant_id = waiting.merchant_id and endpoint.endpoint_id = waiting.endpoint_id
        order by waiting.endpoint_id
        "#,
        from.0,
        before,
        LOOKED_AT,
    )
    .fetch_all(&store.pool)
    .await?;
    let all_examined = i32::try_from(rows.len()).unwrap_or(i32::MAX) < LOOKED_AT;
    let more_after = rows.last().filter(|_| !all_examined).map(|row| EndpointId(row.endpoint_id));
    let late = rows.into_iter().filter_map(|row| {
        Some(LateEndpoint {
            merchant: MerchantId(row.merchant_id),
            handle: row.handle,
            merchant_name: row.name,
            endpoint: EndpointId(row.endpoint_id),
            interface: row.interface,
            oldest_due_at: row.oldest_due_at?,
        })
    });
    Ok(Examined { endpoints: late.collect(), more_after })
}

/// The endpoints of `merchant` from `from` on with messages that were due at `before`, in the order of their ids.
pub async fn endpoints_of(store: &Store, merchant: MerchantId, from: EndpointId, before: DateTime<Utc>) -> Result<Examined, Failed> {
    let rows = sqlx::query!(
        r#"
        select endpoint.endpoint_id, endpoint.interface, merchant.handle, merchant.name, first.due_at
        from endpoint
        join merchant on merchant.merchant_id = endpoint.merchant_id
        cross join lateral (
            select delivery.due_at
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id and delivery.due_at <= $3
            order by delivery.due_at, delivery.message_id
            limit 1
        ) as first
        where endpoint.merchant_id = $1 and endpoint.endpoint_id >= $2 and endpoint.paused_at is null and endpoint.removed_at is null
            and not endpoint.internal
        order by endpoint.endpoint_id
        "#,
        merchant.0,
        from.0,
        before,
    )
    .fetch_all(&store.pool)
    .await?;
    let endpoints = rows.into_iter().map(|row| LateEndpoint {
        merchant,
        handle: row.handle,
        merchant_name: row.name,
        endpoint: EndpointId(row.endpoint_id),
        interface: row.interface,
        oldest_due_at: row.due_at,
    });
    Ok(Examined { endpoints: endpoints.collect(), more_after: None })
}

/// The number of messages that `endpoint` is owed, late or not, up to `most`.
pub async fn count_owed(store: &Store, merchant: MerchantId, endpoint: EndpointId, most: i64) -> Result<i64, Failed> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from (select from delivery where merchant_id = $1 and endpoint_id = $2 order by due_at limit $3) as owed
        "#,
        merchant.0,
        endpoint.0,
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(count)
}

fn keys(endpoints: &[LateEndpoint]) -> (Vec<Uuid>, Vec<Uuid>) {
    endpoints.iter().map(|endpoint| (endpoint.merchant.0, endpoint.endpoint.0)).unzip()
}

/// The number of messages at `endpoints` that were due at `before`, up to `most`.
pub async fn count(store: &Store, endpoints: &[LateEndpoint], before: DateTime<Utc>, most: i64) -> Result<i64, Failed> {
    let (merchants, ids) = keys(endpoints);
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from (
            select
            from unnest($1::uuid[], $2::uuid[]) as wanted (merchant_id, endpoint_id)
            cross join lateral (
                select
                from delivery
                where delivery.merchant_id = wanted.merchant_id and delivery.endpoint_id = wanted.endpoint_id and delivery.due_at <= $3
                order by delivery.due_at, delivery.message_id
                limit $4
            ) as late
            limit $4
        ) as counted
        "#,
        &merchants,
        &ids,
        before,
        most,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(count)
}

/// A place in a list of late messages: endpoint, due time and message.
pub type Place = (EndpointId, DateTime<Utc>, Uuid);

/// A message that is past due.
#[derive(Clone, Debug)]
pub struct Late {
    pub endpoint: EndpointId,
    pub due_at: DateTime<Utc>,
    pub id: Uuid,
    pub event: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
}

impl Late {
    /// Its place in the list.
    #[must_use]
    pub fn place(&self) -> Place {
        (self.endpoint, self.due_at, self.id)
    }
}

/// The messages at `endpoints` that were due at `before`, after the place `after`, at most `most`: by endpoint, and of each the
/// one that was due first. The endpoints are asked one after the other until there are enough, so that no more is read.
pub async fn list(store: &Store, endpoints: &[LateEndpoint], before: DateTime<Utc>, after: Place, most: i64) -> Result<Vec<Late>, Failed> {
    let mut found = Vec::new();
    for endpoint in endpoints {
        let missing = most - i64::try_from(found.len()).unwrap_or(i64::MAX);
        if missing <= 0 {
            break;
        }
        found.extend(list_at(store, endpoint, before, after, missing).await?);
    }
    Ok(found)
}

async fn list_at(store: &Store, at: &LateEndpoint, before: DateTime<Utc>, after: Place, most: i64) -> Result<Vec<Late>, Failed> {
    let rows = sqlx::query!(
        r#"
        select late.due_at as "due_at!", late.message_id as "message_id!", late.sequence as "sequence!", text.event as "event!",
            text.subject as "subject!"
        from (
            select delivery.merchant_id, delivery.due_at, delivery.message_id, delivery.sequence
            from delivery
            where delivery.merchant_id = $1 and delivery.endpoint_id = $2 and delivery.due_at <= $3
                and (delivery.endpoint_id, delivery.due_at, delivery.message_id) > ($4::uuid, $5::timestamptz, $6::uuid)
            order by delivery.due_at, delivery.message_id
            limit $7
        ) as late
        -- The partition of an owed message may have been dropped. In that case the failure queue still has the message.
        cross join lateral (
            select kept.event, kept.subject
            from (
                select message.event, message.subject
                from message
                where message.merchant_id = late.merchant_id and message.message_id = late.message_id
                union all
                select failure.event, failure.subject
                from failure
                where failure.merchant_id = late.merchant_id and failure.message_id = late.message_id
            ) as kept
            limit 1
        ) as text
        order by late.due_at, late.message_id
        "#,
        at.merchant.0,
        at.endpoint.0,
        before,
        after.0.0,
        after.1,
        after.2,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    let late = rows.into_iter().map(|row| Late {
        endpoint: at.endpoint,
        due_at: row.due_at,
        id: row.message_id,
        event: row.event,
        subject: row.subject,
        sequence: row.sequence,
    });
    Ok(late.collect())
}
