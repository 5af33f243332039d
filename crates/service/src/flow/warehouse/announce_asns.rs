//! Stores the ASNs by which a merchant announces goods to a warehouse: all of a message, or none.

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::warehouse::inbound::State;
use store::warehouse::inbound_asns::{self, Asn, New, StoredAsn};
use store::{Failed, Tx};

use crate::app::App;
use crate::show::warehouse::inbound::digest;

/// The number of attempts when a concurrent request announces the same numbers.
const TRIES: usize = 3;

/// The outcome of announcing an ASN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    Created,
    /// It was announced before with the same content, and is in this state now.
    Unchanged(State),
}

/// The reasons nothing is announced.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    /// The numbers of the ASNs that were announced before with different content.
    #[error("these ASNs already exist with different content: {}", .0.join(", "))]
    Differ(Vec<String>),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Stores ASNs. Returns the outcome of each, in the same order.
pub async fn announce(app: &App, merchant: MerchantId, asns: &[Asn]) -> Result<Vec<Announced>, AnnounceError> {
    let mut digests = Vec::with_capacity(asns.len());
    for asn in asns {
        digests.push(digest(asn).map_err(|_| Failed::Internal("an ASN could not be hashed"))?);
    }
    let mut tries = 1;
    loop {
        let mut tx = app.begin(merchant).await?;
        let known = known(&mut tx, asns).await?;
        let differs = |(asn, digest): &(&Asn, &[u8; 32])| known.get(asn.number.as_str()).is_some_and(|known| known.digest != *digest);
        let differ: Vec<String> = asns.iter().zip(&digests).filter(differs).map(|(asn, _)| asn.number.clone()).collect();
        if !differ.is_empty() {
            return Err(AnnounceError::Differ(differ));
        }
        let is_new = |(asn, _): &(&Asn, &[u8; 32])| !known.contains_key(asn.number.as_str());
        let new = asns.iter().zip(&digests).filter(is_new).map(|(asn, digest)| New { id: app.mint(), digest: *digest, asn });
        let mut new: Vec<New<'_>> = new.collect();
        // Sorted to avoid deadlocks between messages with the same numbers.
        new.sort_unstable_by(|one, other| one.asn.number.cmp(&other.asn.number));
        if inbound_asns::insert(&mut tx, &new, app.now()).await?.len() < new.len() {
            if tries == TRIES {
                return Err(Failed::Internal("announcing ASNs kept colliding with other requests").into());
            }
            tries += 1;
            tx.rollback().await?;
            continue;
        }
        app.commit(tx).await?;
        let outcome = |asn: &Asn| known.get(asn.number.as_str()).map_or(Announced::Created, |known| Announced::Unchanged(known.state));
        return Ok(asns.iter().map(outcome).collect());
    }
}

async fn known(tx: &mut Tx, asns: &[Asn]) -> Result<HashMap<String, StoredAsn>, Failed> {
    let numbers: Vec<&str> = asns.iter().map(|asn| asn.number.as_str()).collect();
    let known = inbound_asns::list(tx, &numbers).await?;
    Ok(known.into_iter().map(|known| (known.asn.number.clone(), known)).collect())
}
