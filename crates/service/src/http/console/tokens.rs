//! `/account/tokens`: the person's own tokens, with which scripts call the operator API.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::merchants::operator::Role;
use domain::merchants::operator::token::{MOST_DAYS, USUAL_DAYS};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use store::merchants::operator_tokens::{self, Listed};
use uuid::Uuid;

use super::by::{By, Permission, Viewer};
use super::error::ConsoleError;
use super::form::Form;
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::flow::merchants::operators::tokens::{self, TokenError};

#[derive(Template)]
#[template(path = "console/tokens.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    /// The roles that a token of this person can have.
    roles: Vec<Role>,
    new: New,
    most_days: u16,
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "console/token_made.html")]
struct MadePage {
    frame: Frame,
    name: String,
    token: String,
    command: String,
}

/// A token that works, as lists show it.
pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) made: Stamp,
    pub(super) expires: Stamp,
    pub(super) used: Option<Stamp>,
}

impl Row {
    pub(super) fn new<P: Permission>(by: &By<P>, token: Listed) -> Self {
        Self {
            id: token.id,
            name: token.name,
            role: token.role,
            made: by.day(token.made_at),
            expires: by.day(token.expires_at),
            used: token.used_at.map(|at| by.time(at)),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct New {
    name: String,
    role: String,
    days: String,
}

#[derive(Deserialize)]
pub(super) struct Which {
    pub(super) id: Uuid,
}

async fn page(by: &By<Viewer>, new: New, fault: Option<String>) -> Result<Response, ConsoleError> {
    let tokens = operator_tokens::list(by.app.home(), by.operator.id, by.now).await?;
    render(&Page {
        frame: by.frame(Section::Account, "Your tokens"),
        rows: tokens.into_iter().map(|token| Row::new(by, token)).collect(),
        roles: Role::ALL.into_iter().filter(|role| by.may(*role)).collect(),
        new,
        most_days: MOST_DAYS,
        fault,
    })
}

pub(super) async fn show(by: By<Viewer>) -> Result<Response, ConsoleError> {
    let new = New { name: String::new(), role: Role::Viewer.to_string(), days: USUAL_DAYS.to_string() };
    page(&by, new, None).await
}

pub(super) async fn make(by: By<Viewer>, Form(new): Form<New>) -> Result<Response, ConsoleError> {
    let role: Role = new.role.parse().map_err(|_| ConsoleError::Foreign)?;
    // A number that cannot be read is refused like one that is too large.
    let days = new.days.trim().parse().unwrap_or_default();
    match tokens::make(&by.app, &by.operator, &new.name, role, days).await {
        Ok(token) => render(&MadePage {
            frame: by.frame(Section::Account, "The token is shown once"),
            name: new.name,
            token: token.expose_secret().to_owned(),
            command: format!("backhaul --server {} --token-file token.txt merchant list", by.app.settings.console.url().unwrap_or("URL")),
        }),
        Err(TokenError::Refused(refused)) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&by, new, Some(refused.to_string())).await?).into_response())
        }
        Err(TokenError::Failed(failed)) => Err(failed.into()),
    }
}

pub(super) async fn revoke(by: By<Viewer>, Form(which): Form<Which>) -> Result<Response, ConsoleError> {
    tokens::revoke(&by.app, &by.actor(), by.operator.id, which.id).await?;
    Ok(Redirect::to("/account/tokens").into_response())
}
