//! Settles a message apart from others, together with the reaction of its kind, in one transaction of its merchant.

use chrono::{DateTime, Utc};
use store::Failed;
use store::messages::settlements::{self, Attempt, Disposition, Settled, Settlement};

use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Ending, Followed, Reaction};

/// The outcome of settling with a reaction.
pub struct Reacted {
    pub settled: Settled,
    pub followed: Followed,
}

/// Runs the reaction, if there is one, and settles the message. Changes nothing if the bucket is no longer ours. The message's lane
/// continues at `now`.
pub async fn settle_and_react(
    delivery: &Delivery,
    reaction: Option<(&dyn Reaction, &Ending)>,
    settlement: &Settlement,
    attempts: &[Attempt],
    now: DateTime<Utc>,
) -> Result<Reacted, Failed> {
    let mut tx = delivery.traced(delivery.store(settlement.merchant).begin_apart(settlement.merchant).await?);
    let followed = match reaction {
        Some((reaction, ending)) => reaction.react(&mut tx, ending).await?,
        None => Followed::Settled,
    };
    let Settlement { hold, merchant, message, .. } = *settlement;
    let withdrawal =
        (followed == Followed::Withdrawn).then_some(Settlement { hold, merchant, message, disposition: Disposition::Withdrawn });
    let settled = settlements::settle_within(&mut tx, withdrawal.as_ref().unwrap_or(settlement), attempts, now).await?;
    if settled.held.is_empty() {
        tx.rollback().await?;
        return Ok(Reacted { settled, followed: Followed::Settled });
    }
    delivery.commit(tx).await?;
    Ok(Reacted { settled, followed })
}
