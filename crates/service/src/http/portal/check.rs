//! `/r/{merchant}/check`: shows all answers and what they come to, and starts the return.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::money::Cents;
use domain::returns::exchange::variant::Variant;
use domain::returns::portal::SupportName;
use domain::returns::rma::Method;
use domain::returns::rma::bill::{BilledUnit, bill};
use domain::returns::rma::choice::{Chosen, Getting};
use domain::returns::rma::money::financials;
use domain::returns::rma::policy::EXPIRES_AFTER;
use serde::Deserialize;
use store::returns::return_drafts::{self, Draft};
use uuid::Uuid;
use wire::returns::draft::{AnsweredItem, Wish};

use super::bill::BillView;
use super::exchange::described;
use super::session::Shopper;
use super::view::{Day, Goods, units_of};
use super::{changed, reason, step};
use crate::app::App;
use crate::flow::returns::answer_draft::{ConfirmDraftError, confirm_draft};
use crate::flow::returns::start_return::StartReturnError;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;

#[derive(Template)]
#[template(path = "portal/check.html")]
struct Check {
    frame: Frame,
    step: String,
    items: Vec<Item>,
    way: String,
    order: String,
    exchanges: bool,
    /// `None` for a gift.
    bill: Option<BillView>,
    /// The giftee's e-mail address, if the order is a gift.
    giftee: Option<String>,
    /// The last day to hand the goods over, if there is one.
    until: Option<Day>,
    fee: Option<String>,
    draft: String,
    revision: i32,
}

struct Item {
    goods: Goods,
    reason: String,
    instead: String,
    reason_path: String,
    instead_path: Option<String>,
}

/// The draft that was shown when the shopper confirmed.
#[derive(Deserialize)]
pub(super) struct Confirmed {
    draft: Uuid,
    revision: i32,
}

/// `GET /r/{merchant}/check`.
pub(super) async fn show(State(app): State<App>, shopper: Shopper) -> Result<Response, PageError> {
    let order = shopper.order(&app).await?;
    let reader = &shopper.reader;
    let (Some(draft), Some(method)) = (&order.draft, order.answers.method) else { return Ok(see(&reader.path(&step::next(&order)))) };
    if step::next(&order) != "check" {
        return Ok(see(&reader.path(&step::next(&order))));
    }
    let stocks = order.stocks(&app, shopper.merchant).await?;
    let known: BTreeMap<String, Arc<[Variant]>> =
        stocks.iter().filter_map(|(line, variants)| Some((line.clone(), Arc::clone(variants.as_ref()?)))).collect();
    let exchanges = order.exchanges(known);
    match order.check(method, &exchanges) {
        Ok(chosen) => page(reader, &order, draft, &chosen, app.now()),
        Err(against) => changed::page(reader, &order, &against, &stocks),
    }
}

/// `POST /r/{merchant}/check`: starts the return, once.
pub(super) async fn confirm(State(app): State<App>, shopper: Shopper, Form(confirmed): Form<Confirmed>) -> Result<Response, PageError> {
    let (merchant, order, reader) = (shopper.merchant, &shopper.session.order, &shopper.reader);
    let store = app.store(merchant);
    let done = |rma: String| see(&reader.path(&format!("returns/{rma}/done")));
    let draft = return_drafts::find(store, merchant, order, &shopper.hash).await?;
    let Some(draft) = draft.filter(|draft| (draft.id, draft.revision) == (confirmed.draft, confirmed.revision)) else {
        // It was confirmed before, or another tab has changed the answers, or it is gone.
        let rma = return_drafts::outcome(store, merchant, order, confirmed.draft, &shopper.hash).await?;
        return Ok(rma.map_or_else(|| see(&reader.path("check")), done));
    };
    let support = shopper.session.support.as_ref().map(SupportName::actor);
    match confirm_draft(&app, support.as_deref(), merchant, &draft).await {
        Ok(rma) => Ok(done(rma)),
        Err(ConfirmDraftError::Failed(failed) | ConfirmDraftError::Start(StartReturnError::Failed(failed))) => Err(failed.into()),
        // The page says what has changed.
        Err(ConfirmDraftError::Unanswered | ConfirmDraftError::Start(_)) => Ok(see(&reader.path("check"))),
    }
}

fn page(reader: &Reader, order: &PortalOrder, draft: &Draft, chosen: &Chosen<'_>, now: DateTime<Utc>) -> Result<Response, PageError> {
    let offer = chosen.offer;
    let paid: Vec<_> = chosen.units.iter().map(|unit| (unit.money, unit.getting.refund_type())).collect();
    let shares = financials(&paid, if offer.deducted { offer.fee } else { Cents::default() });
    let billed = chosen.units.iter().zip(shares.units).map(|(unit, financials)| BilledUnit {
        line: &unit.line.identifier,
        refund_type: unit.getting.refund_type(),
        money: unit.money,
        financials,
    });
    let bill = bill(billed);
    let title = |line: &str| Goods::of_item(reader, order, line, String::new()).title;
    let item = |(item, number): (&AnsweredItem, usize)| {
        let picked = chosen.units.iter().find(|unit| unit.line.identifier == item.line);
        let instead = match (&item.instead, picked.map(|unit| unit.getting)) {
            (Some(Wish::Variant(_)), Some(Getting::Variant(variant))) => {
                reader.text_with("check-exchange", [("variant", described(variant).into())])
            }
            (Some(Wish::GiftCard), _) => reader.text("instead-gift-card"),
            _ if order.is_gift() => reader.text("check-gift"),
            _ => reader.text("check-refund"),
        };
        let sold = order.line(&item.line).map_or(1, |(sold, _)| sold.quantity);
        Item {
            goods: Goods::of_item(reader, order, &item.line, units_of(reader, item.quantity, sold)),
            reason: item.reason.as_deref().map(|given| reason::words(reader, given)).unwrap_or_default(),
            instead,
            reason_path: reader.path(&format!("items/{number}/reason")),
            instead_path: step::has_choice(order, item).then(|| reader.path(&format!("items/{number}/instead"))),
        }
    };
    // A return with an exchange has no deadline, nor has that of a withdrawal.
    let refunded = !order.is_withdrawn() && chosen.units.iter().all(|unit| matches!(unit.getting, Getting::Refund));
    let until = match offer.method {
        Method::MailBack | Method::ExpressReturns if refunded => Some(Day::with_weekday(reader.words(), now + EXPIRES_AFTER)),
        Method::MailBack | Method::ExpressReturns | Method::CustomerKeep => None,
    };
    // A fee that is not deducted is charged by the merchant.
    let fee = Some(offer.fee).filter(|fee| !offer.deducted && *fee > Cents::default());
    render(&Check {
        frame: reader.frame("check-title").at_step(5, reader.path("how")),
        step: reader.text_with("step", [("step", 5.into())]),
        items: order.answers.items.iter().zip(1..).map(item).collect(),
        way: reader.text(&format!("how-{}", offer.method)),
        order: order.sale().identifier.clone(),
        exchanges: chosen.units.iter().any(|unit| matches!(unit.getting, Getting::Variant(_))),
        bill: (!order.is_gift()).then(|| BillView::of(reader, &order.currency, &bill, order.bonus(), title)),
        giftee: order.answers.giftee.as_ref().map(|giftee| giftee.0.clone()),
        until,
        fee: fee.map(|fee| reader.words().money(fee, &order.currency)),
        draft: draft.id.to_string(),
        revision: draft.revision,
    })
}
