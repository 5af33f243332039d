//! The effect of orders on their returns: a refund settles returns of its order in the same transaction, and an order that no
//! longer has units on their way back gets a warning.

use std::collections::BTreeMap;

use domain::id::MerchantId;
use domain::returns::rma::Step;
use domain::returns::rma::allocation::{Allocation, LiveReturn, allocate};
use store::orders::snapshots;
use store::returns::rmas::{self, Return};
use store::returns::unit_claims;
use store::{Failed, Tx};
use wire::fault::{Path, Warning};
use wire::orders::order as wire_order;

use super::findings::Findings;
use crate::app::App;
use crate::flow::returns::save_return::save_change;
use crate::intake::PublishOutcome;
use crate::show::returns::rmas as returns;

/// A refund that may settle units of returns.
pub(super) struct Settling {
    /// The path of its order in the message; `at` is the refund's position in the order.
    pub(super) path: Path,
    pub(super) at: usize,
    pub(super) order: String,
    pub(super) identifier: String,
    /// Order lines with the number of units refunded on each.
    pub(super) covered: Vec<(String, u32)>,
    /// The return named by the merchant.
    pub(super) named: Option<String>,
    /// The refund was recorded earlier and names its return only now.
    pub(super) late: bool,
}

/// Settles the returns that the refunds belong to. The orders must be locked.
pub(super) async fn settle(app: &App, tx: &mut Tx, refunds: &[Settling], findings: &mut Findings) -> Result<(), Failed> {
    if refunds.is_empty() {
        return Ok(());
    }
    let orders: Vec<&str> = refunds.iter().map(|refund| refund.order.as_str()).collect();
    let mut live: BTreeMap<String, Vec<Return>> = BTreeMap::new();
    for kept in rmas::lock_open(tx, &orders).await? {
        live.entry(kept.order.clone()).or_default().push(kept);
    }
    for refund in refunds {
        let mut none = Vec::new();
        let live = live.get_mut(&refund.order).unwrap_or(&mut none);
        settle_one(app, tx, refund, live, findings).await?;
    }
    Ok(())
}

async fn settle_one(app: &App, tx: &mut Tx, refund: &Settling, live: &mut [Return], findings: &mut Findings) -> Result<(), Failed> {
    let named = refund.named.as_deref().map(returns::identifier);
    let named_at = named.as_ref().and_then(|named| live.iter().position(|kept| kept.identifier == *named));
    if let Some(named) = &named
        && named_at.is_none()
        && !was_settled(tx, named, refund).await?
    {
        findings.warnings.push(wire_order::rma_not_live(&refund.path, refund.at));
    }
    if refund.late && named_at.is_none() {
        return Ok(());
    }
    // A late refund was recorded as belonging to no return, so only the return that it names now may take it over.
    let takes = |at| !refund.late || Some(at) == named_at;
    let open = |(at, kept): (usize, &Return)| if takes(at) { LiveReturn { open: kept.rma.open() } } else { LiveReturn::default() };
    let open: Vec<LiveReturn> = live.iter().enumerate().map(open).collect();
    let Allocation { settled, .. } = allocate(&refund.covered, named_at, &open);
    for (at, units) in settled {
        let Some(kept) = live.get_mut(at) else { continue };
        let Ok(Step::Moved(event)) = kept.rma.refund(&units) else { continue };
        for unit in units {
            if let Some(item) = kept.items.get_mut(unit) {
                item.refund = Some(refund.identifier.clone());
            }
        }
        save_change(app, tx, kept, event, app.now()).await?;
    }
    Ok(())
}

/// Checks if all units of the refund settled the named return before. Then the name is right, and nothing is left to settle.
async fn was_settled(tx: &mut Tx, named: &str, refund: &Settling) -> Result<bool, Failed> {
    if refund.covered.iter().any(|(_, units)| *units > 0) {
        return Ok(false);
    }
    let kept = rmas::lock(tx, named).await?;
    Ok(kept.is_some_and(|kept| kept.items.iter().any(|item| item.refund.as_ref() == Some(&refund.identifier))))
}

/// Warnings for changed orders that lack units on their way back. The returns stay as they are.
pub(super) async fn missing_units(
    app: &App,
    merchant: MerchantId,
    identifiers: &[String],
    outcomes: &[PublishOutcome],
) -> Result<Vec<Warning>, Failed> {
    let mut warnings = Vec::new();
    for (at, (_, identifier)) in outcomes.iter().zip(identifiers).enumerate().filter(|(_, (outcome, _))| outcome.changed_under_returns) {
        let Some(stored) = snapshots::find(app.store(merchant), merchant, identifier).await? else { continue };
        let Some(sale) = wire_order::read_stored(&stored.snapshot).map(|order| order.sale()) else { continue };
        let mut live: BTreeMap<String, u32> = BTreeMap::new();
        for claim in unit_claims::list(app.store(merchant), merchant, identifier).await?.into_iter().filter(|claim| !claim.refunded) {
            *live.entry(claim.line).or_default() += 1;
        }
        warnings.extend(wire_order::changed_under_returns(at, &sale, &live));
    }
    Ok(warnings)
}
