//! `/r/{merchant}/withdraw/done` and `/r/{merchant}/withdrawals/{reference}`: receipt of a statement, and the way back for the goods.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use store::returns::withdrawals::{self, Withdrawal};

use super::Withdrawing;
use crate::app::App;
use crate::flow::returns::withdraw::send_back;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::http::portal::session::Shopper;
use crate::http::portal::view::Day;
use crate::show::returns::portal;
use crate::show::returns::returnable::NO_SESSION;
use crate::show::returns::withdrawals::SENT_BACK_WITHIN;

#[derive(Template)]
#[template(path = "portal/withdraw_done.html")]
struct Page {
    frame: Frame,
    lede: Markup,
    received: Day,
    reference: String,
    facts: Vec<(String, String)>,
    in_time: Option<String>,
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
    // Who has the goods of a gift is not the one who withdraws.
    let sends = order.is_some_and(|order| !order.is_gift() && order.sale().lines.iter().any(|line| line.shipped > 0));
    let email = [("email", found.email.as_str().into())];
    let in_time = match (found.in_time, found.last_day) {
        (Some(true), Some(day)) => Some(reader.text_with("withdraw-in-time", [("day", words.calendar_day(day).into())])),
        (Some(true), None) => Some(reader.text("withdraw-in-time-open")),
        (Some(false), Some(day)) => Some(reader.text_with("withdraw-late-since", [("day", words.calendar_day(day).into())])),
        (Some(false) | None, _) => None,
    };
    let by = [("day", words.day_of_year(found.received_at + SENT_BACK_WITHIN).into())];
    let facts = found.statement.lines().skip(1).filter_map(|line| line.split_once(": "));
    let frame = reader.frame("withdraw-done-title").alone();
    render(&Page {
        lede: reader.rich(if matched { "withdraw-done-lede" } else { "withdraw-unknown-lede" }, email.clone()),
        received: Day { machine: words.machine_time(found.received_at), words: words.exact_moment(found.received_at) },
        reference: found.reference.clone(),
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        in_time,
        matched,
        person: reader.rich("withdraw-person", email),
        next: [(sends, "withdraw-next-send"), (matched, "withdraw-next-refund")]
            .into_iter()
            .filter(|(said, _)| *said)
            .map(|(_, key)| reader.rich(key, by.clone()))
            .collect(),
        send: sends.then(|| reader.path(&format!("withdrawals/{}", found.reference))),
        frame,
    })
}
