//! `/account`: the person's own sessions, browsers, recovery codes and password.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use store::merchants::{operator_codes, operator_devices, operator_sessions, operators};
use uuid::Uuid;

use super::by::{By, Viewer};
use super::entry::Entry;
use super::error::ConsoleError;
use super::form::Form;
use super::frame::{Frame, Notice, Section};
use super::page::render;
use super::second_step::codes_page;
use super::sign_in::{signed_out, told};
use super::stamp::Stamp;
use crate::flow::merchants::operators::own_account::{self, OwnAccountError};
use crate::flow::merchants::operators::sign_in::{SignInError, session_limits};

#[derive(Template)]
#[template(path = "console/account.html")]
struct Page {
    frame: Frame,
    name: String,
    email: String,
    role: &'static str,
    may: &'static str,
    sessions: Vec<SessionRow>,
    devices: Vec<DeviceRow>,
    codes_left: i64,
    has_password: bool,
    has_totp: bool,
}

struct SessionRow {
    id: Uuid,
    agent: String,
    address: String,
    means: &'static str,
    since: Stamp,
    seen: Stamp,
    is_this: bool,
}

struct DeviceRow {
    id: Uuid,
    agent: String,
    added: Stamp,
    seen: Stamp,
}

#[derive(Deserialize)]
pub(super) struct Which {
    id: Uuid,
}

#[derive(Deserialize)]
pub(super) struct Code {
    code: SecretString,
}

#[derive(Deserialize)]
pub(super) struct NewPassword {
    current: SecretString,
    password: SecretString,
    repeated: SecretString,
}

/// How somebody signed in, in words.
pub(super) fn means(means: &str) -> &'static str {
    match means {
        "password" => "password + code",
        "recovery" => "password + recovery code",
        "single_sign_on" => "single sign-on",
        _ => "unknown",
    }
}

async fn page(by: &By<Viewer>, notice: Option<Notice>) -> Result<Response, ConsoleError> {
    let (home, id, now) = (by.app.home(), by.operator.id, by.now);
    let account = operators::get(home, id).await?.ok_or(ConsoleError::NotFound)?;
    let sessions = operator_sessions::list(home, id, session_limits(&by.app), now).await?;
    let devices = operator_devices::list(home, id, now).await?;
    let session = |session: operator_sessions::Listed| SessionRow {
        is_this: session.id == by.session,
        id: session.id,
        agent: session.agent,
        address: session.address,
        means: means(&session.means),
        since: by.time(session.started_at),
        seen: by.time(session.seen_at),
    };
    let device = |device: operator_devices::Device| DeviceRow {
        id: device.id,
        agent: device.agent,
        added: by.day(device.added_at),
        seen: by.day(device.seen_at),
    };
    render(&Page {
        frame: by.frame(Section::Account, "Your account").with(notice),
        name: by.operator.name.clone(),
        email: by.operator.email.clone(),
        role: by.operator.role.as_str(),
        may: by.operator.role.may(),
        sessions: sessions.into_iter().map(session).collect(),
        devices: devices.into_iter().map(device).collect(),
        codes_left: operator_codes::left(home, id).await?,
        has_password: account.password_hash.is_some(),
        has_totp: account.totp.is_some(),
    })
}

pub(super) async fn show(by: By<Viewer>) -> Result<Response, ConsoleError> {
    page(&by, None).await
}

pub(super) async fn end_session(by: By<Viewer>, Form(which): Form<Which>) -> Result<Response, ConsoleError> {
    own_account::end_session(&by.app, &by.operator, which.id).await?;
    if which.id == by.session { signed_out() } else { Ok(Redirect::to("/account").into_response()) }
}

pub(super) async fn end_others(by: By<Viewer>) -> Result<Response, ConsoleError> {
    own_account::end_sessions(&by.app, &by.operator, Some(by.session)).await?;
    Ok(Redirect::to("/account").into_response())
}

pub(super) async fn end_all(by: By<Viewer>) -> Result<Response, ConsoleError> {
    own_account::end_sessions(&by.app, &by.operator, None).await?;
    signed_out()
}

pub(super) async fn forget_device(by: By<Viewer>, Form(which): Form<Which>) -> Result<Response, ConsoleError> {
    own_account::forget_device(&by.app, &by.operator, which.id).await?;
    Ok(Redirect::to("/account").into_response())
}

/// The page with a notice on what went wrong.
async fn refused(by: &By<Viewer>, entry: &Entry, error: OwnAccountError, wrong: &str) -> Result<Response, ConsoleError> {
    let (told, words) = match error {
        OwnAccountError::Failed(failed) => return Err(failed.into()),
        OwnAccountError::Password(refused) => {
            let page = page(by, Some(Notice::bad("The password was not changed.", &refused.to_string()))).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
        OwnAccountError::SignIn(SignInError::Wrong) => {
            (told(entry, SignInError::Wrong)?.0, "The current password is not right.".to_owned())
        }
        OwnAccountError::SignIn(error) => told(entry, error)?,
    };
    Ok(told.on(page(by, Some(Notice::bad(wrong, &words))).await?))
}

pub(super) async fn new_codes(by: By<Viewer>, entry: Entry, Form(form): Form<Code>) -> Result<Response, ConsoleError> {
    match own_account::new_codes(&by.app, &entry.visitor, &by.operator, form.code.expose_secret()).await {
        Ok(codes) => codes_page(by.frame(Section::Account, "Your recovery codes"), &codes, "/account".to_owned()),
        Err(error) => refused(&by, &entry, error, "No new codes were made.").await,
    }
}

pub(super) async fn change_password(by: By<Viewer>, entry: Entry, Form(form): Form<NewPassword>) -> Result<Response, ConsoleError> {
    if form.password.expose_secret() != form.repeated.expose_secret() {
        let notice = Notice::bad("The password was not changed.", "The two new passwords differ. Type the same one twice.");
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&by, Some(notice)).await?).into_response());
    }
    match own_account::change_password(&by.app, &entry.visitor, &by.operator, by.session, &form.current, &form.password).await {
        Ok(()) => page(&by, Some(Notice::ok("The password was changed.", "Your other sessions have ended."))).await,
        Err(error) => refused(&by, &entry, error, "The password was not changed.").await,
    }
}
