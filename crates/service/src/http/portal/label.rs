//! `/r/{merchant}/returns/{rma}/label`: the label as a PDF. It has an address on it, so a shopper who came with the e-mail address
//! alone is asked for the postal code first.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use store::returns::labels;

use super::session::Follower;
use crate::app::App;
use crate::flow::returns::find_order::{Attempt, FindOrderError, show_postcode as check_postcode};
use crate::http::address::Client;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::{render, see};

#[derive(Template)]
#[template(path = "portal/postcode.html")]
struct Postcode {
    frame: Frame,
    action: String,
    status: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    postcode: String,
}

/// `GET /r/{merchant}/returns/{rma}/label`.
pub(super) async fn show(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let one = shopper.find_return(&app, &rma).await?;
    let identifier = one.kept.identifier;
    if !shopper.session.proof.allows_address() {
        return page(&shopper.reader, &identifier, Vec::new());
    }
    let pdf = labels::document(app.store(shopper.merchant), shopper.merchant, &identifier).await?.ok_or(PageError::Gone)?;
    let name = format!("inline; filename=\"{identifier}.pdf\"");
    Ok(([(header::CONTENT_TYPE, "application/pdf".to_owned()), (header::CONTENT_DISPOSITION, name)], pdf).into_response())
}

/// `GET /r/{merchant}/returns/{rma}/code`: the carrier's QR code. It has no address on it.
pub(super) async fn show_code(
    State(app): State<App>,
    Follower(shopper): Follower,
    Path((_, rma)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let one = shopper.find_return(&app, &rma).await?;
    let code = labels::code(app.store(shopper.merchant), shopper.merchant, &one.kept.identifier).await?.ok_or(PageError::Gone)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], code).into_response())
}

/// `POST /r/{merchant}/returns/{rma}/label`: checks the postal code.
pub(super) async fn show_postcode(
    State(app): State<App>,
    Follower(shopper): Follower,
    client: Client,
    Path((_, rma)): Path<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, PageError> {
    let one = shopper.find_return(&app, &rma).await?;
    let reader = &shopper.reader;
    let attempt = Attempt { number: &shopper.session.order, prefix: None, key: &typed.postcode, address: &client.counted.to_string() };
    match check_postcode(&app, &reader.shop.merchant, &shopper.hash, &shopper.session, &attempt).await {
        Ok(()) => Ok(see(&reader.path(&format!("returns/{}/label", one.kept.identifier)))),
        Err(FindOrderError::Miss) => {
            let fault = FieldFault { field: "pc".to_owned(), text: reader.text("postcode-miss") };
            page(reader, &one.kept.identifier, vec![fault])
        }
        Err(FindOrderError::TooMany(until)) => Err(PageError::TooMany(Some(until))),
        Err(FindOrderError::Failed(failed)) => Err(failed.into()),
    }
}

fn page(reader: &Reader, rma: &str, faults: Vec<FieldFault>) -> Result<Response, PageError> {
    let status = reader.path(&format!("returns/{rma}"));
    let mut frame = reader.frame("postcode-title").with_faults(faults).alone();
    frame.back = Some(status.clone());
    render(&Postcode { frame, action: reader.path(&format!("returns/{rma}/label")), status })
}
