//! `/merchants/{handle}/messages/{id}/retry`: sends one message again, after a preview.

use askama::Template;
use axum::response::Response;
use store::merchants::accounts::Merchant;
use store::messages::attempts;
use store::messages::log::State;
use uuid::Uuid;

use super::by::{By, Support};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Path;
use super::frame::{Frame, Section};
use super::long_id::LongId;
use super::message::{Found, find};
use super::messages::state;
use super::page::render;
use crate::flow::messages::retry_message::{Asker, RetryMessageError, retry_message};
use crate::http::pages::see;

#[derive(Template)]
#[template(path = "console/message-retry.html")]
struct Page {
    frame: Frame,
    merchant: Merchant,
    id: Uuid,
    shown: LongId,
    event: String,
    kind: String,
    subject: String,
    state: (&'static str, &'static str),
    delivered: bool,
    next: i16,
    url: Option<String>,
    newer: bool,
    command: String,
}

/// The preview.
pub(super) async fn show(by: By<Support>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let Found { merchant, message: found, endpoint, after, .. } = find(&by, &handle, id).await?;
    let standing = found.state();
    if standing == State::Owed {
        return Err(RetryMessageError::StillOwed.into());
    }
    let last = attempts::list(by.app.store(merchant.id), merchant.id, id).await?.last().map_or(0, |last| last.number);
    render(&Page {
        frame: by.frame(Section::Messages, "Send this message again?"),
        shown: LongId(id),
        state: state(standing),
        delivered: standing == State::Delivered,
        next: last.saturating_add(1),
        url: endpoint.map(|endpoint| endpoint.url),
        newer: after.is_some(),
        command: format!("backhaul messages retry --merchant {} {id}", merchant.handle),
        event: found.event,
        kind: found.kind,
        subject: found.subject,
        merchant,
        id,
    })
}

pub(super) async fn start(by: By<Support>, Path((handle, id)): Path<(String, Uuid)>) -> Result<Response, ConsoleError> {
    let merchant = merchant_of(&by, &handle).await?;
    retry_message(&by.app, Asker::Operator(&by.actor()), merchant.id, id).await?;
    Ok(see(&format!("/merchants/{}/messages/{id}", merchant.handle)))
}

impl From<RetryMessageError> for ConsoleError {
    fn from(error: RetryMessageError) -> Self {
        match error {
            RetryMessageError::NoSuchMessage(_) => Self::NotFound,
            RetryMessageError::StillOwed => Self::Conflict(
                "The message is owed: somebody has retried it meanwhile, or it is still tried by itself. Nothing was done. Its page says when it is tried next.".to_owned(),
            ),
            RetryMessageError::NoEndpoint(kind) => {
                Self::Refused(format!("The merchant has no endpoint for {kind} now, so there is nowhere to send it. Set one, then retry."))
            }
            RetryMessageError::Trial => Self::Refused("A test message is not retried. Send a new one from the endpoint's page.".to_owned()),
            RetryMessageError::Erased => {
                Self::Refused("Its content was erased with a shopper's data, so it cannot be sent again. Send the current state of the return instead.".to_owned())
            }
            RetryMessageError::Converted => {
                Self::Conflict("The exchange was converted into refunds meanwhile. Placing the order now would give the shopper both. Nothing was done.".to_owned())
            }
            RetryMessageError::Replaced => {
                Self::Conflict("The exchange order goes to another address since, with a message of its own. This one would send it to the old address. Nothing was done.".to_owned())
            }
            RetryMessageError::TooOften { retry_after } => {
                Self::TooMany(format!("There were 20 attempts at this message within the last hour. Try again in {retry_after} s."))
            }
            RetryMessageError::Failed(failed) => failed.into(),
        }
    }
}
