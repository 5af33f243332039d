//! `/r/{merchant}/items/{item}/instead`: a refund, an exchange or a gift card.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::money::Cents;
use domain::returns::rma::eligibility::free_numbers;
use domain::returns::rma::money::unit_money;
use serde::Deserialize;
use wire::returns::draft::{AnsweredItem, Wish};

use super::reason::{numbered, words};
use super::session::Shopper;
use super::step;
use super::view::{DraftBox, Goods, joined, units_of};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame};
use crate::http::pages::markup::Markup;
use crate::http::pages::{render, see};
use crate::show::returns::portal::{PortalOrder, Stock};

#[derive(Template)]
#[template(path = "portal/instead.html")]
struct What {
    frame: Frame,
    draft: DraftBox,
    step: String,
    action: String,
    again: String,
    legend: String,
    goods: Goods,
    exchange: Exchange,
    /// `None` for a gift.
    refund: Option<String>,
    gift_card: Option<GiftCard>,
    chosen: &'static str,
}

/// The exchange among the choices.
#[derive(PartialEq, Eq)]
enum Exchange {
    Offered,
    SoldOut,
    /// The merchant's system does not say what there is.
    Unknown,
    NotOffered,
}

struct GiftCard {
    worth: String,
    note: Markup,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    instead: String,
}

/// `GET /r/{merchant}/items/{item}/instead`.
pub(super) async fn show(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    page(&app, &shopper, &order, &number, Vec::new()).await
}

/// `POST /r/{merchant}/items/{item}/instead`.
pub(super) async fn answer(
    State(app): State<App>,
    shopper: Shopper,
    Path((_, number)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let (at, item) = step::item(&order, &number)?;
    let wish = match &*typed.instead {
        "refund" => Wish::Refund,
        "gift-card" if order.offers_gift_card() => Wish::GiftCard,
        "exchange" if order.is_exchangeable(item) => return Ok(see(&shopper.reader.path(&format!("items/{at}/exchange")))),
        _ => {
            let fault = FieldFault { field: "refund".to_owned(), text: shopper.reader.text("instead-none") };
            return page(&app, &shopper, &order, &number, vec![fault]).await;
        }
    };
    if let Some(item) = order.answers.items.get_mut(at - 1) {
        item.instead = Some(wish);
    }
    shopper.save(&app, &order).await?;
    Ok(see(&shopper.reader.path(&step::next(&order))))
}

async fn page(app: &App, shopper: &Shopper, order: &PortalOrder, number: &str, faults: Vec<FieldFault>) -> Result<Response, PageError> {
    let reader = &shopper.reader;
    let (number, item) = step::item(order, number)?;
    let (sold, _) = order.line(&item.line).ok_or(PageError::NotFound)?;
    let exchange = match order.stock(app, shopper.merchant, item).await? {
        Stock::NotOffered => Exchange::NotOffered,
        Stock::Unknown => Exchange::Unknown,
        Stock::Variants(variants) => match &*order.shown(item, &variants) {
            [] => Exchange::NotOffered,
            shown if shown.iter().any(|variant| variant.is_available()) => Exchange::Offered,
            _ => Exchange::SoldOut,
        },
    };
    let money = reader.words();
    let worth = worth(order, item);
    let gift_card = order.offers_gift_card().then(|| {
        let bonus = order.bonus();
        let shown = |amount| money.money(amount, &order.currency);
        GiftCard {
            worth: shown(worth.plus(bonus)),
            note: if bonus > Cents::default() {
                reader.rich("instead-gift-card-bonus", [("worth", shown(worth).into()), ("bonus", shown(bonus).into())])
            } else {
                reader.rich("instead-gift-card-note", [])
            },
        }
    });
    let reason = item.reason.as_deref().map(|reason| words(reader, reason)).unwrap_or_default();
    let goods = Goods::of(reader, order, sold, joined([units_of(reader, item.quantity, sold.quantity), reason]));
    render(&What {
        frame: reader.frame("instead-title").at_step(3, reader.path(&format!("items/{number}/reason"))).with_faults(faults),
        draft: DraftBox::of(reader, order),
        step: numbered(reader, 3, number, order.answers.items.len()),
        action: reader.path(&format!("items/{number}/instead")),
        again: reader.path(&format!("items/{number}/instead")),
        legend: reader.text_with("instead-legend", [("title", goods.title.as_str().into())]),
        goods,
        refund: (!order.is_gift()).then(|| money.money(worth, &order.currency)),
        chosen: match (&item.instead, &exchange) {
            (Some(Wish::GiftCard), _) => "gift-card",
            (Some(Wish::Refund), _) => "refund",
            (Some(Wish::Variant(_)) | None, Exchange::Offered) => "exchange",
            (Some(Wish::Variant(_)) | None, _) => "",
        },
        exchange,
        gift_card,
    })
}

/// The amount that was paid for the units of an item.
fn worth(order: &PortalOrder, item: &AnsweredItem) -> Cents {
    let Some((sold, _)) = order.line(&item.line) else { return Cents::default() };
    let free = free_numbers(sold, &order.used_units(&item.line), item.quantity);
    free.into_iter().filter_map(|number| unit_money(sold, number)).fold(Cents::default(), |sum, unit| sum.plus(unit.estimated))
}
