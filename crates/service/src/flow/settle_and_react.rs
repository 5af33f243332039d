//! A message of a kind with a reaction has ended: its settling and what follows from it are one transaction.

use store::Failed;
use store::settlements::{self, Attempt, Settled, Settlement};

use crate::app::App;
use crate::outbound::reaction::{Ending, Reaction};

/// Settles the message and reacts to how it ended. If its bucket is not ours any more, nothing is changed.
pub async fn settle_and_react(
    app: &App,
    reaction: Option<&dyn Reaction>,
    settlement: &Settlement,
    attempts: &[Attempt],
    ending: &Ending,
) -> Result<Settled, Failed> {
    let mut tx = app.store.begin(settlement.merchant).await?;
    let owed = match reaction {
        Some(reaction) => reaction.react(&mut tx, ending).await?,
        None => Vec::new(),
    };
    let settled = settlements::settle_within(&mut tx, settlement, attempts, ending.at).await?;
    if settled.held.is_empty() {
        tx.rollback().await?;
        return Ok(settled);
    }
    tx.commit().await?;
    owed.into_iter().for_each(|owed| app.signals.owe(owed));
    Ok(settled)
}
