//! Things of all merchants, found by their identifiers. Each kind is looked up in every merchant by index, so the cost grows with the
//! number of merchants and with nothing else.

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
        from merchant
        cross join lateral (
            select rma.identifier, rma.status, rma.order_identifier, rma.created_at
            from rma
            where rma.merchant_id = merchant.merchant_id and rma.identifier = $1
            union all
            select rma.identifier, rma.status, rma.order_identifier, rma.created_at
            from parcel
            join rma on rma.merchant_id = parcel.merchant_id and rma.rma_id = parcel.rma_id
            where parcel.merchant_id = merchant.merchant_id and parcel.tracking_number = $1
            limit 2
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
pub async fn orders_of(store: &Store, email_fingerprint: &[u8]) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier, found.status, null::text as other, found.placed_at as at
        from merchant
        cross join lateral (
            select customer_order.identifier, customer_order.status, customer_order.placed_at
            from customer_order
            where customer_order.merchant_id = merchant.merchant_id and customer_order.email_fingerprint = $1
            order by customer_order.placed_at desc
            limit $2
        ) as found
        limit $2
        "#,
        email_fingerprint,
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
        select merchant.handle, merchant.name as merchant_name, found.identifier, found.status, found.other as "other?", found.at
        from merchant
        cross join lateral (
            select receipt.unit_identifier as identifier, receipt.condition as status, receipt.received_at as at,
                coalesce(
                    (
                        select rma.identifier from rma
                        where rma.merchant_id = merchant.merchant_id and rma.rma_id = receipt.rma_id
                    ),
                    (
                        select inbound_asn.asn_number from inbound_asn
                        where inbound_asn.merchant_id = merchant.merchant_id and inbound_asn.asn_id = receipt.asn_id
                    )
                ) as other
            from receipt
            where receipt.merchant_id = merchant.merchant_id and receipt.unit_identifier = $1
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

/// ASNs by number: announced to a warehouse, or sent by one.
pub async fn asns(store: &Store, word: &str) -> Result<Vec<Hit>, Failed> {
    let hits = sqlx::query_as!(
        Hit,
        r#"
        select merchant.handle, merchant.name as merchant_name, found.identifier as "identifier!", found.status as "status!",
            found.way as "other?", found.at as "at!"
        from merchant
        cross join lateral (
            select inbound_asn.asn_number as identifier, inbound_asn.state as status, 'inbound' as way, inbound_asn.created_at as at
            from inbound_asn
            where inbound_asn.merchant_id = merchant.merchant_id and inbound_asn.asn_number = $1
            union all
            select outbound_shipment.asn_number, outbound_shipment.state, 'outbound', outbound_shipment.created_at
            from outbound_shipment
            where outbound_shipment.merchant_id = merchant.merchant_id and outbound_shipment.asn_number = $1
            limit 2
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
