//! `/r/{merchant}/returns/{rma}/cancel`: cancels a return, after asking once.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use super::session::Follower;
use super::status::goods;
use super::view::Goods;
use crate::app::App;
use crate::flow::returns::cancel_return::{CancelReturnError, cancel_return};
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{Frame, Reader};
use crate::http::pages::{render, see};

#[derive(Template)]
#[template(path = "portal/cancel.html")]
struct Cancel {
    frame: Frame,
    rma: String,
    action: String,
    status: String,
    goods: Vec<Goods>,
    too_late: bool,
}

/// `GET /r/{merchant}/returns/{rma}/cancel`.
pub(super) async fn show(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let (one, order) = shopper.find_return_and_order(&app, &rma).await?;
    page(&shopper.reader, &one.kept.identifier, goods(&shopper.reader, &order, &one), !one.can_cancel())
}

/// `POST /r/{merchant}/returns/{rma}/cancel`.
pub(super) async fn cancel(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let one = shopper.find_return(&app, &rma).await?;
    match cancel_return(&app, &shopper.actor(), shopper.merchant, &one.kept.identifier, shopper.cancel_reason()).await {
        Ok(_) => Ok(see(&shopper.reader.path(&format!("returns/{}", one.kept.identifier)))),
        Err(CancelReturnError::NoSuchReturn) => Err(PageError::NotFound),
        Err(CancelReturnError::Failed(failed)) => Err(failed.into()),
        Err(CancelReturnError::Refused(_)) => page(&shopper.reader, &one.kept.identifier, Vec::new(), true),
    }
}

fn page(reader: &Reader, rma: &str, goods: Vec<Goods>, too_late: bool) -> Result<Response, PageError> {
    let status = reader.path(&format!("returns/{rma}"));
    let mut frame = reader.frame(if too_late { "cancel-late-title" } else { "cancel-title" }).alone();
    frame.back = Some(status.clone());
    render(&Cancel { frame, rma: rma.to_owned(), action: reader.path(&format!("returns/{rma}/cancel")), status, goods, too_late })
}
