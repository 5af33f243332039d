//! Applies a tracking event from a carrier or a collection partner to its return.
//!
//! Handing goods over needs no label. Scans that arrive before the label are stored and replayed in the label's transaction: first
//! the label, then the stored events, each with a message of its own.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use domain::returns::rma::{CarrierEvent, Refused, Step, TrackingNumber, Which};
use sha2::{Digest as _, Sha256};
use store::returns::carrier_events::{self, WaitingEvent, WaitsFor};
use store::returns::rmas::{self, Return};
use store::returns::{carrier_webhooks, drop_offs, parcels};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::returns::carrier::{CarrierEventIn, CarrierWord};

use super::save_return::save_change;
use crate::app::App;
use crate::flow::together::{Place, gather};
use crate::gathering::{Applied, Carried};
use crate::show::returns::rmas as returns;

/// The time after which a carrier may use the tracking number of a settled return again, wherever its parcel was last seen.
const REUSED_AFTER: TimeDelta = TimeDelta::days(90);

/// The outcome of a carrier event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// The return with this identifier changed.
    Moved(String),
    /// The event was known, or the return with this identifier is already past it.
    Unchanged(String),
    /// The event waits for the label. Carries the return's identifier if it is known.
    Waiting(Option<String>),
    /// A repeated webhook, or an event that does not concern a return.
    Ignored,
}

/// The reasons a carrier event is not applied.
#[derive(Debug, thiserror::Error)]
pub enum CarrierEventError {
    #[error("the merchant has no such return")]
    NoSuchReturn,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the tracking number belongs to another return")]
    TrackingNumberTaken,
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// A carrier event after parsing.
pub(super) struct Report {
    rma: Option<String>,
    word: CarrierWord,
    number: Option<TrackingNumber>,
    kept: WaitingEvent,
}

impl Report {
    fn new(event: &CarrierEventIn<'_>) -> Self {
        let handed_over = event.items.as_ref().map(|items| {
            let units = items.0.iter().map(|item| (item.order_line_item_identifier.0.to_string(), item.quantity.0));
            units.collect()
        });
        Self {
            rma: event.rma_identifier.as_ref().map(|identifier| returns::identifier(&identifier.0)),
            word: event.event,
            number: event.tracking_number.as_ref().and_then(|number| number.0.parse().ok()),
            kept: WaitingEvent { event: event.event.as_str().to_owned(), occurred_at: event.occurred_at.0, handed_over },
        }
    }

    /// The report as an event that can be applied together with others: it names the return alone, and concerns all of its units.
    fn carried(&self, app: &App, merchant: MerchantId) -> Option<Carried> {
        let Self { rma: Some(rma), word, number: None, kept: WaitingEvent { handed_over: None, .. } } = self else { return None };
        Some(Carried { merchant, rma: rma.clone(), event: reported(*word)?, trace: app.traces.ids_to_write() })
    }

    /// A report that identifies its parcel by the tracking number alone.
    pub(super) fn of_parcel(word: CarrierWord, number: TrackingNumber, occurred_at: DateTime<Utc>) -> Self {
        let kept = WaitingEvent { event: word.as_str().to_owned(), occurred_at, handed_over: None };
        Self { rma: None, word, number: Some(number), kept }
    }
}

/// Applies a carrier event: alone if it comes alone, otherwise together with others.
pub async fn carrier_event(app: &App, merchant: MerchantId, event: &CarrierEventIn<'_>) -> Result<EventOutcome, CarrierEventError> {
    let report = Report::new(event);
    let Some(carried) = report.carried(app, merchant) else { return take(app, merchant, &report, None).await };
    let rma = carried.rma.clone();
    match gather(app, carried).await? {
        Place::Alone(_turn) => take(app, merchant, &report, None).await,
        Place::Done(Applied::Moved) => Ok(EventOutcome::Moved(rma)),
        Place::Done(Applied::Unchanged) => Ok(EventOutcome::Unchanged(rma)),
    }
}

/// Applies a report. Given the id of a `webhook`, applies it only once.
pub(super) async fn take(
    app: &App,
    merchant: MerchantId,
    report: &Report,
    webhook: Option<&str>,
) -> Result<EventOutcome, CarrierEventError> {
    loop {
        let mut tx = app.begin(merchant).await?;
        if let Some(event) = webhook
            && !carrier_webhooks::take(&mut tx, event, app.now()).await?
        {
            return Ok(EventOutcome::Ignored);
        }
        let Some(mut kept) = find(app, &mut tx, report).await? else {
            // No return has the number yet. If its label was committed just now, look again.
            let number = report.number.as_ref().map(TrackingNumber::as_str).unwrap_or_default();
            if parcels::expect(&mut tx, number).await?.is_some() {
                tx.rollback().await?;
                continue;
            }
            carrier_events::keep(&mut tx, app.mint(), WaitsFor::Tracking(number), &report.kept, app.now()).await?;
            app.commit(tx).await?;
            return Ok(EventOutcome::Waiting(None));
        };
        let step = apply(app, &mut tx, &mut kept, report).await?;
        app.commit(tx).await?;
        return Ok(match step {
            Step::Moved(_) => EventOutcome::Moved(kept.identifier),
            Step::Unchanged => EventOutcome::Unchanged(kept.identifier),
            Step::TooEarly => EventOutcome::Waiting(Some(kept.identifier)),
        });
    }
}

/// Finds and locks the return of an event. `None` if the event has only a tracking number, and no return has it yet.
async fn find(app: &App, tx: &mut Tx, report: &Report) -> Result<Option<Return>, CarrierEventError> {
    let Some(identifier) = &report.rma else {
        return match &report.number {
            Some(number) => Ok(rmas::lock_by_parcel(tx, number.as_str()).await?),
            None => Ok(None),
        };
    };
    let known: Option<Uuid> = match &report.number {
        Some(number) => parcels::find(tx, number.as_str()).await?,
        None => None,
    };
    let found = rmas::lock(tx, identifier).await?.ok_or(CarrierEventError::NoSuchReturn)?;
    // An unknown number is ignored. A known one must be the number of this return, or one that a label may use again.
    let Some(holder) = known.filter(|holder| *holder != found.id) else { return Ok(Some(found)) };
    let may_have_it = report.word == CarrierWord::LabelIssued && gives_up_its_number(app, tx, holder).await?;
    if may_have_it { Ok(Some(found)) } else { Err(CarrierEventError::TrackingNumberTaken) }
}

/// True if another return may have the tracking number of this one: carriers use their numbers again. Returns that have ended do
/// not change back, so this needs no lock.
async fn gives_up_its_number(app: &App, tx: &mut Tx, holder: Uuid) -> Result<bool, Failed> {
    let Some(holder) = rmas::get(tx, holder).await? else { return Ok(false) };
    Ok(holder.rma.is_over() || (!holder.rma.is_live() && holder.updated_at + REUSED_AFTER <= app.now()))
}

/// Assigns the tracking number of a label to its return. Returns false if another return still uses it.
async fn claim(app: &App, tx: &mut Tx, number: &TrackingNumber, rma: Uuid) -> Result<bool, Failed> {
    if parcels::claim(tx, number.as_str(), rma, None).await? {
        return Ok(true);
    }
    match parcels::find(tx, number.as_str()).await? {
        Some(holder) if gives_up_its_number(app, tx, holder).await? => parcels::claim(tx, number.as_str(), rma, Some(holder)).await,
        Some(_) | None => Ok(false),
    }
}

/// Applies an event to its return, and after a label the events that waited for it.
async fn apply(app: &App, tx: &mut Tx, kept: &mut Return, report: &Report) -> Result<Step, CarrierEventError> {
    let known = kept.rma.scanned_early;
    let step = move_on(tx, kept, report.word, report.number.as_ref(), &report.kept).await?;
    let label = report.number.as_ref().filter(|_| report.word == CarrierWord::LabelIssued);
    match (step, label) {
        (Step::Unchanged, _) => {}
        (Step::TooEarly, _) => {
            carrier_events::keep(tx, app.mint(), WaitsFor::Return(&kept.identifier), &report.kept, app.now()).await?;
            if !known {
                // The goods are with the carrier: nobody is reminded of the return, and it does not expire.
                kept.wakes_at = None;
                rmas::save(tx, kept).await?;
            }
        }
        (Step::Moved(event), Some(number)) => {
            if !claim(app, tx, number, kept.id).await? {
                return Err(CarrierEventError::TrackingNumberTaken);
            }
            // Taken before the change, so that the change is one statement with its message unless others follow.
            let early = carrier_events::take(tx, &kept.identifier, number.as_str()).await?;
            save_change(app, tx, kept, event, app.now()).await?;
            replay(app, tx, kept, early).await?;
        }
        (Step::Moved(event), None) => save_change(app, tx, kept, event, app.now()).await?,
    }
    Ok(step)
}

/// The outcome of putting a label on a return.
pub(super) enum Labelled {
    /// The return has the label.
    Done,
    /// The return has another label, or no longer needs one.
    Unwanted,
    /// Another return still uses the tracking number.
    NumberTaken,
}

/// Puts a label on a return. The return must be locked; unless this is done, it must not be saved.
pub(super) async fn label(app: &App, tx: &mut Tx, kept: &mut Return, number: &TrackingNumber) -> Result<Labelled, Failed> {
    let has_it = kept.rma.units.iter().all(|unit| unit.parcel.number() == Some(number));
    let report = Report::of_parcel(CarrierWord::LabelIssued, number.clone(), app.now());
    match apply(app, tx, kept, &report).await {
        Ok(Step::Moved(_)) => Ok(Labelled::Done),
        Ok(Step::Unchanged | Step::TooEarly) if has_it => Ok(Labelled::Done),
        Ok(Step::Unchanged | Step::TooEarly) | Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn) => {
            Ok(Labelled::Unwanted)
        }
        Err(CarrierEventError::Failed(failed)) => Err(failed),
        Err(CarrierEventError::TrackingNumberTaken) => Ok(Labelled::NumberTaken),
    }
}

/// Replays the events that came before the label. Events that no longer apply are dropped; they were acknowledged on arrival.
async fn replay(app: &App, tx: &mut Tx, kept: &mut Return, waiting: Vec<WaitingEvent>) -> Result<(), Failed> {
    for early in waiting {
        let Some(word) = CarrierWord::ALL.into_iter().find(|word| word.as_str() == early.event) else { continue };
        match move_on(tx, kept, word, None, &early).await {
            Ok(Step::Moved(event)) => save_change(app, tx, kept, event, app.now()).await?,
            Ok(Step::Unchanged | Step::TooEarly)
            | Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn | CarrierEventError::TrackingNumberTaken) => {}
            Err(CarrierEventError::Failed(failed)) => return Err(failed),
        }
    }
    Ok(())
}

/// Applies an event to the return in memory.
async fn move_on(
    tx: &mut Tx,
    kept: &mut Return,
    word: CarrierWord,
    number: Option<&TrackingNumber>,
    event: &WaitingEvent,
) -> Result<Step, CarrierEventError> {
    let rma = &mut kept.rma;
    Ok(match (word, &event.handed_over, reported(word)) {
        (CarrierWord::LabelIssued, ..) => match number {
            Some(number) => rma.carry(&CarrierEvent::LabelIssued(number.clone()), Which::All)?,
            None => Step::Unchanged,
        },
        (CarrierWord::DroppedOff | CarrierWord::Collected, Some(lines), _) => {
            let units = rma.to_hand_over(lines)?;
            // The same report again is not a second drop-off, which would take other units.
            if drop_offs::record(tx, kept.id, &hash(event)).await? { rma.drop_off(&units)? } else { Step::Unchanged }
        }
        (_, _, Some(event)) => rma.carry(&event, Which::All)?,
        (_, _, None) => Step::Unchanged,
    })
}

/// The event of all units that a word stands for; `None` for a label, which comes with its number.
fn reported(word: CarrierWord) -> Option<CarrierEvent> {
    Some(match word {
        CarrierWord::LabelIssued => return None,
        CarrierWord::DroppedOff | CarrierWord::Collected => CarrierEvent::Accepted,
        CarrierWord::InTransit => CarrierEvent::Scanned,
        CarrierWord::Delivered => CarrierEvent::Delivered,
        CarrierWord::ReturnedToSender => CarrierEvent::Returned,
        CarrierWord::Failed => CarrierEvent::Failed,
    })
}

/// Identifies a report of a partial drop-off: its event, its time as stored, and its units.
fn hash(event: &WaitingEvent) -> [u8; 32] {
    let mut units: BTreeMap<&str, u64> = BTreeMap::new();
    for (line, quantity) in event.handed_over.iter().flatten() {
        *units.entry(line).or_default() += u64::from(*quantity);
    }
    let mut hash = Sha256::new();
    hash.update(format!("{} {}", event.event, event.occurred_at.timestamp_micros()));
    for (line, quantity) in units {
        hash.update(format!(" {} {line} {quantity}", line.len()));
    }
    hash.finalize().into()
}
