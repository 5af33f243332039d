//! The credentials with which merchants get access tokens. Only the hash of a secret is stored.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;

use crate::{Failed, Store, Tx};

/// A credential in a list.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The public half.
    pub client_id: String,
    pub scopes: Scopes,
    /// The purpose, in the operator's words.
    pub label: String,
    pub issued_at: DateTime<Utc>,
    pub revoked_at: Option<DateTime<Utc>>,
    /// The last four characters of the secret. Credentials of earlier versions have none.
    pub secret_end: Option<String>,
    /// The time at which the newest token was fetched with it, to the minute.
    pub last_token_at: Option<DateTime<Utc>>,
}

/// The holder of a credential, as needed to answer a token request.
pub struct Holder {
    pub merchant: MerchantId,
    /// SHA-256 of the secret.
    pub secret_hash: Vec<u8>,
    pub scopes: Scopes,
    pub revoked: bool,
}

/// A credential to insert.
pub struct NewCredential<'a> {
    pub client_id: &'a str,
    /// SHA-256 of the secret.
    pub secret_hash: &'a [u8],
    /// The last four characters of the secret.
    pub secret_end: &'a str,
    pub scopes: Scopes,
    pub label: &'a str,
}

/// Inserts a credential.
pub async fn insert(tx: &mut Tx, new: &NewCredential<'_>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into credential (client_id, merchant_id, secret_hash, secret_end, scopes, label, issued_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        "#,
        new.client_id,
        tx.merchant().0,
        new.secret_hash,
        new.secret_end,
        new.scopes.to_string(),
        new.label,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Revokes a credential. Returns false if it has been revoked before.
pub async fn revoke(tx: &mut Tx, client_id: &str, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        "update credential set revoked_at = $3 where merchant_id = $1 and client_id = $2 and revoked_at is null",
        tx.merchant().0,
        client_id,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// The least time between two notes of a credential's use, so that a client that fetches tokens all the time does not rewrite the
/// row each time.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Notes that a token is fetched with the credential.
pub async fn note_token(tx: &mut Tx, client_id: &str, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update credential
        set first_token_at = coalesce(first_token_at, $3), last_token_at = $3
        where merchant_id = $1 and client_id = $2 and (last_token_at is null or last_token_at <= $4)
        "#,
        tx.merchant().0,
        client_id,
        now,
        now - NOTED_EVERY,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The holder of the credential `client_id`.
pub async fn find(store: &Store, client_id: &str) -> Result<Option<Holder>, Failed> {
    let row = sqlx::query!("select merchant_id, secret_hash, scopes, revoked_at from credential where client_id = $1", client_id)
        .fetch_optional(&store.pool)
        .await?;
    row.map(|row| {
        Ok(Holder {
            merchant: MerchantId(row.merchant_id),
            secret_hash: row.secret_hash,
            scopes: scopes(&row.scopes)?,
            revoked: row.revoked_at.is_some(),
        })
    })
    .transpose()
}

/// Every credential of `merchant`, oldest first.
pub async fn list(store: &Store, merchant: MerchantId) -> Result<Vec<Credential>, Failed> {
    let rows = sqlx::query!(
        r#"
        select client_id, scopes, label, issued_at, revoked_at, secret_end, last_token_at
        from credential
        where merchant_id = $1
        order by issued_at, client_id
        "#,
        merchant.0,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Credential {
                client_id: row.client_id,
                scopes: scopes(&row.scopes)?,
                label: row.label,
                issued_at: row.issued_at,
                revoked_at: row.revoked_at,
                secret_end: row.secret_end,
                last_token_at: row.last_token_at,
            })
        })
        .collect()
}

/// Scopes as they are kept: words with a space between them.
pub(crate) fn scopes(words: &str) -> Result<domain::merchants::access::Scopes, Failed> {
    words.parse().map_err(|_| Failed::Internal("a stored scope is unknown"))
}
