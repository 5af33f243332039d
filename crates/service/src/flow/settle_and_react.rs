//! A message of a kind with a reaction has ended: its settling and what follows from it are one transaction.

use store::Failed;
use store::settlements::{self, Attempt, Disposition, Settled, Settlement};

use crate::app::App;
use crate::outbound::reaction::{Ending, Followed, Reaction};

/// What settling came to.
pub struct Reacted {
    /// What became of the bucket and its lanes.
    pub settled: Settled,
    /// Whether the reaction has withdrawn the message.
    pub withdrawn: bool,
}

/// Settles the message and reacts to how it ended; the reaction may withdraw it. If its bucket is not ours any more, nothing is
/// changed.
pub async fn settle_and_react(
    app: &App,
    reaction: Option<&dyn Reaction>,
    settlement: &Settlement,
    attempts: &[Attempt],
    ending: &Ending,
) -> Result<Reacted, Failed> {
    let mut tx = app.store.begin(settlement.merchant).await?;
    let Followed { owed, withdrawn } = match reaction {
        Some(reaction) => reaction.react(&mut tx, ending).await?,
        None => Followed::default(),
    };
    let Settlement { hold, merchant, message, .. } = *settlement;
    let withdrawal = withdrawn.then_some(Settlement { hold, merchant, message, fate: Disposition::Withdrawn });
    let settled = settlements::settle_within(&mut tx, withdrawal.as_ref().unwrap_or(settlement), attempts, ending.at).await?;
    if settled.held.is_empty() {
        tx.rollback().await?;
        return Ok(Reacted { settled, withdrawn: false });
    }
    tx.commit().await?;
    owed.into_iter().for_each(|owed| app.signals.owe(owed));
    Ok(Reacted { settled, withdrawn })
}
