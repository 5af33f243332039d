//! The newest messages of several merchants, and the neighbours of a message within its subject.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::messages::log::{State, first_id};
use crate::messages::message_pages::Listed;
use crate::{Failed, Store};

/// A merchant in a list over several merchants.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: MerchantId,
    pub handle: String,
    pub name: String,
}

/// The first merchants by handle after the handle `after`, at most `most`.
pub async fn merchants(store: &Store, after: Option<&str>, most: i64) -> Result<Vec<Account>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, handle, name from merchant where handle > $1 order by handle limit $2",
        after.unwrap_or_default(),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| Account { id: MerchantId(row.merchant_id), handle: row.handle, name: row.name }).collect())
}

/// The newest messages of `merchants` that were written from `from` until `to` and before the message `before`, at most `most`. Test
/// messages and internal work are left out, so a page may be short although there is more.
pub async fn newest(
    store: &Store,
    merchants: &[MerchantId],
    (from, to): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
    before: Option<Uuid>,
    most: i64,
) -> Result<(Vec<(MerchantId, Listed)>, Option<Uuid>), Failed> {
    let until = to.map_or(Uuid::max(), first_id);
    let merchants: Vec<Uuid> = merchants.iter().map(|merchant| merchant.0).collect();
    let rows = sqlx::query!(
        r#"
        with newest as materialized (
            select wanted.merchant_id, id.message_id
            from unnest($1::uuid[]) as wanted (merchant_id)
            -- The key alone, without the rows.
            cross join lateral (
                select message.message_id
                from message
                where message.merchant_id = wanted.merchant_id and message.message_id >= $2 and message.message_id < $3
                order by message.message_id desc
                limit $4
            ) as id
            order by id.message_id desc
            limit $4
        )
        select
            newest.merchant_id as "merchant_id!", newest.message_id as "message_id!", message.kind, message.event, message.subject,
            message.sequence, message.internal or message.kind = 'endpoint_test' as "aside!",
            exists (
                select from delivery where delivery.merchant_id = newest.merchant_id and delivery.message_id = newest.message_id
            ) as "owed!",
            (
                select failure.state from failure
                where failure.merchant_id = newest.merchant_id and failure.message_id = newest.message_id
            ) as failure,
            exists (
                select from unsent_message
                where unsent_message.merchant_id = newest.merchant_id and unsent_message.message_id = newest.message_id
            ) as "unsent!"
        from newest
        join message on message.merchant_id = newest.merchant_id and message.message_id = newest.message_id
        order by newest.message_id desc
        "#,
        &merchants,
        from.map_or(Uuid::nil(), first_id),
        before.map_or(until, |before| before.min(until)),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    let more = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= most;
    let next = rows.last().map(|row| row.message_id).filter(|_| more);
    let listed = rows.into_iter().filter(|row| !row.aside).map(|row| {
        let state = match (row.owed, row.failure.as_deref()) {
            (true, _) => State::Owed,
            (false, Some("open" | "contacted")) => State::Failed,
            (false, Some("discarded")) => State::Discarded,
            (false, _) if row.unsent => State::Unsent,
            (false, _) => State::Delivered,
        };
        let (event, subject, sequence) = (row.event, row.subject, row.sequence);
        (MerchantId(row.merchant_id), Listed { id: row.message_id, kind: row.kind, event, subject, sequence, state })
    });
    Ok((listed.collect(), next))
}

/// A message of the same subject.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub id: Uuid,
    pub event: String,
    /// Position within the subject.
    pub sequence: i64,
    /// The exact bytes that are sent.
    pub body: String,
}

/// The messages of a subject that are examined on either side.
const LOOKED_AT: i64 = 20;

/// The messages of the same subject and kind just before and just after `message`, as far as they are stored.
pub async fn neighbours(
    store: &Store,
    merchant: MerchantId,
    (kind, subject): (&str, &str),
    message: Uuid,
) -> Result<(Option<Neighbour>, Option<Neighbour>), Failed> {
    let before = sqlx::query_as!(
        Neighbour,
        r#"
        select near.message_id as id, near.event, near.sequence, near.body
        from (
            select message_id, kind, event, sequence, body
            from message
            where merchant_id = $1 and subject = $2 and message_id < $3 and kind <> 'endpoint_test' and not internal
            order by message_id desc
            limit $5
        ) as near
        where near.kind = $4
        order by near.message_id desc
        limit 1
        "#,
        merchant.0,
        subject,
        message,
        kind,
        LOOKED_AT,
    )
    .fetch_optional(&store.pool)
    .await?;
    let after = sqlx::query_as!(
        Neighbour,
        r#"
        select near.message_id as id, near.event, near.sequence, near.body
        from (
            select message_id, kind, event, sequence, body
            from message
            where merchant_id = $1 and subject = $2 and message_id > $3 and kind <> 'endpoint_test' and not internal
            order by message_id
            limit $5
        ) as near
        where near.kind = $4
        order by near.message_id
        limit 1
        "#,
        merchant.0,
        subject,
        message,
        kind,
        LOOKED_AT,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok((before, after))
}
