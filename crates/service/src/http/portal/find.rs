//! `/r/{merchant}`: finds the order.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use domain::merchants::brand::Wording;
use domain::returns::rma::Method;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use store::returns::return_policies;

use super::session::{cookie, remove_cookie, set_cookie};
use crate::app::App;
use crate::flow::returns::find_order::{Attempt, FindOrderError, end_session, find_order};
use crate::flow::returns::send_link::can_send_links;
use crate::http::address::Client;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::platform::keys::bearer;

/// Every miss, and every request for a link, takes this long, so that its time tells nothing about orders.
const MISS_TAKES: Duration = Duration::from_millis(150);

#[derive(Template)]
#[template(path = "portal/find.html")]
struct Find {
    frame: Frame,
    /// The merchant's own wording of the line below the heading.
    welcome: Option<String>,
    promises: Promises,
    number: String,
    key: String,
    missed: bool,
    /// Links can be sent by mail.
    links: bool,
}

/// What the merchant and its policy promise.
struct Promises {
    heading: String,
    /// In the merchant's own words.
    own: Option<String>,
    window: Markup,
    express: bool,
    exchange: bool,
}

/// What a shopper typed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    order: String,
    key: String,
}

/// `GET /r/{merchant}`.
pub(in crate::http) async fn show(State(app): State<App>, reader: Reader) -> Result<Response, PageError> {
    page(&app, &reader, Typed::default(), Vec::new(), false).await
}

/// `POST /r/{merchant}`: looks for the order, and opens it.
pub(super) async fn find(State(app): State<App>, reader: Reader, client: Client, Form(typed): Form<Typed>) -> Result<Response, PageError> {
    let missing = |value: &str, field: &str, key: &str| {
        value.trim().is_empty().then(|| FieldFault { field: field.to_owned(), text: reader.text(key) })
    };
    let faults = [missing(&typed.order, "order", "find-number-missing"), missing(&typed.key, "key", "find-key-missing")];
    let faults: Vec<FieldFault> = faults.into_iter().flatten().collect();
    if !faults.is_empty() {
        return page(&app, &reader, typed, faults, false).await;
    }
    let started = app.clock.uptime();
    let prefix = reader.shop.number_prefix.as_deref();
    let attempt = Attempt { number: &typed.order, prefix, key: &typed.key, address: &client.counted.to_string() };
    let missed = match find_order(&app, &reader.shop.merchant, &attempt).await {
        Ok(secret) => {
            let mut answer = see(&reader.path("returns"));
            answer.headers_mut().insert(header::SET_COOKIE, set_cookie(&reader, &secret)?);
            return Ok(answer);
        }
        Err(FindOrderError::Failed(failed)) => return Err(failed.into()),
        Err(missed) => missed,
    };
    take_as_long_as_all(&app, started).await;
    if let FindOrderError::TooMany(until) = missed {
        return Err(PageError::TooMany(Some(until)));
    }
    let fault = FieldFault { field: "order".to_owned(), text: reader.text("find-miss") };
    page(&app, &reader, typed, vec![fault], true).await
}

/// Waits until as much time has passed since `started` as for everybody.
pub(super) async fn take_as_long_as_all(app: &App, started: Duration) {
    tokio::time::sleep(MISS_TAKES.saturating_sub(app.clock.uptime().saturating_sub(started))).await;
}

/// `POST /r/{merchant}/leave`: ends the session.
pub(super) async fn leave(
    State(app): State<App>,
    reader: Reader,
    headers: HeaderMap,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    if let Some(secret) = cookie(&headers) {
        end_session(&app, reader.shop.merchant.id, &bearer::hash(secret.expose_secret())).await?;
    }
    let mut answer = see(&reader.path(""));
    answer.headers_mut().insert(header::SET_COOKIE, remove_cookie(&reader)?);
    Ok(answer)
}

async fn page(app: &App, reader: &Reader, typed: Typed, faults: Vec<FieldFault>, missed: bool) -> Result<Response, PageError> {
    let mut frame = reader.frame("find-title").with_faults(faults);
    if missed {
        frame.fault_heading = reader.text("find-miss-heading");
    }
    let merchant = reader.shop.merchant.id;
    let policy = return_policies::current(app.store(merchant), merchant).await?;
    let promises = Promises {
        heading: frame.text_of_shop("promises"),
        own: frame.wording(Wording::Promise).map(ToOwned::to_owned),
        window: reader.rich("promise-window", [("days", policy.window_days.into())]),
        express: policy.offers.iter().any(|offer| offer.method == Method::ExpressReturns),
        exchange: !policy.exchange_reasons.is_empty(),
    };
    let links = can_send_links(app, &reader.shop);
    let welcome = frame.wording(Wording::Welcome).map(ToOwned::to_owned);
    render(&Find { frame, welcome, promises, number: typed.order, key: typed.key, missed, links })
}
