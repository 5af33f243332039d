//! Merchants that are stuck in onboarding: not live yet, and at the same step for more than three days.

use chrono::TimeDelta;
use domain::merchants::onboarding::Step;
use store::merchants::{onboarding, unfinished};

use super::by::{By, Permission};
use super::error::ConsoleError;
use super::stamp::Stamp;
use super::view::span;

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
}

/// The merchants that are stuck, those that were added first before the others.
pub(super) async fn list<P: Permission>(by: &By<P>) -> Result<Vec<Stuck>, ConsoleError> {
    let mut stuck = Vec::new();
    for merchant in unfinished::list(by.app.cell(), by.now - PATIENCE, MOST).await? {
        let facts = onboarding::facts(by.app.store(merchant.id), merchant.id).await?;
        let Some((step, since)) = facts.and_then(|facts| facts.current()) else { continue };
        if since <= by.now - PATIENCE {
            let (step, span, since) = (waits_for(step), span(by.now - since), by.day(since));
            stuck.push(Stuck { handle: merchant.handle, name: merchant.name, contact: merchant.technical_contact, step, since, span });
        }
    }
    Ok(stuck)
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
