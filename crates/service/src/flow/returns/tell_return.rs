//! What every change of a return has in common: it is written down, and the merchant's systems are owed one message on it, in
//! the same transaction.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Internal, Kind};
use domain::returns::rma::Event;
use store::messages::deliveries;
use store::messages::outbox::Message;
use store::returns::rmas::{self, Return};
use store::{Failed, Tx};

use crate::app::App;
use crate::show::returns::rmas as returns;

/// Writes down a return that is new, with its first message.
pub(in crate::flow) async fn tell_new(app: &App, tx: &mut Tx, new: &Return) -> Result<(), Failed> {
    rmas::insert(tx, new).await?;
    owe(app, tx, new, Event::Created)
}

/// Writes down a return that has changed, or is asked for again, with the message on it. The return is locked.
pub(in crate::flow) async fn tell(app: &App, tx: &mut Tx, changed: &mut Return, event: Event, now: DateTime<Utc>) -> Result<(), Failed> {
    changed.sequence += 1;
    // Who asks again is told the same. Clocks of processes differ; what merchants see never goes back.
    if event != Event::Resent {
        changed.updated_at = changed.updated_at.max(now);
    }
    if !changed.rma.may_expire() {
        changed.wakes_at = None;
    }
    rmas::save(tx, changed).await?;
    if event == Event::Refunded {
        // Nobody waits for a label any more.
        deliveries::discard_work(tx, Internal::Label, &changed.identifier).await?;
    }
    owe(app, tx, changed, event)
}

fn owe(app: &App, tx: &mut Tx, told: &Return, event: Event) -> Result<(), Failed> {
    let body = returns::message(told).render().map_err(|_| Failed::Internal("a message on a return could not be written"))?;
    tx.owe(Message {
        id: app.mint(),
        kind: Kind::Of(Interface::Rma),
        event: event.as_str(),
        subject: told.identifier.clone(),
        sequence: told.sequence,
        body,
        due_at: app.now(),
    });
    Ok(())
}
