//! `/sign-in`: the password.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::by::{By, Viewer};
use super::cookie;
use super::entry::Entry;
use super::error::ConsoleError;
use super::form::{Form, Query};
use super::frame::Frame;
use super::next::local;
use super::page::render;
use crate::app::App;
use crate::flow::merchants::operators::own_account;
use crate::flow::merchants::operators::session::SignedIn;
use crate::flow::merchants::operators::sign_in::{SignInError, check_password};
use crate::flow::merchants::operators::ticket::{self, HalfSignIn};

/// The seconds for which a browser is asked to keep the token by which it is known.
const DEVICE_KEPT: i64 = 400 * 24 * 3600;

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct Page {
    frame: Frame,
    email: String,
    next: String,
    fault: Option<String>,
    single_sign_on: bool,
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
pub(super) struct Attempt {
    email: String,
    password: SecretString,
    #[serde(default)]
    next: String,
}

pub(super) async fn show(entry: Entry, Query(wanted): Query<Wanted>) -> Result<Response, ConsoleError> {
    let next = local(&wanted.next);
    if entry.person.is_some() {
        return Ok(Redirect::to(&next).into_response());
    }
    render(&page(&entry, String::new(), next, None))
}

fn page(entry: &Entry, email: String, next: String, fault: Option<String>) -> Page {
    let single_sign_on = entry.app.settings.console.oidc.issuer().is_some();
    Page { frame: entry.frame("Sign in to the console"), email, next, fault, single_sign_on }
}

pub(super) async fn check(entry: Entry, Form(form): Form<Attempt>) -> Result<Response, ConsoleError> {
    let next = local(&form.next);
    match check_password(&entry.app, &entry.visitor, &form.email, &form.password, &next).await {
        Ok(half) => to_second_step(&entry.app, &half),
        Err(error) => {
            let (told, fault) = told(&entry, error)?;
            Ok(told.on(render(&page(&entry, form.email, next, Some(fault)))?))
        }
    }
}

/// Leads to the second step, for which the browser keeps a ticket.
pub(super) fn to_second_step(app: &App, half: &HalfSignIn) -> Result<Response, ConsoleError> {
    let sealed = half.seal(app)?;
    let cookie = cookie::set(cookie::STEP, sealed.expose_secret(), Some(ticket::WORKS_FOR.num_seconds()))?;
    let step = if half.enrolling.is_some() { "/sign-in/enrol" } else { "/sign-in/code" };
    Ok((AppendHeaders([cookie]), Redirect::to(step)).into_response())
}

/// The cookies of somebody who has signed in: a new token for the session, and one for a browser that was not known.
pub(super) fn with_cookies(signed_in: &SignedIn, response: Response) -> Result<Response, ConsoleError> {
    let mut response = response;
    let device = signed_in.device.as_ref().map(|device| cookie::set(cookie::DEVICE, device.expose_secret(), Some(DEVICE_KEPT)));
    let cookies = [
        Some(cookie::set(cookie::SESSION, signed_in.token.expose_secret(), None)),
        device,
        Some(cookie::remove(cookie::STEP)),
        Some(cookie::remove(cookie::PROVIDER)),
    ];
    for cookie in cookies.into_iter().flatten() {
        let (name, value) = cookie?;
        response.headers_mut().append(name, value);
    }
    Ok(response)
}

/// The status and the words of a sign-in that failed. `Err` for what is not the person's fault.
pub(super) fn told(entry: &Entry, error: SignInError) -> Result<(Told, String), ConsoleError> {
    match error {
        SignInError::Wrong => Ok((
            Told { status: StatusCode::UNPROCESSABLE_ENTITY, retry_after: None },
            "The e-mail address or the password is not right. Check both; a lost password is set anew by an administrator.".to_owned(),
        )),
        SignInError::WrongCode => Ok((
            Told { status: StatusCode::UNPROCESSABLE_ENTITY, retry_after: None },
            "This code is not right, or was used before. Wait for the next one; each is good for 30 seconds.".to_owned(),
        )),
        SignInError::TooSoon(open_at) => Ok((
            Told { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(seconds(open_at, entry.view.now)) },
            format!("Too many tries failed. Try again in {}; nobody is locked out.", wait(open_at, entry.view.now)),
        )),
        SignInError::Outdated => Err(ConsoleError::SignIn("/".to_owned())),
        SignInError::Failed(failed) => Err(failed.into()),
    }
}

/// The wait until `open_at`, in words.
fn wait(open_at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    match seconds(open_at, now) {
        1 => "1 second".to_owned(),
        60 => "a minute".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

fn seconds(open_at: DateTime<Utc>, now: DateTime<Utc>) -> i64 {
    ((open_at - now).num_milliseconds() + 999).div_euclid(1000).max(1)
}

/// The status of a sign-in that failed, and the seconds until the next try.
pub(super) struct Told {
    status: StatusCode,
    retry_after: Option<i64>,
}

impl Told {
    /// Puts the status and the time of the next try on a page.
    pub(super) fn on(self, mut page: Response) -> Response {
        *page.status_mut() = self.status;
        if let Some(seconds) = self.retry_after {
            page.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        page
    }
}

/// Signs out: this session ends.
pub(super) async fn leave(by: By<Viewer>) -> Result<Response, ConsoleError> {
    own_account::end_session(&by.app, &by.operator, by.session).await?;
    signed_out()
}

/// Leads to the sign-in without a session.
pub(super) fn signed_out() -> Result<Response, ConsoleError> {
    Ok((AppendHeaders([cookie::remove(cookie::SESSION)?]), Redirect::to("/sign-in")).into_response())
}

/// The operator of a ticket, if the browser has one that works.
pub(super) fn half_of(entry: &Entry) -> Result<HalfSignIn, ConsoleError> {
    let half = entry.cookie(cookie::STEP).and_then(|text| HalfSignIn::open(&entry.app, text));
    half.ok_or_else(|| ConsoleError::SignIn("/".to_owned()))
}
