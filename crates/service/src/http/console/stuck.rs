//! Merchants that are stuck in onboarding: not live yet, and at the same step for more than three days.

use chrono::{DateTime, TimeDelta, Utc};
use domain::merchants::onboarding::Step;
use store::merchants::{onboarding, unfinished};
use store::{Failed, Store};

use super::by::{By, Permission};
use super::stamp::Stamp;
use super::view::span;
use crate::node::each_cell;

/// The time at one step after which a merchant is stuck.
const PATIENCE: TimeDelta = TimeDelta::days(3);
/// The most merchants that are looked at.
const MOST: i64 = 5;

/// A merchant that is stuck.
pub(super) struct Stuck {
    pub(super) handle: String,
    pub(super) name: String,
    pub(super) contact: Option<String>,
    /// The step that comes next, in words.
    pub(super) step: &'static str,
    pub(super) since: Stamp,
    pub(super) span: String,
    added_at: DateTime<Utc>,
}

/// The merchants of a cell that are stuck, those that were added first before the others.
pub(super) async fn list<P: Permission>(by: &By<P>, store: &Store) -> Result<Vec<Stuck>, Failed> {
    let mut stuck = Vec::new();
    for merchant in unfinished::list(store, by.now - PATIENCE, MOST).await? {
        let facts = onboarding::facts(store, merchant.id).await?;
        let Some(facts) = facts else { continue };
        let Some((step, since)) = facts.current() else { continue };
        if since <= by.now - PATIENCE {
            let (step, span, since) = (waits_for(step), span(by.now - since), by.day(since));
            let (handle, name, contact) = (merchant.handle, merchant.name, merchant.technical_contact);
            stuck.push(Stuck { handle, name, contact, step, since, span, added_at: facts.added_at });
        }
    }
    Ok(stuck)
}

/// The first of the merchants of several cells.
pub(super) fn first(of_cells: Vec<Vec<Stuck>>) -> Vec<Stuck> {
    let mut stuck = each_cell::merge(of_cells, |merchant| (merchant.added_at, merchant.handle.clone()));
    stuck.truncate(usize::try_from(MOST).unwrap_or(usize::MAX));
    stuck
}

/// What the merchant waits for at a step.
const fn waits_for(step: Step) -> &'static str {
    match step {
        Step::Credential => "No credential has been issued",
        Step::Token => "A credential was issued, and no token was ever fetched with it",
        Step::Order => "No order has arrived",
        Step::Endpoints => "Not every endpoint has been tested",
        Step::Live => "Everything is ready, and nobody has made it live",
    }
}
