//! `/r/{merchant}/items/{item}/reason`: asks why an item goes back. Nobody has to say.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::returns::rma::policy::NOT_GIVEN;
use serde::Deserialize;
use wire::returns::draft::Wish;

use super::session::Shopper;
use super::step;
use super::view::{DraftBox, Goods, units_of};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;

#[derive(Template)]
#[template(path = "portal/reason.html")]
struct Why {
    frame: Frame,
    draft: DraftBox,
    step: String,
    action: String,
    legend: String,
    goods: Goods,
    reasons: Vec<Reason>,
}

struct Reason {
    value: String,
    words: String,
    chosen: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    reason: String,
}

/// `GET /r/{merchant}/items/{item}/reason`.
pub(super) async fn show(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    page(&shopper.reader, &order, &number)
}

/// `POST /r/{merchant}/items/{item}/reason`.
pub(super) async fn answer(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let (number, _) = step::item(&order, &number)?;
    // A reason that the merchant no longer has is as good as none.
    let reason = if order.policy().allows_reason(&typed.reason) { typed.reason } else { NOT_GIVEN.to_owned() };
    let Some(item) = order.answers.items.get_mut(number - 1) else { return Err(PageError::NotFound) };
    let changed = item.reason.as_ref() != Some(&reason);
    item.reason = Some(reason);
    let mut item = item.clone();
    // Exchanges are offered for some reasons only, so a new reason asks again.
    if !step::has_choice(&order, &item) {
        item.instead = Some(Wish::Refund);
    } else if changed && matches!(item.instead, Some(Wish::Variant(_))) {
        item.instead = None;
    }
    let asked = item.instead.is_none() || step::has_choice(&order, &item);
    if let Some(kept) = order.answers.items.get_mut(number - 1) {
        *kept = item;
    }
    shopper.save(&app, &order).await?;
    let next = if asked { format!("items/{number}/instead") } else { step::next(&order) };
    Ok(see(&shopper.reader.path(&next)))
}

fn page(reader: &Reader, order: &PortalOrder, number: &str) -> Result<Response, PageError> {
    let (number, item) = step::item(order, number)?;
    let (sold, _) = order.line(&item.line).ok_or(PageError::NotFound)?;
    let goods = Goods::of(reader, order, sold, units_of(reader, item.quantity, sold.quantity));
    let reason =
        |value: &str| Reason { value: value.to_owned(), words: words(reader, value), chosen: item.reason.as_deref() == Some(value) };
    let offered = order.policy().reasons.iter().map(String::as_str).filter(|reason| *reason != NOT_GIVEN).chain([NOT_GIVEN]);
    render(&Why {
        frame: reader.frame("reason-title").at_step(2, reader.path(&step::before_reason(order, number))),
        draft: DraftBox::of(reader, order),
        step: numbered(reader, 2, number, order.answers.items.len()),
        action: reader.path(&format!("items/{number}/reason")),
        legend: reader.text_with("reason-legend", [("title", goods.title.as_str().into())]),
        goods,
        reasons: offered.map(reason).collect(),
    })
}

/// A reason in the reader's language. A merchant's own reason is shown as it is.
pub(super) fn words(reader: &Reader, reason: &str) -> String {
    let key = format!("reason-{reason}");
    let text = reader.text(&key);
    if text == key { reason.to_owned() } else { text }
}

/// The number of a step, and of the item if there are several.
pub(super) fn numbered(reader: &Reader, step: u32, item: usize, items: usize) -> String {
    if items > 1 {
        reader.text_with("step-item", [("step", step.into()), ("item", item.into()), ("items", items.into())])
    } else {
        reader.text_with("step", [("step", step.into())])
    }
}
