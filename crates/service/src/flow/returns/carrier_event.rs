//! A carrier, or a partner who collects, reports what happened to a parcel.
//!
//! What comes before its label is kept, and takes effect in the label's transaction: first the label, then what was kept, each
//! with a message of its own.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::{CarrierEvent, Refused, Rma, Step, TrackingNumber, Which};
use store::returns::carrier_events::{self, WaitingEvent, WaitsFor};
use store::returns::rmas::{self, Return};
use store::returns::{carrier_webhooks, parcels};
use store::{Failed, Tx};
use uuid::Uuid;
use wire::returns::carrier::{CarrierEventIn, CarrierWord};

use super::tell_return::tell;
use crate::app::App;
use crate::show::returns::rmas as returns;

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The return with this identifier has changed.
    Moved(String),
    /// It was known, or the return with this identifier is past it.
    Unchanged(String),
    /// It waits for the label; the return's identifier, where it is known.
    Kept(Option<String>),
    /// It says nothing new, or nothing that matters here.
    Ignored,
}

/// Why an event was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CarrierEventError {
    /// The merchant has no such return.
    #[error("there is no such return")]
    NoSuchReturn,
    /// It contradicts what is known.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The tracking number is that of another return.
    #[error("the tracking number belongs to another return")]
    AnothersNumber,
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// An event, read.
pub(in crate::flow) struct Report {
    /// The return, where it is named.
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

    /// What is known of a parcel by its number alone.
    pub(in crate::flow) fn of_parcel(word: CarrierWord, number: TrackingNumber, occurred_at: DateTime<Utc>) -> Self {
        let kept = WaitingEvent { event: word.as_str().to_owned(), occurred_at, handed_over: None };
        Self { rma: None, word, number: Some(number), kept }
    }
}

/// Takes an event.
pub async fn carrier_event(app: &App, merchant: MerchantId, event: &CarrierEventIn<'_>) -> Result<Taken, CarrierEventError> {
    take(app, merchant, &Report::new(event), None).await
}

/// Takes an event; with the id of its `webhook`, once.
pub(in crate::flow) async fn take(
    app: &App,
    merchant: MerchantId,
    report: &Report,
    webhook: Option<&str>,
) -> Result<Taken, CarrierEventError> {
    loop {
        let mut tx = app.begin(merchant).await?;
        if let Some(event) = webhook
            && !carrier_webhooks::take(&mut tx, event, app.now()).await?
        {
            return Ok(Taken::Ignored);
        }
        let Some(mut kept) = find(&mut tx, report).await? else {
            // Nobody knows the number yet. If its label came just now, we look again.
            let number = report.number.as_ref().map(TrackingNumber::as_str).unwrap_or_default();
            if parcels::expect(&mut tx, number).await?.is_some() {
                tx.rollback().await?;
                continue;
            }
            carrier_events::keep(&mut tx, app.mint(), WaitsFor::Tracking(number), &report.kept, app.now()).await?;
            app.commit(tx).await?;
            return Ok(Taken::Kept(None));
        };
        let step = apply(app, &mut tx, &mut kept, report).await?;
        app.commit(tx).await?;
        return Ok(match step {
            Step::Moved(_) => Taken::Moved(kept.identifier),
            Step::Unchanged => Taken::Unchanged(kept.identifier),
            Step::TooEarly => Taken::Kept(Some(kept.identifier)),
        });
    }
}

/// The return that the event is about, locked; none if only a tracking number is given that nobody knows yet.
async fn find(tx: &mut Tx, report: &Report) -> Result<Option<Return>, CarrierEventError> {
    let known: Option<Uuid> = match &report.number {
        Some(number) => parcels::find(tx, number.as_str()).await?,
        None => None,
    };
    if let Some(identifier) = &report.rma {
        let found = rmas::lock(tx, identifier).await?.ok_or(CarrierEventError::NoSuchReturn)?;
        // A number that nobody knows says nothing; one that is known says which parcel was seen.
        return if known.is_none_or(|known| known == found.id) { Ok(Some(found)) } else { Err(CarrierEventError::AnothersNumber) };
    }
    match known {
        Some(id) => Ok(rmas::lock_by_id(tx, id).await?),
        None => Ok(None),
    }
}

/// Applies an event to its return, and after a label what waited for it.
async fn apply(app: &App, tx: &mut Tx, kept: &mut Return, report: &Report) -> Result<Step, CarrierEventError> {
    let step = move_on(&mut kept.rma, report.word, report.number.as_ref(), report.kept.handed_over.as_deref())?;
    match step {
        Step::Unchanged => {}
        Step::TooEarly => {
            carrier_events::keep(tx, app.mint(), WaitsFor::Return(&kept.identifier), &report.kept, app.now()).await?;
        }
        Step::Moved(event) => {
            tell(app, tx, kept, event, app.now()).await?;
            if let (CarrierWord::LabelIssued, Some(number)) = (report.word, &report.number) {
                if !parcels::claim(tx, number.as_str(), kept.id).await? {
                    return Err(CarrierEventError::AnothersNumber);
                }
                replay(app, tx, kept, number).await?;
            }
        }
    }
    Ok(step)
}

/// What became of a label.
pub(in crate::flow) enum Labelled {
    /// The return has it now, and the merchant is owed a message on it.
    New,
    /// The return had it before.
    Known,
    /// The return has no use for it.
    Unwanted,
}

/// Puts a label on a return, which is locked.
pub(in crate::flow) async fn label(app: &App, tx: &mut Tx, kept: &mut Return, number: &TrackingNumber) -> Result<Labelled, Failed> {
    let has_it = kept.rma.units.iter().all(|unit| unit.parcel.number() == Some(number));
    let report = Report::of_parcel(CarrierWord::LabelIssued, number.clone(), app.now());
    match apply(app, tx, kept, &report).await {
        Ok(Step::Moved(_)) => Ok(Labelled::New),
        Ok(Step::Unchanged | Step::TooEarly) if has_it => Ok(Labelled::Known),
        Ok(Step::Unchanged | Step::TooEarly) | Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn) => {
            Ok(Labelled::Unwanted)
        }
        Err(CarrierEventError::Failed(failed)) => Err(failed),
        Err(CarrierEventError::AnothersNumber) => Err(Failed::Internal("the carrier sold a tracking number twice")),
    }
}

/// Replays the events that came before the label. Events that no longer apply are dropped; they were acknowledged on arrival.
async fn replay(app: &App, tx: &mut Tx, kept: &mut Return, number: &TrackingNumber) -> Result<(), Failed> {
    for early in carrier_events::take(tx, &kept.identifier, number.as_str()).await? {
        let Some(word) = CarrierWord::ALL.into_iter().find(|word| word.as_str() == early.event) else { continue };
        if let Ok(Step::Moved(event)) = move_on(&mut kept.rma, word, None, early.handed_over.as_deref()) {
            tell(app, tx, kept, event, app.now()).await?;
        }
    }
    Ok(())
}

/// What an event does to a return.
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

/// Which units those are: of each line the first ones.
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
