//! Issues an access token to a merchant's system.

use chrono::{DateTime, Utc};
use domain::merchants::access::Scopes;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::{credentials, tokens};

use crate::app::App;
use crate::platform::keys::bearer;

/// A new token. Only its hash is stored.
pub struct Issued {
    pub token: SecretString,
    pub scopes: Scopes,
    pub issued_at: DateTime<Utc>,
}

/// The reasons no token is issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueTokenError {
    /// Unknown clients, wrong secrets and revoked credentials all look the same from outside.
    #[error("the client is unknown, its secret is wrong, or its credential was revoked")]
    WrongClient,
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Issues a token to the client that knows its secret.
pub async fn issue_token(app: &App, client_id: &str, client_secret: &SecretString) -> Result<Issued, IssueTokenError> {
    let holder = credentials::find(app.cell(), client_id).await?;
    // Compare for unknown clients too, so that they cannot be told apart by timing.
    let expected = holder.as_ref().map_or(&[0; 32][..], |holder| &holder.secret_hash);
    let right = bearer::same(&bearer::hash(client_secret.expose_secret()), expected);
    let holder = holder.filter(|holder| right && !holder.revoked).ok_or(IssueTokenError::WrongClient)?;

    let issued_at = app.now();
    let token = bearer::new_token(holder.merchant, &app.entropy);
    let hash = bearer::hash(token.expose_secret());
    let mut tx = app.begin(holder.merchant).await?;
    tokens::insert(&mut tx, &hash, client_id, holder.scopes, issued_at, issued_at + bearer::LIFETIME).await?;
    credentials::note_token(&mut tx, client_id, issued_at).await?;
    app.commit(tx).await?;
    app.metrics.tokens.inc();
    Ok(Issued { token, scopes: holder.scopes, issued_at })
}
