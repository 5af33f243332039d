//! `/r/{merchant}/returns`: the returns of the order. With none the shopper chooses items, with one it is shown at once.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use domain::money::Cents;
use store::returns::withdrawals;

use super::session::Shopper;
use super::status::{Chip, goods};
use super::step;
use super::view::{Day, Goods, OrderBox};
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::{PortalOrder, PortalReturn, list_returns};

#[derive(Template)]
#[template(path = "portal/returns.html")]
struct Several {
    frame: Frame,
    heading: String,
    order: OrderBox,
    returns: Vec<Listed>,
    /// Something else can come back.
    more: bool,
}

struct Listed {
    rma: String,
    path: String,
    chip: Chip,
    goods: Vec<Goods>,
    until: Option<Day>,
    refund: Option<String>,
    gift_card: Option<String>,
}

/// `GET /r/{merchant}/returns`.
pub(super) async fn list(State(app): State<App>, shopper: Shopper) -> Result<Response, PageError> {
    let reader = &shopper.reader;
    let identifiers = list_returns(&app, shopper.merchant, &shopper.session.order, &shopper.hash).await?;
    if let [only] = &*identifiers {
        return Ok(see(&reader.path(&format!("returns/{only}"))));
    }
    let order = shopper.order(&app).await?;
    if identifiers.is_empty() {
        let withdrawal = withdrawals::without_return(app.store(shopper.merchant), shopper.merchant, &shopper.session.order).await?;
        if let Some(withdrawal) = withdrawal.filter(|_| order.draft.is_none()) {
            return Ok(see(&reader.path(&format!("withdrawals/{}", withdrawal.reference))));
        }
        // A shopper who comes back goes on where they were.
        let next = if order.draft.is_some() { step::next(&order) } else { "items".to_owned() };
        return Ok(see(&reader.path(&next)));
    }
    let mut returns = Vec::with_capacity(identifiers.len());
    for identifier in &identifiers {
        returns.push(listed(reader, &order, &shopper.find_return(&app, identifier).await?));
    }
    render(&Several {
        frame: reader.frame("returns-title"),
        heading: reader.text_with("returns-heading", [("returns", returns.len().into())]),
        order: OrderBox::of(reader, &order),
        returns,
        more: order.lines.iter().any(|line| line.units > 0),
    })
}

fn listed(reader: &Reader, order: &PortalOrder, one: &PortalReturn) -> Listed {
    let bill = one.bill();
    let money = |amount: Cents| reader.words().money(amount, &order.currency);
    let gift = one.kept.gift;
    let refund =
        (bill.refund > Cents::default() && !gift).then(|| reader.text_with("returns-refund", [("amount", money(bill.refund).into())]));
    let card = (bill.gift_card > Cents::default() && !gift).then(|| money(bill.gift_card.plus(one.bonus())));
    Listed {
        rma: one.kept.identifier.clone(),
        path: reader.path(&format!("returns/{}", one.kept.identifier)),
        chip: Chip::of(reader, one.progress()),
        goods: goods(reader, order, one),
        until: one.deadline().map(|deadline| Day::with_weekday(reader.words(), deadline)),
        refund: refund.filter(|_| one.is_open()),
        gift_card: card.filter(|_| one.is_open()),
    }
}
