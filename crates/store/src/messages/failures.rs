//! The failure queue: messages that were given up, as people work on them.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use uuid::Uuid;

use crate::messages::notices;
use crate::{Failed, Store, Tx};

/// The maximum number of messages counted per endpoint; a count that reaches it means "at least".
pub const MOST_COUNTED: i64 = 10_000;

/// Open entries of one endpoint that failed for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub interface: String,
    pub endpoint: EndpointId,
    /// True if the endpoint has been removed.
    pub removed: bool,
    pub reason: String,
    /// The number of entries among the oldest [`MOST_COUNTED`] of the endpoint.
    pub count: i64,
    /// When the first of them was given up.
    pub oldest: DateTime<Utc>,
    /// When the last of them was given up.
    pub newest: DateTime<Utc>,
}

/// The endpoints whose open entries are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All of the merchant's own endpoints: its failure queue.
    Merchant,
    /// The endpoints for internal work: the operator's list.
    Internal,
    /// The endpoint for an interface, and the removed ones that it had before.
    Interface(Kind),
}

/// Open entries by endpoint and reason, failed since `since`. Only the oldest [`MOST_COUNTED`] of each endpoint are
/// examined.
pub async fn groups(store: &Store, merchant: MerchantId, of: Of, since: Option<DateTime<Utc>>) -> Result<Vec<Group>, Failed> {
    let (internal, interface) = match of {
        Of::Merchant => (Some(false), None),
        Of::Internal => (Some(true), None),
        Of::Interface(kind) => (None, Some(kind.as_str())),
    };
    let rows = sqlx::query!(
        r#"
        select
            endpoint.interface, endpoint.endpoint_id, endpoint.removed_at is not null as "removed!", work.reason,
            count(*) as "count!", min(work.failed_at) as "oldest!", max(work.failed_at) as "newest!"
        from endpoint
        cross join lateral (
            select failure.reason, failure.failed_at
            from failure
            where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                and failure.state in ('open', 'contacted') and failure.failed_at >= $3
            order by failure.failed_at, failure.message_id
            limit $4
        ) as work
        where endpoint.merchant_id = $1 and ($2::text is null or endpoint.interface = $2)
            and ($5::boolean is null or endpoint.internal = $5)
        group by endpoint.interface, endpoint.endpoint_id, endpoint.removed_at, work.reason
        order by endpoint.interface, count(*) desc, work.reason
        "#,
        merchant.0,
        interface,
        since.unwrap_or(DateTime::UNIX_EPOCH),
        MOST_COUNTED,
        internal,
    )
    .fetch_all(&store.pool)
    .await?;
    let group = rows.into_iter().map(|row| Group {
        interface: row.interface,
        endpoint: EndpointId(row.endpoint_id),
        removed: row.removed,
        reason: row.reason,
        count: row.count,
        oldest: row.oldest,
        newest: row.newest,
    });
    Ok(group.collect())
}

/// An entry of the failure queue.
#[derive(Clone, Debug)]
pub struct Entry {
    pub message_id: Uuid,
    /// The message kind as stored.
    pub kind: String,
    pub event: String,
    /// Messages with the same subject are delivered in order.
    pub subject: String,
    /// Position within the subject.
    pub sequence: i64,
    /// Counted attempts in all rounds.
    pub attempts: i16,
    pub reason: String,
    /// The time it was last given up.
    pub failed_at: DateTime<Utc>,
    /// open, contacted, resolved or discarded.
    pub state: String,
    /// The person working on it.
    pub owner: Option<String>,
    pub note: Option<String>,
    /// The time the merchant's technical contact was informed.
    pub contacted_at: Option<DateTime<Utc>>,
}

/// Open entries of an interface after `(failed_at, message)`, oldest first: of its endpoint, and of those that it had before.
pub async fn list(store: &Store, merchant: MerchantId, kind: Kind, after: (DateTime<Utc>, Uuid), limit: i64) -> Result<Vec<Entry>, Failed> {
    let entries = sqlx::query_as!(
        Entry,
        r#"
        select work.message_id, work.kind, work.event, work.subject, work.sequence, work.attempts, work.reason, work.failed_at,
            work.state, work.owner, work.note, work.contacted_at
        from endpoint
        cross join lateral (
            select message_id, kind, event, subject, sequence, attempts, reason, failed_at, state, owner, note, contacted_at
            from failure
            where failure.merchant_id = endpoint.merchant_id and failure.endpoint_id = endpoint.endpoint_id
                and failure.state in ('open', 'contacted') and (failure.failed_at, failure.message_id) > ($3, $4)
            order by failure.failed_at, failure.message_id
            limit $5
        ) as work
        where endpoint.merchant_id = $1 and endpoint.interface = $2
        order by work.failed_at, work.message_id
        limit $5
        "#,
        merchant.0,
        kind.as_str(),
        after.0,
        after.1,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(entries)
}

/// The entry of `message`.
pub async fn find(store: &Store, merchant: MerchantId, message: Uuid) -> Result<Option<Entry>, Failed> {
    let entry = sqlx::query_as!(
        Entry,
        r#"
        select message_id, kind, event, subject, sequence, attempts, reason, failed_at, state, owner, note, contacted_at
        from failure
        where merchant_id = $1 and message_id = $2
        "#,
        merchant.0,
        message,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(entry)
}

/// Notes of the person working on an entry. `None` leaves a value as it is.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The person working on it.
    pub owner: Option<String>,
    pub note: Option<String>,
    /// The time the merchant's technical contact was informed.
    pub contacted_at: Option<DateTime<Utc>>,
}

/// Saves notes on an open entry. Returns false if the entry is not open.
pub async fn save(tx: &mut Tx, message: Uuid, work: &Work) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update failure
        set owner = coalesce($3, owner), note = coalesce($4, note), contacted_at = coalesce($5, contacted_at),
            state = case when $5::timestamptz is null then state else 'contacted' end
        where merchant_id = $1 and message_id = $2 and state in ('open', 'contacted')
        "#,
        tx.merchant().0,
        message,
        work.owner,
        work.note,
        work.contacted_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Takes an entry out of the queue without delivering its message. Returns false if it is not in the queue.
pub async fn discard(tx: &mut Tx, message: Uuid) -> Result<bool, Failed> {
    let merchant = tx.merchant().0;
    let endpoint = sqlx::query_scalar!(
        r#"
        update failure
        set state = 'discarded'
        where merchant_id = $1 and message_id = $2 and state in ('open', 'contacted')
        returning endpoint_id
        "#,
        merchant,
        message,
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(endpoint) = endpoint else { return Ok(false) };
    notices::note_emptied(tx.connection(), &[merchant], &[endpoint]).await?;
    Ok(true)
}

/// Saves notes on these entries, which must be locked and open.
pub async fn save_all(tx: &mut Tx, messages: &[Uuid], work: &Work) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update failure
        set owner = coalesce($3, owner), note = coalesce($4, note), contacted_at = coalesce($5, contacted_at),
            state = case when $5::timestamptz is null then state else 'contacted' end
        where merchant_id = $1 and message_id = any($2) and state in ('open', 'contacted')
        "#,
        tx.merchant().0,
        messages,
        work.owner,
        work.note,
        work.contacted_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Takes these entries out of the queue without delivering their messages. They must be locked and open.
pub async fn discard_all(tx: &mut Tx, messages: &[Uuid]) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let mut endpoints = sqlx::query_scalar!(
        r#"
        update failure
        set state = 'discarded'
        where merchant_id = $1 and message_id = any($2) and state in ('open', 'contacted')
        returning endpoint_id
        "#,
        merchant,
        messages,
    )
    .fetch_all(tx.connection())
    .await?;
    endpoints.sort_unstable();
    endpoints.dedup();
    notices::note_emptied(tx.connection(), &vec![merchant; endpoints.len()], &endpoints).await
}

/// Locks the entry of `message` until the transaction ends, if it has one, so that nobody can withdraw it.
pub async fn hold(tx: &mut Tx, message: Uuid) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("select from failure where merchant_id = $1 and message_id = $2 for share", merchant, message)
        .fetch_optional(tx.connection())
        .await?;
    Ok(())
}

/// The time for which an entry is kept after it was resolved or discarded.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// Entries of all merchants that were resolved or discarded and have no date for it yet.
pub async fn list_ended(store: &Store, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, message_id from failure where ended_at is null and state in ('resolved', 'discarded') limit $1",
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.message_id)).collect())
}

/// Dates the end of these entries. Those that were reopened in the meantime are left out.
pub async fn date_end(tx: &mut Tx, messages: &[Uuid], now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update failure
        set ended_at = $3
        where merchant_id = $1 and message_id = any($2) and ended_at is null and state in ('resolved', 'discarded')
        "#,
        tx.merchant().0,
        messages,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Entries of all merchants that ended long enough before `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows =
        sqlx::query!("select merchant_id, message_id from failure where ended_at <= $1 order by ended_at limit $2", now - KEPT_FOR, most,)
            .fetch_all(&store.pool)
            .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.message_id)).collect())
}

/// Deletes these entries. One whose message is owed again keeps its text, and is dated anew when that has ended.
pub async fn forget(tx: &mut Tx, messages: &[Uuid], now: DateTime<Utc>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        r#"
        delete from failure
        where merchant_id = $1 and message_id = any($2) and ended_at <= $3 and state in ('resolved', 'discarded')
            and not exists (select from delivery where delivery.merchant_id = $1 and delivery.message_id = failure.message_id)
        "#,
        merchant,
        messages,
        now - KEPT_FOR,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("update failure set ended_at = null where merchant_id = $1 and message_id = any($2)", merchant, messages)
        .execute(tx.connection())
        .await?;
    Ok(())
}
