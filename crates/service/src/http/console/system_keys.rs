//! The installation's keys on the System page, and `/system/keys/{kind}`: one administrator asks for a rotation, another one decides.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::merchants::operator::Role;
use serde::Deserialize;

use super::by::{Admin, By, Permission};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::page::render;
use super::stamp::Stamp;
use crate::flow::merchants::operators::requests::{self, Asked, RequestError};
use crate::flow::node::rotate_keys::{self, KeyStatus, RotateKeysError, Rotation, State};
use crate::platform::keys::Kind;

/// A key, as it is drawn.
pub(super) struct KeyRow {
    pub(super) kind: &'static str,
    pub(super) id: String,
    pub(super) class: &'static str,
    pub(super) state: &'static str,
    pub(super) since: Option<Stamp>,
    pub(super) left: String,
}

pub(super) async fn key_rows<P: Permission>(by: &By<P>) -> Result<Vec<KeyRow>, ConsoleError> {
    let row = |KeyStatus { kind, id, state, activated_at, left, .. }| KeyRow {
        kind: kind.as_str(),
        id,
        class: match state {
            State::Active => "ok",
            State::Needed => "run",
            State::Ready | State::Removable | State::Removed => "off",
            State::Wrong | State::Missing => "bad",
        },
        state: state.as_str(),
        since: activated_at.map(|at| by.time(at)),
        left,
    };
    Ok(rotate_keys::status(&by.app).await?.into_iter().map(row).collect())
}

/// The kinds of keys for which this person can ask for a rotation.
pub(super) async fn rotatable<P: Permission>(by: &By<P>) -> Result<Vec<&'static str>, ConsoleError> {
    let mut kinds = Vec::new();
    for kind in Kind::ALL {
        if !by.may(Role::Admin) {
            break;
        }
        match rotate_keys::plan(&by.app, kind).await {
            Ok(_) => kinds.push(kind.as_str()),
            Err(RotateKeysError::Failed(failed)) => return Err(failed.into()),
            Err(RotateKeysError::NothingNew(_) | RotateKeysError::Unfinished(_) | RotateKeysError::Wrong(_)) => {}
        }
    }
    Ok(kinds)
}

#[derive(Template)]
#[template(path = "console/system_keys.html")]
struct Page {
    frame: Frame,
    kind: &'static str,
    plan: Result<Rotation, String>,
    why: String,
    fault: Option<String>,
    command: String,
}

#[derive(Deserialize)]
pub(super) struct Why {
    #[serde(default)]
    why: String,
}

async fn page(by: &By<Admin>, kind: Kind, why: String, fault: Option<String>) -> Result<Response, ConsoleError> {
    let plan = match rotate_keys::plan(&by.app, kind).await {
        Err(RotateKeysError::Failed(failed)) => return Err(failed.into()),
        planned => planned.map_err(|error| error.to_string()),
    };
    let command = format!("backhaul request rotate-keys {} --why …", kind.as_str());
    render(&Page { frame: by.frame(Section::System, "Rotate a key"), kind: kind.as_str(), plan, why, fault, command })
}

/// Says what a rotation does, and asks why.
pub(super) async fn ask(by: By<Admin>, Path(kind): Path<String>) -> Result<Response, ConsoleError> {
    let kind = kind.parse().map_err(|_| ConsoleError::NotFound)?;
    page(&by, kind, String::new(), None).await
}

/// Asks a second person for the rotation.
pub(super) async fn request(by: By<Admin>, Path(kind): Path<String>, Form(form): Form<Why>) -> Result<Response, ConsoleError> {
    let kind: Kind = kind.parse().map_err(|_| ConsoleError::NotFound)?;
    match requests::ask(&by.app, &by.operator, &by.actor(), &Asked::RotateKeys(kind), &form.why).await {
        Ok(request) => Ok(Redirect::to(&format!("/requests/{request}")).into_response()),
        Err(RequestError::Failed(failed)) => Err(failed.into()),
        Err(error) => Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&by, kind, form.why, Some(error.to_string())).await?).into_response()),
    }
}
