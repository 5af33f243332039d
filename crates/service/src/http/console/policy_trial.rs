//! What of an order could be returned under a policy, tried without writing anything. The portal decides by the same function.

use chrono::{DateTime, Utc};
use domain::returns::rma::eligibility::{LineEligibility, Obstacle};
use domain::returns::rma::policy::Policy;
use store::merchants::accounts::Merchant;
use store::returns::returnable_orders;

use super::by::{By, Permission};
use super::error::ConsoleError;
use super::return_found::order_at;
use super::stamp::Stamp;
use crate::show::returns::returnable::{NO_SESSION, decide};

/// Some units of a line that can be returned, or cannot for one reason.
#[derive(Clone)]
pub(super) struct Verdict {
    pub(super) units: u32,
    pub(super) is_returnable: bool,
    pub(super) words: &'static str,
    /// The end of the window, where that is what decides.
    pub(super) until: Option<Stamp>,
    /// What decides, to be compared.
    decides: (Option<Obstacle>, Option<DateTime<Utc>>),
}

/// A line of the order.
pub(super) struct TriedLine {
    pub(super) identifier: String,
    pub(super) title: String,
    pub(super) in_force: Vec<Verdict>,
    /// Under the policy that is being edited; `None` if it decides alike.
    pub(super) edited: Option<Vec<Verdict>>,
}

/// The result of a trial.
pub(super) enum Trial {
    /// The merchant has no such order.
    NoOrder,
    Lines {
        at: String,
        lines: Vec<TriedLine>,
    },
}

/// Tries the policy in force on an order, and the one that is being edited, if any.
pub(super) async fn run<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    order: &str,
    in_force: &Policy,
    edited: Option<&Policy>,
) -> Result<Trial, ConsoleError> {
    if order.contains('\0') {
        return Ok(Trial::NoOrder);
    }
    let Some(found) = returnable_orders::find(by.app.store(merchant.id), merchant.id, order, NO_SESSION).await? else {
        return Ok(Trial::NoOrder);
    };
    let under = |policy: &Policy| decide(&by.app, found.clone(), policy.clone());
    let today = under(in_force)?;
    let then = edited.map(under).transpose()?.map(|then| then.lines).unwrap_or_default();
    let mut changed = then.iter().map(|line| verdicts(by, line));
    let lines = today.lines.iter().filter_map(|line| {
        let sold = today.order.sale.lines.get(line.line)?;
        let in_force = verdicts(by, line);
        Some(TriedLine {
            identifier: sold.identifier.clone(),
            title: sold.title.clone().unwrap_or_else(|| sold.sku.clone()),
            edited: changed.next().filter(|edited| !is_alike(edited, &in_force)),
            in_force,
        })
    });
    Ok(Trial::Lines { at: order_at(&merchant.handle, order), lines: lines.collect() })
}

fn is_alike(some: &[Verdict], others: &[Verdict]) -> bool {
    let decisive = |verdict: &Verdict| (verdict.units, verdict.decides);
    some.iter().map(decisive).eq(others.iter().map(decisive))
}

/// What becomes of the units of a line.
fn verdicts<P: Permission>(by: &By<P>, line: &LineEligibility) -> Vec<Verdict> {
    let returnable = Verdict {
        units: line.units,
        is_returnable: true,
        words: if line.until.is_some() { "returnable until" } else { "returnable" },
        until: line.until.map(|until| by.time(until)),
        decides: (None, line.until),
    };
    let held = line.held.iter().map(|(obstacle, units)| {
        let until = line.until.filter(|_| *obstacle == Obstacle::WindowOver);
        Verdict {
            units: *units,
            is_returnable: false,
            words: words(*obstacle),
            until: until.map(|until| by.time(until)),
            decides: (Some(*obstacle), until),
        }
    });
    Some(returnable).filter(|verdict| verdict.units > 0).into_iter().chain(held).collect()
}

const fn words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::OrderCancelled => "no: the order is cancelled",
        Obstacle::Cancelled => "no: cancelled",
        Obstacle::NotShipped => "no: not shipped yet",
        Obstacle::Refunded => "no: refunded already",
        Obstacle::InReturn => "no: in a return already",
        Obstacle::FinalSale => "no: a tag says final sale",
        Obstacle::GiftCard => "no: a tag says gift card",
        Obstacle::PickupInStore => "no: a tag says picked up in a store",
        Obstacle::ThirdParty => "no: a tag says sold by a third party",
        Obstacle::WindowOver => "no: the window ended",
    }
}
