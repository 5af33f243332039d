//! Upserts order snapshots and determines the outcome of each: in a batch across merchants, or in a merchant's transaction.
//!
//! A snapshot of a shopper who was erased is not applied. It is written once more, without anything personal.

use std::borrow::Cow;

use domain::id::MerchantId;
use domain::orders::snapshot::{Verdict, Version, judge_unapplied};
use store::orders::snapshots::{self, Published, Snapshot, Unapplied};
use store::{Failed, Tx};
use wire::orders::order::{digest, erased};

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

/// Upserts orders of one merchant in its transaction. They must be sorted by identifier, each of them once.
pub async fn upsert(tx: &mut Tx, orders: &[Snapshot<'_>]) -> Result<Vec<PublishOutcome>, Failed> {
    let orders: Vec<&Snapshot<'_>> = orders.iter().collect();
    let mut written = Written::new(&orders);
    written.add_applied(snapshots::publish(tx, &orders).await?);
    let rest = written.rest();
    if !rest.is_empty() {
        written.add_unapplied(tx.merchant(), snapshots::unapplied(tx, &rest).await?);
    }
    let redacted = written.redacted()?;
    if !redacted.is_empty() {
        written.add_applied(snapshots::publish(tx, &redacted.iter().collect::<Vec<_>>()).await?);
    }
    Ok(orders.iter().map(|order| written.outcome(order)).collect())
}

/// Upserts orders of several merchants in one statement of its own. Returns the outcomes in the order given.
pub(super) async fn upsert_batch(node: &Node, orders: &[&Snapshot<'static>]) -> Result<Vec<PublishOutcome>, Failed> {
    let mut sorted = orders.to_vec();
    sorted.sort_unstable_by_key(|order| order.key());
    let mut written = Written::new(&sorted);
    written.add_applied(publish_batch(node, &sorted).await?);
    for rest in written.rest().chunk_by(|one, next| one.merchant == next.merchant) {
        let Some(merchant) = rest.first().map(|order| order.merchant) else { continue };
        written.add_unapplied(merchant, snapshots::currently_unapplied(node.store(merchant), merchant, rest).await?);
    }
    let redacted = written.redacted()?;
    if !redacted.is_empty() {
        written.add_applied(publish_batch(node, &redacted.iter().collect::<Vec<_>>()).await?);
    }
    Ok(orders.iter().map(|order| written.outcome(order)).collect())
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
    let text = erased(order.text.as_str()).ok_or(Failed::Internal("an order cannot be stored without personal data"))?;
    Ok(Snapshot {
        merchant: order.merchant,
        identifier: Cow::Owned(order.identifier.clone().into_owned()),
        status: order.status,
        placed_at: order.placed_at,
        version: Version { updated_at: order.version.updated_at, digest: digest(&text) },
        received_at: order.received_at,
        email_fingerprint: None,
        zip_fingerprint: None,
        warnings: order.warnings.clone(),
        text: text.into(),
        erased_at: Some(order.received_at),
    })
}

/// The orders of an upsert, sorted by their keys, with the fate of each.
struct Written<'o, 's> {
    orders: &'o [&'o Snapshot<'s>],
    fates: Vec<Fate>,
}

/// The fate of an order.
#[derive(Default)]
struct Fate {
    /// `Some` if it was applied, because it was new or changed.
    applied: Option<Published>,
    /// `Some` if it was not applied, or not as it was sent.
    unapplied: Option<Unapplied>,
}

impl Fate {
    fn is_suppressed(&self) -> bool {
        self.unapplied.as_ref().is_some_and(|order| order.suppressed)
    }
}

impl<'o, 's> Written<'o, 's> {
    fn new(orders: &'o [&'o Snapshot<'s>]) -> Self {
        Self { orders, fates: orders.iter().map(|_| Fate::default()).collect() }
    }

    /// The position of an order.
    fn find(&self, key: (MerchantId, &str)) -> Option<usize> {
        self.orders.binary_search_by(|order| order.key().cmp(&key)).ok()
    }

    fn add_applied(&mut self, published: Vec<Published>) {
        for order in published {
            let at = self.find((order.merchant, &order.identifier));
            if let Some(fate) = at.and_then(|at| self.fates.get_mut(at)) {
                fate.applied = Some(order);
            }
        }
    }

    fn add_unapplied(&mut self, merchant: MerchantId, unapplied: Vec<Unapplied>) {
        for order in unapplied {
            let at = self.find((merchant, &order.identifier));
            if let Some(fate) = at.and_then(|at| self.fates.get_mut(at)) {
                fate.unapplied = Some(order);
            }
        }
    }

    /// The orders that were not applied. For these, look up if they were unchanged, stale or suppressed.
    fn rest(&self) -> Vec<&'o Snapshot<'s>> {
        self.with_fates().filter(|(_, fate)| fate.applied.is_none()).map(|(order, _)| order).collect()
    }

    /// The orders whose shopper was erased, without anything personal.
    fn redacted(&self) -> Result<Vec<Snapshot<'static>>, Failed> {
        self.with_fates().filter(|(_, fate)| fate.is_suppressed()).map(|(order, _)| redact(order)).collect()
    }

    fn with_fates(&self) -> impl Iterator<Item = (&'o Snapshot<'s>, &Fate)> {
        self.orders.iter().copied().zip(&self.fates)
    }

    fn outcome(&self, order: &Snapshot<'_>) -> PublishOutcome {
        let fate = self.find(order.key()).and_then(|at| self.fates.get(at));
        let suppressed = fate.is_some_and(Fate::is_suppressed);
        if let Some(published) = fate.and_then(|fate| fate.applied.as_ref()) {
            let verdict = if published.revision == 1 { Verdict::Created } else { Verdict::Updated };
            return PublishOutcome { verdict, changed_under_returns: published.has_returns, suppressed };
        }
        let stored = fate.and_then(|fate| fate.unapplied.as_ref()).and_then(|order| order.stored.as_ref());
        PublishOutcome { verdict: judge_unapplied(stored, &order.version), changed_under_returns: false, suppressed }
    }
}
