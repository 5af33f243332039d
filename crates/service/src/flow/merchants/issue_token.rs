//! A merchant's system asks for a token.

use chrono::{DateTime, Utc};
use domain::merchants::access::Scopes;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::{credentials, tokens};

use crate::app::App;
use crate::platform::keys::bearer;

/// A token, for the caller alone.
pub struct Issued {
    /// The token itself.
    pub token: SecretString,
    /// What it opens.
    pub scopes: Scopes,
    /// When it was issued.
    pub issued_at: DateTime<Utc>,
}

/// Why no token was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueTokenError {
    /// There is no such client, its secret is another, or it was revoked: all look the same from outside.
    #[error("wrong client")]
    WrongClient,
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Issues a token to the client that knows its secret.
pub async fn issue_token(app: &App, client_id: &str, client_secret: &SecretString) -> Result<Issued, IssueTokenError> {
    let holder = credentials::find(app.cell(), client_id).await?;
    // An unknown client is compared too, so that it takes as long as a known one.
    let expected = holder.as_ref().map_or(&[0; 32][..], |holder| &holder.secret_hash);
    let right = bearer::same(&bearer::hash(client_secret.expose_secret()), expected);
    let holder = holder.filter(|holder| right && !holder.revoked).ok_or(IssueTokenError::WrongClient)?;

    let issued_at = app.now();
    let token = bearer::new_token(holder.merchant, &app.entropy);
    let hash = bearer::hash(token.expose_secret());
    let mut tx = app.begin(holder.merchant).await?;
    tokens::insert(&mut tx, &hash, client_id, holder.scopes, issued_at, issued_at + bearer::LIFETIME).await?;
    app.commit(tx).await?;
    app.metrics.tokens.inc();
    Ok(Issued { token, scopes: holder.scopes, issued_at })
}
