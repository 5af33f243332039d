//! Applies the carrier events that have gathered, in one transaction. Each stands alone: it changes another return, and owes one message.
//!
//! What needs more than that is applied alone by its caller ([`super::carrier_event`]): an event that is refused or comes too early, one
//! of a return that somebody else has locked, one that the shopper has a mail of. So is everything if the batch fails.

use std::collections::HashMap;
use std::time::Duration;

use domain::id::MerchantId;
use domain::returns::rma::{Event, Step, Which};
use store::Failed;
use store::returns::rmas::{self, Return};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::mail_shopper::is_news;
use super::save_return::{message_on, step};
use crate::app::App;
use crate::carrier_queue::{Answer, Carried, Job, Joined, Writer};

/// How long an event waits for one that is applied alone, which may have to wait for its return.
const PATIENCE: Duration = Duration::from_millis(10);

/// How an event is applied.
pub(super) enum Place {
    /// Alone, by the caller. What gathers meanwhile is written once this is dropped.
    Alone(Option<Turn>),
    /// Together with others.
    Applied(Answer),
}

/// The turn of an event that comes alone.
pub(super) struct Turn(App);

impl Drop for Turn {
    fn drop(&mut self) {
        go_on(&self.0);
    }
}

/// Lets an event wait for its batch, unless it comes alone.
pub(super) async fn gather(app: &App, carried: Carried) -> Place {
    let mut answered = match app.carrier_events.join(carried) {
        Joined::First => return Place::Alone(Some(Turn(app.clone()))),
        Joined::Waiting(answered) => answered,
    };
    let answer = if let Ok(answer) = timeout(PATIENCE, &mut answered).await {
        Ok(answer)
    } else {
        go_on(app);
        timeout(app.settings.database.answer_timeout(), answered).await
    };
    match answer {
        Ok(answer) => answer.map_or(Place::Alone(None), Place::Applied),
        Err(_) => Place::Applied(Answer::Failed(Failed::Unreachable("the event was not applied in time".to_owned()))),
    }
}

/// Starts to write what has gathered, unless somebody does.
fn go_on(app: &App) {
    // Without a runtime, the process ends.
    if let Ok(runtime) = Handle::try_current()
        && let Some(writer) = app.carrier_events.writer()
    {
        runtime.spawn(write(app.clone(), writer));
    }
}

/// Writes batches until nothing waits.
async fn write(app: App, mut writer: Writer) {
    while let Some(batch) = writer.next_batch() {
        apply_all(&app, batch).await;
    }
}

/// Applies a batch. If that fails, its callers apply their events alone.
async fn apply_all(app: &App, batch: Vec<Job>) {
    let carried: Vec<&Carried> = batch.iter().map(|job| &job.carried).collect();
    match attempt(app, &carried).await {
        Ok(answers) => {
            for (job, answer) in batch.into_iter().zip(answers) {
                // Without an answer, the caller applies the event alone.
                if let Some(answer) = answer {
                    // It may have hung up.
                    let _ = job.answer.send(answer);
                }
            }
        }
        // An unreachable database would let each of them wait in turn.
        Err(failed @ Failed::Unreachable(_)) => {
            for job in batch {
                let _ = job.answer.send(Answer::Failed(failed.clone()));
            }
        }
        Err(failed) => {
            tracing::warn!(%failed, events = batch.len(), "applying a batch of carrier events failed, applying them one by one");
        }
    }
}

/// The outcome of each event; `None` for those that have to be applied alone.
async fn attempt(app: &App, batch: &[&Carried]) -> Result<Vec<Option<Answer>>, Failed> {
    let mut merchants: Vec<MerchantId> = batch.iter().map(|carried| carried.merchant).collect();
    merchants.sort_unstable();
    merchants.dedup();
    let wanted: Vec<(MerchantId, &str)> = batch.iter().map(|carried| (carried.merchant, carried.rma.as_str())).collect();
    let mut tx = app.cell().begin_shared(&merchants).await?;
    let locked = rmas::lock_at_once(&mut tx, &wanted).await?;
    let mut returns: HashMap<(MerchantId, String), Return> =
        locked.into_iter().map(|(merchant, found)| ((merchant, found.identifier.clone()), found)).collect();
    let now = app.now();
    let mut answers = Vec::with_capacity(batch.len());
    for carried in batch {
        let Some(mut kept) = returns.remove(&(carried.merchant, carried.rma.clone())) else {
            answers.push(None);
            continue;
        };
        answers.push(match kept.rma.carry(&carried.event, Which::All) {
            Ok(Step::Unchanged) => Some(Answer::Unchanged),
            Ok(Step::Moved(event)) if event != Event::Refunded && !is_news(app, &kept, now) => {
                step(&mut kept, event, now);
                let message = message_on(app, &kept, event)?;
                rmas::save_event_shared(&mut tx, carried.merchant, &mut kept, (event, now), message, carried.trace);
                Some(Answer::Moved)
            }
            Ok(Step::Moved(_) | Step::TooEarly) | Err(_) => None,
        });
    }
    app.commit_shared(tx).await?;
    Ok(answers)
}
