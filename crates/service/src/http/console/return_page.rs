//! `GET /merchants/{handle}/returns/{rma}`: a return: where the refund is, what happened, what the merchant and the shopper were told.
//! `POST …/shopper` shows it with the shopper's name and address, which the audit records.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::merchants::operator::Role;
use domain::returns::label::LabelState;
use domain::returns::rma::{self, Event, Status};
use store::merchants::accounts::Merchant;
use store::merchants::audit;
use store::messages::message_pages::{self, Filter};
use store::orders::refunds;
use store::returns::rma_events::{self, Change};
use store::returns::rmas::Return;
use store::returns::{carrier_events, label_orders, overdue_refunds};
use store::warehouse::returned_units::{self, ReturnedUnit};
use uuid::Uuid;

use super::amount::currency_of;
use super::by::{By, Permission, Support, Viewer};
use super::error::ConsoleError;
use super::form::Path;
use super::frame::{Frame, Section};
use super::messages::{state, subject_at};
use super::page::render;
use super::return_axes::Axes;
use super::return_exchange::{self, Exchange};
use super::return_found::{At, find, order_at, return_at};
use super::return_money::Money;
use super::return_refund::{self, Answer};
use super::return_timeline::{self, Actors, Step};
use super::stamp::Stamp;
use crate::flow::orders::view_shopper::{Shopper, view_shopper};
use crate::flow::returns::resend_mail::{SentMail, list_mails};

/// The most changes, messages and received units of a page.
const MOST_CHANGES: i64 = 100;
const MOST_MESSAGES: usize = 50;
const MOST_UNITS: i64 = 100;
const MOST_WAITING: i64 = 20;

/// A message to the merchant.
struct Told {
    id: Uuid,
    sequence: i64,
    event: String,
    at: Stamp,
    state: (&'static str, &'static str),
}

/// A mail to the shopper.
struct MailRow {
    sent: SentMail,
    at: Stamp,
    state: (&'static str, &'static str),
}

/// A tracking number, and how many units have it.
struct Tracked {
    number: String,
    units: usize,
    states: String,
}

/// The label that the service buys.
struct Label {
    state: String,
    reason: Option<String>,
    can_order: bool,
}

struct Received {
    unit: ReturnedUnit,
    at: Stamp,
}

#[derive(Template)]
#[template(path = "console/return.html")]
#[expect(clippy::struct_excessive_bools, reason = "each decides on its own what one part of the page shows")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    rma: String,
    here: String,
    order: String,
    order_at: String,
    original_order: Option<String>,
    status: (&'static str, String),
    method: &'static str,
    units: usize,
    started: Stamp,
    gift: bool,
    cost: String,
    deducted: bool,
    answer: Answer,
    in_question: bool,
    axes: Axes,
    money: Money,
    steps: Vec<Step>,
    more_steps: bool,
    tracked: Vec<Tracked>,
    waiting: Vec<(String, Stamp)>,
    label: Option<Label>,
    expected: usize,
    received: Vec<Received>,
    receiving_closed: bool,
    told: Vec<Told>,
    more_told: bool,
    messages_at: String,
    mails: Vec<MailRow>,
    exchange: Option<Exchange>,
    /// Why it cannot be cancelled.
    held: Option<String>,
    shopper: Option<Shopper>,
    giftee: Option<String>,
    may_act: bool,
    command: String,
    mails_command: String,
}

pub(super) async fn show(by: By<Viewer>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    page(&by, merchant, kept, None).await
}

/// Shows the shopper, too.
pub(super) async fn show_shopper(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    let shopper = view_shopper(&by.app, &by.actor(), merchant.id, &kept.order).await?;
    let shopper = shopper.ok_or_else(|| {
        ConsoleError::Refused("The order is not stored any more, or its shopper was erased. Ask the merchant for the address.".to_owned())
    })?;
    page(&by, merchant, kept, Some(shopper)).await
}

async fn page<P: Permission>(by: &By<P>, merchant: Merchant, kept: Return, shopper: Option<Shopper>) -> Result<Response, ConsoleError> {
    let store = by.app.store(merchant.id);
    let currency = currency_of(by, &merchant, &kept.order).await?;
    let refunds = refunds::list(store, merchant.id, &kept.order).await?;
    let due = overdue_refunds::due_of(store, merchant.id, kept.id).await?;
    let changes = rma_events::list_newest(store, merchant.id, kept.id, MOST_CHANGES).await?;
    let is_complete = i64::try_from(changes.len()).unwrap_or(i64::MAX) < MOST_CHANGES;
    let timeline = return_timeline::Facts {
        kept: &kept,
        changes: &changes,
        actors: actors(by, &merchant, &kept, &changes).await?,
        refunds: &refunds,
        due,
        currency: &currency,
        is_complete,
    };
    let answer = return_refund::Facts { kept: &kept, due, refunds: &refunds, days: merchant.refund_days, currency: &currency };
    let (told, more_told) = told(by, &merchant, &kept).await?;
    let received = returned_units::list(store, merchant.id, kept.id, &kept.identifier, MOST_UNITS).await?;
    let waiting = carrier_events::list_waiting(store, merchant.id, &kept.identifier, MOST_WAITING).await?;
    let mails = list_mails(&by.app, merchant.id, &kept.identifier).await?;
    let giftee = shopper.as_ref().and(kept.giftee_email.clone());
    let may_act = by.may(Role::Support);
    render(&Page {
        frame: by.frame(Section::Returns, &kept.identifier),
        here: return_at(&merchant.handle, &kept.identifier),
        order_at: order_at(&merchant.handle, &kept.order),
        status: (status_class(kept.rma.status), kept.rma.status.to_string()),
        method: kept.rma.method.as_str(),
        units: kept.items.len(),
        started: by.time(kept.created_at),
        gift: kept.gift,
        cost: currency.tell(kept.shipping_cost),
        deducted: kept.fee_deducted,
        answer: answer.answer(by),
        in_question: kept.rma.is_in_question(),
        axes: Axes::of(&kept),
        money: Money::of(&kept, &currency),
        steps: timeline.steps(by),
        more_steps: !is_complete,
        tracked: tracked(&kept),
        waiting: waiting.into_iter().map(|(event, at)| (event, by.time(at))).collect(),
        label: label(by, &merchant, &kept).await?,
        expected: kept.rma.units.iter().filter(|unit| unit.receiving.is_some()).count(),
        received: received.into_iter().map(|unit| Received { at: by.time(unit.received_at), unit }).collect(),
        receiving_closed: kept.rma.receiving_closed,
        told,
        more_told,
        messages_at: subject_at(&merchant.handle, &kept.identifier),
        mails: mails.into_iter().rev().map(|sent| MailRow { at: by.time(sent.written_at), state: state(sent.state), sent }).collect(),
        exchange: return_exchange::look(by, &merchant, &kept, &currency).await?,
        held: held(&kept),
        shopper,
        giftee,
        may_act,
        command: format!("backhaul returns show --merchant {} {}", merchant.handle, kept.identifier),
        mails_command: format!("backhaul mails list --merchant {} {}", merchant.handle, kept.identifier),
        rma: kept.identifier,
        order: kept.order,
        original_order: kept.original_order,
        merchant,
    })
}

/// Why a return cannot be cancelled, if it cannot.
fn held(kept: &Return) -> Option<String> {
    match kept.rma.clone().cancel() {
        Ok(step) => (step == rma::Step::Unchanged).then(|| "the return is cancelled".to_owned()),
        Err(refused) => Some(refused.to_string()),
    }
}

/// The class of a status.
pub(super) const fn status_class(status: Status) -> &'static str {
    match status {
        Status::Created => "run",
        Status::PartialRefund => "warn",
        Status::Refunded => "ok",
        Status::Cancelled => "off",
    }
}

/// The action under which the audit has a change of this kind, if somebody in particular makes it.
const fn action(event: Event) -> Option<&'static str> {
    match event {
        Event::Created => Some("return.started"),
        Event::RefundRecorded | Event::PartiallyRefunded | Event::Refunded => Some("refund.confirmed"),
        Event::Cancelled => Some("return.canceled"),
        Event::ExchangePlaced | Event::ExchangeIdentified => Some("exchange.recorded"),
        Event::ExchangeConverted => Some("exchange.converted"),
        Event::Resent => Some("return.resent"),
        Event::TrackingUpdated | Event::Received | Event::ReceivingClosed => None,
    }
}

/// Whoever started the return, and made the changes that people make.
async fn actors<P: Permission>(by: &By<P>, merchant: &Merchant, kept: &Return, changes: &[Change]) -> Result<Actors, ConsoleError> {
    let wanted: Vec<(Event, DateTime<Utc>, &str)> = changes
        .iter()
        .map(|change| (change.event, change.happened_at))
        .chain([(Event::Created, kept.created_at)])
        .filter_map(|(event, at)| Some((event, at, action(event)?)))
        .collect();
    let asked: Vec<(DateTime<Utc>, &str)> = wanted.iter().map(|(_, at, action)| (*at, *action)).collect();
    let found = audit::actors(by.app.store(merchant.id), merchant.id, &kept.identifier, &asked).await?;
    Ok(wanted.into_iter().zip(found).filter_map(|((event, at, _), actor)| Some(((event, at), actor?))).collect())
}

async fn told<P: Permission>(by: &By<P>, merchant: &Merchant, kept: &Return) -> Result<(Vec<Told>, bool), ConsoleError> {
    let filter = Filter { subject: Some(kept.identifier.clone()), ..Filter::default() };
    let page = message_pages::list(by.app.store(merchant.id), merchant.id, &filter, None, MOST_MESSAGES).await?;
    let told = page.messages.into_iter().map(|message| Told {
        id: message.id,
        sequence: message.sequence,
        at: by.log_time(message.written_at()),
        state: state(message.state),
        event: message.event,
    });
    let mut told: Vec<Told> = told.collect();
    told.sort_by_key(|message| std::cmp::Reverse(message.sequence));
    Ok((told, page.next.is_some()))
}

fn tracked(kept: &Return) -> Vec<Tracked> {
    let mut numbers: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for unit in &kept.rma.units {
        if let Some(number) = unit.parcel.number() {
            numbers.entry(number.to_string()).or_default().extend(unit.parcel.as_str());
        }
    }
    let tracked = |(number, mut states): (String, Vec<&str>)| {
        let units = states.len();
        states.sort_unstable();
        states.dedup();
        Tracked { number, units, states: states.join(", ") }
    };
    numbers.into_iter().map(tracked).collect()
}

async fn label<P: Permission>(by: &By<P>, merchant: &Merchant, kept: &Return) -> Result<Option<Label>, ConsoleError> {
    let progress = label_orders::look(by.app.store(merchant.id), merchant.id, kept.id).await?;
    Ok(progress.map(|progress| Label {
        can_order: match progress.state {
            LabelState::Refused => kept.rma.is_live() && !kept.rma.is_labelled(),
            LabelState::Ordered | LabelState::Bought | LabelState::Withdrawn => false,
        },
        state: progress.state.to_string(),
        reason: progress.reason,
    }))
}
