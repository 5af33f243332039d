//! `/merchants/{handle}/credentials/{client_id}/certificates`: the client certificates that a credential is bound to.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::merchants::credentials::{self, Credential};
use wire::time;

use super::by::{By, Manager};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::merchants::{capitalised, refused};
use super::page::render;
use super::question::{Question, SURE};
use super::stamp::Stamp;
use crate::flow::merchants::bind_certificate::{BindError, add_certificate, remove_certificate};
use crate::flow::merchants::configure_merchant::ConfigureError;
use crate::http::pages::see;
use crate::platform::client_certificate::{ClientCertificate, Fingerprint};

/// A certificate that the credential is bound to.
struct Row {
    sha256: String,
    expires: Stamp,
}

#[derive(Template)]
#[template(path = "console/credential_certificates.html")]
struct Page {
    frame: Frame,
    head: Head,
    client_id: String,
    rows: Vec<Row>,
    typed: String,
    fault: Option<String>,
    command: String,
}

/// The live credential of a path, with its merchant.
async fn credential_of(by: &By<Manager>, handle: &str, client_id: &str) -> Result<(Merchant, Credential), ConsoleError> {
    let merchant = find(&by.app, handle).await?;
    let listed = credentials::list(by.app.store(merchant.id), merchant.id).await?;
    let found = listed.into_iter().find(|credential| credential.client_id == client_id && credential.revoked_at.is_none());
    Ok((merchant, found.ok_or(ConsoleError::NotFound)?))
}

fn page(
    by: &By<Manager>,
    merchant: &Merchant,
    credential: &Credential,
    (typed, fault): (String, Option<String>),
) -> Result<Response, ConsoleError> {
    let row = |fingerprint: &[u8], expires| {
        let sha256 = Fingerprint::try_from(fingerprint).map_or_else(|_| "unreadable".to_owned(), |print| print.to_string());
        Row { sha256, expires: by.time(expires) }
    };
    let client_id = credential.client_id.clone();
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: certificates of {client_id}", merchant.name)),
        head: Head::new(merchant, Tab::Credentials, by),
        rows: credential.certificates.iter().map(|bound| row(&bound.fingerprint, bound.expires_at)).collect(),
        typed,
        fault,
        command: format!("backhaul credential certificate add --merchant {} {client_id} --client-certificate FILE", merchant.handle),
        client_id,
    })
}

pub(super) async fn show(by: By<Manager>, Path((handle, client_id)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, credential) = credential_of(&by, &handle, &client_id).await?;
    page(&by, &merchant, &credential, (String::new(), None))
}

/// The form of one more certificate.
#[derive(Debug, Deserialize)]
pub(super) struct Pem {
    client_certificate: String,
    /// Set by the preview.
    sure: Option<String>,
}

/// Shows what another certificate does, and from there binds the credential to it.
pub(super) async fn add(
    by: By<Manager>,
    Path((handle, client_id)): Path<(String, String)>,
    Form(Pem { client_certificate: pem, sure }): Form<Pem>,
) -> Result<Response, ConsoleError> {
    let (merchant, credential) = credential_of(&by, &handle, &client_id).await?;
    let new = match ClientCertificate::from_pem(pem.as_bytes(), by.app.clock.wall()) {
        Ok(new) => new,
        Err(wrong) => {
            let fault = format!("{}.", capitalised(&wrong.to_string()));
            return unprocessable(page(&by, &merchant, &credential, (pem, Some(fault))));
        }
    };
    if sure.is_some() {
        add_certificate(&by.app, &by.actor(), merchant.id, &client_id, new).await.map_err(not_bound)?;
        return Ok(see(&at(&merchant, &client_id)));
    }
    let follows = if credential.certificates.is_empty() {
        "it gets tokens, and uses them, only over connections with this certificate, within 5 seconds"
    } else {
        "it may use this certificate besides the one that it has, within 5 seconds"
    };
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Credentials, &by),
        asks: format!("Bind {client_id} to this client certificate?"),
        facts: vec![
            ("SHA-256", format!("{}; compare it with the merchant over another channel", new.fingerprint)),
            ("Valid until", time::write(new.expires_at)),
            ("From then on", follows.to_owned()),
            ("Undone by", "removing it, but for the last one: then issue a credential without one, and revoke this one".to_owned()),
        ],
        action: at(&merchant, &client_id),
        does: "Bind the credential".to_owned(),
        is_grave: credential.certificates.is_empty(),
        back: at(&merchant, &client_id),
        command: format!("backhaul credential certificate add --merchant {handle} {client_id} --client-certificate FILE"),
    }
    .show_with(&[("client_certificate", pem), (SURE, "yes".to_owned())])
}

/// The form that removes a certificate.
#[derive(Debug, Deserialize)]
pub(super) struct Removed {
    sha256: String,
    /// Set by the preview.
    sure: Option<String>,
}

/// Shows what removing a certificate does, and from there releases the credential from it.
pub(super) async fn remove(
    by: By<Manager>,
    Path((handle, client_id)): Path<(String, String)>,
    Form(Removed { sha256, sure }): Form<Removed>,
) -> Result<Response, ConsoleError> {
    let (merchant, _) = credential_of(&by, &handle, &client_id).await?;
    let fingerprint: Fingerprint = sha256.parse().map_err(|_| ConsoleError::Foreign)?;
    if sure.is_some() {
        remove_certificate(&by.app, &by.actor(), merchant.id, &client_id, fingerprint).await.map_err(not_bound)?;
        return Ok(see(&at(&merchant, &client_id)));
    }
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Credentials, &by),
        asks: format!("Release {client_id} from this client certificate?"),
        facts: vec![
            ("SHA-256", fingerprint.to_string()),
            ("Refused", "calls over connections with it, within 5 seconds".to_owned()),
            ("Undone by", "adding it again".to_owned()),
        ],
        action: format!("{}/remove", at(&merchant, &client_id)),
        does: "Remove the certificate".to_owned(),
        is_grave: true,
        back: at(&merchant, &client_id),
        command: format!("backhaul credential certificate remove --merchant {handle} {client_id} {fingerprint}"),
    }
    .show_with(&[("sha256", sha256), (SURE, "yes".to_owned())])
}

fn at(merchant: &Merchant, client_id: &str) -> String {
    format!("/merchants/{}/credentials/{client_id}/certificates", merchant.handle)
}

/// The page of an error of the flow.
fn not_bound(error: BindError) -> ConsoleError {
    refused(ConfigureError::Binding(error))
}
