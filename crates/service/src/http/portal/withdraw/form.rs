//! `/r/{merchant}/withdraw`: who withdraws, from what, and where receipt is acknowledged.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use store::returns::return_policies;
use wire::returns::withdrawal::Statement;

use super::{Withdrawing, set_cookie};
use crate::app::App;
use crate::delivery::transports::mail::is_address;
use crate::flow::returns::withdraw::{find_contract, save_statement};
use crate::http::address::Client;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::http::portal::find::take_as_long_as_all;
use crate::http::portal::session;
use crate::platform::keys::bearer;

/// The longest name, e-mail address, and words for an order or its goods, in characters.
pub(super) const LONGEST: usize = 300;

#[derive(Template)]
#[template(path = "portal/withdraw.html")]
struct Page {
    frame: Frame,
    side: Side,
    statement: Statement,
}

/// What a withdrawal is, beside the questions.
pub(super) struct Side {
    pub(super) right: Markup,
    pub(super) offer: Markup,
}

impl Side {
    pub(super) async fn of(app: &App, withdrawing: &Withdrawing) -> Result<Self, PageError> {
        let policy = return_policies::current(app.store(withdrawing.merchant), withdrawing.merchant).await?;
        let reader = &withdrawing.reader;
        Ok(Self {
            right: reader.rich("withdraw-side-right", []),
            offer: reader.rich("withdraw-side-offer", [("days", policy.window_days.into())]),
        })
    }
}

/// What a shopper typed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::http::portal) struct Typed {
    name: String,
    order: String,
    email: String,
    what: String,
}

/// `GET /r/{merchant}/withdraw`.
pub(in crate::http::portal) async fn show(
    State(app): State<App>,
    withdrawing: Withdrawing,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let statement = match withdrawing.statement(&app).await? {
        Some(statement) => statement,
        None => Statement { order: session::order(&app, &withdrawing.reader, &headers).await?.unwrap_or_default(), ..Statement::default() },
    };
    page(&app, &withdrawing, statement, Vec::new()).await
}

/// `POST /r/{merchant}/withdraw`: keeps the statement, and shows it.
pub(in crate::http::portal) async fn answer(
    State(app): State<App>,
    withdrawing: Withdrawing,
    client: Client,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let short = |text: &str| text.trim().chars().filter(|letter| !letter.is_control()).take(LONGEST).collect::<String>();
    let mut statement = Statement {
        name: short(&typed.name),
        order: short(&typed.order),
        email: short(&typed.email),
        part: typed.what == "some",
        ..Statement::default()
    };
    let fault = |wrong: bool, field: &str, key: &str| wrong.then(|| FieldFault { field: field.to_owned(), text: reader.text(key) });
    let faults = [
        fault(statement.name.is_empty(), "name", "withdraw-name-missing"),
        fault(statement.order.is_empty(), "order", "withdraw-order-missing"),
        fault(!is_address(&statement.email), "email", "lost-wrong"),
    ];
    let faults: Vec<FieldFault> = faults.into_iter().flatten().collect();
    if !faults.is_empty() {
        return page(&app, &withdrawing, statement, faults).await;
    }
    let started = app.clock.uptime();
    let session_order = session::order(&app, reader, &headers).await?;
    let found = find_contract(&app, &reader.shop, session_order, &statement, &client.counted.to_string()).await?;
    if found.is_none() {
        take_as_long_as_all(&app, started).await;
    }
    let (order, opened) = found.unzip();
    statement.found = order;
    let secret = bearer::new_secret(&app.entropy);
    save_statement(&app, withdrawing.merchant, &bearer::hash(secret.expose_secret()), &statement).await?;
    let mut answer = see(&reader.path(if statement.part { "withdraw/goods" } else { "withdraw/confirm" }));
    answer.headers_mut().append(header::SET_COOKIE, set_cookie(reader, &secret)?);
    if let Some(opened) = opened.flatten() {
        answer.headers_mut().append(header::SET_COOKIE, session::set_cookie(reader, &opened)?);
    }
    Ok(answer)
}

async fn page(app: &App, withdrawing: &Withdrawing, statement: Statement, faults: Vec<FieldFault>) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let mut frame = reader.frame("withdraw-title").with_faults(faults);
    frame.back = Some(reader.path(""));
    render(&Page { frame, side: Side::of(app, withdrawing).await?, statement })
}
