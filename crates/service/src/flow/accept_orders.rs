//! A merchant publishes orders: the newest snapshot of each is kept, and each refund is recorded once.
//!
//! There are two roads. A message without refunds shares the upsert of a [`batch`] with others that came at the same
//! time. A message with refunds, or with an order twice, or one that is only checked, goes alone, in a transaction of its
//! merchant.

pub mod batch;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use domain::id::MerchantId;
use domain::refund::{self, Covered, Note, Refund};
use domain::snapshot::{Verdict, judge};
use store::orders::{self, Published, Snapshot};
use store::{Tx, refunds};
use wire::fault::{Fault, MOST_TOLD, Warning};
use wire::order::{self as wire_order, Received, ReceivedOrder};
use wire::shape::Text;

use crate::app::App;
use crate::metrics::ResultLabels;

/// What became of an order message.
#[derive(Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What became of each order, as they stood in the message.
    pub verdicts: Vec<Verdict>,
    /// What does not add up.
    pub warnings: Vec<Warning>,
}

/// Why a message was not accepted. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum AcceptOrdersError {
    /// It contradicts what was received before.
    #[error("the message contradicts what was received before")]
    Contradicts(Vec<Fault>),
    /// The database.
    #[error(transparent)]
    Failed(#[from] store::Failed),
}

/// How often a message is tried again when another transaction stood in its way.
const TRIES: usize = 3;

/// Stores a message, all of it or nothing. With `validate_only` everything happens but the commit.
pub async fn accept_orders(
    app: &App,
    merchant: MerchantId,
    message: &Received<'_>,
    validate_only: bool,
) -> Result<Accepted, AcceptOrdersError> {
    let done = if validate_only || !batch::suits(message) {
        alone(app, merchant, message, validate_only).await?
    } else {
        let orders = message.orders.iter().map(|received| snapshot(app, merchant, received).into_owned()).collect();
        let verdicts = app.intake.publish(app, orders).await?;
        let warnings = message.orders.iter().flat_map(|order| order.warnings.iter().cloned()).collect();
        Done { accepted: Accepted { verdicts, warnings }, new_refunds: 0 }
    };
    if !validate_only {
        for verdict in &done.accepted.verdicts {
            app.metrics.orders.get_or_create(&ResultLabels { result: verdict_word(*verdict) }).inc();
        }
        app.metrics.refunds.inc_by(done.new_refunds);
    }
    Ok(done.accepted)
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Created => "created",
        Verdict::Updated => "updated",
        Verdict::Unchanged => "unchanged",
        Verdict::Stale => "stale",
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
    let mut verdicts: Vec<(usize, Verdict)> = Vec::with_capacity(message.orders.len());
    let mut findings = Findings::default();
    for round in rounds(&message.orders) {
        verdicts.extend(publish(app, &mut tx, &round).await?);
        record_refunds(app, &mut tx, &round, &mut findings).await?;
    }
    if !findings.faults.is_empty() {
        tx.rollback().await?;
        findings.faults.truncate(MOST_TOLD);
        return Err(AcceptOrdersError::Contradicts(findings.faults));
    }
    if validate_only {
        tx.rollback().await?;
    } else {
        tx.commit().await?;
    }
    verdicts.sort_unstable_by_key(|(at, _)| *at);
    let mut warnings: Vec<Warning> = message.orders.iter().flat_map(|order| order.warnings.iter().cloned()).collect();
    warnings.append(&mut findings.warnings);
    let accepted = Accepted { verdicts: verdicts.into_iter().map(|(_, verdict)| verdict).collect(), warnings };
    Ok(Done { accepted, new_refunds: findings.new_refunds })
}

/// An order of the message and its position.
type Placed<'m> = (usize, &'m ReceivedOrder<'m>);

/// The orders in rounds: each order once per round, so that a repeated one meets its predecessor already stored; sorted
/// by identifier, so that two messages never wait for each other in a ring.
fn rounds<'m>(orders: &'m [ReceivedOrder<'m>]) -> Vec<Vec<Placed<'m>>> {
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

async fn publish(app: &App, tx: &mut Tx, round: &[Placed<'_>]) -> Result<Vec<(usize, Verdict)>, store::Failed> {
    let snapshots: Vec<Snapshot<'_>> = round.iter().map(|(_, received)| snapshot(app, tx.merchant(), received)).collect();
    let taken = orders::publish(tx, &snapshots.iter().collect::<Vec<_>>()).await?;
    let taken: HashMap<&str, &Published> = taken.iter().map(|published| (published.identifier.as_str(), published)).collect();
    // The upsert names what it took; only of the rest, if any, we ask why it was no news.
    let rest: Vec<&str> =
        snapshots.iter().map(|snapshot| &*snapshot.identifier).filter(|identifier| !taken.contains_key(identifier)).collect();
    let stored: HashMap<String, _> =
        if rest.is_empty() { HashMap::new() } else { orders::versions(tx, &rest).await?.into_iter().collect() };
    let verdict = |snapshot: &Snapshot<'_>| match taken.get(&*snapshot.identifier) {
        Some(Published { revision: 1, .. }) => Verdict::Created,
        Some(_) => Verdict::Updated,
        None => judge(stored.get(&*snapshot.identifier), &snapshot.version),
    };
    Ok(round.iter().zip(&snapshots).map(|((at, _), snapshot)| (*at, verdict(snapshot))).collect())
}

fn snapshot<'m>(app: &App, merchant: MerchantId, received: &'m ReceivedOrder<'m>) -> Snapshot<'m> {
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

/// What the refunds of a message turn up.
#[derive(Default)]
struct Findings {
    faults: Vec<Fault>,
    warnings: Vec<Warning>,
    new_refunds: u64,
}

/// A refund of the message: its place, its identifier and what it says.
struct Stated<'m> {
    order: &'m ReceivedOrder<'m>,
    at: usize,
    identifier: &'m str,
    refund: Refund,
}

/// Records the refunds that are new, and holds those that are not against the record.
async fn record_refunds(app: &App, tx: &mut Tx, round: &[Placed<'_>], findings: &mut Findings) -> Result<(), store::Failed> {
    let mut stated: Vec<Stated<'_>> = round.iter().flat_map(|(_, received)| stated_refunds(received)).collect();
    if stated.is_empty() {
        return Ok(());
    }
    stated.sort_by(|a, b| a.identifier.cmp(b.identifier));
    let all: Vec<(&str, &Refund)> = stated.iter().map(|stated| (stated.identifier, &stated.refund)).collect();
    let new: HashSet<String> = refunds::insert(tx, &all, app.now()).await?.into_iter().collect();
    // An identifier that two orders of the message share is new once: the first of them has it.
    let mut claimed = HashSet::new();
    let (fresh, known): (Vec<&Stated<'_>>, Vec<&Stated<'_>>) =
        stated.iter().partition(|stated| new.contains(stated.identifier) && claimed.insert(stated.identifier));
    record_lines(tx, &fresh, findings).await?;
    compare_with_record(tx, &known, findings).await?;
    findings.new_refunds += fresh.len() as u64;
    Ok(())
}

fn stated_refunds<'m>(received: &'m ReceivedOrder<'m>) -> impl Iterator<Item = Stated<'m>> {
    received.order.refunds.0.iter().enumerate().map(move |(at, refund)| {
        let covered = refund.refund_line_items.0.iter().map(|line| Covered {
            identifier: line.identifier.0.to_string(),
            order_line: line.order_item_identifier.0.to_string(),
            quantity: line.quantity.0,
        });
        let text = |text: &Option<Text<'_>>| text.as_ref().map(|Text(text)| text.to_string());
        let refund_said = Refund {
            order: received.order.identifier.0.to_string(),
            total: refund.total_refund_amount_cents.0,
            lines: covered.collect(),
            refunded_at: refund.created_at.0,
            note: text(&refund.note).map(Note),
            rma_identifier: text(&refund.rma_identifier),
        };
        Stated { order: received, at, identifier: &refund.identifier.0, refund: refund_said }
    })
}

async fn record_lines(tx: &mut Tx, fresh: &[&Stated<'_>], findings: &mut Findings) -> Result<(), store::Failed> {
    if fresh.is_empty() {
        return Ok(());
    }
    let refunds_of: Vec<(&str, &Refund)> = fresh.iter().map(|stated| (stated.identifier, &stated.refund)).collect();
    let mut recorded: HashSet<String> = refunds::insert_lines(tx, &refunds_of).await?.into_iter().collect();
    for stated in fresh {
        for (line_at, line) in stated.refund.lines.iter().enumerate() {
            if !recorded.remove(&line.identifier) {
                findings.faults.push(wire_order::reused_refund_line(&stated.order.path(), stated.at, line_at));
            }
        }
    }
    // With what earlier messages refunded, more units may now be refunded than the line has.
    let orders: HashSet<&str> = fresh.iter().map(|stated| stated.refund.order.as_str()).collect();
    for order in orders {
        let refunded = refunds::refunded_units(tx, order).await?;
        for stated in fresh.iter().filter(|stated| stated.refund.order == order) {
            let ordered: BTreeMap<&str, u32> =
                stated.order.order.items.0.iter().map(|line| (&*line.identifier.0, line.quantity.0)).collect();
            let beyond: HashSet<&str> = refund::overrefunded(&ordered, &refunded).collect();
            let lines = stated.refund.lines.iter().enumerate().filter(|(_, line)| beyond.contains(line.order_line.as_str()));
            findings.faults.extend(lines.map(|(line_at, _)| wire_order::overrefunded(&stated.order.path(), stated.at, line_at)));
        }
    }
    Ok(())
}

async fn compare_with_record(tx: &mut Tx, known: &[&Stated<'_>], findings: &mut Findings) -> Result<(), store::Failed> {
    if known.is_empty() {
        return Ok(());
    }
    let identifiers: Vec<&str> = known.iter().map(|stated| stated.identifier).collect();
    let recorded = refunds::lock(tx, &identifiers).await?;
    let recorded: HashMap<&str, &Refund> = recorded.iter().map(|recorded| (recorded.identifier.as_str(), &recorded.refund)).collect();
    for stated in known {
        let Some(recorded) = recorded.get(stated.identifier) else { continue };
        match refund::compare(recorded, &stated.refund) {
            Err(conflict) => findings.faults.push(wire_order::conflict(&stated.order.path(), stated.at, conflict)),
            Ok(additions) => {
                if additions.note.is_some() || additions.rma_identifier.is_some() {
                    refunds::amend(tx, stated.identifier, additions.note.as_ref(), additions.rma_identifier.as_deref()).await?;
                }
                if additions.other_rma {
                    findings.warnings.push(wire_order::rma_differs(&stated.order.path(), stated.at));
                }
                if additions.other_time {
                    findings.warnings.push(wire_order::time_differs(&stated.order.path(), stated.at));
                }
            }
        }
    }
    Ok(())
}
