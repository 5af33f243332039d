//! `/r/{merchant}/withdraw/confirm`: the statement as it will count.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::Withdrawing;
use super::form::Side;
use crate::app::App;
use crate::flow::returns::withdraw::confirm_withdrawal;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::Frame;
use crate::http::pages::{render, see};
use crate::show::returns::portal::PortalOrder;
use crate::show::returns::withdrawals::Wording;

#[derive(Template)]
#[template(path = "portal/withdraw_confirm.html")]
struct Page {
    frame: Frame,
    side: Side,
    wording: Wording,
}

/// `GET /r/{merchant}/withdraw/confirm`.
pub(in crate::http::portal) async fn show(State(app): State<App>, withdrawing: Withdrawing) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let Some(statement) = withdrawing.statement(&app).await? else { return Ok(see(&reader.path("withdraw"))) };
    let order = withdrawing.order(&app, &statement).await?;
    let mut frame = reader.frame("withdraw-confirm-title");
    frame.back = Some(reader.path(if statement.part { "withdraw/goods" } else { "withdraw" }));
    let wording = Wording::of(reader.words(), &reader.shop, &statement, order.as_ref().map(PortalOrder::sale));
    render(&Page { frame, side: Side::of(&app, &withdrawing).await?, wording })
}

/// `POST /r/{merchant}/withdraw/confirm`: takes the statement.
pub(in crate::http::portal) async fn confirm(
    State(app): State<App>,
    withdrawing: Withdrawing,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let reader = &withdrawing.reader;
    let confirmed = match &withdrawing.session {
        Some(session) => confirm_withdrawal(&app, &reader.shop, reader.language, session).await?,
        None => None,
    };
    Ok(see(&reader.path(if confirmed.is_some() { "withdraw/done" } else { "withdraw" })))
}
