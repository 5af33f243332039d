//! The operator sets up a merchant. Every change is audited in its own transaction.

use domain::id::{Handle, MerchantId};
use domain::merchants::access::Scopes;
use domain::merchants::onboarding::Step;
use secrecy::{ExposeSecret as _, SecretString};
use store::Tx;
use store::merchants::accounts::{self, Merchant};
use store::merchants::audit::{self, Entry};
use store::merchants::credentials::{self, NewCredential};
use store::merchants::onboarding;

use crate::app::App;
use crate::platform::keys::bearer;

/// The reasons a merchant cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    #[error("the merchant `{0}` already exists; choose another handle")]
    HandleTaken(Handle),
    /// Also when it has been revoked already.
    #[error("the merchant has no live credential `{0}`; `backhaul credential list --merchant HANDLE` lists its credentials")]
    NoSuchCredential(String),
    #[error("the merchant `{0}` is live already")]
    AlreadyLive(String),
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

/// Sets the contact who is informed when the merchant's systems fail.
pub async fn set_technical_contact(app: &App, actor: &str, merchant: &Merchant, contact: Option<&str>) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_technical_contact(&mut tx, contact).await?;
    record(app, &mut tx, actor, "merchant.contact_changed", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Sets the days after their last change for which orders and returns keep personal data.
pub async fn set_retention(app: &App, actor: &str, merchant: &Merchant, days: i32) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_retention(&mut tx, days).await?;
    let detail = format!("{}: {days} days", merchant.handle);
    record(app, &mut tx, actor, "merchant.retention_changed", &detail).await?;
    Ok(app.commit(tx).await?)
}

/// Sets the days within which the merchant promises to refund goods that came back. It counts for goods that come back from now on.
pub async fn set_refund_days(app: &App, actor: &str, merchant: &Merchant, days: i32) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_refund_days(&mut tx, days).await?;
    let detail = format!("{}: {days} days", merchant.handle);
    record(app, &mut tx, actor, "merchant.refund_days_changed", &detail).await?;
    Ok(app.commit(tx).await?)
}

/// Pauses the merchant: its calls are refused.
pub async fn pause_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_paused(&mut tx, Some(app.now())).await?;
    record(app, &mut tx, actor, "merchant.paused", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Resumes the merchant: its calls are accepted again.
pub async fn resume_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_paused(&mut tx, None).await?;
    record(app, &mut tx, actor, "merchant.resumed", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Declares the merchant live. The audit names the steps that were still open.
pub async fn go_live(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let facts = onboarding::facts(app.store(merchant.id), merchant.id).await?;
    let open = facts.map(|facts| facts.open()).unwrap_or_default();
    let skipped: Vec<&str> = open.into_iter().filter(|step| *step != Step::Live).map(Step::as_str).collect();
    let mut tx = app.begin(merchant.id).await?;
    if !accounts::set_live(&mut tx, actor, app.now()).await? {
        return Err(ConfigureError::AlreadyLive(merchant.handle.clone()));
    }
    let detail = match skipped.as_slice() {
        [] => merchant.handle.clone(),
        skipped => format!("{}, without: {}", merchant.handle, skipped.join(", ")),
    };
    record(app, &mut tx, actor, "merchant.went_live", &detail).await?;
    Ok(app.commit(tx).await?)
}

/// A new credential, which is shown only once.
pub struct IssuedCredential {
    pub client_id: String,
    /// Only its hash is stored.
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
    let secret_hash = bearer::hash(client_secret.expose_secret());
    let new = NewCredential { client_id: &client_id, secret_hash: &secret_hash, secret_end: end_of(&client_secret), scopes, label };
    credentials::insert(&mut tx, &new, app.now()).await?;
    record(app, &mut tx, actor, "credential.issued", &client_id).await?;
    app.commit(tx).await?;
    Ok(IssuedCredential { client_id, client_secret })
}

/// The last four characters of a secret, by which people tell secrets apart.
fn end_of(secret: &SecretString) -> &str {
    let secret = secret.expose_secret();
    secret.get(secret.len().saturating_sub(4)..).unwrap_or_default()
}

/// Revokes a credential and every token issued for it.
pub async fn revoke_credential(app: &App, actor: &str, merchant: MerchantId, client_id: &str) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant).await?;
    if !credentials::revoke(&mut tx, client_id, app.now()).await? {
        return Err(ConfigureError::NoSuchCredential(client_id.to_owned()));
    }
    record(app, &mut tx, actor, "credential.revoked", client_id).await?;
    Ok(app.commit(tx).await?)
}
