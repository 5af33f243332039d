//! Changes or cancels an ASN for the merchant, before any of its units have arrived.

use domain::id::MerchantId;
use domain::warehouse::inbound::{Act, Refused, State};
use store::Failed;
use store::warehouse::inbound_asns::{self, Asn, New};

use crate::app::App;
use crate::show::warehouse::inbound::digest;

/// The reasons an ASN cannot be changed, cancelled or closed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeAsnError {
    #[error("the merchant has no such ASN")]
    NoSuchAsn,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Replaces the content of an ASN. Returns `false` if it is the same.
pub async fn change_asn(app: &App, merchant: MerchantId, asn: &Asn) -> Result<bool, ChangeAsnError> {
    let digest = digest(asn).map_err(|_| Failed::Internal("an ASN could not be hashed"))?;
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

/// Cancels an ASN.
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
