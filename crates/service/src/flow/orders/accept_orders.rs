//! Stores the orders that a merchant publishes: the newest snapshot of each, and each refund once.
//!
//! A message without refunds and exchange orders shares an upsert with others that arrive at the same time ([`crate::intake`]). One
//! that has either, repeats an order, or is only validated, gets a transaction of its own.

mod entries;
mod exchanges;
mod findings;
mod refunds;
mod returns;
mod settling;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use domain::id::MerchantId;
use domain::orders::snapshot::Verdict;
use store::merchants::erasures;
use store::orders::snapshots::{Fingerprint, Snapshot};
use store::{Failed, Tx};
use wire::fault::Warning;
use wire::orders::order::{OrderIn, Received, ReceivedOrder};
use wire::shape::Text;

pub(super) use self::exchanges::record_exchanges;
pub(super) use self::findings::{Findings, Placed};
pub(super) use self::refunds::record_refunds;
use super::renew_suppressions::renew_suppressions;
use crate::app::App;
use crate::intake::counted::What;
use crate::intake::{PublishOutcome, TRIES, upsert};
use crate::platform::metrics::ResultLabels;

/// The result of an accepted order message.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Order identifiers and verdicts, in the order of the message.
    pub orders: Vec<(String, Verdict)>,
    pub warnings: Vec<Warning>,
}

/// Stores a message that came in `body`, all of it or nothing.
pub async fn accept_orders(app: &App, merchant: MerchantId, message: Received<'_>, body: &Bytes) -> Result<Accepted, Failed> {
    renew_suppressions(app, merchant, message.orders.iter()).await?;
    let done = if suits_a_batch(&message) { together(app, merchant, message, body).await? } else { alone(app, merchant, &message).await? };
    for (_, verdict) in &done.accepted.orders {
        app.metrics.orders.get_or_create(&ResultLabels { result: verdict_word(*verdict) }).inc();
    }
    app.metrics.refunds.inc_by(done.new_refunds);
    let orders = done.accepted.orders.iter().map(|(_, verdict)| (What::Order(verdict_word(*verdict)), 1));
    let warnings = done.accepted.warnings.iter().map(|warning| (What::Warning(warning.kind()), 1));
    app.intake.counted.note(merchant, app.now().date_naive(), orders.chain(warnings).chain([(What::TAKEN, 1)]));
    Ok(done.accepted)
}

/// Checks a message against the stored data without storing anything.
pub async fn validate_orders(app: &App, merchant: MerchantId, message: &Received<'_>) -> Result<Accepted, Failed> {
    let (tx, written) = write(app, merchant, message).await?;
    tx.rollback().await?;
    Ok(written.done(message).accepted)
}

/// A message can share an upsert if nothing follows from its orders (no refunds, no exchange orders) and it has no order twice.
fn suits_a_batch(message: &Received<'_>) -> bool {
    let mut seen = HashSet::with_capacity(message.orders.len());
    message.orders.iter().all(|ReceivedOrder { order, .. }| {
        order.refunds.0.is_empty() && order.exchanged_for().is_none() && seen.insert(&*order.identifier.0)
    })
}

/// Stores a message that shares an upsert. Many of them wait at once, so the parsed message is dropped before the wait, and the orders in
/// the queue are parts of the body, not copies.
async fn together(app: &App, merchant: MerchantId, message: Received<'_>, body: &Bytes) -> Result<StoredMessage, Failed> {
    let identifiers = message.identifiers();
    let orders = message.orders.iter().map(|received| snapshot(app, merchant, received).keep(body)).collect();
    let mut warnings: Vec<Warning> = message.orders.into_iter().flat_map(|order| order.warnings).collect();
    let outcomes = app.intake.publish(app, orders).await.inspect_err(|failed| app.forget_moved(merchant, failed))?;
    warnings.extend(returns::missing_units(app, merchant, &identifiers, &outcomes).await?);
    let orders = identifiers.into_iter().zip(outcomes.iter().map(|outcome| outcome.verdict)).collect();
    Ok(StoredMessage { accepted: Accepted { orders, warnings }, new_refunds: 0 })
}

/// Stores a message in a transaction of its own.
async fn alone(app: &App, merchant: MerchantId, message: &Received<'_>) -> Result<StoredMessage, Failed> {
    let mut tries = 1;
    let written = loop {
        let (tx, written) = write(app, merchant, message).await?;
        match app.commit(tx).await {
            Err(Failed::Collided(_)) if tries < TRIES => tries += 1,
            committed => break committed.map(|()| written)?,
        }
    };
    let missing = returns::missing_units(app, merchant, &message.identifiers(), &written.outcomes).await?;
    let mut done = written.done(message);
    done.accepted.warnings.extend(missing);
    Ok(done)
}

/// The result of writing a message, before its transaction ends.
struct Written {
    /// In the order of the message.
    outcomes: Vec<PublishOutcome>,
    findings: Findings,
}

impl Written {
    fn done(self, message: &Received<'_>) -> StoredMessage {
        let verdicts = self.outcomes.iter().map(|outcome| outcome.verdict);
        let orders = message.identifiers().into_iter().zip(verdicts).collect();
        let warnings = message.orders.iter().flat_map(|order| order.warnings.iter().cloned()).chain(self.findings.warnings).collect();
        StoredMessage { accepted: Accepted { orders, warnings }, new_refunds: self.findings.new_refunds }
    }
}

struct StoredMessage {
    accepted: Accepted,
    new_refunds: u64,
}

/// Writes a message in a transaction that the caller ends. Retries after a collision with another transaction.
async fn write(app: &App, merchant: MerchantId, message: &Received<'_>) -> Result<(Tx, Written), Failed> {
    let mut tries = 1;
    loop {
        match write_once(app, merchant, message).await {
            Err(Failed::Collided(_)) if tries < TRIES => tries += 1,
            written => return written,
        }
    }
}

async fn write_once(app: &App, merchant: MerchantId, message: &Received<'_>) -> Result<(Tx, Written), Failed> {
    let mut tx = app.begin(merchant).await?;
    let mut outcomes: Vec<(usize, PublishOutcome)> = Vec::with_capacity(message.orders.len());
    let mut findings = Findings::default();
    for round in rounds(&message.orders) {
        let published = publish(app, &mut tx, &round).await?;
        record_exchanges(app, &mut tx, &round, &mut findings).await?;
        record_refunds(app, &mut tx, &round, published.iter().map(|(_, outcome)| outcome.verdict), &mut findings).await?;
        forget_notes(&mut tx, &round, published.iter().map(|(_, outcome)| outcome)).await?;
        outcomes.extend(published);
    }
    outcomes.sort_unstable_by_key(|(at, _)| *at);
    Ok((tx, Written { outcomes: outcomes.into_iter().map(|(_, outcome)| outcome).collect(), findings }))
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Created => "created",
        Verdict::Updated => "updated",
        Verdict::Unchanged => "unchanged",
        Verdict::Stale => "stale",
    }
}

/// Splits the orders into rounds with each order at most once, so that a repeated order finds its predecessor stored. Each round
/// is sorted by identifier to avoid deadlocks between messages.
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

pub(super) async fn publish(app: &App, tx: &mut Tx, round: &[Placed<'_>]) -> Result<Vec<(usize, PublishOutcome)>, Failed> {
    let snapshots: Vec<Snapshot<'_>> = round.iter().map(|(_, received)| snapshot(app, tx.merchant(), received)).collect();
    let outcomes = upsert(tx, &snapshots).await?;
    Ok(round.iter().map(|(at, _)| *at).zip(outcomes).collect())
}

/// Removes the notes of refunds whose shopper was erased.
pub(super) async fn forget_notes(tx: &mut Tx, round: &[Placed<'_>], outcomes: impl Iterator<Item = &PublishOutcome>) -> Result<(), Failed> {
    let suppressed = round.iter().zip(outcomes).filter(|(_, outcome)| outcome.suppressed);
    let orders: Vec<&str> = suppressed.map(|((_, received), _)| &*received.order.identifier.0).collect();
    if orders.is_empty() { Ok(()) } else { erasures::forget_notes(tx, &orders).await }
}

pub(super) fn snapshot<'m>(app: &App, merchant: MerchantId, received: &'m ReceivedOrder<'m>) -> Snapshot<'m> {
    let order = &received.order;
    let (email, zip) = shopper_fingerprints(app, order);
    Snapshot {
        merchant,
        identifier: Cow::Borrowed(&order.identifier.0),
        status: order.status.0,
        placed_at: order.created_at.0,
        version: received.version(),
        received_at: app.now(),
        email_fingerprint: email,
        zip_fingerprint: zip,
        warnings: (!received.warnings.is_empty()).then(|| serde_json::to_string(&received.warnings).unwrap_or_default()),
        text: received.text.into(),
        erased_at: None,
    }
}

/// The fingerprints of the shopper's e-mail address and postal code.
pub(super) fn shopper_fingerprints(app: &App, order: &OrderIn<'_>) -> (Option<Fingerprint>, Option<Fingerprint>) {
    let address = order.shipping_address.as_ref().or(order.billing_address.as_ref());
    let zip = address.and_then(|address| {
        let country = address.country_code.as_ref().map(|Text(country)| &**country);
        address.zip_code.as_ref().map(|Text(zip)| app.fingerprints.zip(zip, country))
    });
    (order.customer.email.as_ref().map(|Text(email)| app.fingerprints.email(email)), zip)
}
