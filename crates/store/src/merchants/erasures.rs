//! Erases shoppers' personal data by overwriting it in place. The rows stay, so that returns and refunds can continue.
//!
//! An erasure overwrites messages first and then checks what is still owed. A retry locks its message first and then checks
//! whether it has been erased. So one of the two always sees the other.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::messages::message::Kind;
use domain::returns::work::WorkKind;
use uuid::Uuid;

use crate::orders::snapshots::Fingerprint;
use crate::returns::{labels, return_links};
use crate::{Failed, Store, Tx};

/// The reason on the work list, once the carrier's own words are erased.
const REFUSED: &str = "The carrier refuses the label.";

/// One page of a search for a shopper's orders.
pub struct Page {
    /// The shopper's orders on this page.
    pub orders: Vec<String>,
    /// The last order that was examined. `None` on the last page.
    pub next: Option<String>,
}

/// The number of orders that a page examines.
const LOOKED_AT: i64 = 10_000;

/// Searches the orders of `merchant` after the order `after` for an e-mail address, of which these are the fingerprints by each key. It reads all of them, page by page, and does not
/// use the index on the address.
pub async fn orders_of(store: &Store, merchant: MerchantId, emails: &[Fingerprint], after: &str) -> Result<Page, Failed> {
    let row = sqlx::query!(
        r#"
        select
            coalesce(array_agg(identifier) filter (where email_fingerprint = any($2)), '{}') as "orders!",
            max(identifier) as last,
            count(*) as "looked_at!"
        from (
            select identifier, email_fingerprint
            from customer_order
            where merchant_id = $1 and identifier > $3
            order by identifier
            limit $4
        ) as page
        "#,
        merchant.0,
        &emails.iter().map(|email| email.to_vec()).collect::<Vec<_>>(),
        after,
        LOOKED_AT,
    )
    .fetch_one(&store.pool)
    .await?;
    Ok(Page { orders: row.orders, next: row.last.filter(|_| row.looked_at == LOOKED_AT) })
}

/// A return of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfOrder {
    pub id: Uuid,
    pub identifier: String,
}

/// The returns of the order `order`, locked until the transaction ends. The order must be locked.
pub async fn lock_returns(tx: &mut Tx, order: &str) -> Result<Vec<OfOrder>, Failed> {
    let returns = sqlx::query_as!(
        OfOrder,
        "select rma_id as id, identifier from rma where merchant_id = $1 and order_identifier = $2 order by rma_id for update",
        tx.merchant().0,
        order,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(returns)
}

/// The messages of these kinds and subjects, including those that only the failure queue still has.
pub async fn messages(tx: &mut Tx, on: &[(Kind, &str)]) -> Result<Vec<Uuid>, Failed> {
    let (kinds, subjects): (Vec<&str>, Vec<&str>) = on.iter().map(|(kind, subject)| (kind.as_str(), *subject)).unzip();
    let messages = sqlx::query_scalar!(
        r#"
        select message.message_id as "message_id!"
        from message
        join unnest($2::text[], $3::text[]) as on_it (kind, subject) on on_it.subject = message.subject and on_it.kind = message.kind
        where message.merchant_id = $1 and message.kind <> 'endpoint_test' and not message.internal
        union
        select message.message_id
        from message
        join unnest($2::text[], $3::text[]) as on_it (kind, subject) on on_it.subject = message.subject and on_it.kind = message.kind
        where message.merchant_id = $1 and message.internal
        union
        select failure.message_id
        from failure
        join unnest($2::text[], $3::text[]) as on_it (kind, subject) on on_it.subject = failure.subject and on_it.kind = failure.kind
        where failure.merchant_id = $1 and not failure.erased
        "#,
        tx.merchant().0,
        &kinds as &[&str],
        &subjects as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(messages)
}

/// Those of `messages` that are still owed or can still be retried.
pub async fn outstanding(tx: &mut Tx, messages: &[Uuid]) -> Result<Vec<Uuid>, Failed> {
    let outstanding = sqlx::query_scalar!(
        r#"
        select message_id as "message_id!" from delivery where merchant_id = $1 and message_id = any($2)
        union
        select message_id from failure where merchant_id = $1 and message_id = any($2) and state in ('open', 'contacted')
        "#,
        tx.merchant().0,
        messages,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(outstanding)
}

/// Overwrites the bodies of `messages` with `body`, and deletes the responses to them. Returns how many had not been erased
/// before.
pub async fn erase_messages(tx: &mut Tx, messages: &[Uuid], body: &str) -> Result<u64, Failed> {
    let merchant = tx.merchant().0;
    let said = sqlx::query!(
        "update message set body = $3, erased = true where merchant_id = $1 and message_id = any($2) and not erased",
        merchant,
        messages,
        body,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "update failure set body = $3, note = null, erased = true where merchant_id = $1 and message_id = any($2) and not erased",
        merchant,
        messages,
        body,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "update failure_note set text = null where merchant_id = $1 and message_id = any($2) and text is not null",
        merchant,
        messages,
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "update attempt set answer = null where merchant_id = $1 and message_id = any($2) and answer is not null",
        merchant,
        messages,
    )
    .execute(tx.connection())
    .await?;
    Ok(said.rows_affected())
}

/// Overwrites the stored order with `snapshot`, and deletes the notes of its refunds. The digest becomes zero, so any
/// snapshot that the merchant sends counts as a change. The order must be locked.
pub async fn erase_order(tx: &mut Tx, order: &str, snapshot: &str, erased_at: Option<DateTime<Utc>>) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        r#"
        update customer_order
        set snapshot = $3, digest = $4, email_fingerprint = null, zip_fingerprint = null, erased_at = coalesce($5, erased_at)
        where merchant_id = $1 and identifier = $2
        "#,
        merchant,
        order,
        snapshot,
        [0; 32].as_slice(),
        erased_at,
    )
    .execute(tx.connection())
    .await?;
    forget_notes(tx, &[order]).await
}

/// Deletes the notes on the refunds of these orders.
pub async fn forget_notes(tx: &mut Tx, orders: &[&str]) -> Result<(), Failed> {
    sqlx::query!(
        "update refund set note = null where merchant_id = $1 and order_identifier = any($2) and note is not null",
        tx.merchant().0,
        orders as &[&str],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the giftee's address, the label and the mailed links of each return, the carrier's words on a label that it refuses, and the stored
/// response to the request that started the return.
/// Repeating that request finds its key in use. The returns must be locked.
pub async fn erase_returns(tx: &mut Tx, returns: &[OfOrder]) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    let ids: Vec<Uuid> = returns.iter().map(|of_order| of_order.id).collect();
    let identifiers: Vec<&str> = returns.iter().map(|of_order| of_order.identifier.as_str()).collect();
    sqlx::query!(
        r#"
        update idempotency_key
        set request_hash = $3, answer = '{}'
        from rma
        where idempotency_key.merchant_id = $1 and rma.merchant_id = $1 and rma.rma_id = any($2)
            -- A request and the return that it started have the same time.
            and idempotency_key.used_at = rma.created_at and position(rma.identifier in idempotency_key.answer) > 0
        "#,
        merchant,
        &ids,
        [0; 32].as_slice(),
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!(
        "update work_item set reason = $4 where merchant_id = $1 and kind = $3 and subject = any($2)",
        merchant,
        &identifiers as &[&str],
        WorkKind::LabelRefused.as_str(),
        REFUSED,
    )
    .execute(tx.connection())
    .await?;
    labels::forget_documents(tx, &ids).await?;
    return_links::forget_of(tx, &ids).await?;
    sqlx::query!(
        "update rma set giftee_email = null where merchant_id = $1 and rma_id = any($2) and giftee_email is not null",
        merchant,
        &ids,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Overwrites a drop-ship order with `content`, and the warehouse's free text about it with `word`. The order must be
/// locked.
pub async fn erase_drop_ship_order(tx: &mut Tx, order: Uuid, content: &str, word: &str) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!(
        r#"
        update drop_ship_order
        set content = $3, erased = true, comments = null, reject_reason = case when reject_reason is not null then $4 end
        where merchant_id = $1 and drop_ship_order_id = $2
        "#,
        merchant,
        order,
        content,
        word,
    )
    .execute(tx.connection())
    .await?;
    // The content told a repeated report from a different one. From now on only the identifier counts.
    sqlx::query!("update drop_ship_cancellation set content = '{}' where merchant_id = $1 and drop_ship_order_id = $2", merchant, order)
        .execute(tx.connection())
        .await?;
    Ok(())
}
