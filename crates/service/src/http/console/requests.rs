//! `/requests`: what one administrator asks for and another one decides.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::merchants::operator::request::{Decision, Wanted};
use serde::Deserialize;
use store::merchants::accounts;
use store::merchants::operator_requests::{Listed, Which};
use uuid::Uuid;

use super::by::{Admin, By};
use super::error::ConsoleError;
use super::form::{Form, Path, Query};
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::flow::merchants::erase_shopper::ErasureTarget;
use crate::flow::merchants::operators::requests::{self, Asked, RequestError};
use crate::show::merchants::named_requests;

/// The most requests on a page.
const MOST: i64 = 100;

#[derive(Template)]
#[template(path = "console/requests.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<Row>,
    shown: &'static str,
    /// The name and number of each tab; only what waits is counted.
    tabs: Vec<(&'static str, &'static str, Option<usize>)>,
}

#[derive(Template)]
#[template(path = "console/request.html")]
struct RequestPage {
    frame: Frame,
    row: Row,
    reason: String,
}

#[derive(Template)]
#[template(path = "console/request_erase.html")]
struct ErasePage {
    frame: Frame,
    merchant: String,
    order: String,
    is_drop_ship: bool,
    why: String,
    fault: Option<String>,
}

/// A request, as the pages show it.
struct Row {
    id: Uuid,
    what: String,
    /// What it covers, in words.
    covers: String,
    why: String,
    merchant: Option<(String, String)>,
    asked_by: String,
    is_yours: bool,
    asked: Stamp,
    lapses: Stamp,
    state: State,
    decided: Option<(String, Stamp)>,
    reason: Option<String>,
    outcome: Option<String>,
    button: String,
}

/// The state of a request: its class and its word.
struct State {
    class: &'static str,
    word: &'static str,
    /// It waits for a decision of this person.
    is_for_you: bool,
    /// This person can take it back.
    is_to_take_back: bool,
}

#[derive(Deserialize)]
pub(super) struct Tab {
    #[serde(default)]
    show: String,
}

#[derive(Deserialize)]
pub(super) struct Decided {
    decide: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
pub(super) struct Erasing {
    #[serde(default)]
    merchant: String,
    #[serde(default)]
    order: String,
    #[serde(default)]
    drop_ship: String,
    #[serde(default)]
    why: String,
}

fn row(by: &By<Admin>, listed: Listed) -> Row {
    let Listed { request, asked_by, decided_by, merchant, .. } = listed;
    let is_yours = request.standing.asked_by == by.operator.id;
    let (what, covers, button) = match request.wanted {
        Wanted::EraseShopper => (
            if request.things == 1 { "Erase a shopper's order".to_owned() } else { format!("Erase {} orders of a shopper", request.things) },
            format!("Name, e-mail, phone and addresses in the orders {}, their returns, mails and messages. Amounts, SKUs and states stay.", orders(&request.covers)),
            "Approve: erase".to_owned(),
        ),
        Wanted::DiscardFailures => (
            format!("Discard {} failures", request.things),
            "Messages of the failure queue that were there when it was asked. They are never sent again, by nobody. Later ones are left out.".to_owned(),
            format!("Approve: discard {}", request.things),
        ),
        Wanted::RotateKeys => (
            format!("Rotate the {} key", request.covers.first().map_or("", String::as_str)),
            match request.covers.as_slice() {
                [_, from, to] => format!("The key {to} is used instead of {from}, on every node. What {from} made is renewed in the background."),
                _ => String::new(),
            },
            "Approve: rotate the key".to_owned(),
        ),
        Wanted::MakeAdmin => {
            ("Make somebody an administrator".to_owned(), format!("The operator {}.", request.covers.last().map_or("", String::as_str)), "Approve: make an administrator".to_owned())
        }
    };
    let is_open = request.standing.is_open(by.now);
    let (class, word) = match (request.standing.decision, request.done_at, is_yours) {
        (None, _, true) if is_open => ("run", "Waits for somebody else"),
        (None, _, false) if is_open => ("warn", "Waits for you"),
        (None, ..) => ("off", "Lapsed"),
        (Some(Decision::Approved), Some(_), _) => ("ok", "Approved and done"),
        (Some(Decision::Approved), None, _) => ("bad", "Approved, not done"),
        (Some(Decision::Refused), ..) => ("off", "Declined"),
        (Some(Decision::Withdrawn), ..) => ("off", "Taken back"),
    };
    let is_unfinished = request.standing.decision == Some(Decision::Approved) && request.done_at.is_none();
    Row {
        id: request.id,
        what,
        covers,
        why: request.why,
        merchant,
        asked_by,
        is_yours,
        asked: by.time(request.standing.asked_at),
        lapses: by.time(request.standing.lapses_at()),
        state: State { class, word, is_for_you: !is_yours && (is_open || is_unfinished), is_to_take_back: is_yours && is_open },
        decided: decided_by.zip(request.decided_at.map(|at| by.time(at))),
        reason: request.reason,
        outcome: request.outcome,
        button,
    }
}

fn orders(covers: &[String]) -> String {
    let names: Vec<&str> = covers.iter().map(|order| order.split_once(':').map_or(order.as_str(), |(_, name)| name)).collect();
    names.join(", ")
}

pub(super) async fn list(by: By<Admin>, Query(tab): Query<Tab>) -> Result<Response, ConsoleError> {
    let (shown, which) = match tab.show.as_str() {
        "mine" => ("mine", Which::Open),
        "decided" => ("decided", Which::Decided),
        "lapsed" => ("lapsed", Which::Lapsed),
        _ => ("open", Which::Open),
    };
    let open = named_requests::list(&by.app, Some(Which::Open), None, MOST, by.now).await?;
    let mine = open.iter().filter(|listed| listed.request.standing.asked_by == by.operator.id).count();
    let tabs = vec![
        ("open", "For you to decide", Some(open.len() - mine)),
        ("mine", "Asked by you", Some(mine)),
        ("decided", "Decided", None),
        ("lapsed", "Lapsed", None),
    ];
    let found = match which {
        Which::Open => open,
        Which::Decided | Which::Lapsed => named_requests::list(&by.app, Some(which), None, MOST, by.now).await?,
    };
    let rows = found.into_iter().map(|listed| row(&by, listed));
    let rows = match shown {
        "open" => rows.filter(|row| !row.is_yours).collect(),
        "mine" => rows.filter(|row| row.is_yours).collect(),
        _ => rows.collect(),
    };
    render(&ListPage { frame: by.frame(Section::Requests, "Second person"), rows, shown, tabs })
}

async fn find(by: &By<Admin>, id: Uuid) -> Result<Row, ConsoleError> {
    let found = named_requests::list(&by.app, None, Some(id), 1, by.now).await?.pop();
    Ok(row(by, found.ok_or(ConsoleError::NotFound)?))
}

pub(super) async fn show(by: By<Admin>, Path(id): Path<Uuid>) -> Result<Response, ConsoleError> {
    let row = find(&by, id).await?;
    render(&RequestPage { frame: by.frame(Section::Requests, &row.what), row, reason: String::new() })
}

pub(super) async fn decide(by: By<Admin>, Path(id): Path<Uuid>, Form(form): Form<Decided>) -> Result<Response, ConsoleError> {
    let decision = match form.decide.as_str() {
        "approve" => Decision::Approved,
        "decline" => Decision::Refused,
        "take back" => Decision::Withdrawn,
        _ => return Err(ConsoleError::Foreign),
    };
    match requests::decide(&by.app, &by.operator, &by.actor(), id, decision, &form.reason).await {
        Ok(()) => Ok(Redirect::to(&format!("/requests/{id}")).into_response()),
        Err(RequestError::NoSuchRequest) => Err(ConsoleError::NotFound),
        Err(RequestError::Failed(failed)) => Err(failed.into()),
        Err(RequestError::Refused(refused)) => Err(ConsoleError::Conflict(refused.to_string())),
        Err(error @ (RequestError::NoReason | RequestError::Nothing | RequestError::Few | RequestError::Rotation(_))) => {
            let row = find(&by, id).await?;
            let frame = by.frame(Section::Requests, &row.what).with(Some(Notice::bad("Nothing was decided.", &error.to_string())));
            let page = render(&RequestPage { frame, row, reason: form.reason })?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn erase_page(by: &By<Admin>, order: Erasing, fault: Option<String>) -> Result<Response, ConsoleError> {
    let frame = by.frame(Section::Requests, "Erase a shopper");
    let is_drop_ship = !order.drop_ship.is_empty();
    render(&ErasePage { frame, merchant: order.merchant, order: order.order, is_drop_ship, why: order.why, fault })
}

pub(super) async fn show_erase(by: By<Admin>, Query(order): Query<Erasing>) -> Result<Response, ConsoleError> {
    erase_page(&by, order, None)
}

pub(super) async fn erase(by: By<Admin>, Form(order): Form<Erasing>) -> Result<Response, ConsoleError> {
    let handle = order.merchant.trim().parse().ok();
    let merchant = match &handle {
        Some(handle) => accounts::find(by.app.of_handle(handle).await?.cell(), handle).await?,
        None => None,
    };
    let identifier = order.order.trim().to_owned();
    let fault = match merchant {
        None => "There is no merchant with this handle.".to_owned(),
        Some(_) if identifier.is_empty() => "Name the order whose shopper is erased.".to_owned(),
        Some(merchant) => {
            let target =
                if order.drop_ship.is_empty() { ErasureTarget::Order(identifier) } else { ErasureTarget::DropShipOrder(identifier) };
            let asked = Asked::EraseShopper { merchant: merchant.id, orders: vec![target] };
            match requests::ask(&by.app, &by.operator, &by.actor(), &asked, &order.why).await {
                Ok(request) => return Ok(Redirect::to(&format!("/requests/{request}")).into_response()),
                Err(RequestError::Failed(failed)) => return Err(failed.into()),
                Err(error) => error.to_string(),
            }
        }
    };
    Ok((StatusCode::UNPROCESSABLE_ENTITY, erase_page(&by, order, Some(fault))?).into_response())
}
