//! The operator sets up a merchant. Every change leaves an audit row in its own transaction.

use domain::id::{Handle, MerchantId};
use domain::merchants::access::Scopes;
use secrecy::{ExposeSecret as _, SecretString};
use store::Tx;
use store::merchants::accounts::{self, Merchant};
use store::merchants::audit::{self, Entry};
use store::merchants::credentials;

use crate::app::App;
use crate::platform::keys::bearer;

/// Why a merchant was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    /// The handle belongs to another merchant.
    #[error("there is a merchant `{0}` already; choose another handle")]
    HandleTaken(Handle),
    /// The credential is not this merchant's, or was revoked before.
    #[error("the merchant has no live credential `{0}`; `backhaul credential list` shows those that it has")]
    NoSuchCredential(String),
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), store::Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Adds a merchant.
pub async fn add_merchant(
    app: &App,
    actor: &str,
    handle: &Handle,
    name: &str,
    technical_contact: Option<&str>,
) -> Result<MerchantId, ConfigureError> {
    let merchant = MerchantId(app.mint());
    let mut tx = app.begin(merchant).await?;
    match accounts::insert(&mut tx, handle, name, technical_contact, app.now()).await {
        Err(failed) if failed.violates(accounts::HANDLE_IS_UNIQUE) => return Err(ConfigureError::HandleTaken(handle.clone())),
        done => done?,
    }
    record(app, &mut tx, actor, "merchant.added", handle.as_str()).await?;
    app.commit(tx).await?;
    Ok(merchant)
}

/// Says whom to tell when the merchant's systems fail.
pub async fn set_technical_contact(app: &App, actor: &str, merchant: &Merchant, contact: Option<&str>) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_technical_contact(&mut tx, contact).await?;
    record(app, &mut tx, actor, "merchant.contact_changed", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Refuses the merchant's calls from now on.
pub async fn pause_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_paused(&mut tx, Some(app.now())).await?;
    record(app, &mut tx, actor, "merchant.paused", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Answers the merchant's calls again.
pub async fn resume_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_paused(&mut tx, None).await?;
    record(app, &mut tx, actor, "merchant.resumed", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// A credential as it is shown, once.
pub struct IssuedCredential {
    /// Its public half.
    pub client_id: String,
    /// Its secret half, of which only a hash is kept.
    pub client_secret: SecretString,
}

/// Issues a credential.
pub async fn issue_credential(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    scopes: Scopes,
    label: &str,
) -> Result<IssuedCredential, ConfigureError> {
    let (client_id, client_secret) = bearer::new_credential(&app.entropy);
    let mut tx = app.begin(merchant).await?;
    credentials::insert(&mut tx, &client_id, &bearer::hash(client_secret.expose_secret()), scopes, label, app.now()).await?;
    record(app, &mut tx, actor, "credential.issued", &client_id).await?;
    app.commit(tx).await?;
    Ok(IssuedCredential { client_id, client_secret })
}

/// Revokes a credential, and with it every token that it got.
pub async fn revoke_credential(app: &App, actor: &str, merchant: MerchantId, client_id: &str) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant).await?;
    if !credentials::revoke(&mut tx, client_id, app.now()).await? {
        return Err(ConfigureError::NoSuchCredential(client_id.to_owned()));
    }
    record(app, &mut tx, actor, "credential.revoked", client_id).await?;
    Ok(app.commit(tx).await?)
}
