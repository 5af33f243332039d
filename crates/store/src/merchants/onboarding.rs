//! How far merchants are on their way to live.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::onboarding::{EndpointTest, Facts};

use crate::{Failed, Store, Tx};

/// The facts about the onboarding of `merchant`, read by index without counting anything.
pub async fn facts(store: &Store, merchant: MerchantId) -> Result<Option<Facts>, Failed> {
    let row = sqlx::query!(
        r#"
        select
            merchant.created_at, merchant.live_at,
            (select min(credential.issued_at) from credential where credential.merchant_id = $1) as credential_at,
            (select min(credential.first_token_at) from credential where credential.merchant_id = $1) as token_at,
            -- The timer notes the first order; until then the oldest one is it.
            coalesce(merchant.first_order_at, (
                select customer_order.received_at
                from customer_order
                where customer_order.merchant_id = $1
                    and customer_order.digest <> '\x0000000000000000000000000000000000000000000000000000000000000000'
                order by greatest(customer_order.received_at, customer_order.kept_from)
                limit 1
            )) as order_at
        from merchant
        where merchant.merchant_id = $1
        "#,
        merchant.0,
    )
    .fetch_optional(&store.pool)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let endpoints = sqlx::query!(
        r#"
        select interface, tested_at
        from endpoint
        where merchant_id = $1 and removed_at is null and not internal
        order by interface
        "#,
        merchant.0,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(Some(Facts {
        added_at: row.created_at,
        credential_at: row.credential_at,
        token_at: row.token_at,
        order_at: row.order_at,
        endpoints: endpoints.into_iter().map(|row| EndpointTest { interface: row.interface, tested_at: row.tested_at }).collect(),
        live_at: row.live_at,
    }))
}

/// Merchants that are not live and whose first order has come but is not noted yet, with the time at which it came.
pub async fn list_first_orders(store: &Store, most: i64) -> Result<Vec<(MerchantId, DateTime<Utc>)>, Failed> {
    let rows = sqlx::query!(
        r#"
        select merchant.merchant_id, first.received_at as "received_at!"
        from merchant
        cross join lateral (
            select customer_order.received_at
            from customer_order
            where customer_order.merchant_id = merchant.merchant_id
                and customer_order.digest <> '\x0000000000000000000000000000000000000000000000000000000000000000'
            order by greatest(customer_order.received_at, customer_order.kept_from)
            limit 1
        ) as first
        where merchant.live_at is null and merchant.first_order_at is null
        limit $1
        "#,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.received_at)).collect())
}

/// Notes the time of the merchant's first order, unless it is noted already.
pub async fn note_first_order(tx: &mut Tx, at: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!("update merchant set first_order_at = $2 where merchant_id = $1 and first_order_at is null", tx.merchant().0, at)
        .execute(tx.connection())
        .await?;
    Ok(())
}
