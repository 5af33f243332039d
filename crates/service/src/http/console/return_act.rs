//! `/merchants/{handle}/returns/{rma}/act`: a link with which support acts for a shopper in the portal.

use askama::Template;
use axum::response::Response;
use domain::returns::portal::SupportName;
use secrecy::ExposeSecret as _;
use store::merchants::accounts::Merchant;
use store::returns::portal_links::Made;
use store::returns::rmas::Return;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::form::Path;
use super::frame::{Frame, Section};
use super::page::render;
use super::return_found::{At, find, return_at};
use super::stamp::Stamp;
use crate::flow::returns::make_link::{MakeLinkError, make_link};

#[derive(Template)]
#[template(path = "console/return-act.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    rma: String,
    order: String,
    here: String,
    name: String,
    /// The link and when it ends, once it is made.
    made: Option<(String, Stamp)>,
    command: String,
}

fn page(by: &By<Support>, merchant: Merchant, kept: Return, made: Option<(String, Stamp)>) -> Result<Response, ConsoleError> {
    render(&Page {
        frame: by.frame(Section::Returns, "Act for the shopper"),
        here: return_at(&merchant.handle, &kept.identifier),
        name: by.operator.name.clone(),
        made,
        command: format!("backhaul portal link --merchant {} {}", merchant.handle, kept.order),
        rma: kept.identifier,
        order: kept.order,
        merchant,
    })
}

pub(super) async fn ask(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    page(&by, merchant, kept, None)
}

pub(super) async fn make(by: By<Support>, Path(at): Path<At>) -> Result<Response, ConsoleError> {
    let (merchant, kept) = find(&by, &at).await?;
    if merchant.paused_at.is_some() {
        return Err(ConsoleError::Refused("The merchant is paused, so its portal opens no order. Resume it first.".to_owned()));
    }
    let support: Option<SupportName> = by.operator.name.parse().ok();
    let made = Made { order: kept.order.clone(), support };
    let link = make_link(&by.app, Some(&by.actor()), merchant.id, &made, None).await?;
    let shown = (link.url.expose_secret().to_owned(), by.time(link.expires_at));
    page(&by, merchant, kept, Some(shown))
}

impl From<MakeLinkError> for ConsoleError {
    fn from(error: MakeLinkError) -> Self {
        match error {
            MakeLinkError::NoSuchOrder => {
                Self::Refused("The order is not stored any more, so the portal cannot open it. Nothing was done.".to_owned())
            }
            MakeLinkError::NoAddress => Self::Refused(
                "The portal has no public address to link to. Set `portal.url`, or a host name with `backhaul portal set --host`."
                    .to_owned(),
            ),
            MakeLinkError::Failed(failed) => failed.into(),
        }
    }
}
