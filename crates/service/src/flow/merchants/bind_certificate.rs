//! The operator binds a credential to client certificates. It then gets tokens, and uses them, only over connections on which one of
//! them was shown and proved.

use domain::id::MerchantId;
use store::Tx;
use store::merchants::audit::{self, Change, Entry};
use store::merchants::credentials::certificates::{self, BoundCertificate};
use wire::merchants::audit::Changes;

use crate::app::App;
use crate::platform::client_certificate::{ClientCertificate, Fingerprint, MOST_BOUND};

/// The reasons that a credential cannot be bound to other certificates.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error(
        "this installation asks no caller for a client certificate, so the credential could not be used: set tls.client_certificates = true, and restart. A proxy that terminates TLS in front of it hides client certificates"
    )]
    NotAsked,
    /// Also when it has been revoked.
    #[error("the merchant has no live credential `{0}`; `backhaul credential list --merchant HANDLE` lists its credentials")]
    NoSuchCredential(String),
    #[error(
        "a credential has at most {MOST_BOUND} client certificates; remove one with `backhaul credential certificate remove`, then add the other"
    )]
    TooMany,
    #[error("the credential has the client certificate {0} already")]
    There(Fingerprint),
    #[error("the credential has no client certificate {0}; `backhaul credential certificate list` lists those that it has")]
    NotThere(Fingerprint),
    #[error(
        "this is the only client certificate of the credential, which would then work without one: add the next certificate first, or issue a credential without one and revoke this one"
    )]
    Last,
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// Checks that a credential can be bound to these certificates. Returns them as they are stored.
pub(super) fn checked(app: &App, certificates: &[ClientCertificate]) -> Result<Vec<BoundCertificate>, BindError> {
    if !certificates.is_empty() && !app.settings.tls.client_certificates {
        return Err(BindError::NotAsked);
    }
    let stored = certificates.iter().try_fold(Vec::new(), |before, certificate| with(before, *certificate))?;
    Ok(stored)
}

/// The certificates with one more.
fn with(mut certificates: Vec<BoundCertificate>, new: ClientCertificate) -> Result<Vec<BoundCertificate>, BindError> {
    if certificates.iter().any(|certificate| certificate.fingerprint == new.fingerprint.bytes()) {
        return Err(BindError::There(new.fingerprint));
    }
    if certificates.len() >= MOST_BOUND {
        return Err(BindError::TooMany);
    }
    certificates.push(BoundCertificate { fingerprint: new.fingerprint.bytes().to_vec(), expires_at: new.expires_at });
    Ok(certificates)
}

/// The fingerprints of certificates as the audit tells them.
pub(super) fn told(certificates: &[BoundCertificate]) -> Vec<String> {
    let told = |certificate: &BoundCertificate| Fingerprint::try_from(certificate.fingerprint.as_slice()).ok();
    certificates.iter().filter_map(told).map(|fingerprint| fingerprint.to_string()).collect()
}

/// Binds a credential to one more certificate.
pub async fn add_certificate(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    client_id: &str,
    new: ClientCertificate,
) -> Result<(), BindError> {
    checked(app, &[new])?;
    let mut tx = app.begin(merchant).await?;
    let before = lock(&mut tx, client_id).await?;
    let after = with(before.clone(), new)?;
    save(app, tx, actor, "credential.certificate_added", client_id, [&before, &after]).await
}

/// Releases a credential from a certificate, within 5 seconds. It keeps at least one.
pub async fn remove_certificate(app: &App, actor: &str, merchant: MerchantId, client_id: &str, old: Fingerprint) -> Result<(), BindError> {
    let mut tx = app.begin(merchant).await?;
    let before = lock(&mut tx, client_id).await?;
    let after: Vec<BoundCertificate> = before.iter().filter(|certificate| certificate.fingerprint != old.bytes()).cloned().collect();
    if after.len() == before.len() {
        return Err(BindError::NotThere(old));
    }
    if after.is_empty() {
        return Err(BindError::Last);
    }
    save(app, tx, actor, "credential.certificate_removed", client_id, [&before, &after]).await
}

async fn lock(tx: &mut Tx, client_id: &str) -> Result<Vec<BoundCertificate>, BindError> {
    certificates::lock(tx, client_id).await?.ok_or_else(|| BindError::NoSuchCredential(client_id.to_owned()))
}

async fn save(
    app: &App,
    mut tx: Tx,
    actor: &str,
    action: &str,
    client_id: &str,
    [before, after]: [&[BoundCertificate]; 2],
) -> Result<(), BindError> {
    certificates::save(&mut tx, client_id, after).await?;
    let changes = Changes::default().field("certificates", told(before), told(after));
    let entry = Entry { id: app.mint(), actor, action, detail: client_id, done_at: app.now() };
    audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    Ok(app.commit(tx).await?)
}
