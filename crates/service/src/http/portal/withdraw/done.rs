//! `/r/{merchant}/withdraw/done` and `/r/{merchant}/withdrawals/{reference}`: receipt of a statement, and the way back for the goods.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use store::returns::withdrawals::{self, Withdrawal};

use super::Withdrawing;
use super::receipt::Receipt;
use crate::app::App;
use crate::flow::returns::withdraw::send_back;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::http::portal::session::Shopper;
use crate::show::returns::portal;
use crate::show::returns::returnable::NO_SESSION;
use crate::show::returns::withdrawals::{SENT_BACK_WITHIN, WayBack, chosen};

#[derive(Template)]
#[template(path = "portal/withdraw_done.html")]
struct Page {
    frame: Frame,
    lede: Markup,
    receipt: Receipt,
    matched: bool,
    person: Markup,
    next: Vec<Markup>,
    /// The path that begins the return of the goods.
    send: Option<String>,
}

/// `GET /r/{merchant}/withdraw/done`.
pub(in crate::http::portal) async fn show(State(app): State<App>, withdrawing: Withdrawing) -> Result<Response, PageError> {
    let found = match &withdrawing.session {
        Some(session) => withdrawals::of_session(app.store(withdrawing.merchant), withdrawing.merchant, session).await?,
        None => None,
    };
    let Some(found) = found else { return Ok(see(&withdrawing.reader.path("withdraw"))) };
    page(&app, &withdrawing.reader, &found).await
}

/// `GET /r/{merchant}/withdrawals/{reference}`.
pub(in crate::http::portal) async fn show_of_order(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, reference)): Path<(String, String)>,
) -> Result<Response, PageError> {
    page(&app, &shopper.reader, &of_order(&app, &shopper, &reference).await?).await
}

/// `POST /r/{merchant}/withdrawals/{reference}`: begins the return of the goods.
pub(in crate::http::portal) async fn send(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, reference)): Path<(String, String)>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let found = of_order(&app, &shopper, &reference).await?;
    let rma = found.rma.as_ref().map(|rma| format!("returns/{rma}"));
    let next = match rma {
        Some(rma) => rma,
        None if send_back(&app, &shopper.reader.shop, &found, &shopper.hash).await? => "how".to_owned(),
        // Nothing of it was shipped, or it is on its way back already.
        None => "items".to_owned(),
    };
    Ok(see(&shopper.reader.path(&next)))
}

/// A statement about the session's order.
async fn of_order(app: &App, shopper: &Shopper, reference: &str) -> Result<Withdrawal, PageError> {
    let found = withdrawals::find(app.store(shopper.merchant), shopper.merchant, &reference.to_uppercase()).await?;
    found.filter(|found| found.order.as_ref() == Some(&shopper.session.order)).ok_or(PageError::NotFound)
}

async fn page(app: &App, reader: &Reader, found: &Withdrawal) -> Result<Response, PageError> {
    let words = reader.words();
    let matched = found.order.is_some();
    let order = match &found.order {
        Some(order) => portal::load(app, reader.shop.merchant.id, order, NO_SESSION).await?,
        None => None,
    };
    let way_back =
        order.map_or(WayBack::Nothing, |order| WayBack::of(order.sale(), &reader.shop, order.policy(), chosen(found).as_deref()));
    let sends = way_back == WayBack::ByShopper;
    let next: &[&str] = match way_back {
        WayBack::ByShopper => &["withdraw-next-send", "withdraw-next-refund"],
        WayBack::Gift => &["withdraw-next-gift"],
        WayBack::Nothing => &["withdraw-next-refund-unsent"],
    };
    let email = [("email", found.email.as_str().into())];
    let in_time = match (found.in_time, found.last_day) {
        (Some(true), Some(day)) => Some(reader.text_with("withdraw-in-time", [("day", words.calendar_day(day).into())])),
        (Some(true), None) => Some(reader.text("withdraw-in-time-open")),
        (Some(false), Some(day)) => Some(reader.text_with("withdraw-late-since", [("day", words.calendar_day(day).into())])),
        (Some(false) | None, _) => None,
    };
    let by = [("day", words.day_of_year(found.received_at + SENT_BACK_WITHIN).into())];
    let frame = reader.frame("withdraw-done-title").alone();
    render(&Page {
        lede: reader.rich(if matched { "withdraw-done-lede" } else { "withdraw-unknown-lede" }, email.clone()),
        receipt: Receipt { in_time, ..Receipt::of(reader, found) },
        matched,
        person: reader.rich("withdraw-person", email),
        next: next.iter().filter(|_| matched).map(|key| reader.rich(key, by.clone())).collect(),
        send: sends.then(|| reader.path(&format!("withdrawals/{}", found.reference))),
        frame,
    })
}
