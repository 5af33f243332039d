//! Saves a new or changed return, and owes the merchant one message on it in the same transaction, and the shopper a mail if it is news
//! to them.

use chrono::{DateTime, Utc};
use domain::messages::message::{Interface, Kind};
use domain::returns::rma::Event;
use store::messages::outbox::Message;
use store::returns::rmas::{self, Return};
use store::{Failed, Tx};

use super::label_work::{stop_buying, withdraw_label};
use super::mail_shopper::mail_change;
use crate::app::App;
use crate::show::returns::rmas as returns;

/// Inserts a new return, and owes its first message.
pub(super) async fn save_new(app: &App, tx: &mut Tx, new: &Return) -> Result<(), Failed> {
    rmas::insert(tx, new).await?;
    owe(app, tx, new, Event::Created)
}

/// Saves a return that has changed or is to be sent again, and owes the message on it. The return must be locked.
pub(in crate::flow) async fn save_change(
    app: &App,
    tx: &mut Tx,
    changed: &mut Return,
    event: Event,
    now: DateTime<Utc>,
) -> Result<(), Failed> {
    step(changed, event, now);
    // A refunded return needs no label, but one that it has may be on a parcel that travels.
    if event == Event::Refunded && changed.rma.is_labelled() {
        stop_buying(tx, changed).await?;
    } else if event == Event::Refunded {
        withdraw_label(app, tx, changed).await?;
    }
    // A resend is no news to the shopper.
    if event != Event::Resent
        && let Some(before) = changed.before()
    {
        mail_change(app, tx, before, changed, now).await?;
    }
    // The change comes last, so that it is one statement with its message.
    if event == Event::Resent {
        rmas::save(tx, changed).await?;
    } else {
        rmas::save_event(tx, changed, event, now).await?;
    }
    owe(app, tx, changed, event)
}

/// Numbers and dates a change.
pub(super) fn step(changed: &mut Return, event: Event, now: DateTime<Utc>) {
    changed.sequence += 1;
    // A resend repeats the same state. Otherwise the time never goes back for the merchant, though the clocks of nodes differ.
    if event != Event::Resent {
        changed.updated_at = changed.updated_at.max(now);
    }
    if !changed.rma.may_expire() {
        changed.wakes_at = None;
    }
}

fn owe(app: &App, tx: &mut Tx, rma: &Return, event: Event) -> Result<(), Failed> {
    tx.owe(message_on(app, rma, event)?);
    Ok(())
}

/// The message on a return.
pub(super) fn message_on(app: &App, rma: &Return, event: Event) -> Result<Message, Failed> {
    let body = returns::message(rma).render().map_err(|_| Failed::Internal("a message on a return could not be written"))?;
    Ok(Message {
        id: app.mint(),
        kind: Kind::Of(Interface::Rma),
        event: event.as_str(),
        subject: rma.identifier.clone(),
        sequence: rma.sequence,
        body,
        due_at: app.now(),
    })
}
