//! The check page when something has changed since the answers were given: says what, and offers the nearest choice.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use domain::returns::exchange::variant::Variant;
use domain::returns::rma::choice::{Impossible, NoExchange};
use domain::returns::rma::eligibility::Obstacle;
use wire::returns::draft::{AnsweredItem, Wish};

use super::exchange::described;
use super::session::Shopper;
use super::step;
use super::view::{Goods, units_of, why_held};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;

/// The most variants that are offered instead of one that is gone.
const MOST_NEAREST: usize = 3;

#[derive(Template)]
#[template(path = "portal/changed.html")]
struct Changed {
    frame: Frame,
    step: String,
    action: String,
    items: Vec<ChangedItem>,
    /// The way back that was chosen is not offered any more.
    way_gone: bool,
}

/// An item that cannot go back as it was chosen.
struct ChangedItem {
    id: String,
    number: usize,
    goods: Goods,
    chosen: String,
    now: String,
    /// What can be chosen instead: the value and the words. Empty if there is nothing to choose.
    choices: Vec<(String, String)>,
    see_all: Option<String>,
}

/// Shows what has changed.
pub(super) fn page(
    reader: &Reader,
    order: &PortalOrder,
    against: &[Impossible],
    stocks: &BTreeMap<String, Option<Arc<[Variant]>>>,
) -> Result<Response, PageError> {
    let mut items: Vec<ChangedItem> = Vec::new();
    for impossible in against {
        let shown = match impossible {
            Impossible::Units { item, free, held } => of_units(reader, order, *item, *free, held),
            Impossible::Exchange { item, why } => of_exchange(reader, order, *item, why, stocks),
            Impossible::Line { item } => of_units(reader, order, *item, 0, &[]),
            Impossible::Reason { .. } | Impossible::Method { .. } | Impossible::GifteeMissing | Impossible::NoGift => None,
        };
        items.extend(shown);
    }
    let way_gone = against.iter().any(|impossible| matches!(impossible, Impossible::Method { .. }));
    let fault = |item: &ChangedItem| {
        let values = [("title", item.goods.title.as_str().into()), ("now", item.now.as_str().into())];
        FieldFault { field: item.id.clone(), text: reader.text_with("changed-item", values) }
    };
    let mut faults: Vec<FieldFault> = items.iter().map(fault).collect();
    if way_gone {
        faults.push(FieldFault { field: "way".to_owned(), text: reader.text("changed-way") });
    }
    let mut frame = reader.frame("changed-title").at_step(5, reader.path("how")).with_faults(faults).alone();
    frame.fault_heading = reader.text("changed-not-started");
    let step = reader.text_with("step", [("step", 5.into())]);
    render(&Changed { frame, step, action: reader.path("changed"), items, way_gone })
}

fn of_units(reader: &Reader, order: &PortalOrder, at: usize, free: u32, held: &[(Obstacle, u32)]) -> Option<ChangedItem> {
    let item = order.answers.items.get(at)?;
    let sold = order.line(&item.line).map_or(item.quantity, |(sold, _)| sold.quantity);
    let why: Vec<String> = held.iter().map(|(obstacle, _)| why_held(reader, order, *obstacle)).collect();
    let values = [("units", free.into()), ("quantity", item.quantity.into()), ("why", why.join(" ").into())];
    Some(ChangedItem {
        id: format!("c{}", at + 1),
        number: at + 1,
        goods: Goods::of_item(reader, order, &item.line, String::new()),
        chosen: match units_of(reader, item.quantity, sold) {
            chosen if chosen.is_empty() => reader.text_with("units", [("units", item.quantity.into())]),
            chosen => chosen,
        },
        now: reader.text_with(if free == 0 { "changed-none" } else { "changed-fewer" }, values),
        choices: Vec::new(),
        see_all: None,
    })
}

fn of_exchange(
    reader: &Reader,
    order: &PortalOrder,
    at: usize,
    why: &NoExchange,
    stocks: &BTreeMap<String, Option<Arc<[Variant]>>>,
) -> Option<ChangedItem> {
    let item = order.answers.items.get(at)?;
    let stock = stocks.get(&item.line);
    let variants: &[Variant] = stock.and_then(Option::as_deref).unwrap_or_default();
    let wished = match &item.instead {
        Some(Wish::Variant(sku)) => sku.as_str(),
        Some(Wish::GiftCard | Wish::Refund) | None => "",
    };
    let name = variants.iter().find(|variant| variant.sku == wished).map_or_else(|| wished.to_owned(), described);
    let now = match why {
        _ if stock.is_some_and(Option::is_none) => "changed-slow",
        NoExchange::OutOfStock(_) | NoExchange::NotAVariant(_) => "changed-sold-out",
        NoExchange::ExchangedBefore => "changed-exchanged",
        NoExchange::NotOffered | NoExchange::NoVariants | NoExchange::Reason(_) | NoExchange::NoGiftCard | NoExchange::Gift => {
            "changed-no-exchange"
        }
    };
    let exchange = |variant: &&Variant| {
        (format!("variant:{}", variant.sku), reader.text_with("changed-exchange", [("variant", described(variant).into())]))
    };
    let nearest = nearest(order, item, variants, wished);
    let card = order.offers_gift_card().then(|| ("gift-card".to_owned(), reader.text("instead-gift-card")));
    let refund = ("refund".to_owned(), reader.text(if order.is_gift() { "check-gift" } else { "check-refund" }));
    Some(ChangedItem {
        id: format!("c{}", at + 1),
        number: at + 1,
        goods: Goods::of_item(reader, order, &item.line, String::new()),
        chosen: match &item.instead {
            Some(Wish::GiftCard) => reader.text("instead-gift-card"),
            _ => reader.text_with("check-exchange", [("variant", name.into())]),
        },
        now: reader.text(now),
        choices: nearest.iter().map(exchange).chain([refund]).chain(card).collect(),
        see_all: (!variants.is_empty()).then(|| reader.path(&format!("items/{}/exchange", at + 1))),
    })
}

/// The variants in stock that are listed nearest to the one that was wished.
fn nearest<'v>(order: &PortalOrder, item: &AnsweredItem, variants: &'v [Variant], wished: &str) -> Vec<&'v Variant> {
    let place = variants.iter().position(|variant| variant.sku == wished).unwrap_or_default();
    let distance = |sku: &str| variants.iter().position(|variant| variant.sku == sku).map_or(usize::MAX, |at| at.abs_diff(place));
    let mut available = order.shown(item, variants);
    available.retain(|variant| variant.in_stock >= item.quantity && variant.sku != wished);
    available.sort_by_key(|variant| distance(&variant.sku));
    available.truncate(MOST_NEAREST);
    available
}

/// `POST /r/{merchant}/changed`: takes over what is possible now, and what was chosen instead.
pub(super) async fn accept(
    State(app): State<App>,
    shopper: Shopper,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let chosen: BTreeMap<&str, &str> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut answers = order.answers.clone();
    for (item, number) in answers.items.iter_mut().zip(1..) {
        match chosen.get(&*format!("instead-{number}")).copied() {
            Some("refund") => item.instead = Some(Wish::Refund),
            Some("gift-card") => item.instead = Some(Wish::GiftCard),
            Some(other) => item.instead = other.strip_prefix("variant:").map(|sku| Wish::Variant(sku.to_owned())),
            None => {}
        }
    }
    let free = |item: &AnsweredItem| order.line(&item.line).map_or(0, |(_, line)| line.units);
    answers.items.retain_mut(|item| {
        item.quantity = item.quantity.min(free(item));
        item.quantity > 0
    });
    order.answers = answers;
    if order.answers.method.is_some_and(|method| order.offers().iter().all(|offer| offer.method != method)) {
        order.answers.method = None;
    }
    shopper.save(&app, &order).await?;
    Ok(see(&shopper.reader.path(&step::next(&order))))
}
