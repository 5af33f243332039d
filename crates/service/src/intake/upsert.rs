//! Upserts order snapshots and determines the outcome of each: in a batch across merchants, or in a merchant's transaction.
//!
//! A snapshot of a shopper who was erased is not applied. It is written once more, without anything personal.

use std::borrow::Cow;
use std::collections::HashMap;

use domain::id::MerchantId;
use domain::orders::snapshot::{Verdict, Version, judge_unapplied};
use sha2::{Digest as _, Sha256};
use store::orders::snapshots::{self, Published, Snapshot, Unapplied};
use store::{Failed, Tx};
use wire::orders::order::erased;

use crate::node::Node;

/// The number of attempts when a write collides with another transaction.
pub const TRIES: usize = 3;

/// The outcome of publishing one order.
#[derive(Clone, Copy, Debug)]
pub struct PublishOutcome {
    pub verdict: Verdict,
    /// The order changed while it has returns, which may no longer match it.
    pub changed_under_returns: bool,
    /// The shopper was erased, so nothing personal was stored.
    pub suppressed: bool,
}

/// Upserts orders of one merchant in its transaction.
pub async fn upsert(tx: &mut Tx, orders: &[Snapshot<'_>]) -> Result<Vec<PublishOutcome>, Failed> {
    let orders: Vec<&Snapshot<'_>> = orders.iter().collect();
    let mut written = Written::default();
    written.add_applied(snapshots::publish(tx, &orders).await?);
    for rest in written.rest(&orders).into_values() {
        written.add_unapplied(tx.merchant(), snapshots::unapplied(tx, &rest).await?);
    }
    let redacted = written.redacted(&orders)?;
    if !redacted.is_empty() {
        written.add_applied(snapshots::publish(tx, &redacted.iter().collect::<Vec<_>>()).await?);
    }
    Ok(written.outcomes(&orders))
}

/// Upserts orders of several merchants in one statement of its own.
pub(super) async fn upsert_batch(node: &Node, orders: &[&Snapshot<'static>]) -> Result<Vec<PublishOutcome>, Failed> {
    let mut sorted = orders.to_vec();
    sorted.sort_unstable_by_key(|order| order.key());
    let mut written = Written::default();
    written.add_applied(publish_batch(node, &sorted).await?);
    for (merchant, rest) in written.rest(orders) {
        written.add_unapplied(merchant, snapshots::currently_unapplied(node.store(merchant), merchant, &rest).await?);
    }
    let redacted = written.redacted(&sorted)?;
    if !redacted.is_empty() {
        written.add_applied(publish_batch(node, &redacted.iter().collect::<Vec<_>>()).await?);
    }
    Ok(written.outcomes(orders))
}

async fn publish_batch(node: &Node, sorted: &[&Snapshot<'static>]) -> Result<Vec<Published>, Failed> {
    let mut tries = 1;
    loop {
        match snapshots::publish_batch(node.cell(), sorted).await {
            Err(Failed::Collided(_)) if tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

/// The snapshot without anything personal, as it is stored of a shopper who was erased.
fn redact(order: &Snapshot<'_>) -> Result<Snapshot<'static>, Failed> {
    let text = erased(&order.text).ok_or(Failed::Internal("an order cannot be stored without personal data"))?;
    Ok(Snapshot {
        merchant: order.merchant,
        identifier: Cow::Owned(order.identifier.clone().into_owned()),
        status: order.status,
        placed_at: order.placed_at,
        version: Version { updated_at: order.version.updated_at, digest: Sha256::digest(&text).into() },
        received_at: order.received_at,
        email_fingerprint: None,
        zip_fingerprint: None,
        warnings: order.warnings.clone(),
        text: Cow::Owned(text),
        erased_at: Some(order.received_at),
    })
}

type Key = (MerchantId, String);

/// The orders of an upsert: those that were applied, because they were new or changed, and why the others were not.
#[derive(Default)]
struct Written {
    applied: HashMap<Key, Published>,
    unapplied: HashMap<Key, Unapplied>,
}

impl Written {
    fn add_applied(&mut self, published: Vec<Published>) {
        self.applied.extend(published.into_iter().map(|order| ((order.merchant, order.identifier.clone()), order)));
    }

    fn add_unapplied(&mut self, merchant: MerchantId, unapplied: Vec<Unapplied>) {
        self.unapplied.extend(unapplied.into_iter().map(|order| ((merchant, order.identifier.clone()), order)));
    }

    /// The orders that were not applied, by merchant. For these, look up if they were unchanged, stale or suppressed.
    fn rest<'o, 's>(&self, orders: &[&'o Snapshot<'s>]) -> HashMap<MerchantId, Vec<&'o Snapshot<'s>>> {
        let mut rest: HashMap<MerchantId, Vec<&Snapshot<'_>>> = HashMap::new();
        if self.applied.len() < orders.len() {
            for order in orders.iter().filter(|order| !self.applied.contains_key(&key(order))) {
                rest.entry(order.merchant).or_default().push(order);
            }
        }
        rest
    }

    /// The orders whose shopper was erased, without anything personal, in the same order.
    fn redacted(&self, orders: &[&Snapshot<'_>]) -> Result<Vec<Snapshot<'static>>, Failed> {
        // Almost always nobody is.
        if !self.unapplied.values().any(|order| order.suppressed) {
            return Ok(Vec::new());
        }
        let suppressed = |order: &&&Snapshot<'_>| self.unapplied.get(&key(order)).is_some_and(|order| order.suppressed);
        orders.iter().filter(suppressed).map(|order| redact(order)).collect()
    }

    fn outcomes(&self, orders: &[&Snapshot<'_>]) -> Vec<PublishOutcome> {
        let outcome = |order: &&Snapshot<'_>| {
            let key = key(order);
            let unapplied = self.unapplied.get(&key);
            let suppressed = unapplied.is_some_and(|order| order.suppressed);
            if let Some(published) = self.applied.get(&key) {
                let verdict = if published.revision == 1 { Verdict::Created } else { Verdict::Updated };
                return PublishOutcome { verdict, changed_under_returns: published.has_returns, suppressed };
            }
            let stored = unapplied.and_then(|order| order.stored.as_ref());
            PublishOutcome { verdict: judge_unapplied(stored, &order.version), changed_under_returns: false, suppressed }
        };
        orders.iter().map(outcome).collect()
    }
}

fn key(order: &Snapshot<'_>) -> Key {
    (order.merchant, order.identifier.to_string())
}
