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
use crate::flow::merchants::configure_merchant::{Terms, issue_credential, revoke_credential};
use crate::http::pages::see;
use crate::platform::client_certificate::Fingerprint;
use crate::platform::networks::{self, Network};

/// A credential, as it is drawn.
struct Row {
    client_id: String,
    label: String,
    scopes: String,
    secret_end: Option<String>,
    networks: String,
    issued: Stamp,
    /// The newest call or token, whichever is later.
    used: Option<Stamp>,
    expires: Option<Stamp>,
    is_expired: bool,
    old_secret_until: Option<Stamp>,
    /// The client certificates that it is bound to: the fingerprint, its beginning, and when the certificate expires.
    certificates: Vec<(String, String, Stamp)>,
    revoked: Option<Stamp>,
}

impl Row {
    fn new<P: Permission>(by: &By<P>, credential: Credential) -> Self {
        let certificates = credential.certificates.iter().filter_map(|bound| {
            let fingerprint = Fingerprint::try_from(bound.fingerprint.as_slice()).ok()?.to_string();
            let start = fingerprint.chars().take(12).collect();
            Some((fingerprint, start, by.time(bound.expires_at)))
        });
        Self {
            certificates: certificates.collect(),
            client_id: credential.client_id,
            label: credential.label,
            scopes: credential.scopes.to_string(),
            secret_end: credential.secret_end,
            networks: credential.networks.join(" "),
            issued: by.time(credential.issued_at),
            used: credential.last_used_at.max(credential.last_token_at).map(|at| by.time(at)),
            expires: credential.expires_at.map(|at| by.time(at)),
            is_expired: credential.expires_at.is_some_and(|end| end <= by.now),
            old_secret_until: credential.old_secret_until.filter(|until| *until > by.now).map(|at| by.time(at)),
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
    fault: Option<String>,
    typed: TypedTerms,
}

/// The form of a new credential, as it was typed.
#[derive(Default)]
struct TypedTerms {
    scopes: Vec<String>,
    label: String,
    days: String,
    networks: String,
}

impl TypedTerms {
    fn new(fields: &[(String, String)]) -> Self {
        let text =
            |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.trim().to_owned()).unwrap_or_default();
        let scopes = fields.iter().filter(|(name, _)| name == "scope").map(|(_, scope)| scope.clone()).collect();
        Self { scopes, label: text("label"), days: text("days"), networks: text("networks") }
    }

    fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|typed| typed == scope)
    }

    /// The terms, or what is wrong with them.
    fn read(&self) -> Result<Terms, String> {
        let scopes: Scopes = self.scopes.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
        if scopes.is_empty() {
            return Err("Choose at least one scope.".to_owned());
        }
        if self.label.chars().count() > 200 {
            return Err("Give a note of at most 200 characters.".to_owned());
        }
        let days = match self.days.as_str() {
            "" => None,
            days => Some(days.parse().ok().filter(|days| (1..=3650).contains(days)).ok_or("Give 1 to 3650 days, or none at all.")?),
        };
        let networks: Result<Vec<Network>, _> =
            self.networks.split([' ', ',', '\n', '\r', '\t']).filter(|text| !text.is_empty()).map(str::parse).collect();
        let networks = networks.map_err(|error| format!("{error}. Write networks with spaces between them."))?;
        if networks.len() > networks::MOST {
            return Err(format!("Give at most {} networks.", networks::MOST));
        }
        Ok(Terms { scopes, label: self.label.clone(), days, networks, certificates: Vec::new() })
    }

    /// The fields of the form, for the button of the preview.
    fn fields(self) -> Vec<(&'static str, String)> {
        let scopes = self.scopes.into_iter().map(|scope| ("scope", scope));
        scopes.chain([("label", self.label), ("days", self.days), ("networks", self.networks), (SURE, "yes".to_owned())]).collect()
    }
}

async fn page<P: Permission>(
    by: &By<P>,
    merchant: &Merchant,
    new: Option<New>,
    (fault, typed): (Option<String>, TypedTerms),
) -> Result<Response, ConsoleError> {
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: credentials", merchant.name)),
        head: Head::new(merchant, Tab::Credentials, by),
        rows: listed.into_iter().rev().map(|credential| Row::new(by, credential)).collect(),
        new,
        scopes: Scope::ALL.map(Scope::as_str),
        fault,
        typed,
    })
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    page(&by, &merchant, None, (None, TypedTerms::default())).await
}

/// Shows what a new credential could do, and from there issues it. Its secret is on this answer and nowhere else.
pub(super) async fn issue(by: By<Manager>, Path(handle): Path<String>, Form(fields): Fields) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let typed = TypedTerms::new(&fields);
    let terms = match typed.read() {
        Ok(terms) => terms,
        Err(fault) => return unprocessable(page(&by, &merchant, None, (Some(fault), typed)).await),
    };
    if !fields.iter().any(|(name, _)| name == SURE) {
        return preview(&by, &merchant, &terms, typed).await;
    }
    let issued = issue_credential(&by.app, &by.actor(), merchant.id, &terms).await.map_err(refused)?;
    let new = New { client_id: issued.client_id, secret: issued.client_secret };
    page(&by, &merchant, Some(new), (None, TypedTerms::default())).await
}

async fn preview(by: &By<Manager>, merchant: &Merchant, terms: &Terms, typed: TypedTerms) -> Result<Response, ConsoleError> {
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    let beside = match listed.iter().filter(|other| other.revoked_at.is_none()).count() {
        0 => "none: it is the only one".to_owned(),
        1 => "1 credential".to_owned(),
        others => format!("{others} credentials"),
    };
    let handle = &merchant.handle;
    let networks: Vec<String> = terms.networks.iter().map(ToString::to_string).collect();
    let options: Vec<String> = (terms.scopes.iter().map(|scope| format!("--scope {}", scope.as_str())))
        .chain(terms.days.map(|days| format!("--expires-in-days {days}")))
        .chain(networks.iter().map(|network| format!("--network {network}")))
        .collect();
    let options = options.join(" ");
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(merchant, Tab::Credentials, by),
        asks: format!("Issue a credential for {}?", merchant.name),
        facts: vec![
            ("Can get", format!("tokens for {}, at once", terms.scopes)),
            ("For", if terms.label.is_empty() { "not said".to_owned() } else { terms.label.clone() }),
            ("Works", terms.days.map_or_else(|| "until it is revoked".to_owned(), |days| format!("for {days} days"))),
            ("From", if networks.is_empty() { "anywhere".to_owned() } else { networks.join(" ") }),
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
    .show_with(&typed.fields())
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
    let used = match credential.last_used_at.max(credential.last_token_at) {
        Some(at) => format!("It was used {} ago.", by.since(at)),
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
