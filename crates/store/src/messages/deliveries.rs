//! Deliveries as the owner of an endpoint's bucket sees them: those that are due, and those that have to be cleaned up
//! without being due.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Internal;
use domain::node::trace::TraceContext;
use uuid::Uuid;

use crate::crash::{self, Point};
use crate::messages::buckets::bucket;
pub use crate::messages::due::{DueRow, Text};
use crate::messages::signal::Signal;
use crate::{Failed, Store};

/// A request for the due deliveries of one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct DueQuery {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    /// Earliest due time. Everything due before it is in memory already.
    pub since: DateTime<Utc>,
    /// Maximum number of rows.
    pub limit: i64,
}

/// Reads what is due at `now` for the requested endpoints, ordered by due time and without the messages `in_flight`. Paused
/// and removed endpoints return nothing, and neither do those of a merchant that moves to another cell.
pub async fn due(store: &Store, wanted: &[DueQuery], in_flight: &[Uuid], now: DateTime<Utc>) -> Result<Vec<DueRow>, Failed> {
    let merchants: Vec<Uuid> = wanted.iter().map(|wanted| wanted.merchant.0).collect();
    let endpoints: Vec<Uuid> = wanted.iter().map(|wanted| wanted.endpoint.0).collect();
    let since: Vec<DateTime<Utc>> = wanted.iter().map(|wanted| wanted.since).collect();
    let limits: Vec<i64> = wanted.iter().map(|wanted| wanted.limit).collect();
    let rows = sqlx::query!(
        r#"
        select
            owed.merchant_id, owed.endpoint_id, owed.message_id, owed.due_at, owed.lane, owed.sequence,
            owed.attempts, owed.attempts_before, owed.discard, endpoint.revision,
            text.is_head as "is_head?", text.kind as "kind?", text.event as "event?", text.body as "body?",
            text.trace as "trace?"
        from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[]) as wanted (merchant_id, endpoint_id, since, most)
        join endpoint
            on endpoint.merchant_id = wanted.merchant_id and endpoint.endpoint_id = wanted.endpoint_id
            and endpoint.paused_at is null and endpoint.removed_at is null
            -- Deliveries of a merchant rest while it moves to another cell, which continues them.
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        cross join lateral (
            select delivery.*
            from delivery
            where delivery.merchant_id = wanted.merchant_id and delivery.endpoint_id = wanted.endpoint_id
                and delivery.due_at >= wanted.since and delivery.due_at <= $5
                -- Looked up by hash, however many there are; `<> all` compares with each of them.
                and delivery.message_id not in (select unnest($6::uuid[]))
            order by delivery.due_at, delivery.message_id
            limit wanted.most
        ) as owed
        -- Only the head of a lane is sent; the others are read without their text, to be parked. The limit leaves the planner
        -- no other way than by the key, also in a plan that was made when there was nothing. Of a message that is tried again
        -- by hand, which has a lane of its own, the day may be dropped: then the failure queue has its text. A head without any
        -- text is told from a row that is no head.
        left join lateral (
            select true as is_head, kept.kind, kept.event, kept.body, kept.trace
            from (
                select message.kind, message.event, message.body, message.trace
                from message
                where message.merchant_id = owed.merchant_id and message.message_id = owed.message_id
                union all
                select failure.kind, failure.event, failure.body, null
                from failure
                where failure.merchant_id = owed.merchant_id and failure.message_id = owed.message_id
                    and owed.lane = owed.message_id::text
                union all
                select null, null, null, null
            ) as kept
            where owed.sequence = (
                    select head.sequence
                    from delivery as head
                    where head.merchant_id = owed.merchant_id and head.endpoint_id = owed.endpoint_id and head.lane = owed.lane
                    order by head.sequence
                    limit 1
                )
            limit 1
        ) as text on true
        "#,
        &merchants,
        &endpoints,
        &since,
        &limits,
        now,
        in_flight,
    )
    .fetch_all(&store.readers)
    .await?;
    crash::point(Point::WorkRead);
    let due = rows.into_iter().map(|row| DueRow {
        merchant: MerchantId(row.merchant_id),
        endpoint: EndpointId(row.endpoint_id),
        message: row.message_id,
        due_at: row.due_at,
        lane: row.lane,
        sequence: row.sequence,
        attempts: row.attempts,
        attempts_before: row.attempts_before,
        discard: row.discard,
        revision: row.revision,
        is_head: row.is_head.is_some(),
        text: row.kind.zip(row.event).zip(row.body).map(|((kind, event), body)| {
            let trace = row.trace.as_deref().and_then(TraceContext::from_bytes);
            Text { kind, event, body, trace }
        }),
    });
    Ok(due.collect())
}

/// The endpoints of `buckets` with something due at `now`, each with its earliest due time. The poller finds work that no
/// signal announced with it.
pub async fn endpoints_with_work(store: &Store, buckets: &[u8], now: DateTime<Utc>) -> Result<Vec<Signal>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let rows = sqlx::query!(
        r#"
        select endpoint.merchant_id, endpoint.endpoint_id, endpoint.bucket, first.due_at as "due_at!"
        from endpoint
        cross join lateral (
            select delivery.due_at
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id and delivery.due_at <= $2
            order by delivery.due_at, delivery.message_id
            limit 1
        ) as first
        where endpoint.bucket = any ($1::smallint[]) and endpoint.paused_at is null and endpoint.removed_at is null
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        "#,
        &buckets,
        now,
    )
    .fetch_all(&store.engine)
    .await?;
    crash::point(Point::WorkFound);
    let signal = |(merchant, endpoint, number, due_at)| {
        Ok(Signal { merchant: MerchantId(merchant), endpoint: EndpointId(endpoint), bucket: bucket(number)?, due_at })
    };
    rows.into_iter().map(|row| signal((row.merchant_id, row.endpoint_id, row.bucket, row.due_at))).collect()
}

/// A delivery that its owner has to clean up although it is not due.
pub struct Cleanup {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    pub bucket: u8,
    pub message: Uuid,
    pub lane: String,
    pub reason: CleanupReason,
    /// Counted attempts in this round.
    pub attempts: i16,
    /// Counted attempts in earlier rounds.
    pub attempts_before: i16,
}

/// The reasons to clean up a delivery that is not due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupReason {
    /// Someone has asked to discard it.
    Discarded,
    /// Its endpoint was removed.
    EndpointRemoved,
    /// It is parked although nothing goes before it. This should never happen.
    Stuck,
}

/// The discarded deliveries in `buckets` and those to removed endpoints, up to `limit` of each.
pub async fn cleanups(store: &Store, buckets: &[u8], limit: i64) -> Result<Vec<Cleanup>, Failed> {
    let buckets: Vec<i16> = buckets.iter().copied().map(i16::from).collect();
    let discarded = sqlx::query_as!(
        Row,
        r#"
        -- Across merchants: few rows, by an index of their own. The offset keeps the planner from starting with the endpoints.
        select
            unwanted.merchant_id, unwanted.endpoint_id, endpoint.bucket, unwanted.message_id, unwanted.lane, unwanted.attempts,
            unwanted.attempts_before
        from (select * from delivery where delivery.discard offset 0) as unwanted
        join endpoint on endpoint.merchant_id = unwanted.merchant_id and endpoint.endpoint_id = unwanted.endpoint_id
        where endpoint.bucket = any ($1::smallint[])
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        limit $2
        "#,
        &buckets,
        limit,
    )
    .fetch_all(&store.engine)
    .await?;
    let removed = sqlx::query_as!(
        Row,
        r#"
        select
            endpoint.merchant_id, endpoint.endpoint_id, endpoint.bucket, owed.message_id, owed.lane, owed.attempts, owed.attempts_before
        from endpoint
        cross join lateral (
            select delivery.message_id, delivery.lane, delivery.attempts, delivery.attempts_before
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
            order by delivery.lane, delivery.sequence
            limit $2
        ) as owed
        where endpoint.bucket = any ($1::smallint[]) and endpoint.removed_at is not null
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        limit $2
        "#,
        &buckets,
        limit,
    )
    .fetch_all(&store.engine)
    .await?;
    let discarded = discarded.into_iter().map(|row| row.cleanup(CleanupReason::Discarded));
    discarded.chain(removed.into_iter().map(|row| row.cleanup(CleanupReason::EndpointRemoved))).collect()
}

/// The parked deliveries of one bucket that have nothing before them in their lane. No committed state contains one; if one
/// is found anyway, the caller unparks it and reports it.
pub async fn stuck(store: &Store, of: u8) -> Result<Vec<Cleanup>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            endpoint.merchant_id, endpoint.endpoint_id, endpoint.bucket, stuck.message_id, stuck.lane, stuck.attempts, stuck.attempts_before
        from endpoint
        cross join lateral (
            select delivery.message_id, delivery.lane, delivery.attempts, delivery.attempts_before
            from delivery
            where delivery.merchant_id = endpoint.merchant_id and delivery.endpoint_id = endpoint.endpoint_id
                and delivery.due_at = 'infinity'
                and delivery.sequence = (
                    select head.sequence
                    from delivery as head
                    where head.merchant_id = delivery.merchant_id and head.endpoint_id = delivery.endpoint_id
                        and head.lane = delivery.lane
                    order by head.sequence
                    limit 1
                )
            limit 100
        ) as stuck
        where endpoint.bucket = $1
            and not exists (select from moved_merchant as moved where moved.merchant_id = endpoint.merchant_id)
        "#,
        i16::from(of),
    )
    .fetch_all(&store.engine)
    .await?;
    rows.into_iter().map(|row| row.cleanup(CleanupReason::Stuck)).collect()
}

/// A row of the clean-up queries.
struct Row {
    merchant_id: Uuid,
    endpoint_id: Uuid,
    bucket: i16,
    message_id: Uuid,
    lane: String,
    attempts: i16,
    attempts_before: i16,
}

impl Row {
    fn cleanup(self, reason: CleanupReason) -> Result<Cleanup, Failed> {
        Ok(Cleanup {
            merchant: MerchantId(self.merchant_id),
            endpoint: EndpointId(self.endpoint_id),
            bucket: bucket(self.bucket)?,
            message: self.message_id,
            lane: self.lane,
            reason,
            attempts: self.attempts,
            attempts_before: self.attempts_before,
        })
    }
}

/// Asks the bucket's owner to discard a message. Returns false if the message is no longer owed.
pub async fn discard(tx: &mut crate::Tx, message: Uuid) -> Result<bool, Failed> {
    let done = sqlx::query!("update delivery set discard = true where merchant_id = $1 and message_id = $2", tx.merchant().0, message,)
        .execute(tx.connection())
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Asks the bucket's owner to discard those of `messages` that are still owed.
pub async fn discard_all(tx: &mut crate::Tx, messages: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("update delivery set discard = true where merchant_id = $1 and message_id = any($2)", tx.merchant().0, messages)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Asks the bucket's owner to drop internal work of these kinds on `subject`, if there is any.
pub async fn discard_work(tx: &mut crate::Tx, kinds: &[Internal], subject: &str) -> Result<(), Failed> {
    let endpoints: Vec<Uuid> = kinds.iter().map(|kind| kind.endpoint_of(tx.merchant()).0).collect();
    sqlx::query!(
        "update delivery set discard = true where merchant_id = $1 and endpoint_id = any($2) and lane = $3",
        tx.merchant().0,
        &endpoints,
        subject,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// True while `message` still has to be delivered.
pub async fn is_owed(tx: &mut crate::Tx, message: Uuid) -> Result<bool, Failed> {
    let owed = sqlx::query_scalar!(
        r#"select exists (select from delivery where merchant_id = $1 and message_id = $2) as "owed!""#,
        tx.merchant().0,
        message,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(owed)
}
