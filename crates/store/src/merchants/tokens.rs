//! The access tokens in use, by their hash.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;

use crate::merchants::credentials::scopes;
use crate::{Failed, Store, Tx};

/// The rights that a token grants.
#[derive(Clone, Debug)]
pub struct Grant {
    pub scopes: Scopes,
    pub expires_at: DateTime<Utc>,
    /// True if its credential has been revoked.
    pub revoked: bool,
    /// True if its merchant is paused.
    pub paused: bool,
}

/// Inserts a token, and deletes the merchant's expired ones.
pub async fn insert(
    tx: &mut Tx,
    token_hash: &[u8],
    client_id: &str,
    scopes: Scopes,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("delete from access_token where merchant_id = $1 and expires_at < $2", merchant, now).execute(tx.connection()).await?;
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

/// The rights that the token with this hash grants.
pub async fn find(store: &Store, merchant: MerchantId, token_hash: &[u8]) -> Result<Option<Grant>, Failed> {
    let row = sqlx::query!(
        r#"
        select token.scopes, token.expires_at, credential.revoked_at is not null as "revoked!", merchant.paused_at is not null as "paused!"
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
    row.map(|row| Ok(Grant { scopes: scopes(&row.scopes)?, expires_at: row.expires_at, revoked: row.revoked, paused: row.paused }))
        .transpose()
}
