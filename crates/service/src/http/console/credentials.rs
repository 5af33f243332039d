//! `GET /merchants/{handle}/credentials`: the credentials of a merchant's systems. A new secret is shown once, on the answer itself.

use askama::Template;
use axum::response::Response;
use domain::merchants::access::{Scope, Scopes};
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::accounts::Merchant;
use store::merchants::credentials::{self, Credential};

use super::by::{By, Manager, Permission, Viewer};
use super::error::ConsoleError;
use super::form::{Fields, Form, Path};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::merchants::refused;
use super::page::render;
use super::question::{Question, SURE};
use super::stamp::Stamp;
use crate::flow::merchants::configure_merchant::{issue_credential, revoke_credential};
use crate::http::pages::see;

/// A credential, as it is drawn.
struct Row {
    client_id: String,
    label: String,
    scopes: String,
    secret_end: Option<String>,
    issued: Stamp,
    used: Option<Stamp>,
    revoked: Option<Stamp>,
}

impl Row {
    fn new<P: Permission>(by: &By<P>, credential: Credential) -> Self {
        Self {
            client_id: credential.client_id,
            label: credential.label,
            scopes: credential.scopes.to_string(),
            secret_end: credential.secret_end,
            issued: by.time(credential.issued_at),
            used: credential.last_token_at.map(|at| by.time(at)),
            revoked: credential.revoked_at.map(|at| by.time(at)),
        }
    }
}

/// A credential that has just been issued.
struct New {
    client_id: String,
    secret: SecretString,
}

#[derive(Template)]
#[template(path = "console/credentials.html")]
struct Page {
    frame: Frame,
    head: Head,
    rows: Vec<Row>,
    new: Option<New>,
    scopes: [&'static str; Scope::ALL.len()],
    fault: Option<&'static str>,
    label: String,
}

async fn page<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    new: Option<New>,
    (fault, label): (Option<&'static str>, String),
) -> Result<Response, ConsoleError> {
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: credentials", merchant.name)),
        head: Head::new(merchant, Tab::Credentials, by),
        rows: listed.into_iter().rev().map(|credential| Row::new(by, credential)).collect(),
        new,
        scopes: Scope::ALL.map(Scope::as_str),
        fault,
        label,
    })
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    page(&by, &merchant, None, (None, String::new())).await
}

/// Shows what a new credential could do, and from there issues it. Its secret is on this answer and nowhere else.
pub(super) async fn issue(by: By<Manager>, Path(handle): Path<String>, Form(fields): Fields) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let scopes: Vec<Scope> = fields.iter().filter(|(name, _)| name == "scope").filter_map(|(_, scope)| scope.parse().ok()).collect();
    let label = fields.iter().find(|(name, _)| name == "label").map(|(_, label)| label.trim().to_owned()).unwrap_or_default();
    if scopes.is_empty() || label.chars().count() > 200 {
        let fault = if scopes.is_empty() { "Choose at least one scope." } else { "Give a note of at most 200 characters." };
        return unprocessable(page(&by, &merchant, None, (Some(fault), label)).await);
    }
    let scopes: Scopes = scopes.into_iter().collect();
    if !fields.iter().any(|(name, _)| name == SURE) {
        return preview(&by, &merchant, scopes, label).await;
    }
    let issued = issue_credential(&by.app, &by.actor(), merchant.id, scopes, &label).await.map_err(refused)?;
    page(&by, &merchant, Some(New { client_id: issued.client_id, secret: issued.client_secret }), (None, String::new())).await
}

async fn preview(by: &By<Manager>, merchant: &Merchant, scopes: Scopes, label: String) -> Result<Response, ConsoleError> {
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    let beside = match listed.iter().filter(|other| other.revoked_at.is_none()).count() {
        0 => "none: it is the only one".to_owned(),
        1 => "1 credential".to_owned(),
        others => format!("{others} credentials"),
    };
    let handle = &merchant.handle;
    let options: Vec<String> = scopes.iter().map(|scope| format!("--scope {}", scope.as_str())).collect();
    let options = options.join(" ");
    let typed = scopes.iter().map(|scope| ("scope", scope.as_str().to_owned())).chain([("label", label.clone()), (SURE, "yes".to_owned())]);
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(merchant, Tab::Credentials, by),
        asks: format!("Issue a credential for {}?", merchant.name),
        facts: vec![
            ("Can get", format!("tokens for {scopes}, at once")),
            ("For", if label.is_empty() { "not said".to_owned() } else { label }),
            ("Beside it in use", beside),
            ("Secret", "shown once, on the next page, and recorded nowhere".to_owned()),
            ("Undone by", "revoking it".to_owned()),
        ],
        action: format!("/merchants/{handle}/credentials"),
        does: "Issue the credential".to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/credentials"),
        command: format!("backhaul credential issue --merchant {handle} {options}"),
    }
    .show_with(&typed.collect::<Vec<_>>())
}

/// `GET …/credentials/{client_id}/revoke`: what revoking it does.
pub(super) async fn ask_to_revoke(by: By<Manager>, Path((handle, client_id)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    let others = listed.iter().filter(|other| other.revoked_at.is_none() && other.client_id != client_id).count();
    let credential = listed.into_iter().find(|credential| credential.client_id == client_id).ok_or(ConsoleError::NotFound)?;
    if credential.revoked_at.is_some() {
        return Err(ConsoleError::Conflict("This credential has been revoked already.".to_owned()));
    }
    let used = match credential.last_token_at {
        Some(at) => format!("The newest token was fetched {} ago.", by.since(at)),
        None => "No token was ever fetched with it, so nothing should notice.".to_owned(),
    };
    let remaining = match others {
        0 => "none: the merchant's systems are locked out until you issue another".to_owned(),
        1 => "1 other credential".to_owned(),
        others => format!("{others} other credentials"),
    };
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Credentials, &by),
        asks: format!("Revoke {client_id}?"),
        facts: vec![
            ("Refused", "New tokens at once, and every token issued for it within 5 seconds.".to_owned()),
            ("Last use", used),
            ("Still valid", remaining),
            ("Undone by", "nothing; issue another credential instead".to_owned()),
        ],
        action: format!("/merchants/{handle}/credentials/{client_id}/revoke"),
        does: "Revoke it".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/credentials"),
        command: format!("backhaul credential revoke --merchant {handle} {client_id}"),
    }
    .show()
}

pub(super) async fn revoke(by: By<Manager>, Path((handle, client_id)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    revoke_credential(&by.app, &by.actor(), merchant.id, &client_id).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/credentials")))
}
