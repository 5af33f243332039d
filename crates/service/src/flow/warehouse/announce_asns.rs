//! A merchant announces goods to a warehouse: all ASNs of a message are taken, or none.

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::warehouse::inbound::State;
use store::warehouse::inbound_asns::{self, Asn, New, StoredAsn};
use store::{Failed, Tx};

use crate::app::App;
use crate::show::warehouse::inbound::digest;

/// How often a message is tried again of which a number was taken meanwhile.
const TRIES: usize = 3;

/// What became of an ASN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// It is new.
    Created,
    /// It was announced before, with the same content; it stands there now.
    Unchanged(State),
}

/// Why nothing was announced.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    /// These numbers are known, with other content.
    #[error("the ASNs are known with other content: {}", .0.join(", "))]
    Differ(Vec<String>),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Takes ASNs, and answers what became of each.
pub async fn announce(app: &App, merchant: MerchantId, asns: &[Asn]) -> Result<Vec<Announced>, AnnounceError> {
    let mut digests = Vec::with_capacity(asns.len());
    for asn in asns {
        digests.push(digest(asn).map_err(|_| Failed::Internal("an ASN could not be read again"))?);
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
        // In one order, so that two messages with the same numbers wait for each other and not crosswise.
        new.sort_unstable_by(|one, other| one.asn.number.cmp(&other.asn.number));
        if inbound_asns::insert(&mut tx, &new, app.now()).await?.len() < new.len() {
            if tries == TRIES {
                return Err(Failed::Internal("the numbers of ASNs were taken again and again").into());
            }
            tries += 1;
            tx.rollback().await?;
            continue;
        }
        app.commit(tx).await?;
        let became = |asn: &Asn| known.get(asn.number.as_str()).map_or(Announced::Created, |known| Announced::Unchanged(known.state));
        return Ok(asns.iter().map(became).collect());
    }
}

async fn known(tx: &mut Tx, asns: &[Asn]) -> Result<HashMap<String, StoredAsn>, Failed> {
    let numbers: Vec<&str> = asns.iter().map(|asn| asn.number.as_str()).collect();
    let known = inbound_asns::list(tx, &numbers).await?;
    Ok(known.into_iter().map(|known| (known.asn.number.clone(), known)).collect())
}
