//! The operator sets up a merchant. Every change is audited in its own transaction.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{Handle, MerchantId};
use domain::merchants::access::Scopes;
use domain::merchants::onboarding::Step;
use domain::merchants::operator::Email;
use secrecy::{ExposeSecret as _, SecretString};
use store::Tx;
use store::merchants::accounts::{self, Merchant};
use store::merchants::audit::{self, Change, Entry};
use store::merchants::credentials::{self, NewCredential};
use store::merchants::onboarding;
use wire::merchants::audit::Changes;
use wire::time;

use super::bind_certificate::{self, BindError};
use crate::app::App;
use crate::node::security::Event;
use crate::platform::client_certificate::ClientCertificate;
use crate::platform::keys::bearer;
use crate::platform::networks::{self, Network};

/// The reasons a merchant cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    #[error("the merchant `{0}` already exists; choose another handle")]
    HandleTaken(Handle),
    /// Also when it has been revoked already.
    #[error("the merchant has no live credential `{0}`; `backhaul credential list --merchant HANDLE` lists its credentials")]
    NoSuchCredential(String),
    #[error("a credential needs at least one scope: `orders`, `warehouse` or `carrier`")]
    NoScope,
    #[error("a credential has at most {} networks; name larger ones", networks::MOST)]
    TooManyNetworks,
    #[error("the merchant `{0}` is being deleted, which cannot be undone")]
    Deleting(String),
    #[error("`{0}` is not an e-mail address, so nobody could be told when the merchant's systems fail; give one such as ops@example.com")]
    NoContact(String),
    #[error("a merchant's name has 1 to {LONGEST_NAME} characters; give its full name, as shoppers know it")]
    NoName,
    #[error("the merchant `{0}` is live already")]
    AlreadyLive(String),
    #[error("the settings name no cell `{0}`; `backhaul cell list` lists all of them")]
    NoSuchCell(String),
    #[error("the cell `{0}` was not added yet; `backhaul cell add {0}` prepares it and opens it")]
    CellNotAdded(String),
    #[error("the cell `{0}` takes no new merchants; name another one, or open it with `backhaul cell open {0}`")]
    CellDrains(String),
    #[error("no cell is open for new merchants and answers; see `backhaul cell list`")]
    NoOpenCell,
    #[error(transparent)]
    Binding(#[from] BindError),
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

pub(super) async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str) -> Result<(), store::Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail, done_at: app.now() }).await
}

/// Records a change with the fields that differ.
async fn record_change(app: &App, tx: &mut Tx, actor: &str, action: &str, detail: &str, changes: &Changes) -> Result<(), store::Failed> {
    let entry = Entry { id: app.mint(), actor, action, detail, done_at: app.now() };
    audit::record(tx, entry.with(Change { before: changes.before(), after: changes.after() })).await
}

/// The longest name of a merchant, in characters.
pub const LONGEST_NAME: usize = 200;

/// Gives the merchant another name. Its handle stays.
pub async fn rename_merchant(app: &App, actor: &str, merchant: &Merchant, name: &str) -> Result<(), ConfigureError> {
    let name = name.trim();
    if !(1..=LONGEST_NAME).contains(&name.chars().count()) {
        return Err(ConfigureError::NoName);
    }
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_name(&mut tx, name).await?;
    let changes = Changes::default().field("name", merchant.name.as_str(), name);
    record_change(app, &mut tx, actor, "merchant.renamed", &merchant.handle, &changes).await?;
    Ok(app.commit(tx).await?)
}

/// Checks that somebody can be reached there.
pub(super) fn check_contact(contact: Option<&str>) -> Result<(), ConfigureError> {
    match contact {
        Some(contact) if contact.parse::<Email>().is_err() => Err(ConfigureError::NoContact(contact.to_owned())),
        _ => Ok(()),
    }
}

/// Sets the contact who is informed when the merchant's systems fail.
pub async fn set_technical_contact(app: &App, actor: &str, merchant: &Merchant, contact: Option<&str>) -> Result<(), ConfigureError> {
    check_contact(contact)?;
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_technical_contact(&mut tx, contact).await?;
    let print = |contact: Option<&str>| contact.map(|contact| app.fingerprints.audited(contact));
    let changes = Changes::default().field("technical_contact", print(merchant.technical_contact.as_deref()), print(contact));
    record_change(app, &mut tx, actor, "merchant.contact_changed", &merchant.handle, &changes).await?;
    Ok(app.commit(tx).await?)
}

/// Sets the days after their last change for which orders and returns keep personal data.
pub async fn set_retention(app: &App, actor: &str, merchant: &Merchant, days: i32) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_retention(&mut tx, days).await?;
    let detail = format!("{}: {days} days", merchant.handle);
    let changes = Changes::default().field("retention_days", merchant.retention_days, days);
    record_change(app, &mut tx, actor, "merchant.retention_changed", &detail, &changes).await?;
    Ok(app.commit(tx).await?)
}

/// Sets the days within which the merchant promises to refund goods that came back. It counts for goods that come back from now on.
pub async fn set_refund_days(app: &App, actor: &str, merchant: &Merchant, days: i32) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    accounts::set_refund_days(&mut tx, days).await?;
    let detail = format!("{}: {days} days", merchant.handle);
    let changes = Changes::default().field("refund_days", merchant.refund_days, days);
    record_change(app, &mut tx, actor, "merchant.refund_days_changed", &detail, &changes).await?;
    Ok(app.commit(tx).await?)
}

/// Pauses the merchant: its calls are refused.
pub async fn pause_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    if !accounts::set_paused(&mut tx, Some(app.now())).await? {
        return Err(ConfigureError::Deleting(merchant.handle.clone()));
    }
    record(app, &mut tx, actor, "merchant.paused", &merchant.handle).await?;
    Ok(app.commit(tx).await?)
}

/// Resumes the merchant: its calls are accepted again.
pub async fn resume_merchant(app: &App, actor: &str, merchant: &Merchant) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant.id).await?;
    if !accounts::set_paused(&mut tx, None).await? {
        return Err(ConfigureError::Deleting(merchant.handle.clone()));
    }
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
    pub expires_at: Option<DateTime<Utc>>,
}

/// The terms on which a credential is issued.
#[derive(Clone, Debug)]
pub struct Terms {
    pub scopes: Scopes,
    /// The purpose, in the operator's words.
    pub label: String,
    /// The days after which it opens nothing; none means that it works until it is revoked.
    pub days: Option<u32>,
    /// The networks from which it may be used; none means anywhere.
    pub networks: Vec<Network>,
    /// The client certificates that it is bound to; none means that it works without one.
    pub certificates: Vec<ClientCertificate>,
}

impl Terms {
    /// Terms without an end, from anywhere, without a client certificate.
    #[must_use]
    pub fn open(scopes: Scopes, label: &str) -> Self {
        Self { scopes, label: label.to_owned(), days: None, networks: Vec::new(), certificates: Vec::new() }
    }
}

/// Issues a credential.
pub async fn issue_credential(app: &App, actor: &str, merchant: MerchantId, terms: &Terms) -> Result<IssuedCredential, ConfigureError> {
    if terms.scopes.is_empty() {
        return Err(ConfigureError::NoScope);
    }
    if terms.networks.len() > networks::MOST {
        return Err(ConfigureError::TooManyNetworks);
    }
    let certificates = bind_certificate::checked(app, &terms.certificates)?;
    let (client_id, client_secret) = bearer::new_credential(&app.entropy);
    let now = app.now();
    let expires_at = terms.days.map(|days| now + TimeDelta::days(days.into()));
    let networks: Vec<String> = terms.networks.iter().map(ToString::to_string).collect();
    let mut tx = app.begin(merchant).await?;
    let new = NewCredential {
        client_id: &client_id,
        secret_hash: &bearer::hash(client_secret.expose_secret()),
        secret_end: bearer::end_of(&client_secret),
        scopes: terms.scopes,
        label: &terms.label,
        expires_at,
        networks: &networks,
        certificates: &certificates,
    };
    credentials::insert(&mut tx, &new, now).await?;
    let changes = Changes::default()
        .field("scopes", Option::<String>::None, terms.scopes.to_string())
        .field("expires_at", Option::<String>::None, expires_at.map(time::write))
        .field("networks", Option::<Vec<String>>::None, networks.clone())
        .field("certificates", Option::<Vec<String>>::None, Some(bind_certificate::told(&certificates)).filter(|told| !told.is_empty()))
        .field("secret", Option::<String>::None, app.fingerprints.audited(client_secret.expose_secret()));
    record_change(app, &mut tx, actor, "credential.issued", &client_id, &changes).await?;
    app.commit(tx).await?;
    Ok(IssuedCredential { client_id, client_secret, expires_at })
}

/// Revokes a credential and every token issued for it.
pub async fn revoke_credential(app: &App, actor: &str, merchant: MerchantId, client_id: &str) -> Result<(), ConfigureError> {
    let mut tx = app.begin(merchant).await?;
    if !credentials::revoke(&mut tx, client_id, app.now()).await? {
        return Err(ConfigureError::NoSuchCredential(client_id.to_owned()));
    }
    record(app, &mut tx, actor, "credential.revoked", client_id).await?;
    app.commit(tx).await?;
    Event::CredentialRevoked { client: client_id, merchant }.log();
    Ok(())
}
