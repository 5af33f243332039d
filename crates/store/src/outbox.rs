//! What merchants' systems are owed: written in the transaction of the change that it tells of.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::message::{Interface, Internal, Kind, bucket_of};
use uuid::Uuid;

use crate::{Failed, Tx, endpoints};

/// A message as it will be sent, byte for byte.
pub struct Message<'a> {
    /// Its id (UUID version 7): the receiver's means against duplicates.
    pub id: Uuid,
    /// What it is about.
    pub kind: Kind,
    /// What happened: `rma.created`.
    pub event: &'a str,
    /// What must stay in order: the return, the order, the ASN number, the unit.
    pub subject: &'a str,
    /// The position within the subject, from 1 on, taken under the subject's lock.
    pub sequence: i64,
    /// The body.
    pub body: &'a str,
}

/// A delivery that is owed: what a deliverer is told after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// Whose endpoint.
    pub merchant: MerchantId,
    /// Which endpoint.
    pub endpoint: EndpointId,
    /// The endpoint's bucket.
    pub bucket: u8,
    /// Since when.
    pub due_at: DateTime<Utc>,
}

/// Writes a message and, where the merchant has an endpoint for `interface`, its delivery, due at once. Nothing that other
/// transactions of the merchant touch is changed.
pub async fn enqueue(tx: &mut Tx, interface: Interface, message: &Message<'_>, now: DateTime<Utc>) -> Result<Option<Owed>, Failed> {
    write(tx, interface.as_str(), message, now).await
}

/// Writes messages of one kind that tell of one change, and where the merchant has an endpoint for `interface`, their deliveries.
pub async fn enqueue_many(tx: &mut Tx, interface: Interface, messages: &[Message<'_>], now: DateTime<Utc>) -> Result<Option<Owed>, Failed> {
    let merchant = tx.merchant();
    let row = sqlx::query!(
        r#"
        with told as (
            select message_id, sequence, event, subject, body
            from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[]) as told (message_id, sequence, event, subject, body)
        ), written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, internal)
            select $1, message_id, pg_current_xact_id(), (select feed_epoch from installation), sequence, $7, event, subject, body, false
            from told
        ), owed as (
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            select $1, message_id, endpoint_id, sequence, $8, 0, 0, false, subject
            from told
            cross join endpoint
            where endpoint.merchant_id = $1 and endpoint.interface = $7 and endpoint.removed_at is null
            returning endpoint_id
        )
        select endpoint_id, bucket from endpoint
        where merchant_id = $1 and endpoint_id in (select endpoint_id from owed)
        "#,
        merchant.0,
        &messages.iter().map(|message| message.id).collect::<Vec<_>>(),
        &messages.iter().map(|message| message.sequence).collect::<Vec<_>>(),
        &messages.iter().map(|message| message.event).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.subject).collect::<Vec<_>>() as &[&str],
        &messages.iter().map(|message| message.body).collect::<Vec<_>>() as &[&str],
        interface.as_str(),
        now,
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| owed(merchant, row.endpoint_id, row.bucket, now)).transpose()
}

/// Work of our own, as it will be done.
pub struct Work<'a> {
    /// Its id (UUID version 7).
    pub id: Uuid,
    /// What is to be done.
    pub kind: Internal,
    /// Why: `endpoint.failing`.
    pub event: &'a str,
    /// What must stay in order.
    pub subject: &'a str,
    /// The position within the subject, from 1 on.
    pub sequence: i64,
    /// What is needed to do it.
    pub body: &'a str,
}

/// Writes work of our own and its delivery, due at `due_at`. A merchant's first work makes the endpoints that all of it is owed
/// to; from then on nothing that other transactions of the merchant touch is changed.
pub async fn enqueue_internal(tx: &mut Tx, work: &Work<'_>, due_at: DateTime<Utc>) -> Result<Owed, Failed> {
    let Work { id, kind, event, subject, sequence, body } = *work;
    let message = Message { id, kind: Kind::Internal(kind), event, subject, sequence, body };
    if let Some(owed) = write(tx, kind.as_str(), &message, due_at).await? {
        return Ok(owed);
    }
    endpoints::insert_internal(tx, due_at).await?;
    let (merchant, endpoint) = (tx.merchant(), kind.endpoint_of(tx.merchant()));
    sqlx::query!(
        r#"
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        values ($1, $2, $3, $4, $5, 0, 0, false, $6)
        "#,
        merchant.0,
        id,
        endpoint.0,
        sequence,
        due_at,
        subject,
    )
    .execute(tx.connection())
    .await?;
    Ok(Owed { merchant, endpoint, bucket: bucket_of(endpoint.0), due_at })
}

/// Writes a message and, where there is an endpoint for `interface`, its delivery.
async fn write(tx: &mut Tx, interface: &str, message: &Message<'_>, now: DateTime<Utc>) -> Result<Option<Owed>, Failed> {
    let merchant = tx.merchant();
    let row = sqlx::query!(
        r#"
        with written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, internal)
            values ($1, $2, pg_current_xact_id(), (select feed_epoch from installation), $3, $4, $5, $6, $7, $10)
        )
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        select $1, $2, endpoint_id, $3, $8, 0, 0, false, $6
        from endpoint
        where merchant_id = $1 and interface = $9 and removed_at is null
        returning endpoint_id, (select bucket from endpoint e where e.merchant_id = $1 and e.endpoint_id = delivery.endpoint_id) as "bucket!"
        "#,
        merchant.0,
        message.id,
        message.sequence,
        message.kind.as_str(),
        message.event,
        message.subject,
        message.body,
        now,
        interface,
        message.kind.is_internal(),
    )
    .fetch_optional(tx.connection())
    .await?;
    row.map(|row| owed(merchant, row.endpoint_id, row.bucket, now)).transpose()
}

pub(crate) fn owed(merchant: MerchantId, endpoint: Uuid, bucket: i16, due_at: DateTime<Utc>) -> Result<Owed, Failed> {
    Ok(Owed { merchant, endpoint: EndpointId(endpoint), bucket: self::bucket(bucket)?, due_at })
}

pub(crate) fn bucket(number: i16) -> Result<u8, Failed> {
    u8::try_from(number).map_err(|_| Failed::Refused("a bucket beyond 255".to_owned()))
}
