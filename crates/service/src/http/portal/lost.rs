//! `/r/{merchant}/lost`: mails a link to a shopper who does not have the order's number at hand.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::find::take_as_long_as_all;
use crate::app::App;
use crate::delivery::transports::mail::is_address;
use crate::flow::returns::send_link::{SendLinkError, can_send_links, send_link};
use crate::http::address::Client;
use crate::http::pages::error::PageError;
use crate::http::pages::form::Form;
use crate::http::pages::frame::{FieldFault, Frame, Reader};
use crate::http::pages::markup::Markup;
use crate::http::pages::render;

#[derive(Template)]
#[template(path = "portal/lost.html")]
struct Lost {
    frame: Frame,
    email: String,
    /// The shopper came with a link that does not work.
    used: bool,
}

#[derive(Template)]
#[template(path = "portal/sent.html")]
struct Sent {
    frame: Frame,
    lede: Markup,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Typed {
    email: String,
}

/// `GET /r/{merchant}/lost`.
pub(super) async fn show(State(app): State<App>, reader: Reader) -> Result<Response, PageError> {
    if !can_send_links(&app, &reader.shop) {
        return Err(PageError::NotFound);
    }
    page(&reader, String::new(), Vec::new(), false)
}

/// `POST /r/{merchant}/lost`: the answer is the same whether there are orders or not.
pub(super) async fn send(State(app): State<App>, reader: Reader, client: Client, Form(typed): Form<Typed>) -> Result<Response, PageError> {
    if !can_send_links(&app, &reader.shop) {
        return Err(PageError::NotFound);
    }
    let email = typed.email.trim().to_owned();
    if !is_address(&email) {
        let fault = FieldFault { field: "mail".to_owned(), text: reader.text("lost-wrong") };
        return page(&reader, email, vec![fault], false);
    }
    let started = app.clock.uptime();
    let sent = send_link(&app, &reader.shop, reader.language, &email, &client.counted.to_string()).await;
    take_as_long_as_all(&app, started).await;
    match sent {
        Ok(()) => render(&Sent { frame: reader.frame("sent-title").alone(), lede: reader.rich("sent-lede", [("email", email.into())]) }),
        Err(SendLinkError::TooMany(until)) => Err(PageError::TooMany(Some(until))),
        Err(SendLinkError::Failed(failed)) => Err(failed.into()),
    }
}

/// The form for an e-mail address.
pub(super) fn page(reader: &Reader, email: String, faults: Vec<FieldFault>, used: bool) -> Result<Response, PageError> {
    let frame = reader.frame(if used { "used-title" } else { "lost-title" }).alone().with_faults(faults);
    render(&Lost { frame, email, used })
}
