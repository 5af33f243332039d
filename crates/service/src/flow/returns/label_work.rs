//! Work for the carrier on a return's label: buying it, fetching its QR code, and voiding it when nobody needs it any more.

use chrono::TimeDelta;
use domain::messages::message::{Internal, Kind};
use domain::returns::label::LabelState;
use domain::returns::rma::Method;
use domain::returns::work::WorkKind;
use store::messages::deliveries;
use store::messages::outbox::Message;
use store::returns::label_orders::{self, LabelOrder};
use store::returns::rmas::Return;
use store::returns::{carrier_accounts, work_items};
use store::{Failed, Tx};
use wire::orders::order::OrderIn;
use wire::returns::label::{LabelAction, LabelWork, PostalAddress};

use crate::app::App;

/// The events of the messages that buy labels, fetch their codes and void them.
const WANTED: &str = "label.wanted";
const CODE_WANTED: &str = "label.code_wanted";
const UNWANTED: &str = "label.unwanted";

/// An upper bound on the calls of one purchase.
const CALLS: i32 = 6;

/// Orders the label of a return as the purchase with this number. Returns false if there is nothing to buy: the merchant has no
/// carrier, or the shopper keeps the goods.
pub(super) async fn buy_label(app: &App, tx: &mut Tx, kept: &Return, order: &OrderIn<'_>, number: u32) -> Result<bool, Failed> {
    let ordered = owe(app, tx, kept, Some(order), LabelAction::Buy, number).await?;
    if ordered {
        label_orders::save(tx, kept.id, &LabelOrder { number, state: LabelState::Ordered }, app.now()).await?;
    }
    Ok(ordered)
}

/// Fetches the QR code of the label that was bought with this number, if the shopper hands the goods over without printing it.
pub(super) async fn fetch_code(app: &App, tx: &mut Tx, kept: &Return, number: u32) -> Result<(), Failed> {
    match kept.rma.method {
        Method::ExpressReturns => owe(app, tx, kept, None, LabelAction::Code, number).await.map(drop),
        Method::MailBack | Method::CustomerKeep => Ok(()),
    }
}

/// Withdraws the label of a return that no longer needs one: stops buying it and fetching its code, closes its case on the work list,
/// and voids it. The carrier knows best if there is a label to void.
pub(super) async fn withdraw_label(app: &App, tx: &mut Tx, kept: &Return) -> Result<(), Failed> {
    deliveries::discard_work(tx, &[Internal::Label, Internal::LabelCode], &kept.identifier).await?;
    let number = match label_orders::find(tx, kept.id).await? {
        Some(order) => {
            work_items::close(tx, WorkKind::LabelRefused, &kept.identifier, app.now()).await?;
            label_orders::save(tx, kept.id, &LabelOrder { state: LabelState::Withdrawn, ..order }, app.now()).await?;
            order.number
        }
        None => 1,
    };
    void_label(app, tx, kept, number).await
}

/// Stops a purchase that is waiting. One that is under way goes on.
pub(super) async fn stop_buying(tx: &mut Tx, kept: &Return) -> Result<(), Failed> {
    deliveries::discard_work(tx, &[Internal::Label], &kept.identifier).await
}

/// Voids the label that was bought with this number, if there is one.
pub(super) async fn void_label(app: &App, tx: &mut Tx, kept: &Return, number: u32) -> Result<(), Failed> {
    owe(app, tx, kept, None, LabelAction::Void, number).await.map(drop)
}

async fn owe(app: &App, tx: &mut Tx, kept: &Return, order: Option<&OrderIn<'_>>, action: LabelAction, number: u32) -> Result<bool, Failed> {
    match kept.rma.method {
        Method::MailBack | Method::ExpressReturns => {}
        Method::CustomerKeep => return Ok(false),
    }
    let Some(account) = carrier_accounts::find(tx).await? else { return Ok(false) };
    let (from, weight) = match order {
        Some(order) => (sender(order), weight(kept, order, account.usual_weight)),
        None => (PostalAddress::default(), account.usual_weight),
    };
    let to = serde_json::from_str(&account.destination).map_err(|_| Failed::Internal("a stored address cannot be read"))?;
    let body = LabelWork { action, reference: kept.identifier.clone(), number, from, to, weight }.write();
    let (kind, event, due_at) = match action {
        LabelAction::Buy => (Internal::Label, WANTED, app.now()),
        LabelAction::Code => (Internal::LabelCode, CODE_WANTED, app.now()),
        LabelAction::Void => (Internal::LabelVoid, UNWANTED, app.now() + longest_purchase(app)),
    };
    let (kind, subject) = (Kind::Internal(kind), kept.identifier.clone());
    tx.owe(Message { id: app.mint(), kind, event, subject, sequence: kept.sequence, body, due_at });
    Ok(true)
}

/// The longest that a purchase can take. Voiding waits for it: a purchase that was under way when the return ended has ended by
/// then, and even if its answer was lost, the carrier knows the label.
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
