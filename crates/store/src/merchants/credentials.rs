//! The credentials with which merchants get access tokens. Only the hash of a secret is stored.

pub mod certificates;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;

use self::certificates::{BoundCertificate, bound, columns};
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
    /// The time of the newest call that was answered for it, to a few minutes.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The time from which it opens nothing.
    pub expires_at: Option<DateTime<Utc>>,
    /// The networks from which it may be used; none means anywhere.
    pub networks: Vec<String>,
    /// The time until which the secret before the newest rotation works.
    pub old_secret_until: Option<DateTime<Utc>>,
    /// The client certificates that it is bound to.
    pub certificates: Vec<BoundCertificate>,
}

/// The holder of a credential, as needed to answer a token request.
pub struct Holder {
    pub merchant: MerchantId,
    /// SHA-256 of the secret.
    pub secret_hash: Vec<u8>,
    pub scopes: Scopes,
    pub revoked: bool,
    pub expires_at: Option<DateTime<Utc>>,
    /// The networks from which it may be used; none means anywhere.
    pub networks: Vec<String>,
    /// SHA-256 of the secret before the newest rotation, and the time until which it works.
    pub old_secret: Option<(Vec<u8>, DateTime<Utc>)>,
    /// True if no token was fetched with the secret since it was rotated.
    pub secret_unused: bool,
    /// SHA-256 of the client certificates that it is bound to; none means that it is bound to none.
    pub certificates: Vec<Vec<u8>>,
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
    pub expires_at: Option<DateTime<Utc>>,
    pub networks: &'a [String],
    pub certificates: &'a [BoundCertificate],
}

/// Inserts a credential.
pub async fn insert(tx: &mut Tx, new: &NewCredential<'_>, now: DateTime<Utc>) -> Result<(), Failed> {
    let (fingerprints, ends) = columns(new.certificates);
    sqlx::query!(
        r#"
        insert into credential (
            client_id, merchant_id, secret_hash, secret_end, scopes, label, issued_at, expires_at, networks, certificates,
            certificates_until
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        "#,
        new.client_id,
        tx.merchant().0,
        new.secret_hash,
        new.secret_end,
        new.scopes.to_string(),
        new.label,
        now,
        new.expires_at,
        new.networks,
        &fingerprints,
        &ends,
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

/// A secret that takes the place of another.
pub struct NewSecret<'a> {
    /// SHA-256 of the secret.
    pub hash: &'a [u8],
    /// The last four characters of the secret.
    pub end: &'a str,
    /// SHA-256 of the secret that it replaces, and the time until which that one still works.
    pub old: (&'a [u8], DateTime<Utc>),
}

/// Replaces the secret of a credential whose secret is still `from`. Returns false if it is another one by now.
pub async fn rotate(tx: &mut Tx, client_id: &str, from: &[u8], new: &NewSecret<'_>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        update credential
        set secret_hash = $4, secret_end = $5, old_secret_hash = $6, old_secret_until = $7, secret_unused = true
        where merchant_id = $1 and client_id = $2 and secret_hash = $3 and revoked_at is null
        "#,
        tx.merchant().0,
        client_id,
        from,
        new.hash,
        new.end,
        new.old.0,
        new.old.1,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// The least time between two notes of a credential's use, so that a client that fetches tokens all the time does not rewrite the
/// row each time.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(1);

/// Notes that a token is fetched with the credential, and whether with its newest secret.
pub async fn note_token(tx: &mut Tx, client_id: &str, with_newest: bool, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update credential
        set first_token_at = coalesce(first_token_at, $3), last_token_at = $3, secret_unused = secret_unused and not $5
        where merchant_id = $1 and client_id = $2 and (last_token_at is null or last_token_at <= $4 or (secret_unused and $5))
        "#,
        tx.merchant().0,
        client_id,
        now,
        now - NOTED_EVERY,
        with_newest,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The least time between two notes of a credential's calls.
const CALLS_NOTED_EVERY: TimeDelta = TimeDelta::minutes(5);

/// Notes when calls were last answered for these credentials, which may be those of several merchants. One that was noted in the last
/// five minutes, or that another node is noting, is left alone.
pub async fn note_calls(store: &Store, client_ids: &[String], at: &[DateTime<Utc>], now: DateTime<Utc>) -> Result<u64, Failed> {
    let done = sqlx::query!(
        r#"
        with due as (
            select credential.client_id, call.at
            from unnest($1::text[], $2::timestamptz[]) as call (client_id, at)
            join credential on credential.client_id = call.client_id
            where credential.last_used_at is null or credential.last_used_at <= $3
            for update of credential skip locked
        )
        update credential set last_used_at = due.at from due where credential.client_id = due.client_id
        "#,
        client_ids,
        at,
        now - CALLS_NOTED_EVERY,
    )
    .execute(&store.aside)
    .await?;
    Ok(done.rows_affected())
}

/// The holder of the credential `client_id`.
pub async fn find(store: &Store, client_id: &str) -> Result<Option<Holder>, Failed> {
    let row = sqlx::query!(
        r#"
        select merchant_id, secret_hash, scopes, revoked_at, expires_at, networks, old_secret_hash, old_secret_until, secret_unused,
            certificates
        from credential
        where client_id = $1
        "#,
        client_id,
    )
    .fetch_optional(&store.tokens)
    .await?;
    row.map(|row| {
        Ok(Holder {
            merchant: MerchantId(row.merchant_id),
            secret_hash: row.secret_hash,
            scopes: scopes(&row.scopes)?,
            revoked: row.revoked_at.is_some(),
            expires_at: row.expires_at,
            networks: row.networks,
            old_secret: row.old_secret_hash.zip(row.old_secret_until),
            secret_unused: row.secret_unused,
            certificates: row.certificates,
        })
    })
    .transpose()
}

/// Every credential of `merchant`, oldest first.
pub async fn list(store: &Store, merchant: MerchantId) -> Result<Vec<Credential>, Failed> {
    let rows = sqlx::query!(
        r#"
        select client_id, scopes, label, issued_at, revoked_at, secret_end, last_token_at, last_used_at, expires_at, networks,
            old_secret_until, certificates, certificates_until
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
                last_used_at: row.last_used_at,
                expires_at: row.expires_at,
                networks: row.networks,
                old_secret_until: row.old_secret_until,
                certificates: bound(row.certificates, row.certificates_until),
            })
        })
        .collect()
}

/// Scopes as they are kept: words with a space between them.
pub(crate) fn scopes(words: &str) -> Result<domain::merchants::access::Scopes, Failed> {
    words.parse().map_err(|_| Failed::Internal("a stored scope is unknown"))
}
