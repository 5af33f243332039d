//! `/r/{merchant}/items`: chooses what goes back.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use domain::returns::rma::eligibility::{LineEligibility, Obstacle, free_numbers};
use domain::returns::rma::money::unit_money;
use domain::returns::rma::sale::SoldLine;
use wire::returns::draft::{AnsweredItem, Giftee};

use super::session::Shopper;
use super::step;
use super::view::{Day, Goods, OrderBox, units_of, why_held};
use crate::app::App;
use crate::delivery::transports::mail::is_address;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;

#[derive(Template)]
#[template(path = "portal/items.html")]
struct Items {
    frame: Frame,
    order: OrderBox,
    lines: Vec<Line>,
    held: Vec<Held>,
    step: String,
    /// The giftee's e-mail address as it was typed, if the order is a gift.
    giftee: Option<String>,
}

/// A line of which something can come back.
struct Line {
    identifier: String,
    goods: Goods,
    /// `None` for a gift.
    price: Option<String>,
    each: bool,
    until: Option<Day>,
    ticked: bool,
    /// Why some of it cannot come back; empty if all can.
    partly: String,
    /// Empty if there is only one unit.
    quantities: Vec<Quantity>,
}

struct Quantity {
    units: u32,
    words: String,
    chosen: bool,
}

/// A line of which nothing can come back.
struct Held {
    goods: Goods,
    why: String,
}

/// `GET /r/{merchant}/items`.
pub(super) async fn show(State(app): State<App>, shopper: Shopper) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    let giftee = order.answers.giftee.as_ref().map(|giftee| giftee.0.as_str()).unwrap_or_default();
    page(&shopper.reader, &order, giftee, Vec::new())
}

/// `POST /r/{merchant}/items`: keeps what was ticked. Answers about lines that stay ticked are kept.
pub(super) async fn choose(
    State(app): State<App>,
    shopper: Shopper,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let quantities: BTreeMap<&str, u32> =
        fields.iter().filter_map(|(name, value)| Some((name.strip_prefix("quantity-")?, value.parse().ok()?))).collect();
    let ticked: Vec<&str> = fields.iter().filter(|(name, _)| name == "line").map(|(_, value)| &**value).collect();
    let item = |(number, (sold, line)): (usize, (&SoldLine, &LineEligibility))| {
        if !ticked.contains(&&*sold.identifier) {
            return None;
        }
        let quantity = quantities.get(&*number.to_string()).copied().unwrap_or(1).clamp(1, line.units);
        let before = order.answers.items.iter().find(|item| item.line == sold.identifier);
        let (reason, instead) = before.map(|item| (item.reason.clone(), item.instead.clone())).unwrap_or_default();
        Some(AnsweredItem { line: sold.identifier.clone(), quantity, reason, instead })
    };
    let items: Vec<AnsweredItem> = (1..).zip(returnable(&order)).filter_map(item).collect();
    let giftee = fields.iter().find(|(name, _)| name == "giftee").map(|(_, value)| value.trim()).unwrap_or_default();
    let fault = |field: &str, key: &str| FieldFault { field: field.to_owned(), text: shopper.reader.text(key) };
    let nothing = items.is_empty().then(|| fault("l1", "items-none"));
    let nobody = (order.is_gift() && !is_address(giftee)).then(|| fault("giftee", "giftee-missing"));
    let faults: Vec<FieldFault> = nothing.into_iter().chain(nobody).collect();
    order.answers.items = items;
    if !faults.is_empty() {
        return page(&shopper.reader, &order, giftee, faults);
    }
    order.answers.giftee = order.is_gift().then(|| Giftee(giftee.to_owned()));
    shopper.save(&app, &order).await?;
    Ok(see(&shopper.reader.path(&step::next(&order))))
}

/// The lines of which something can come back.
fn returnable(order: &PortalOrder) -> impl Iterator<Item = (&SoldLine, &LineEligibility)> {
    order.each_line().filter(|(_, line)| line.units > 0)
}

fn page(reader: &Reader, order: &PortalOrder, giftee: &str, faults: Vec<FieldFault>) -> Result<Response, PageError> {
    let words = reader.words();
    let lines: Vec<Line> = returnable(order).map(|(sold, line)| shown(reader, order, sold, line)).collect();
    let title = if lines.is_empty() { "items-nothing-title" } else { "items-title" };
    let held = |(sold, line): (&SoldLine, &LineEligibility)| {
        let over = line.until.filter(|_| line.held.iter().any(|(obstacle, _)| *obstacle == Obstacle::WindowOver));
        let why = match over {
            Some(until) => reader.text_with("held-window_over-on", [("day", words.day_of_year(until).into())]),
            None => because(reader, order, line),
        };
        Held { goods: Goods::of(reader, order, sold, units_bought(reader, sold)), why }
    };
    render(&Items {
        frame: reader.frame(title).at_step(1, reader.path("returns")).with_faults(faults),
        order: OrderBox::of(reader, order),
        lines,
        held: order.each_line().filter(|(_, line)| line.units == 0).map(held).collect(),
        step: reader.text_with("step", [("step", 1.into())]),
        giftee: order.is_gift().then(|| giftee.to_owned()),
    })
}

fn shown(reader: &Reader, order: &PortalOrder, sold: &SoldLine, line: &LineEligibility) -> Line {
    let words = reader.words();
    let chosen = order.answers.items.iter().find(|item| item.line == sold.identifier).map_or(0, |item| item.quantity);
    // Units of a line differ by a cent at most; the first to come back is shown.
    let first = free_numbers(sold, &order.used_units(&sold.identifier), 1).into_iter().find_map(|number| unit_money(sold, number));
    let money = first.unwrap_or_default();
    let quantity = |units: u32| Quantity { units, words: units_of(reader, units, sold.quantity), chosen: units == chosen };
    let partly = [("units", line.units.into()), ("quantity", sold.quantity.into()), ("why", because(reader, order, line).into())];
    Line {
        identifier: sold.identifier.clone(),
        goods: Goods::of(reader, order, sold, units_bought(reader, sold)),
        price: (!order.is_gift()).then(|| words.money(money.estimated, &order.currency)),
        each: sold.quantity > 1,
        until: line.until.map(|until| Day::of(words, until)),
        ticked: chosen > 0,
        partly: if line.held.is_empty() { String::new() } else { reader.text_with("items-partly", partly) },
        quantities: if line.units > 1 { (1..=line.units).map(quantity).collect() } else { Vec::new() },
    }
}

/// The reasons that units cannot come back.
fn because(reader: &Reader, order: &PortalOrder, line: &LineEligibility) -> String {
    line.held.iter().map(|(obstacle, _)| why_held(reader, order, *obstacle)).collect::<Vec<_>>().join(" ")
}

fn units_bought(reader: &Reader, sold: &SoldLine) -> String {
    if sold.quantity > 1 { reader.text_with("units", [("units", sold.quantity.into())]) } else { String::new() }
}
