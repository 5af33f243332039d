//! Entries of the failure queue that people select: single messages, or those of an endpoint that failed for one reason.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use uuid::Uuid;

use crate::messages::failures::{Entry, MOST_COUNTED};
use crate::{Failed, Store, Tx};

/// Entries of a merchant's failure queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Single messages.
    Messages(Vec<Uuid>),
    /// Everything of an endpoint that failed for one reason.
    Group {
        endpoint: EndpointId,
        reason: String,
        /// Given up at this time or later.
        since: Option<DateTime<Utc>>,
        /// Given up at this time or before, so that later failures are left alone.
        until: DateTime<Utc>,
    },
}

/// The number of entries of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Those in the queue, up to [`MOST_COUNTED`].
    pub open: i64,
    /// Those of them whose content has been erased.
    pub erased: i64,
    /// Those of them that are being retried.
    pub owed: i64,
}

/// Counts the entries of `selection`. Of a group, only single messages are checked for being retried.
pub async fn count(store: &Store, merchant: MerchantId, selection: &Selection) -> Result<Counted, Failed> {
    let counted = match selection {
        Selection::Messages(messages) => {
            sqlx::query_as!(
                Counted,
                r#"
                select
                    count(*) as "open!", count(*) filter (where failure.erased) as "erased!",
                    count(*) filter (where not failure.erased and exists (
                        select from delivery where delivery.merchant_id = $1 and delivery.message_id = failure.message_id
                    )) as "owed!"
                from failure
                where failure.merchant_id = $1 and failure.message_id = any($2) and failure.state in ('open', 'contacted')
                "#,
                merchant.0,
                messages,
            )
            .fetch_one(&store.pool)
            .await?
        }
        Selection::Group { endpoint, reason, since, until } => {
            sqlx::query_as!(
                Counted,
                r#"
                select
                    (
                        select count(*)
                        from (
                            select from failure
                            where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                                and failure.state in ('open', 'contacted') and failure.failed_at >= $4 and failure.failed_at <= $5
                            limit $6
                        ) as entry
                    ) as "open!",
                    (
                        select count(*)
                        from (
                            select from failure
                            where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                                and failure.state in ('open', 'contacted') and failure.erased
                                and failure.failed_at >= $4 and failure.failed_at <= $5
                            limit $6
                        ) as entry
                    ) as "erased!",
                    0::bigint as "owed!"
                "#,
                merchant.0,
                endpoint.0,
                reason,
                since.unwrap_or(DateTime::UNIX_EPOCH),
                until,
                MOST_COUNTED,
            )
            .fetch_one(&store.pool)
            .await?
        }
    };
    Ok(counted)
}

/// Open entries of a group after `(failed_at, message)`, oldest first.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    (endpoint, reason): (EndpointId, &str),
    after: (DateTime<Utc>, Uuid),
    limit: i64,
) -> Result<Vec<Entry>, Failed> {
    let entries = sqlx::query_as!(
        Entry,
        r#"
        select message_id, kind, event, subject, sequence, attempts, reason, failed_at, state, owner, note, contacted_at
        from failure
        where merchant_id = $1 and endpoint_id = $2 and reason = $3 and state in ('open', 'contacted')
            and (failed_at, message_id) > ($4, $5)
        order by failed_at, message_id
        limit $6
        "#,
        merchant.0,
        endpoint.0,
        reason,
        after.0,
        after.1,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(entries)
}

/// The endpoint at which `message` failed and the reason, if it is in the queue.
pub async fn group_of(store: &Store, merchant: MerchantId, message: Uuid) -> Result<Option<(EndpointId, String)>, Failed> {
    let row = sqlx::query!(
        "select endpoint_id, reason from failure where merchant_id = $1 and message_id = $2 and state in ('open', 'contacted')",
        merchant.0,
        message,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(row.map(|row| (EndpointId(row.endpoint_id), row.reason)))
}

/// Those of `messages` that wait for the exchange order of a return: they cannot be discarded.
pub async fn pending_exchanges(store: &Store, merchant: MerchantId, messages: &[Uuid]) -> Result<Vec<Uuid>, Failed> {
    let pending = sqlx::query_scalar!(
        "select message_id from exchange_order where merchant_id = $1 and message_id = any($2) and state = 'pending'",
        merchant.0,
        messages,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(pending)
}

/// Locks at most `most` open entries of `selection` until the transaction ends, without those that wait for the exchange order of a
/// return if `without_exchanges`. The oldest go first.
pub async fn lock(tx: &mut Tx, selection: &Selection, most: i64, without_exchanges: bool) -> Result<Vec<Uuid>, Failed> {
    let merchant = tx.merchant().0;
    let messages = match selection {
        Selection::Messages(messages) => {
            sqlx::query_scalar!(
                r#"
                select failure.message_id
                from failure
                where failure.merchant_id = $1 and failure.message_id = any($2) and failure.state in ('open', 'contacted')
                    and not ($4 and exists (
                        select from exchange_order
                        where exchange_order.merchant_id = $1 and exchange_order.message_id = failure.message_id
                            and exchange_order.state = 'pending'
                    ))
                order by failure.message_id
                limit $3
                for update of failure
                "#,
                merchant,
                messages,
                most,
                without_exchanges,
            )
            .fetch_all(tx.connection())
            .await?
        }
        Selection::Group { endpoint, reason, since, until } => {
            sqlx::query_scalar!(
                r#"
                select failure.message_id
                from failure
                where failure.merchant_id = $1 and failure.endpoint_id = $2 and failure.reason = $3
                    and failure.state in ('open', 'contacted') and failure.failed_at >= $4 and failure.failed_at <= $5
                    and not ($7 and exists (
                        select from exchange_order
                        where exchange_order.merchant_id = $1 and exchange_order.message_id = failure.message_id
                            and exchange_order.state = 'pending'
                    ))
                order by failure.failed_at, failure.message_id
                limit $6
                for update of failure
                "#,
                merchant,
                endpoint.0,
                reason,
                since.unwrap_or(DateTime::UNIX_EPOCH),
                until,
                most,
                without_exchanges,
            )
            .fetch_all(tx.connection())
            .await?
        }
    };
    Ok(messages)
}
