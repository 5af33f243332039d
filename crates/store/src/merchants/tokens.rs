//! The access tokens in use, by their hash.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;

use crate::merchants::credentials::scopes;
use crate::{Failed, Store, Tx};

/// The rights that a token grants.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The credential that it was issued to.
    pub client_id: String,
    pub scopes: Scopes,
    pub expires_at: DateTime<Utc>,
    /// The merchant's handle.
    pub handle: String,
    /// True if its credential has been revoked.
    pub revoked: bool,
    /// True if its merchant is paused.
    pub paused: bool,
    /// The networks from which its credential may be used; none means anywhere.
    pub networks: Vec<String>,
    /// SHA-256 of the client certificates that its credential is bound to; none means that it is bound to none.
    pub certificates: Vec<Vec<u8>>,
}

/// The most expired tokens that a new one clears away.
const CLEARED: i64 = 100;

/// Inserts a token, and deletes some of the merchant's expired ones.
pub async fn insert(
    tx: &mut Tx,
    token_hash: &[u8],
    client_id: &str,
    scopes: Scopes,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    forget_expired(tx, now, CLEARED).await?;
    sqlx::query!(
        "insert into access_token (merchant_id, token_hash, client_id, scopes, issued_at, expires_at) values ($1, $2, $3, $4, $5, $6)",
        merchant,
        token_hash,
        client_id,
        scopes.to_string(),
        now,
        expires_at,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Deletes the merchant's tokens that expired before `now`, about `most` of them, oldest first. Returns how many it deleted.
pub async fn forget_expired(tx: &mut Tx, now: DateTime<Utc>, most: i64) -> Result<u64, Failed> {
    let deleted = sqlx::query!(
        r#"
        delete from access_token
        where merchant_id = $1 and expires_at <= (
            select max(old.expires_at)
            from (
                select expires_at from access_token where merchant_id = $1 and expires_at < $2 order by expires_at limit $3
            ) as old
        )
        "#,
        tx.merchant().0,
        now,
        most,
    )
    .execute(tx.connection())
    .await?;
    Ok(deleted.rows_affected())
}

/// The rights that the token with this hash grants.
pub async fn find(store: &Store, merchant: MerchantId, token_hash: &[u8]) -> Result<Option<Grant>, Failed> {
    let row = sqlx::query!(
        r#"
        select token.client_id, token.scopes, token.expires_at, credential.networks, credential.certificates,
            merchant.handle, credential.revoked_at is not null as "revoked!", merchant.paused_at is not null as "paused!"
        from access_token token
        join credential using (client_id)
        join merchant on merchant.merchant_id = token.merchant_id
        where token.merchant_id = $1 and token.token_hash = $2
        "#,
        merchant.0,
        token_hash,
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| {
        Ok(Grant {
            client_id: row.client_id,
            scopes: scopes(&row.scopes)?,
            expires_at: row.expires_at,
            handle: row.handle,
            revoked: row.revoked,
            paused: row.paused,
            networks: row.networks,
            certificates: row.certificates,
        })
    })
    .transpose()
}
