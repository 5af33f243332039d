//! Statements of withdrawal from a contract, as shoppers made them.

use chrono::{DateTime, NaiveDate, Utc};
use domain::id::MerchantId;
use domain::returns::mail::LINK_LASTS;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A statement of withdrawal. It has no `Debug` because it is personal.
#[derive(Clone, PartialEq, Eq)]
pub struct Withdrawal {
    pub id: Uuid,
    /// Made to be read out, such as `W-7KQ4-XM92`.
    pub reference: String,
    pub received_at: DateTime<Utc>,
    /// The code of the language in which it was made.
    pub language: String,
    pub name: String,
    pub email: String,
    /// The order as the shopper named it.
    pub order_words: String,
    /// The exact text that the shopper confirmed.
    pub statement: String,
    /// The order that it is about; `None` until it is known.
    pub order: Option<String>,
    /// Chosen units, as JSON; `None` for the whole order.
    pub goods: Option<String>,
    /// The last day of the period; `None` while it is open or unknown.
    pub last_day: Option<NaiveDate>,
    /// Made in the period; `None` while that is unknown.
    pub in_time: Option<bool>,
    /// The return of the goods, once it is started.
    pub rma: Option<String>,
}

/// What is known of a withdrawal once its order is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    pub order: String,
    pub last_day: Option<NaiveDate>,
    pub in_time: Option<bool>,
}

/// Selects withdrawals: the conditions, then the arguments.
macro_rules! withdrawals {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Withdrawal,
            r#"select withdrawal_id as id, reference, received_at, language, name, email, order_words, statement, "#
                + r#"order_identifier as "order", goods, last_day, in_time, rma_identifier as rma from withdrawal "#
                + $end
            $(, $argument)*
        )
    };
}

/// Saves a statement that the session `session` has confirmed.
pub async fn insert(tx: &mut Tx, new: &Withdrawal, session: &[u8]) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into withdrawal (
            merchant_id, withdrawal_id, reference, received_at, session_hash, language, name, email, order_words, statement,
            order_identifier, goods, last_day, in_time
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        "#,
        tx.merchant().0,
        new.id,
        new.reference,
        new.received_at,
        session,
        new.language,
        new.name,
        new.email,
        new.order_words,
        new.statement,
        new.order.as_deref(),
        new.goods.as_deref(),
        new.last_day,
        new.in_time,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The statement that a session confirmed.
pub async fn of_session(store: &Store, merchant: MerchantId, session: &[u8]) -> Result<Option<Withdrawal>, Failed> {
    let found = withdrawals!("where merchant_id = $1 and session_hash = $2", merchant.0, session);
    Ok(found.fetch_optional(&store.pool).await?)
}

/// The statement that the link with this hash opens; `None` if it cannot be used at `now`.
pub async fn of_link(store: &Store, merchant: MerchantId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Withdrawal>, Failed> {
    let found = withdrawals!(
        r#"
        where merchant_id = $1 and not erased and withdrawal_id = (
            select withdrawal_id from withdrawal_link where merchant_id = $1 and link_hash = $2 and sent_at > $3
        )
        "#,
        merchant.0,
        hash,
        now - LINK_LASTS,
    );
    Ok(found.fetch_optional(&store.pool).await?)
}

/// The statement with this reference.
pub async fn find(store: &Store, merchant: MerchantId, reference: &str) -> Result<Option<Withdrawal>, Failed> {
    let found = withdrawals!("where merchant_id = $1 and reference = $2", merchant.0, reference);
    Ok(found.fetch_optional(&store.pool).await?)
}

/// [`find`], and locks it until the transaction ends.
pub async fn lock(tx: &mut Tx, reference: &str) -> Result<Option<Withdrawal>, Failed> {
    let found = withdrawals!("where merchant_id = $1 and reference = $2 for update", tx.merchant().0, reference);
    Ok(found.fetch_optional(tx.connection()).await?)
}

/// The newest statement about an order whose goods have no return yet.
pub async fn without_return(store: &Store, merchant: MerchantId, order: &str) -> Result<Option<Withdrawal>, Failed> {
    let found = withdrawals!(
        "where merchant_id = $1 and order_identifier = $2 and rma_identifier is null order by withdrawal_id desc limit 1",
        merchant.0,
        order,
    );
    Ok(found.fetch_optional(&store.pool).await?)
}

/// The statements of `merchant`, the newest first: those about `order` if it is given, and those before `before` if it is.
pub async fn list(
    store: &Store,
    merchant: MerchantId,
    order: Option<&str>,
    before: Option<Uuid>,
    most: i64,
) -> Result<Vec<Withdrawal>, Failed> {
    let found = withdrawals!(
        r#"
        where merchant_id = $1 and ($2::text is null or order_identifier = $2) and ($3::uuid is null or withdrawal_id < $3)
        order by withdrawal_id desc
        limit $4
        "#,
        merchant.0,
        order,
        before,
        most,
    );
    Ok(found.fetch_all(&store.pool).await?)
}

/// Notes the order that a statement is about.
pub async fn set_order(tx: &mut Tx, reference: &str, matched: &Matched) -> Result<(), Failed> {
    sqlx::query!(
        "update withdrawal set order_identifier = $3, last_day = $4, in_time = $5 where merchant_id = $1 and reference = $2",
        tx.merchant().0,
        reference,
        matched.order,
        matched.last_day,
        matched.in_time,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Notes the return of a statement's goods.
pub async fn set_return(tx: &mut Tx, reference: &str, rma: &str) -> Result<(), Failed> {
    sqlx::query!("update withdrawal set rma_identifier = $3 where merchant_id = $1 and reference = $2", tx.merchant().0, reference, rma,)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// The reference of the statement whose goods a return brings back.
pub async fn of_return(store: &Store, merchant: MerchantId, rma: &str) -> Result<Option<String>, Failed> {
    let reference =
        sqlx::query_scalar!("select reference from withdrawal where merchant_id = $1 and rma_identifier = $2", merchant.0, rma,);
    Ok(reference.fetch_optional(&store.pool).await?)
}

/// Notes that the return of a statement's goods is cancelled. For other returns nothing changes.
pub async fn unset_return(tx: &mut Tx, rma: &str) -> Result<(), Failed> {
    sqlx::query!("update withdrawal set rma_identifier = null where merchant_id = $1 and rma_identifier = $2", tx.merchant().0, rma)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// The references of the statements about an order.
pub async fn references(tx: &mut Tx, order: &str) -> Result<Vec<String>, Failed> {
    let references =
        sqlx::query_scalar!("select reference from withdrawal where merchant_id = $1 and order_identifier = $2", tx.merchant().0, order,);
    Ok(references.fetch_all(tx.connection()).await?)
}

/// Overwrites the shopper's words in the statements about an order.
pub async fn erase(tx: &mut Tx, order: &str) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update withdrawal
        set name = '', email = '', order_words = '', statement = '', erased = true
        where merchant_id = $1 and order_identifier = $2 and not erased
        "#,
        tx.merchant().0,
        order,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes statements of the merchant that were made at `until` or before, and that nobody found an order for. Returns how many.
pub async fn forget_unmatched(tx: &mut Tx, until: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let deleted = sqlx::query!(
        r#"
        delete from withdrawal
        where merchant_id = $1 and withdrawal_id in (
            select withdrawal_id from withdrawal
            where merchant_id = $1 and order_identifier is null and received_at <= $2
            order by received_at
            limit $3
        )
        "#,
        tx.merchant().0,
        until,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(deleted.rows_affected())
}
