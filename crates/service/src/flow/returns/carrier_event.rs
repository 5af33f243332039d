//! Applies a tracking event from a carrier or a collection partner to its return.
//!
//! Events that arrive before the label are stored and replayed in the label's transaction: first the label, then the stored
//! events, each with a message of its own.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::{CarrierEvent, Refused, Rma, Step, TrackingNumber, Which};
use store::returns::carrier_events::{self, WaitingEvent, WaitsFor};
use store::returns::rmas::{self, Return};
use store::returns::{carrier_webhooks, parcels};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::returns::carrier::{CarrierEventIn, CarrierWord};

use super::save_return::save_change;
use crate::app::App;
use crate::show::returns::rmas as returns;

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

    /// A report that identifies its parcel by the tracking number alone.
    pub(super) fn of_parcel(word: CarrierWord, number: TrackingNumber, occurred_at: DateTime<Utc>) -> Self {
        let kept = WaitingEvent { event: word.as_str().to_owned(), occurred_at, handed_over: None };
        Self { rma: None, word, number: Some(number), kept }
    }
}

/// Applies a carrier event.
pub async fn carrier_event(app: &App, merchant: MerchantId, event: &CarrierEventIn<'_>) -> Result<EventOutcome, CarrierEventError> {
    take(app, merchant, &Report::new(event), None).await
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
        let Some(mut kept) = find(&mut tx, report).await? else {
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
async fn find(tx: &mut Tx, report: &Report) -> Result<Option<Return>, CarrierEventError> {
    let known: Option<Uuid> = match &report.number {
        Some(number) => parcels::find(tx, number.as_str()).await?,
        None => None,
    };
    if let Some(identifier) = &report.rma {
        let found = rmas::lock(tx, identifier).await?.ok_or(CarrierEventError::NoSuchReturn)?;
        // An unknown number is ignored. A known one must be the number of this return.
        return if known.is_none_or(|known| known == found.id) { Ok(Some(found)) } else { Err(CarrierEventError::TrackingNumberTaken) };
    }
    match known {
        Some(id) => Ok(rmas::lock_by_id(tx, id).await?),
        None => Ok(None),
    }
}

/// Applies an event to its return, and after a label the events that waited for it.
async fn apply(app: &App, tx: &mut Tx, kept: &mut Return, report: &Report) -> Result<Step, CarrierEventError> {
    let step = move_on(&mut kept.rma, report.word, report.number.as_ref(), report.kept.handed_over.as_deref())?;
    match step {
        Step::Unchanged => {}
        Step::TooEarly => {
            carrier_events::keep(tx, app.mint(), WaitsFor::Return(&kept.identifier), &report.kept, app.now()).await?;
        }
        Step::Moved(event) => {
            save_change(app, tx, kept, event, app.now()).await?;
            if let (CarrierWord::LabelIssued, Some(number)) = (report.word, &report.number) {
                if !parcels::claim(tx, number.as_str(), kept.id).await? {
                    return Err(CarrierEventError::TrackingNumberTaken);
                }
                replay(app, tx, kept, number).await?;
            }
        }
    }
    Ok(step)
}

/// The outcome of putting a label on a return.
pub(super) enum Labelled {
    /// The return has the label now, and the merchant is owed a message.
    New,
    /// The return already had this label.
    Known,
    /// The return has another label, or no longer needs one.
    Unwanted,
}

/// Puts a label on a return. The return must be locked.
pub(super) async fn label(app: &App, tx: &mut Tx, kept: &mut Return, number: &TrackingNumber) -> Result<Labelled, Failed> {
    let has_it = kept.rma.units.iter().all(|unit| unit.parcel.number() == Some(number));
    let report = Report::of_parcel(CarrierWord::LabelIssued, number.clone(), app.now());
    match apply(app, tx, kept, &report).await {
        Ok(Step::Moved(_)) => Ok(Labelled::New),
        Ok(Step::Unchanged | Step::TooEarly) if has_it => Ok(Labelled::Known),
        Ok(Step::Unchanged | Step::TooEarly) | Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn) => {
            Ok(Labelled::Unwanted)
        }
        Err(CarrierEventError::Failed(failed)) => Err(failed),
        Err(CarrierEventError::TrackingNumberTaken) => Err(Failed::Internal("the carrier sold a tracking number twice")),
    }
}

/// Replays the events that came before the label. Events that no longer apply are dropped; they were acknowledged on arrival.
async fn replay(app: &App, tx: &mut Tx, kept: &mut Return, number: &TrackingNumber) -> Result<(), Failed> {
    for early in carrier_events::take(tx, &kept.identifier, number.as_str()).await? {
        let Some(word) = CarrierWord::ALL.into_iter().find(|word| word.as_str() == early.event) else { continue };
        if let Ok(Step::Moved(event)) = move_on(&mut kept.rma, word, None, early.handed_over.as_deref()) {
            save_change(app, tx, kept, event, app.now()).await?;
        }
    }
    Ok(())
}

/// Applies an event to the return in memory.
fn move_on(
    rma: &mut Rma,
    word: CarrierWord,
    number: Option<&TrackingNumber>,
    handed_over: Option<&[(String, u32)]>,
) -> Result<Step, Refused> {
    match word {
        CarrierWord::LabelIssued => match number {
            Some(number) => rma.carry(&CarrierEvent::LabelIssued(number.clone()), Which::All),
            None => Ok(Step::Unchanged),
        },
        CarrierWord::DroppedOff | CarrierWord::Collected => match handed_over {
            Some(units) => rma.drop_off(&positions(rma, units)?),
            None => rma.carry(&CarrierEvent::Accepted, Which::All),
        },
        CarrierWord::InTransit => rma.carry(&CarrierEvent::Scanned, Which::All),
        CarrierWord::Delivered => rma.carry(&CarrierEvent::Delivered, Which::All),
        CarrierWord::ReturnedToSender => rma.carry(&CarrierEvent::Returned, Which::All),
        CarrierWord::Failed => rma.carry(&CarrierEvent::Failed, Which::All),
    }
}

/// The positions of the units that were handed over: the first ones of each line.
fn positions(rma: &Rma, units: &[(String, u32)]) -> Result<Vec<usize>, Refused> {
    let mut positions = Vec::new();
    for (line, quantity) in units {
        let of_line = rma.units.iter().enumerate().filter(|(at, unit)| unit.line == *line && !positions.contains(at));
        let chosen: Vec<usize> = of_line.map(|(at, _)| at).take(usize::try_from(*quantity).unwrap_or(usize::MAX)).collect();
        if chosen.len() < usize::try_from(*quantity).unwrap_or(usize::MAX) {
            return Err(Refused::NoSuchUnit(rma.units.len()));
        }
        positions.extend(chosen);
    }
    Ok(positions)
}
