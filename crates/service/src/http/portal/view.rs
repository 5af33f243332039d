//! Goods, days, the order and the draft as several pages show them.

use chrono::{DateTime, Utc};
use domain::money::Cents;
use domain::returns::rma::eligibility::Obstacle;
use domain::returns::rma::sale::SoldLine;
use fluent_bundle::FluentValue;
use wire::returns::draft::{AnsweredItem, Wish};

use super::photo;
use crate::http::pages::frame::Reader;
use crate::platform::words::Words;
use crate::show::returns::portal::PortalOrder;

/// Goods of an order line.
#[derive(Clone)]
pub(super) struct Goods {
    pub(super) title: String,
    /// What else is known, such as the quantity.
    pub(super) note: String,
    /// The path of its photo, if it has one.
    pub(super) photo: Option<String>,
}

impl Goods {
    /// The goods of a line. Without a title, the SKU has to do.
    pub(super) fn of(reader: &Reader, order: &PortalOrder, sold: &SoldLine, note: String) -> Self {
        let photo = order.photo(sold).map(|url| photo::path(reader, &sold.identifier, url));
        Self { title: sold.title.clone().unwrap_or_else(|| sold.sku.clone()), note, photo }
    }

    /// Goods of an order that has changed: the line may be gone.
    pub(super) fn of_item(reader: &Reader, order: &PortalOrder, line: &str, note: String) -> Self {
        match order.line(line) {
            Some((sold, _)) => Self::of(reader, order, sold, note),
            None => Self { title: line.to_owned(), note, photo: None },
        }
    }
}

/// Why units cannot come back. Of a gift it is not told that they are in a return, because its buyer may be the reader.
pub(super) fn why_held(reader: &Reader, order: &PortalOrder, obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::InReturn | Obstacle::Refunded if order.is_gift() => reader.text("held-gift"),
        obstacle => reader.text(&format!("held-{}", obstacle.as_str())),
    }
}

/// An amount in a text. Whoever was given the goods is not told amounts.
pub(super) fn amount(reader: &Reader, currency: &str, gift: bool, amount: Cents) -> [(&'static str, FluentValue<'static>); 2] {
    let shown = if gift { String::new() } else { reader.words().money(amount, currency) };
    [("amount", shown.into()), ("gift", if gift { "yes" } else { "no" }.into())]
}

/// A number of units, such as "1 of 2"; empty if there is only one.
pub(super) fn units_of(reader: &Reader, units: u32, quantity: u32) -> String {
    if quantity > 1 { reader.text_with("units-of", [("units", units.into()), ("quantity", quantity.into())]) } else { String::new() }
}

/// A day.
#[derive(Clone)]
pub(super) struct Day {
    /// For the `datetime` attribute.
    pub(super) machine: String,
    pub(super) words: String,
}

impl Day {
    /// Such as `4 December`.
    pub(super) fn of(words: Words, time: DateTime<Utc>) -> Self {
        Self { machine: words.machine_day(time), words: words.day(time) }
    }

    /// Such as `4 December 2026`.
    pub(super) fn with_year(words: Words, time: DateTime<Utc>) -> Self {
        Self { machine: words.machine_day(time), words: words.day_of_year(time) }
    }

    /// Such as `Friday 4 December`.
    pub(super) fn with_weekday(words: Words, time: DateTime<Utc>) -> Self {
        Self { machine: words.machine_day(time), words: words.weekday(time) }
    }

    /// Such as `4 December, 10:53`.
    pub(super) fn with_time(words: Words, time: DateTime<Utc>) -> Self {
        Self { machine: words.machine_time(time), words: words.moment(time) }
    }
}

/// The order, beside the questions.
pub(super) struct OrderBox {
    pub(super) heading: String,
    pub(super) placed: Day,
    pub(super) shipped: Option<Day>,
}

impl OrderBox {
    pub(super) fn of(reader: &Reader, order: &PortalOrder) -> Self {
        let words = reader.words();
        let shipped = order.sale().lines.iter().filter_map(|line| line.shipped_at).max();
        Self {
            heading: reader.text_with("order-heading", [("order", order.sale().identifier.as_str().into())]),
            placed: Day::with_year(words, order.sale().placed_at),
            shipped: shipped.map(|shipped| Day::with_year(words, shipped)),
        }
    }
}

/// The draft of a return, beside the questions.
pub(super) struct DraftBox {
    pub(super) goods: Vec<Goods>,
    pub(super) order: String,
    pub(super) until: Option<Day>,
}

impl DraftBox {
    pub(super) fn of(reader: &Reader, order: &PortalOrder) -> Self {
        let goods = |item: &AnsweredItem| {
            let (sold, _) = order.line(&item.line)?;
            let wish = match item.instead {
                None => String::new(),
                Some(Wish::Refund) => reader.text(if order.is_gift() { "instead-gift-card" } else { "instead-refund" }),
                Some(Wish::GiftCard) => reader.text("instead-gift-card"),
                Some(Wish::Variant(_)) => reader.text("instead-exchange"),
            };
            Some(Goods::of(reader, order, sold, joined([wish, units_of(reader, item.quantity, sold.quantity)])))
        };
        let until = order.answers.items.iter().filter_map(|item| order.line(&item.line)?.1.until).min();
        Self {
            goods: order.answers.items.iter().filter_map(goods).collect(),
            order: reader.text_with("order-heading", [("order", order.sale().identifier.as_str().into())]),
            until: until.map(|until| Day::of(reader.words(), until)),
        }
    }
}

/// Joins the parts that are there with a middle dot.
pub(super) fn joined<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
