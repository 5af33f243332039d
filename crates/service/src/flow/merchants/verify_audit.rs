//! Verifies the chains of the audit trail: computes every hash again, and compares it with what is stored.

use chrono::TimeDelta;
use store::Failed;
use store::merchants::audit_chain::{self, Chain, Head, Link};
use uuid::Uuid;

use crate::app::App;

/// The time by which an entry that the chain does not know may be newer than the chain's first one. Nodes' clocks differ by less.
const CLOCKS_DIFFER_BY: TimeDelta = TimeDelta::minutes(5);

/// The times that a chain is looked at anew because retention has moved its beginning meanwhile.
const MOST_RESTARTS: usize = 5;

/// A chain that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The entries that fit.
    pub entries: i64,
    /// The newest entry that retention has deleted; 0 if it has deleted none.
    pub begins_after: i64,
    /// The first entry that does not fit.
    pub broken: Option<Broken>,
}

/// The first entry that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its place in the chain; `None` for an entry that the chain does not know.
    pub sequence: Option<i64>,
    /// `None` for an entry that is missing.
    pub id: Option<Uuid>,
    pub why: Fault,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("it is missing")]
    Missing,
    #[error("it was altered: its hash is not that of its content")]
    Altered,
    #[error("it does not follow the entry before it")]
    Unlinked,
    #[error("it is newer than the chain and not in it")]
    Unchained,
    #[error("the head of the chain is another entry")]
    OtherHead,
}

/// Verifies one chain, up to the entry that is the newest when it begins.
pub async fn verify_audit(app: &App, chain: Chain) -> Result<Verified, Failed> {
    let store = match chain {
        Chain::Of(merchant) => app.store(merchant),
        Chain::Home => app.home(),
    };
    let mut restarts = 0;
    loop {
        let Some(head) = audit_chain::head(store, chain).await? else {
            return Ok(Verified { entries: 0, begins_after: 0, broken: None });
        };
        let (verified, first) = follow(store, chain, &head).await?;
        let moved = audit_chain::head(store, chain).await?.is_some_and(|now| now.anchor_sequence != head.anchor_sequence);
        if verified.broken.is_some() && moved && restarts < MOST_RESTARTS {
            restarts += 1;
            continue;
        }
        if let (None, Some(first)) = (&verified.broken, first) {
            let unknown = audit_chain::find_unchained(store, chain, first.done_at + CLOCKS_DIFFER_BY).await?;
            let broken = unknown.map(|id| Broken { sequence: None, id: Some(id), why: Fault::Unchained });
            return Ok(Verified { broken, ..verified });
        }
        return Ok(verified);
    }
}

/// Follows a chain from its beginning to its head. Returns its first entry, too.
async fn follow(store: &store::Store, chain: Chain, head: &Head) -> Result<(Verified, Option<Link>), Failed> {
    let (mut at, mut hash, mut first) = (head.anchor_sequence, head.anchor_hash.clone(), None);
    let verified = |at: i64, broken| Verified { entries: at - head.anchor_sequence, begins_after: head.anchor_sequence, broken };
    while at < head.sequence {
        let links = audit_chain::links(store, chain, at).await?;
        if links.is_empty() {
            return Ok((verified(at, Some(Broken { sequence: Some(at + 1), id: None, why: Fault::Missing })), first));
        }
        for link in links.into_iter().take_while(|link| link.sequence <= head.sequence) {
            if let Some(broken) = check(chain, &link, at, &hash) {
                return Ok((verified(at, Some(broken)), first));
            }
            (at, hash) = (link.sequence, link.hash.clone());
            first.get_or_insert(link);
        }
    }
    let other = (hash != head.hash).then_some(Broken { sequence: Some(at), id: None, why: Fault::OtherHead });
    Ok((verified(at, other), first))
}

/// What is wrong with an entry that follows the one with the number `at` and this hash.
fn check(chain: Chain, link: &Link, at: i64, hash: &[u8]) -> Option<Broken> {
    if link.sequence != at + 1 {
        return Some(Broken { sequence: Some(at + 1), id: None, why: Fault::Missing });
    }
    let broken = |why| Some(Broken { sequence: Some(link.sequence), id: Some(link.id), why });
    if link.previous_hash != hash {
        return broken(Fault::Unlinked);
    }
    if link.hash == link.hash_after(chain, hash) { None } else { broken(Fault::Altered) }
}
