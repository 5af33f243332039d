//! Things of all merchants, found by their identifiers. Most kinds have an index for it. Identifiers of orders, which are many, have
//! none: they are looked up in every merchant, so the cost grows with the number of merchants and with nothing else.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{Failed, Store};

/// The most hits of one kind.
pub const MOST: i64 = 20;

/// Something that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub handle: String,
    pub merchant_name: String,
    pub identifier: String,
    pub status: String,
    /// The order of a return, or the return of a unit or a parcel.
    pub other: Option<String>,
    pub at: DateTime<Utc>,
}

/// Returns by identifier, or by a tracking number.
pub async fn returns(store: &Store, word: &str) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier as "identifier!", found.status as "status!",
            found.order_identifier as "other?", found.created_at as "at!"
        from (
            -- Across merchants: returns by identifier and by tracking number.
            select named.merchant_id, named.identifier, named.status, named.order_identifier, named.created_at
            from (select * from rma where rma.identifier = $1 limit $2) as named
            union all
            select rma.merchant_id, rma.identifier, rma.status, rma.order_identifier, rma.created_at
            from (select * from parcel where parcel.tracking_number = $1 limit $2) as sent
            join rma on rma.merchant_id = sent.merchant_id and rma.rma_id = sent.rma_id
        ) as found
        join merchant on merchant.merchant_id = found.merchant_id
        limit $2
        "#,
        word,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// Orders by identifier.
pub async fn orders(store: &Store, word: &str) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier, found.status, null::text as other, found.placed_at as at
        from merchant
        cross join lateral (
            select customer_order.identifier, customer_order.status, customer_order.placed_at
            from customer_order
            where customer_order.merchant_id = merchant.merchant_id and customer_order.identifier = $1
            limit 1
        ) as found
        limit $2
        "#,
        word,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// A shopper's orders, newest first in each merchant.
pub async fn orders_of(store: &Store, email_fingerprints: &[Vec<u8>]) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier, found.status, null::text as other, found.placed_at as at
        from (
            -- Across merchants: orders by shopper.
            select *
            from customer_order
            where customer_order.email_fingerprint = any($1)
            order by customer_order.merchant_id, customer_order.placed_at desc
            limit $2
        ) as found
        join merchant on merchant.merchant_id = found.merchant_id
        order by found.merchant_id, found.placed_at desc
        "#,
        email_fingerprints,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// The returns of a shopper's newest orders, newest first in each merchant.
pub async fn returns_of(store: &Store, email_fingerprints: &[Vec<u8>]) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, rma.identifier, rma.status, rma.order_identifier as "other?",
            rma.created_at as at
        from (
            -- Across merchants: orders by shopper.
            select *
            from customer_order
            where customer_order.email_fingerprint = any($1)
            order by customer_order.merchant_id, customer_order.placed_at desc
            limit $2
        ) as theirs
        join rma on rma.merchant_id = theirs.merchant_id and rma.order_identifier = theirs.identifier
        join merchant on merchant.merchant_id = theirs.merchant_id
        order by rma.merchant_id, rma.rma_id desc
        limit $2
        "#,
        email_fingerprints,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// Units that a warehouse received, by their identifier.
pub async fn units(store: &Store, word: &str) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.unit_identifier as identifier, found.condition as status,
            coalesce(
                (select rma.identifier from rma where rma.merchant_id = found.merchant_id and rma.rma_id = found.rma_id),
                (
                    select inbound_asn.asn_number from inbound_asn
                    where inbound_asn.merchant_id = found.merchant_id and inbound_asn.asn_id = found.asn_id
                )
            ) as "other?",
            found.received_at as at
        from (
            -- Across merchants: units by identifier.
            select * from receipt where receipt.unit_identifier = $1 limit $2
        ) as found
        join merchant on merchant.merchant_id = found.merchant_id
        "#,
        word,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// ASNs by number: announced to a warehouse, or sent by one.
pub async fn asns(store: &Store, word: &str) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier as "identifier!", found.status as "status!",
            found.way as "other?", found.at as "at!"
        from (
            -- Across merchants: ASNs by number.
            select announced.merchant_id, announced.asn_number as identifier, announced.state as status, 'inbound' as way,
                announced.created_at as at
            from (select * from inbound_asn where inbound_asn.asn_number = $1 limit $2) as announced
            union all
            select sent.merchant_id, sent.asn_number, sent.state, 'outbound', sent.created_at
            from (select * from outbound_shipment where outbound_shipment.asn_number = $1 limit $2) as sent
        ) as found
        join merchant on merchant.merchant_id = found.merchant_id
        limit $2
        "#,
        word,
        MOST,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(hits)
}

/// The merchant of a message, by its handle.
pub async fn merchant_of_message(store: &Store, message: Uuid) -> Result<Option<String>, Failed> {
    let handle = sqlx::query_scalar!(
        r#"
        select merchant.handle
        from merchant
        cross join lateral (
            select from message
            where message.merchant_id = merchant.merchant_id and message.message_id = $1 and not message.internal
            limit 1
        ) as found
        limit 1
        "#,
        message,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(handle)
}
