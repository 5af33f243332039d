//! `/r/{merchant}/how`: chooses the way back.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use domain::money::Cents;
use domain::returns::rma::Method;
use domain::returns::rma::policy::Offer;
use serde::Deserialize;

use super::session::Shopper;
use super::step;
use super::view::DraftBox;
use crate::app::App;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;

#[derive(Template)]
#[template(path = "portal/how.html")]
struct How {
    frame: Frame,
    draft: DraftBox,
    step: String,
    heading: String,
    lede: String,
    ways: Vec<Way>,
}

struct Way {
    value: &'static str,
    words: String,
    note: String,
    fee: String,
    /// What it takes: the icon and the words.
    facts: Vec<(&'static str, String)>,
    chosen: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    how: String,
}

/// `GET /r/{merchant}/how`.
pub(super) async fn show(State(app): State<App>, shopper: Shopper) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    if order.answers.items.is_empty() {
        return Ok(see(&shopper.reader.path("items")));
    }
    page(&shopper.reader, &order, Vec::new())
}

/// `POST /r/{merchant}/how`.
pub(super) async fn answer(State(app): State<App>, shopper: Shopper, Form(typed): Form<Typed>) -> Result<Response, PageError> {
    let mut order = shopper.order(&app).await?;
    let method = typed.how.parse::<Method>().ok().filter(|method| order.offers().iter().any(|offer| offer.method == *method));
    let Some(method) = method else {
        let fault = FieldFault { field: "how1".to_owned(), text: shopper.reader.text("how-none") };
        return page(&shopper.reader, &order, vec![fault]);
    };
    order.answers.method = Some(method);
    shopper.save(&app, &order).await?;
    Ok(see(&shopper.reader.path(&step::next(&order))))
}

fn page(reader: &Reader, order: &PortalOrder, faults: Vec<FieldFault>) -> Result<Response, PageError> {
    let offers = order.offers();
    let keeps = offers.iter().any(|offer| offer.method == Method::CustomerKeep);
    let deducted = offers.iter().any(|offer| offer.deducted && offer.fee > Cents::default());
    let only = offers.len() == 1;
    let way = |offer: &Offer| Way {
        value: offer.method.as_str(),
        words: reader.text(&format!("how-{}", offer.method)),
        note: reader.text(&format!("how-{}-note", offer.method)),
        fee: match offer.fee {
            fee if fee > Cents::default() => reader.words().money(fee, &order.currency),
            _ => reader.text("free"),
        },
        facts: facts(offer.method).iter().map(|(icon, key)| (*icon, reader.text(key))).collect(),
        chosen: order.answers.method == Some(offer.method) || only,
    };
    render(&How {
        frame: reader.frame("how-title").at_step(4, reader.path(&step::before_how(order))).with_faults(faults),
        draft: DraftBox::of(reader, order),
        step: reader.text_with("step", [("step", 4.into())]),
        heading: reader.text(if keeps { "how-keep-heading" } else { "how-heading" }),
        lede: if deducted { reader.text("how-lede-fee") } else { String::new() },
        ways: offers.iter().map(way).collect(),
    })
}

/// What a way back takes: icons and the keys of texts.
const fn facts(method: Method) -> &'static [(&'static str, &'static str)] {
    match method {
        Method::ExpressReturns => &[("tick", "fact-no-printer"), ("tick", "fact-no-box")],
        Method::MailBack => &[("printer", "fact-printer"), ("goods", "fact-box")],
        Method::CustomerKeep => &[("tick", "fact-nothing")],
    }
}
