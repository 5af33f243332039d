//! Issues an access token to a merchant's system.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::merchants::access::Scopes;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::{credentials, tokens};

use super::client::{self, ClientError, Shown};
use crate::app::App;
use crate::node::security::Event;
use crate::platform::keys::bearer;

/// A new token. Only its hash is stored.
pub struct Issued {
    pub merchant: MerchantId,
    pub token: SecretString,
    pub scopes: Scopes,
    pub issued_at: DateTime<Utc>,
    pub lifetime: TimeDelta,
}

/// The reasons that a token is not issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueTokenError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the scope is unknown or not granted; the credential has: {granted}")]
    NotGranted { granted: Scopes },
}

impl From<store::Failed> for IssueTokenError {
    fn from(failed: store::Failed) -> Self {
        Self::Client(failed.into())
    }
}

/// Issues a token to the client that knows its secret, with the scopes that it `wants`, or with all of its own. The token ends with its
/// credential, and one for the secret before a rotation ends with the overlap.
pub async fn issue_token(app: &App, shown: &Shown<'_>, wants: Option<&str>) -> Result<Issued, IssueTokenError> {
    let client = client::find(app, shown).await?;
    let app = &client.app;
    let (merchant, granted) = (client.holder.merchant, client.holder.scopes);
    let wanted = wants.filter(|wants| !wants.trim().is_empty()).map(str::parse::<Scopes>).transpose();
    let scopes = wanted.ok().map(|wanted| wanted.unwrap_or(granted)).filter(|scopes| scopes.iter().all(|scope| granted.allow(scope)));
    let scopes = scopes.ok_or(IssueTokenError::NotGranted { granted })?;
    let issued_at = app.now();
    let ends = [client.holder.expires_at, client.until];
    let expires_at = ends.into_iter().flatten().fold(issued_at + bearer::LIFETIME, DateTime::min);
    let token = bearer::new_token(merchant, &app.entropy, &app.fingerprints);
    let hash = bearer::hash(token.expose_secret());
    let mut tx = app.store(merchant).begin_token(merchant).await?;
    tokens::insert(&mut tx, &hash, shown.client_id, scopes, issued_at, expires_at).await?;
    credentials::note_token(&mut tx, shown.client_id, client.until.is_none(), issued_at).await?;
    app.commit(tx).await?;
    app.metrics.tokens.inc();
    Event::TokenIssued { client: shown.client_id, merchant }.log();
    Ok(Issued { merchant, token, scopes, issued_at, lifetime: expires_at - issued_at })
}
