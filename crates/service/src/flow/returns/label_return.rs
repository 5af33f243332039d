//! Labels of returns: requested when a return starts, applied when they are bought, voided when it is cancelled.

use chrono::TimeDelta;
use domain::messages::message::{Internal, Kind};
use domain::returns::rma::{Method, Status, TrackingNumber};
use store::messages::deliveries;
use store::messages::outbox::Message;
use store::returns::carrier_accounts;
use store::returns::labels::{self, Label};
use store::returns::rmas::{self, Return};
use store::{Failed, Tx};
use wire::orders::order::OrderIn;
use wire::returns::label::{BoughtLabel, LabelAction, LabelWork, PostalAddress};

use super::carrier_event::{self, Labelled};
use crate::app::App;
use crate::delivery::reaction::{Ending, Followed, How, Reacting, Reaction};

/// The events of the messages that buy and void labels.
const WANTED: &str = "label.wanted";
const UNWANTED: &str = "label.unwanted";

/// An upper bound on the calls of one purchase.
const CALLS: i32 = 6;

/// Requests the label of a new return, unless the merchant has no carrier or the shopper keeps the goods.
pub(super) async fn request_label(app: &App, tx: &mut Tx, new: &Return, order: &OrderIn<'_>) -> Result<(), Failed> {
    owe(app, tx, new, Some(order), LabelAction::Buy).await
}

/// Voids the label of a cancelled return, and stops buying one. The carrier knows best if there is a label to void.
pub(super) async fn void_label(app: &App, tx: &mut Tx, kept: &Return) -> Result<(), Failed> {
    deliveries::discard_work(tx, Internal::Label, &kept.identifier).await?;
    owe(app, tx, kept, None, LabelAction::Void).await
}

async fn owe(app: &App, tx: &mut Tx, kept: &Return, order: Option<&OrderIn<'_>>, action: LabelAction) -> Result<(), Failed> {
    match kept.rma.method {
        Method::MailBack | Method::ExpressReturns => {}
        Method::CustomerKeep => return Ok(()),
    }
    let Some(account) = carrier_accounts::find(tx).await? else { return Ok(()) };
    let (from, weight) = match order {
        Some(order) => (sender(order), weight(kept, order, account.usual_weight)),
        None => (PostalAddress::default(), account.usual_weight),
    };
    let to = serde_json::from_str(&account.destination).map_err(|_| Failed::Internal("a stored address cannot be read"))?;
    let body = LabelWork { action, reference: kept.identifier.clone(), from, to, weight }.write();
    let (kind, event, due_at) = match action {
        LabelAction::Buy => (Internal::Label, WANTED, app.now()),
        LabelAction::Void => (Internal::LabelVoid, UNWANTED, app.now() + longest_purchase(app)),
    };
    let (kind, subject) = (Kind::Internal(kind), kept.identifier.clone());
    tx.owe(Message { id: app.mint(), kind, event, subject, sequence: kept.sequence, body, due_at });
    Ok(())
}

/// The longest that a purchase can take. Voiding waits for it: a purchase that was under way when the return was cancelled has
/// ended by then, and even if its answer was lost, the carrier knows the label.
fn longest_purchase(app: &App) -> TimeDelta {
    TimeDelta::from_std(app.settings.outbound.call_timeout()).unwrap_or_default() * CALLS
}

/// The address that the parcel comes from: the one that the order went to.
fn sender(order: &OrderIn<'_>) -> PostalAddress {
    let Some(address) = order.shipping_address.as_ref().or(order.billing_address.as_ref()) else { return PostalAddress::default() };
    let text = |text: &Option<wire::shape::Text<'_>>| text.as_ref().map(|text| text.0.to_string());
    PostalAddress {
        name: text(&address.name).unwrap_or_default(),
        street1: text(&address.street1).unwrap_or_default(),
        street2: None,
        city: text(&address.city).unwrap_or_default(),
        state: text(&address.state).unwrap_or_default(),
        zip: text(&address.zip_code).unwrap_or_default(),
        country: text(&address.country_code).unwrap_or_default(),
        phone: text(&address.phone),
    }
}

/// The total weight of the units, in thousandths of a pound.
fn weight(kept: &Return, order: &OrderIn<'_>, usual: u32) -> u32 {
    let sale = order.sale();
    let of = |line: &str| sale.lines.iter().find(|sold| sold.identifier == line).and_then(|sold| sold.weight);
    kept.rma.units.iter().map(|unit| of(&unit.line).map_or(usual, |weight| weight.0)).fold(0, u32::saturating_add).max(1)
}

/// The reaction to a label that was bought.
pub struct LabelBought(pub App);

impl Reaction for LabelBought {
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a> {
        Box::pin(async move {
            match &ending.how {
                How::Delivered(_, answer) => apply(&self.0, tx, answer).await?,
                How::Refused(_) | How::GivenUp => {}
            }
            Ok(Followed::Settled)
        })
    }
}

/// Puts a label that was bought on its return. A repeat changes nothing.
async fn apply(app: &App, tx: &mut Tx, answer: &[u8]) -> Result<(), Failed> {
    let unreadable = || Failed::Internal("a carrier's label cannot be read");
    let bought = BoughtLabel::read(answer).ok_or_else(unreadable)?;
    let number: TrackingNumber = bought.tracking_number.parse().map_err(|_| unreadable())?;
    let Some(mut kept) = rmas::lock(tx, &bought.reference).await? else { return Ok(()) };
    match carrier_event::label(app, tx, &mut kept, &number).await? {
        Labelled::New => {
            let pdf = bought.pdf().ok_or_else(unreadable)?;
            let label = Label { tracking_number: number.as_str(), carrier: &bought.carrier, shipment: &bought.shipment, pdf: &pdf };
            labels::insert(tx, kept.id, &label, app.now()).await
        }
        Labelled::Known => Ok(()),
        Labelled::Unwanted => match kept.rma.status {
            // The cancellation has already requested that the label be voided.
            Status::Cancelled => Ok(()),
            // The return got another label in the meantime.
            Status::Created | Status::PartialRefund | Status::Refunded => owe(app, tx, &kept, None, LabelAction::Void).await,
        },
    }
}
