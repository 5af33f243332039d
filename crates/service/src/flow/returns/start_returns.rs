//! Starts the returns that have gathered, in one transaction. Each is of another order, and claims its units.
//!
//! What needs more than that is started alone ([`super::start_return`]): a return that is refused, one whose order somebody else has
//! locked, one that travels with a label of ours or that the shopper has a mail of.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::MerchantId;
use domain::returns::rma::Event;
use domain::returns::rma::choice::Exchanges;
use domain::returns::rma::policy::Policy;
use store::Failed;
use store::orders::snapshots;
use store::returns::return_policies;
use store::returns::returnable_orders::{self, LockedOrder};
use store::returns::rmas::{self, Return};

use super::mail_shopper::is_told;
use super::save_return::message_on;
use super::start_return::Case;
use crate::app::App;
use crate::flow::together::{Together, merchants};
use crate::gathering::{Gathering, Wanted, Work as _};
use crate::show::returns::rmas::shown;

impl Together for Wanted {
    const NAME: &str = "new returns";

    fn queue(app: &App) -> &Arc<Gathering<Self>> {
        &app.new_returns
    }

    async fn attempt(app: &App, batch: &[&Self]) -> Result<Vec<Option<String>>, Failed> {
        let merchants = merchants(batch);
        let mut tx = app.cell().begin_shared(&merchants).await?;
        let wanted: Vec<(MerchantId, &str)> = batch.iter().map(|wanted| wanted.key()).collect();
        let snapshots = snapshots::lock_at_once(&mut tx, &wanted).await?;
        let locked: Vec<(MerchantId, &str)> = snapshots.keys().map(|(merchant, order)| (*merchant, order.as_str())).collect();
        let orders = returnable_orders::of_locked_at_once(&mut tx, &locked).await?;
        let policies = return_policies::get_at_once(&mut tx, &merchants).await?;
        let mut answers = Vec::with_capacity(batch.len());
        for wanted in batch {
            let key = (wanted.merchant, wanted.order.clone());
            let found = snapshots.get(&key).zip(orders.get(&key)).zip(policies.get(&wanted.merchant));
            let Some(new) = found.and_then(|((snapshot, order), policy)| decide(app, wanted, snapshot, order, policy)) else {
                answers.push(None);
                continue;
            };
            let message = message_on(app, &new, Event::Created)?;
            rmas::insert_shared(&mut tx, wanted.merchant, &new, message, wanted.trace)?;
            let answer = serde_json::to_string(&shown(&new, None)).map_err(|_| Failed::Internal("an answer could not be written"))?;
            answers.push(Some(answer));
        }
        app.commit_shared(tx).await?;
        Ok(answers)
    }
}

/// The new return; `None` if it is refused or needs more than a message.
fn decide(app: &App, wanted: &Wanted, snapshot: &str, locked: &LockedOrder, policy: &Policy) -> Option<Return> {
    let order = wire::orders::order::read_stored(snapshot)?;
    let sale = order.sale();
    let exchanges = Exchanges { standing: locked.standing, variants: BTreeMap::new() };
    let choice = wanted.choice();
    let case = Case {
        sale: &sale,
        policy,
        locked,
        original: locked.original.as_deref().or_else(|| order.original_order()),
        withdrawal: None,
        exchanges: &exchanges,
        choice: &choice,
        giftee_email: wanted.giftee_email.as_deref(),
        language: wanted.language.as_deref(),
    };
    let (_, new) = case.decide(app, app.now()).ok()?;
    (!locked.has_carrier && !is_told(app, &new)).then_some(new)
}
