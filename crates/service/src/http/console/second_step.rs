//! `/sign-in/code`, `/sign-in/recovery` and `/sign-in/enrol`: the second step of a sign-in.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::entry::Entry;
use super::error::ConsoleError;
use super::form::Form;
use super::frame::Frame;
use super::page::render;
use super::qr::Drawing;
use super::sign_in::{half_of, told, with_cookies};
use crate::flow::merchants::operators::second_step::{account_of, confirm, enrol, recover};
use crate::flow::merchants::operators::sign_in::SignInError;
use crate::flow::merchants::operators::ticket::HalfSignIn;
use crate::platform::keys::totp::TotpSecret;

#[derive(Template)]
#[template(path = "console/second_step.html")]
struct CodePage {
    frame: Frame,
    email: String,
    fault: Option<String>,
    /// A recovery code is asked for.
    recovers: bool,
}

#[derive(Template)]
#[template(path = "console/enrol.html")]
struct EnrolPage {
    frame: Frame,
    email: String,
    fault: Option<String>,
    /// The secret in groups of four letters.
    secret: String,
    link: String,
    drawing: Option<Drawing>,
}

#[derive(Template)]
#[template(path = "console/codes.html")]
struct CodesPage {
    frame: Frame,
    codes: Vec<String>,
    next: String,
}

#[derive(Deserialize)]
pub(super) struct Code {
    code: SecretString,
}

/// The ticket, and the e-mail address of its account.
async fn open(entry: &Entry) -> Result<(HalfSignIn, String), ConsoleError> {
    let half = half_of(entry)?;
    match account_of(&entry.app, &half).await {
        Ok(account) => Ok((half, account.operator.email)),
        Err(SignInError::Failed(failed)) => Err(failed.into()),
        Err(_) => Err(ConsoleError::SignIn("/".to_owned())),
    }
}

fn code_page(entry: &Entry, email: String, recovers: bool, fault: Option<String>) -> Result<Response, ConsoleError> {
    render(&CodePage { frame: entry.frame("Confirm that it is you"), email, fault, recovers })
}

pub(super) async fn show(entry: Entry) -> Result<Response, ConsoleError> {
    let (half, email) = open(&entry).await?;
    if half.enrolling.is_some() {
        return Ok(Redirect::to("/sign-in/enrol").into_response());
    }
    code_page(&entry, email, false, None)
}

pub(super) async fn check(entry: Entry, Form(form): Form<Code>) -> Result<Response, ConsoleError> {
    let (half, email) = open(&entry).await?;
    match confirm(&entry.app, &entry.visitor, &half, form.code.expose_secret()).await {
        Ok(signed_in) => with_cookies(&signed_in, Redirect::to(&signed_in.next).into_response()),
        Err(error) => {
            let (told, fault) = told(&entry, error)?;
            Ok(told.on(code_page(&entry, email, false, Some(fault))?))
        }
    }
}

pub(super) async fn show_recovery(entry: Entry) -> Result<Response, ConsoleError> {
    let (_, email) = open(&entry).await?;
    code_page(&entry, email, true, None)
}

pub(super) async fn check_recovery(entry: Entry, Form(form): Form<Code>) -> Result<Response, ConsoleError> {
    let (half, email) = open(&entry).await?;
    match recover(&entry.app, &entry.visitor, &half, form.code.expose_secret()).await {
        // Whoever had to use one sees how many are left.
        Ok(signed_in) => with_cookies(&signed_in, Redirect::to("/account").into_response()),
        Err(SignInError::WrongCode) => {
            let (told, _) = told(&entry, SignInError::WrongCode)?;
            let fault = "This recovery code is not right, or was used before. Each works once.".to_owned();
            Ok(told.on(code_page(&entry, email, true, Some(fault))?))
        }
        Err(error) => {
            let (told, fault) = told(&entry, error)?;
            Ok(told.on(code_page(&entry, email, true, Some(fault))?))
        }
    }
}

fn enrol_page(entry: &Entry, email: String, secret: &TotpSecret, fault: Option<String>) -> Result<Response, ConsoleError> {
    let (text, link) = (secret.text(), secret.link(&email));
    let letters: Vec<char> = text.expose_secret().chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    let drawing = Drawing::of(link.expose_secret());
    let frame = entry.frame("Set up your authenticator");
    render(&EnrolPage { frame, email, fault, secret: groups.join(" "), link: link.expose_secret().to_owned(), drawing })
}

pub(super) async fn show_enrol(entry: Entry) -> Result<Response, ConsoleError> {
    let (half, email) = open(&entry).await?;
    match &half.enrolling {
        Some(secret) => enrol_page(&entry, email, secret, None),
        None => Ok(Redirect::to("/sign-in/code").into_response()),
    }
}

pub(super) async fn check_enrol(entry: Entry, Form(form): Form<Code>) -> Result<Response, ConsoleError> {
    let (half, email) = open(&entry).await?;
    match (enrol(&entry.app, &entry.visitor, &half, form.code.expose_secret()).await, &half.enrolling) {
        (Ok((signed_in, codes)), _) => {
            let page = codes_page(entry.frame("Your recovery codes"), &codes, signed_in.next.clone())?;
            with_cookies(&signed_in, page)
        }
        (Err(error), Some(secret)) => {
            let (told, fault) = told(&entry, error)?;
            Ok(told.on(enrol_page(&entry, email, secret, Some(fault))?))
        }
        (Err(_), None) => Ok(Redirect::to("/sign-in/code").into_response()),
    }
}

/// The page that shows recovery codes, once.
pub(super) fn codes_page(frame: Frame, codes: &[SecretString], next: String) -> Result<Response, ConsoleError> {
    let codes = codes.iter().map(|code| code.expose_secret().to_owned()).collect();
    render(&CodesPage { frame, codes, next })
}
