//! `/invitation/{token}`: somebody who was invited sets a password.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::entry::Entry;
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::Frame;
use super::page::render;
use super::sign_in::to_second_step;
use crate::flow::merchants::operators::invitation::{Accepted, InvitationError, Invited, accept, look_at};

#[derive(Template)]
#[template(path = "console/invitation.html")]
struct Page {
    frame: Frame,
    token: String,
    /// The person, unless they are the first and say who they are.
    person: Option<(String, String)>,
    email: String,
    name: String,
    fault: Option<(&'static str, String)>,
}

impl Page {
    /// The fault of a field.
    fn fault_of(&self, field: &str) -> Option<&str> {
        self.fault.as_ref().filter(|(of, _)| *of == field).map(|(_, text)| text.as_str())
    }
}

#[derive(Deserialize)]
pub(super) struct Answer {
    token: SecretString,
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
    password: SecretString,
    repeated: SecretString,
}

fn gone() -> ConsoleError {
    ConsoleError::Refused(
        "This link does not work any more: it was used, it is older than 72 hours, or a newer one was made. An administrator can make a new one.".to_owned(),
    )
}

fn page(entry: &Entry, token: &SecretString, invited: Invited, email: String, name: String) -> Page {
    let person = invited.operator.map(|operator| (operator.name, operator.email));
    let heading = if person.is_some() { "Choose a password" } else { "The first administrator" };
    Page { frame: entry.frame(heading), token: token.expose_secret().to_owned(), person, email, name, fault: None }
}

pub(super) async fn show(entry: Entry, Path(token): Path<SecretString>) -> Result<Response, ConsoleError> {
    let invited = look_at(&entry.app, &token).await?.ok_or_else(gone)?;
    render(&page(&entry, &token, invited, String::new(), String::new()))
}

pub(super) async fn set(entry: Entry, Form(answer): Form<Answer>) -> Result<Response, ConsoleError> {
    let Answer { token, email, name, password, repeated } = answer;
    let invited = look_at(&entry.app, &token).await?.ok_or_else(gone)?;
    let mut page = page(&entry, &token, invited, email.clone(), name.clone());
    if password.expose_secret() != repeated.expose_secret() {
        page.fault = Some(("repeated", "The two passwords differ. Type the same one twice.".to_owned()));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, render(&page)?).into_response());
    }
    let fault = match accept(&entry.app, &token, &Accepted { email, name, password }).await {
        Ok(half) => return to_second_step(&entry.app, &half),
        Err(InvitationError::NoSuchLink) => return Err(gone()),
        Err(InvitationError::Failed(failed)) => return Err(failed.into()),
        Err(InvitationError::Password(refused)) => ("password", refused.to_string()),
        Err(InvitationError::Email) => ("email", "This is no e-mail address. Write it as in name@example.com.".to_owned()),
        Err(InvitationError::Name) => ("name", "Say your name, in up to 100 characters.".to_owned()),
    };
    page.fault = Some(fault);
    Ok((StatusCode::UNPROCESSABLE_ENTITY, render(&page)?).into_response())
}
