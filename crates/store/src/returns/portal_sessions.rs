//! The sessions of shoppers in the portal.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::portal::{Proof, SupportName};
use sqlx::PgExecutor;

use crate::orders::snapshots::Fingerprint;
use crate::{Failed, Store, Tx};

/// A shopper without a request for this long must find the order again.
pub const QUIET: TimeDelta = TimeDelta::minutes(30);
/// The longest life of a session.
pub const LONGEST: TimeDelta = TimeDelta::hours(12);

/// A shopper who has shown that an order is theirs.
#[derive(Clone, Debug)]
pub struct Session {
    pub order: String,
    pub proof: Proof,
    /// The e-mail address whose orders it may see, if a link opened it.
    pub email: Option<Fingerprint>,
    /// The one return that it may see, if a link in a mail about it opened it and nothing more was shown since.
    pub rma: Option<String>,
    /// Who acts for the shopper, if it is support.
    pub support: Option<SupportName>,
    pub started_at: DateTime<Utc>,
    pub seen_at: DateTime<Utc>,
}

/// Starts a session, in a transaction of its own.
pub async fn start(store: &Store, merchant: MerchantId, hash: &[u8], session: &Session) -> Result<(), Failed> {
    write(&store.pool, merchant, hash, session).await
}

/// Starts a session.
pub async fn insert(tx: &mut Tx, hash: &[u8], session: &Session) -> Result<(), Failed> {
    let merchant = tx.merchant();
    write(tx.connection(), merchant, hash, session).await
}

async fn write<'e>(on: impl PgExecutor<'e>, merchant: MerchantId, hash: &[u8], session: &Session) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into portal_session (
            merchant_id, session_hash, order_identifier, proof, started_at, seen_at, email_fingerprint, rma_identifier, support_name
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        "#,
        merchant.0,
        hash,
        session.order,
        session.proof.as_str(),
        session.started_at,
        session.seen_at,
        session.email.as_ref().map(Fingerprint::as_slice),
        session.rma.as_deref(),
        session.support.as_ref().map(SupportName::as_str),
    )
    .execute(on)
    .await?;
    Ok(())
}

/// The session with this hash, unless it is over at `now`.
pub async fn find(store: &Store, merchant: MerchantId, hash: &[u8], now: DateTime<Utc>) -> Result<Option<Session>, Failed> {
    let row = sqlx::query!(
        r#"
        select order_identifier, proof, started_at, seen_at, email_fingerprint, rma_identifier, support_name
        from portal_session
        where merchant_id = $1 and session_hash = $2 and seen_at > $3 and started_at > $4
        "#,
        merchant.0,
        hash,
        now - QUIET,
        now - LONGEST,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| {
        let proof: Proof = row.proof.parse().map_err(|_| Failed::Internal("a stored session has an unknown proof"))?;
        let rma = row.rma_identifier.filter(|_| !proof.allows_order());
        let email = row.email_fingerprint.and_then(|email| email.try_into().ok());
        let support = row.support_name.map(|name| name.parse()).transpose();
        let support = support.map_err(|_| Failed::Internal("a stored session has a name that is none"))?;
        Ok(Session { order: row.order_identifier, proof, email, rma, support, started_at: row.started_at, seen_at: row.seen_at })
    })
    .transpose()
}

/// The identifiers of an order's returns that the session may see, newest first. The return of a gift is for the session that started it,
/// and for those that a link in a mail about it opened.
pub async fn returns_of(store: &Store, merchant: MerchantId, order: &str, hash: &[u8], most: i64) -> Result<Vec<String>, Failed> {
    let identifiers = sqlx::query_scalar!(
        r#"
        select rma.identifier
        from rma
        where rma.merchant_id = $1 and rma.order_identifier = $2
        and (
            not rma.gift
            or exists (
                select from return_draft as draft
                where draft.merchant_id = $1 and draft.order_identifier = $2
                and draft.rma_identifier = rma.identifier and draft.session_hash = $3
            )
            or exists (
                select from portal_session as session
                where session.merchant_id = $1 and session.session_hash = $3 and session.rma_identifier = rma.identifier
            )
        )
        order by rma.rma_id desc
        limit $4
        "#,
        merchant.0,
        order,
        hash,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(identifiers)
}

/// Notes that the shopper was there at `now`, and perhaps showed more.
pub async fn touch(tx: &mut Tx, hash: &[u8], proof: Proof, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "update portal_session set seen_at = $3, proof = $4 where merchant_id = $1 and session_hash = $2",
        tx.merchant().0,
        hash,
        now,
        proof.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Turns a session to another order.
pub async fn turn_to(tx: &mut Tx, hash: &[u8], order: &str) -> Result<(), Failed> {
    sqlx::query!(
        "update portal_session set order_identifier = $3 where merchant_id = $1 and session_hash = $2",
        tx.merchant().0,
        hash,
        order,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Ends a session.
pub async fn end(tx: &mut Tx, hash: &[u8]) -> Result<(), Failed> {
    sqlx::query!("delete from portal_session where merchant_id = $1 and session_hash = $2", tx.merchant().0, hash)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Sessions of all merchants that are over at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Vec<u8>)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, session_hash from portal_session where seen_at <= $1 order by seen_at limit $2",
        now - QUIET,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.session_hash)).collect())
}

/// Deletes sessions.
pub async fn forget(tx: &mut Tx, hashes: &[Vec<u8>]) -> Result<(), Failed> {
    sqlx::query!("delete from portal_session where merchant_id = $1 and session_hash = any($2)", tx.merchant().0, hashes)
        .execute(tx.connection())
        .await?;
    Ok(())
}
