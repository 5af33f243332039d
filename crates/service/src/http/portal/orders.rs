//! `/r/{merchant}/orders`: the orders that a mailed link opened. With one it is shown at once.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use store::Failed;
use store::orders::snapshots::{OfEmail, of_email};
use wire::orders::order::read_stored;

use super::session::Shopper;
use super::view::Day;
use crate::app::App;
use crate::flow::returns::send_link::choose_order;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};

/// The most orders that are shown.
const MOST: i64 = 20;

#[derive(Template)]
#[template(path = "portal/orders.html")]
struct Orders {
    frame: Frame,
    orders: Vec<Listed>,
}

struct Listed {
    identifier: String,
    heading: String,
    placed: Day,
    /// What was bought.
    goods: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Chosen {
    order: String,
}

/// `GET /r/{merchant}/orders`.
pub(super) async fn list(State(app): State<App>, shopper: Shopper) -> Result<Response, PageError> {
    let reader = &shopper.reader;
    let orders = match shopper.session.email {
        Some(email) => of_email(app.store(shopper.merchant), shopper.merchant, &[email], MOST).await?,
        None => Vec::new(),
    };
    if orders.len() < 2 {
        return Ok(see(&reader.path("returns")));
    }
    let orders = orders.iter().map(|order| listed(reader, order)).collect::<Result<_, _>>()?;
    render(&Orders { frame: reader.frame("orders-title").alone(), orders })
}

/// `POST /r/{merchant}/orders`: goes on with one of them.
pub(super) async fn choose(State(app): State<App>, shopper: Shopper, Form(chosen): Form<Chosen>) -> Result<Response, PageError> {
    let merchant = &shopper.reader.shop.merchant;
    if choose_order(&app, merchant, &shopper.hash, &shopper.session, &chosen.order).await? {
        Ok(see(&shopper.reader.path("returns")))
    } else {
        Err(PageError::NotFound)
    }
}

fn listed(reader: &Reader, order: &OfEmail) -> Result<Listed, PageError> {
    let read = read_stored(&order.snapshot).ok_or(Failed::Internal("a stored order cannot be read"))?;
    Ok(Listed {
        identifier: order.identifier.clone(),
        heading: reader.text_with("order-heading", [("order", order.identifier.as_str().into())]),
        placed: Day::of(reader.words(), order.placed_at),
        goods: read.sale().lines.into_iter().map(|line| line.title.unwrap_or(line.sku)).collect(),
    })
}
