//! Applies the carrier events that have gathered, in one transaction. Each changes another return.
//!
//! What needs more than that is applied alone ([`super::carrier_event`]): an event that is refused or comes too early, one of a return
//! that somebody else has locked, one that the shopper has a mail of.

use std::collections::HashMap;
use std::sync::Arc;

use domain::id::MerchantId;
use domain::returns::rma::{Event, Step, Which};
use store::Failed;
use store::returns::rmas::{self, Return};

use super::mail_shopper::is_news;
use super::save_return::{message_on, step};
use crate::app::App;
use crate::flow::together::{Together, merchants};
use crate::gathering::{Applied, Carried, Gathering, Work as _};

impl Together for Carried {
    const NAME: &str = "carrier events";

    fn queue(app: &App) -> &Arc<Gathering<Self>> {
        &app.carrier_events
    }

    async fn attempt(app: &App, batch: &[&Self]) -> Result<Vec<Option<Applied>>, Failed> {
        let wanted: Vec<(MerchantId, &str)> = batch.iter().map(|carried| carried.key()).collect();
        let mut tx = app.cell().begin_shared(&merchants(batch)).await?;
        let locked = rmas::lock_at_once(&mut tx, &wanted).await?;
        let mut returns: HashMap<(MerchantId, String), Return> =
            locked.into_iter().map(|(merchant, found)| ((merchant, found.identifier.clone()), found)).collect();
        let now = app.now();
        let mut applied = Vec::with_capacity(batch.len());
        for carried in batch {
            let Some(mut kept) = returns.remove(&(carried.merchant, carried.rma.clone())) else {
                applied.push(None);
                continue;
            };
            applied.push(match kept.rma.carry(&carried.event, Which::All) {
                Ok(Step::Unchanged) => Some(Applied::Unchanged),
                Ok(Step::Moved(event)) if event != Event::Refunded && !is_news(app, &kept, now) => {
                    step(&mut kept, event, now);
                    let message = message_on(app, &kept, event)?;
                    rmas::save_event_shared(&mut tx, carried.merchant, &mut kept, (event, now), message, carried.trace)?;
                    Some(Applied::Moved)
                }
                Ok(Step::Moved(_) | Step::TooEarly) | Err(_) => None,
            });
        }
        app.commit_shared(tx).await?;
        Ok(applied)
    }
}
