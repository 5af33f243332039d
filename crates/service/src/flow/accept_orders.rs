//! A merchant publishes orders: the newest snapshot of each is kept, and each refund is recorded once.
//!
//! There are two roads. A message without refunds shares the upsert of a [`batch`] with others that came at the same
//! time. A message with refunds, or with an order twice, or one that is only checked, goes alone, in a transaction of its
//! merchant.

pub mod batch;
mod refunds;
mod returns;

use std::borrow::Cow;
use std::collections::HashMap;

use domain::id::MerchantId;
use domain::snapshot::{Verdict, judge};
use store::Tx;
use store::orders::{self, Published, Snapshot};
use wire::fault::{MOST_TOLD, Warning};
use wire::order::{Faults, Received, ReceivedOrder};
use wire::shape::Text;

pub(super) use self::refunds::{Findings, record_refunds};
use crate::app::App;
use crate::metrics::ResultLabels;

/// What became of an order message.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Each order by its identifier, and what became of it, as they stood in the message.
    pub orders: Vec<(String, Verdict)>,
    /// What does not add up.
    pub warnings: Vec<Warning>,
}

/// Why a message was not accepted. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum AcceptOrdersError {
    /// It contradicts what was received before.
    #[error("the message contradicts what was received before")]
    Contradicts(Faults),
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// How often a message is tried again when another transaction stood in its way.
pub(super) const TRIES: usize = 3;

/// Stores a message, all of it or nothing. With `validate_only` everything happens but the commit.
pub async fn accept_orders(
    app: &App,
    merchant: MerchantId,
    message: Received<'_>,
    validate_only: bool,
) -> Result<Accepted, AcceptOrdersError> {
    let done = if validate_only || !batch::suits(&message) {
        alone(app, merchant, &message, validate_only).await?
    } else {
        together(app, merchant, message).await?
    };
    if !validate_only {
        for (_, verdict) in &done.accepted.orders {
            app.metrics.orders.get_or_create(&ResultLabels { result: verdict_word(*verdict) }).inc();
        }
        app.metrics.refunds.inc_by(done.new_refunds);
    }
    Ok(done.accepted)
}

/// The road of a message that shares an upsert. What was read of it is given up before the wait: many wait at once.
async fn together(app: &App, merchant: MerchantId, message: Received<'_>) -> Result<Done, store::Failed> {
    let identifiers = message.identifiers();
    let orders = message.orders.iter().map(|received| snapshot(app, merchant, received).into_owned()).collect();
    let mut warnings: Vec<Warning> = message.orders.into_iter().flat_map(|order| order.warnings).collect();
    let fates = app.intake.publish(app, orders).await?;
    warnings.extend(returns::doubt(app, merchant, &identifiers, &fates).await?);
    let orders = identifiers.into_iter().zip(fates.iter().map(|fate| fate.verdict)).collect();
    Ok(Done { accepted: Accepted { orders, warnings }, new_refunds: 0 })
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Created => "created",
        Verdict::Updated => "updated",
        Verdict::Unchanged => "unchanged",
        Verdict::Stale => "stale",
    }
}

/// What became of an order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    pub(super) verdict: Verdict,
    /// Whether it changed, and has returns that may not fit any more.
    changed_under_returns: bool,
}

impl Fate {
    const fn of(published: &Published) -> Self {
        let verdict = if published.revision == 1 { Verdict::Created } else { Verdict::Updated };
        Self { verdict, changed_under_returns: published.has_returns }
    }

    const fn no_news(verdict: Verdict) -> Self {
        Self { verdict, changed_under_returns: false }
    }
}

struct Done {
    accepted: Accepted,
    new_refunds: u64,
}

/// The road of a message that goes alone; when another transaction stood in its way, it is tried again.
async fn alone(app: &App, merchant: MerchantId, message: &Received<'_>, validate_only: bool) -> Result<Done, AcceptOrdersError> {
    let mut tries = 1;
    loop {
        match attempt(app, merchant, message, validate_only).await {
            Err(AcceptOrdersError::Failed(store::Failed::Collided(_))) if tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

async fn attempt(app: &App, merchant: MerchantId, message: &Received<'_>, validate_only: bool) -> Result<Done, AcceptOrdersError> {
    let mut tx = app.store.begin(merchant).await?;
    let mut fates: Vec<(usize, Fate)> = Vec::with_capacity(message.orders.len());
    let mut findings = Findings::default();
    for round in rounds(&message.orders) {
        fates.extend(publish(app, &mut tx, &round).await?);
        record_refunds(app, &mut tx, &round, &mut findings).await?;
    }
    if !findings.faults.is_empty() {
        tx.rollback().await?;
        findings.faults.truncate(MOST_TOLD);
        return Err(AcceptOrdersError::Contradicts(Faults { faults: findings.faults, identifiers: message.identifiers() }));
    }
    if validate_only {
        tx.rollback().await?;
    } else {
        tx.commit().await?;
        findings.owed.drain(..).for_each(|owed| app.signals.owe(owed));
    }
    fates.sort_unstable_by_key(|(at, _)| *at);
    let (identifiers, fates) = (message.identifiers(), fates.into_iter().map(|(_, fate)| fate).collect::<Vec<_>>());
    let mut warnings: Vec<Warning> = message.orders.iter().flat_map(|order| order.warnings.iter().cloned()).collect();
    warnings.append(&mut findings.warnings);
    if !validate_only {
        warnings.extend(returns::doubt(app, merchant, &identifiers, &fates).await?);
    }
    let verdicts = fates.iter().map(|fate| fate.verdict);
    let accepted = Accepted { orders: identifiers.into_iter().zip(verdicts).collect(), warnings };
    Ok(Done { accepted, new_refunds: findings.new_refunds })
}

/// An order of the message and its position.
pub(super) type Placed<'m> = (usize, &'m ReceivedOrder<'m>);

/// The orders in rounds: each order once per round, so that a repeated one meets its predecessor already stored; sorted
/// by identifier, so that two messages never wait for each other in a ring.
pub(super) fn rounds<'m>(orders: &'m [ReceivedOrder<'m>]) -> Vec<Vec<Placed<'m>>> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(orders.len());
    let mut rounds: Vec<Vec<Placed<'m>>> = Vec::new();
    for (at, received) in orders.iter().enumerate() {
        let round = seen.entry(&received.order.identifier.0).or_default();
        match rounds.get_mut(*round) {
            Some(orders) => orders.push((at, received)),
            None => rounds.push(vec![(at, received)]),
        }
        *round += 1;
    }
    for round in &mut rounds {
        round.sort_unstable_by(|(_, a), (_, b)| a.order.identifier.0.cmp(&b.order.identifier.0));
    }
    rounds
}

pub(super) async fn publish(app: &App, tx: &mut Tx, round: &[Placed<'_>]) -> Result<Vec<(usize, Fate)>, store::Failed> {
    let snapshots: Vec<Snapshot<'_>> = round.iter().map(|(_, received)| snapshot(app, tx.merchant(), received)).collect();
    let fates = take(tx, &snapshots).await?;
    Ok(round.iter().map(|(at, _)| *at).zip(fates).collect())
}

/// Stores the snapshots of a round, and says what became of each.
pub(super) async fn take(tx: &mut Tx, snapshots: &[Snapshot<'_>]) -> Result<Vec<Fate>, store::Failed> {
    let taken = orders::publish(tx, &snapshots.iter().collect::<Vec<_>>()).await?;
    let taken: HashMap<&str, &Published> = taken.iter().map(|published| (published.identifier.as_str(), published)).collect();
    // The upsert names what it took; only of the rest, if any, we ask why it was no news.
    let rest: Vec<&str> =
        snapshots.iter().map(|snapshot| &*snapshot.identifier).filter(|identifier| !taken.contains_key(identifier)).collect();
    let stored: HashMap<String, _> =
        if rest.is_empty() { HashMap::new() } else { orders::versions(tx, &rest).await?.into_iter().collect() };
    let fate = |snapshot: &Snapshot<'_>| match taken.get(&*snapshot.identifier) {
        Some(published) => Fate::of(published),
        None => Fate::no_news(judge(stored.get(&*snapshot.identifier), &snapshot.version)),
    };
    Ok(snapshots.iter().map(fate).collect())
}

pub(super) fn snapshot<'m>(app: &App, merchant: MerchantId, received: &'m ReceivedOrder<'m>) -> Snapshot<'m> {
    let order = &received.order;
    let address = order.shipping_address.as_ref().or(order.billing_address.as_ref());
    let zip = address.and_then(|address| {
        let country = address.country_code.as_ref().map(|Text(country)| &**country);
        address.zip_code.as_ref().map(|Text(zip)| app.fingerprints.zip(zip, country))
    });
    Snapshot {
        merchant,
        identifier: Cow::Borrowed(&order.identifier.0),
        status: order.status.0,
        placed_at: order.created_at.0,
        version: received.version(),
        received_at: app.now(),
        email_fingerprint: order.customer.email.as_ref().map(|Text(email)| app.fingerprints.email(email)),
        zip_fingerprint: zip,
        warnings: (!received.warnings.is_empty()).then(|| serde_json::to_string(&received.warnings).unwrap_or_default()),
        text: Cow::Borrowed(received.text),
    }
}
