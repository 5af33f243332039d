//! Upserts order snapshots and determines the outcome of each: in a batch across merchants, or in a merchant's transaction.

use std::collections::HashMap;

use domain::id::MerchantId;
use domain::orders::snapshot::{Verdict, Version, judge_unapplied};
use store::orders::snapshots::{self, Published, Snapshot};
use store::{Failed, Tx};

use crate::node::Node;

/// The number of attempts when a write collides with another transaction.
pub const TRIES: usize = 3;

/// The outcome of publishing one order.
#[derive(Clone, Copy, Debug)]
pub struct PublishOutcome {
    pub verdict: Verdict,
    /// The order changed while it has returns, which may no longer match it.
    pub changed_under_returns: bool,
}

/// Upserts orders of one merchant in its transaction.
pub async fn upsert(tx: &mut Tx, orders: &[Snapshot<'_>]) -> Result<Vec<PublishOutcome>, Failed> {
    let orders: Vec<&Snapshot<'_>> = orders.iter().collect();
    let published = snapshots::publish(tx, &orders).await?;
    let applied = AppliedSnapshots::new(&published);
    let mut stored = Stored::new();
    for (merchant, identifiers) in applied.rest(&orders) {
        stored.add(merchant, snapshots::versions(tx, &identifiers).await?);
    }
    Ok(applied.outcomes(&orders, &stored))
}

/// Upserts orders of several merchants in one statement of its own.
pub(super) async fn upsert_batch(node: &Node, orders: &[&Snapshot<'static>]) -> Result<Vec<PublishOutcome>, Failed> {
    let mut sorted = orders.to_vec();
    sorted.sort_unstable_by_key(|order| order.key());
    let mut tries = 1;
    let published = loop {
        match snapshots::publish_batch(node.cell(), &sorted).await {
            Err(Failed::Collided(_)) if tries < TRIES => tries += 1,
            done => break done?,
        }
    };
    let applied = AppliedSnapshots::new(&published);
    let mut stored = Stored::new();
    for (merchant, identifiers) in applied.rest(orders) {
        stored.add(merchant, snapshots::current_versions(node.store(merchant), merchant, &identifiers).await?);
    }
    Ok(applied.outcomes(orders, &stored))
}

/// The snapshots that an upsert applied: those that were new or changed.
struct AppliedSnapshots<'p>(HashMap<(MerchantId, &'p str), &'p Published>);

/// The stored versions of the orders that it did not apply.
struct Stored(HashMap<(MerchantId, String), Version>);

impl<'p> AppliedSnapshots<'p> {
    fn new(published: &'p [Published]) -> Self {
        Self(published.iter().map(|order| ((order.merchant, order.identifier.as_str()), order)).collect())
    }

    /// The orders that were not applied, by merchant. For these, look up if they were unchanged or stale.
    fn rest<'o>(&self, orders: &[&'o Snapshot<'_>]) -> HashMap<MerchantId, Vec<&'o str>> {
        let mut rest: HashMap<MerchantId, Vec<&str>> = HashMap::new();
        if self.0.len() < orders.len() {
            for order in orders.iter().filter(|order| !self.0.contains_key(&order.key())) {
                rest.entry(order.merchant).or_default().push(&order.identifier);
            }
        }
        rest
    }

    fn outcomes(&self, orders: &[&Snapshot<'_>], stored: &Stored) -> Vec<PublishOutcome> {
        let outcome = |order: &&Snapshot<'_>| {
            if let Some(published) = self.0.get(&order.key()) {
                let verdict = if published.revision == 1 { Verdict::Created } else { Verdict::Updated };
                PublishOutcome { verdict, changed_under_returns: published.has_returns }
            } else {
                let version = stored.0.get(&(order.merchant, order.identifier.to_string()));
                PublishOutcome { verdict: judge_unapplied(version, &order.version), changed_under_returns: false }
            }
        };
        orders.iter().map(outcome).collect()
    }
}

impl Stored {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn add(&mut self, merchant: MerchantId, versions: Vec<(String, Version)>) {
        self.0.extend(versions.into_iter().map(|(identifier, version)| ((merchant, identifier), version)));
    }
}
