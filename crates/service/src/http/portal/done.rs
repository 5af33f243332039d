//! `/r/{merchant}/returns/{rma}/done`: the return is confirmed; here are the code and the label.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::money::Cents;
use domain::returns::label::LabelState;
use domain::returns::rma::{ExchangeState, Method};

use super::session::{Follower, Shopper};
use super::view::{Day, amount};
use crate::app::App;
use crate::flow::returns::cancel_return::CancelReturnError;
use crate::flow::returns::start_over as flow;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::show::returns::portal::{PortalOrder, PortalReturn, Progress};

#[derive(Template)]
#[template(path = "portal/done.html")]
struct Done {
    frame: Frame,
    rma: String,
    path: String,
    ticket: Ticket,
    express: bool,
    /// The path of the carrier's QR code, if there is one.
    code: Option<String>,
    tracking: Option<String>,
    until: Option<Day>,
    units: usize,
    cost: Option<String>,
    next: Vec<Markup>,
    /// What comes back, for goods that are kept.
    refund: Option<String>,
}

/// What the shopper has in hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ticket {
    /// Nothing is sent.
    Kept,
    Label,
    /// The label is being made.
    Pending,
    /// The merchant has no carrier with us, and may bring a label of its own.
    Unlabelled,
    /// The carrier refuses the label for good.
    Refused,
    /// It is under way, or over.
    Past,
}

/// `GET /r/{merchant}/returns/{rma}/done`.
pub(super) async fn show(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let (one, order) = shopper.find_return_and_order(&app, &rma).await?;
    let reader = &shopper.reader;
    let ticket = ticket(&one);
    if ticket == Ticket::Past {
        return Ok(see(&reader.path(&format!("returns/{}", one.kept.identifier))));
    }
    let money = |amount| reader.words().money(amount, &order.currency);
    let bill = one.bill();
    let cost = Some(one.kept.shipping_cost).filter(|cost| *cost > Cents::default()).map(|cost| {
        let key = if one.kept.fee_deducted { "done-cost-deducted" } else { "done-cost" };
        reader.text_with(key, [("amount", money(cost).into())])
    });
    let title = if ticket == Ticket::Refused { "done-refused-title" } else { "done-title" };
    render(&Done {
        frame: reader.frame(title),
        path: reader.path(&format!("returns/{}", one.kept.identifier)),
        ticket,
        express: one.kept.rma.method == Method::ExpressReturns,
        code: one.has_code.then(|| reader.path(&format!("returns/{}/code", one.kept.identifier))),
        tracking: one.tracking_number(),
        until: one.deadline().filter(|_| ticket != Ticket::Refused).map(|deadline| Day::with_weekday(reader.words(), deadline)),
        units: one.kept.items.len(),
        cost,
        next: if ticket == Ticket::Refused { Vec::new() } else { next(reader, &order, &one) },
        refund: (bill.refund > Cents::default() && !one.kept.gift).then(|| money(bill.refund)),
        rma: one.kept.identifier,
    })
}

fn ticket(one: &PortalReturn) -> Ticket {
    match (one.progress(), one.label) {
        (Progress::Kept, _) => Ticket::Kept,
        (Progress::Waiting, Some(LabelState::Bought)) => Ticket::Label,
        (Progress::Waiting, Some(LabelState::Refused)) => Ticket::Refused,
        (Progress::Waiting, Some(LabelState::Ordered)) => Ticket::Pending,
        (Progress::Waiting, None) => Ticket::Unlabelled,
        _ => Ticket::Past,
    }
}

/// What happens next, in steps.
fn next(reader: &Reader, order: &PortalOrder, one: &PortalReturn) -> Vec<Markup> {
    let words = reader.words();
    let bill = one.bill();
    let hand_over = match one.kept.rma.method {
        Method::ExpressReturns => Some("next-drop-off"),
        Method::MailBack => Some("next-send"),
        Method::CustomerKeep => None,
    };
    // A return with an exchange has no deadline.
    let hand_over = hand_over.map(|key| match one.deadline() {
        Some(deadline) => reader.rich(key, [("day", words.day(deadline).into())]),
        None => reader.rich(&format!("{key}-open"), []),
    });
    let exchange = match one.exchange_state() {
        Some(ExchangeState::Pending) => Some("next-exchange"),
        Some(ExchangeState::Placed) => Some("next-exchange-placed"),
        Some(ExchangeState::Converted) | None => None,
    };
    let exchange = exchange.map(|key| reader.rich(key, [("what", one.exchanged_for().into())]));
    // What comes back for goods that are kept is on the page already.
    let refund = (bill.refund > Cents::default() && hand_over.is_some())
        .then(|| reader.rich("next-refund", amount(reader, &order.currency, one.kept.gift, bill.refund)));
    [hand_over, exchange, refund].into_iter().flatten().collect()
}

/// `POST /r/{merchant}/returns/{rma}/another`: chooses another way back, because the carrier refuses the label.
pub(super) async fn start_over(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, rma)): Path<(String, String)>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let one = shopper.find_return(&app, &rma).await?;
    let status = shopper.reader.path(&format!("returns/{}", one.kept.identifier));
    if ticket(&one) != Ticket::Refused {
        return Ok(see(&status));
    }
    match flow::start_over(&app, &shopper.actor(), shopper.merchant, &one.kept.identifier, shopper.cancel_reason(), &shopper.hash).await {
        Ok(()) => Ok(see(&shopper.reader.path("how"))),
        // It has moved on in the meantime.
        Err(CancelReturnError::NoSuchReturn | CancelReturnError::Refused(_)) => Ok(see(&status)),
        Err(CancelReturnError::Failed(failed)) => Err(failed.into()),
    }
}
