//! Statements of withdrawal that shoppers have not confirmed yet.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;

use crate::{Failed, Store, Tx};

/// The time for which a draft is kept after its last change.
pub const KEPT_FOR: TimeDelta = TimeDelta::days(7);

/// The statement of a session, as JSON.
pub async fn find(store: &Store, merchant: MerchantId, session: &[u8]) -> Result<Option<String>, Failed> {
    let statement =
        sqlx::query_scalar!("select statement from withdrawal_draft where merchant_id = $1 and session_hash = $2", merchant.0, session,);
    Ok(statement.fetch_optional(&store.pool).await?)
}

/// [`find`], and locks it until the transaction ends.
pub async fn lock(tx: &mut Tx, session: &[u8]) -> Result<Option<String>, Failed> {
    let statement = sqlx::query_scalar!(
        "select statement from withdrawal_draft where merchant_id = $1 and session_hash = $2 for update",
        tx.merchant().0,
        session,
    );
    Ok(statement.fetch_optional(tx.connection()).await?)
}

/// Inserts the statement of a new session. `order` is the one that it is about, if the shopper has shown that it is theirs. The statement
/// is a transaction of its own.
pub async fn insert(
    store: &Store,
    merchant: MerchantId,
    session: &[u8],
    statement: &str,
    order: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into withdrawal_draft (merchant_id, session_hash, statement, order_identifier, changed_at)
        values ($1, $2, $3, $4, $5)
        "#,
        merchant.0,
        session,
        statement,
        order,
        now,
    )
    .execute(&store.pool)
    .await?;
    Ok(())
}

/// Replaces the statement of a session. Returns false if it is gone: confirmed, erased or outdated.
pub async fn change(store: &Store, merchant: MerchantId, session: &[u8], statement: &str, now: DateTime<Utc>) -> Result<bool, Failed> {
    let changed = sqlx::query!(
        "update withdrawal_draft set statement = $3, changed_at = $4 where merchant_id = $1 and session_hash = $2",
        merchant.0,
        session,
        statement,
        now,
    )
    .execute(&store.pool)
    .await?;
    Ok(changed.rows_affected() > 0)
}

/// Locks the statements about an order until the transaction ends, so that none of them is confirmed meanwhile.
pub async fn lock_of_order(tx: &mut Tx, order: &str) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        select from withdrawal_draft
        where merchant_id = $1 and order_identifier = $2
        order by session_hash
        for update
        "#,
        tx.merchant().0,
        order,
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the statements about an order.
pub async fn erase(tx: &mut Tx, order: &str) -> Result<(), Failed> {
    sqlx::query!("delete from withdrawal_draft where merchant_id = $1 and order_identifier = $2", tx.merchant().0, order)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// The drafts of all merchants that nobody has changed for too long at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, session_hash from withdrawal_draft where changed_at <= $1 order by changed_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.session_hash)).collect())
}

/// Deletes drafts.
pub async fn forget(tx: &mut Tx, sessions: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from withdrawal_draft where merchant_id = $1 and session_hash = any($2)", tx.merchant().0, sessions)
        .execute(tx.connection())
        .await?;
    Ok(())
}
