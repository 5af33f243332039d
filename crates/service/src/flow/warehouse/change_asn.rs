//! A merchant changes an ASN, or calls it off, before anything of it has arrived.

use domain::id::MerchantId;
use domain::warehouse::inbound::{Act, Refused, State};
use store::Failed;
use store::warehouse::inbound_asns::{self, Asn, New};

use crate::app::App;
use crate::show::warehouse::inbound::digest;

/// Why an ASN was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeAsnError {
    /// The merchant has no such ASN.
    #[error("there is no such ASN")]
    NoSuchAsn,
    /// It cannot be, as the ASN stands.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Replaces what an ASN says; false if it said the same.
pub async fn change_asn(app: &App, merchant: MerchantId, asn: &Asn) -> Result<bool, ChangeAsnError> {
    let digest = digest(asn).map_err(|_| Failed::Internal("an ASN could not be read again"))?;
    let mut tx = app.begin(merchant).await?;
    let kept = inbound_asns::lock(&mut tx, &asn.number).await?.ok_or(ChangeAsnError::NoSuchAsn)?;
    kept.state.on(Act::Change)?;
    if kept.digest == digest {
        return Ok(false);
    }
    inbound_asns::replace(&mut tx, &New { id: kept.id, digest, asn }, app.now()).await?;
    app.commit(tx).await?;
    Ok(true)
}

/// Calls an ASN off.
pub async fn cancel_asn(app: &App, merchant: MerchantId, number: &str) -> Result<(), ChangeAsnError> {
    let mut tx = app.begin(merchant).await?;
    let kept = inbound_asns::lock(&mut tx, number).await?.ok_or(ChangeAsnError::NoSuchAsn)?;
    kept.state.on(Act::Cancel)?;
    if kept.state != State::Cancelled {
        inbound_asns::save_state(&mut tx, kept.id, State::Cancelled, app.now()).await?;
        app.commit(tx).await?;
    }
    Ok(())
}
