//! The preview of a form that adds or changes an endpoint: what is different afterwards, and what follows from it.
//!
//! A secret that was typed goes into the preview sealed, so that no page ever shows it.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::MerchantId;
use domain::messages::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::accounts::Merchant;
use store::messages::endpoints::Endpoint;
use uuid::Uuid;

use super::by::{By, Manager};
use super::count::grouped;
use super::endpoint_form::Settings;
use super::error::ConsoleError;
use super::frame::Section;
use super::merchant_head::{Head, Tab};
use super::question::{Question, SURE};
use crate::app::App;
use crate::flow::messages::configure_endpoint::Previewed;
use crate::platform::client_certificate::ClientCertificate;
use crate::platform::keys::sealing::{Context, Sealed};

fn context(merchant: MerchantId) -> Context<'static> {
    Context { merchant, row: Uuid::nil(), column: "console.endpoint_secret" }
}

/// The secret for the preview, which only this console can read. Empty if none was typed.
fn seal(app: &App, merchant: MerchantId, secret: &SecretString) -> Result<String, ConsoleError> {
    if secret.expose_secret().is_empty() {
        return Ok(String::new());
    }
    let sealed = app.keyring.seal(&context(merchant), secret.expose_secret().as_bytes(), &app.entropy);
    let sealed = sealed.map_err(|error| ConsoleError::Internal(error.to_string()))?;
    Ok(format!("{}.{}", sealed.key_id, URL_SAFE_NO_PAD.encode(sealed.bytes)))
}

/// The secret that a preview was given.
pub(super) fn open(app: &App, merchant: MerchantId, sealed: &str) -> Option<SecretString> {
    let (key_id, bytes) = sealed.split_once('.')?;
    let sealed = Sealed { key_id: key_id.to_owned(), bytes: URL_SAFE_NO_PAD.decode(bytes).ok()? };
    let plain = app.keyring.open(&context(merchant), &sealed).ok()?;
    std::str::from_utf8(plain.expose_secret()).ok().map(SecretString::from)
}

/// A value as it is afterwards, and as it was if that differs.
fn compared(was: Option<String>, is: String) -> String {
    match was {
        None => is,
        Some(was) if was == is => format!("{is}, as before"),
        Some(was) => format!("{is}, instead of {was}"),
    }
}

fn waits(endpoint: &Endpoint) -> String {
    match &endpoint.waits {
        None => "the usual ones".to_owned(),
        Some(waits) => waits.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") + " s",
    }
}

fn version(endpoint: &Endpoint) -> String {
    endpoint.version_header.as_ref().map_or_else(|| "the usual one".to_owned(), |(name, value)| format!("{name}: {value}"))
}

fn certificate(presented: Option<ClientCertificate>) -> String {
    presented.map_or_else(
        || "none".to_owned(),
        |ClientCertificate { fingerprint, expires_at }| format!("{fingerprint}, until {}", wire::time::write(expires_at)),
    )
}

/// What will happen, word by word.
fn facts(interface: Interface, typed: &Settings, previewed: &Previewed) -> Vec<(&'static str, String)> {
    let Previewed { before, after: (after, presented), waiting } = previewed;
    let was = |told: fn(&Endpoint) -> String| before.as_ref().map(|(before, _)| told(before));
    let new_authentication = !typed.authentication.is_empty();
    let authentication = match before {
        Some((_, was)) if !new_authentication => format!("{}, as before", was.authentication),
        Some((_, was)) => format!("{} as you typed it, instead of {}", presented.authentication, was.authentication),
        None => presented.authentication.to_owned(),
    };
    let was_certificate = before.as_ref().map(|(_, was)| was.certificate);
    let mut facts = vec![
        ("Address", compared(was(|endpoint| endpoint.url.clone()), after.url.clone())),
        ("Authentication", authentication),
        ("Calls at once", compared(was(|endpoint| endpoint.slots.to_string()), after.slots.to_string())),
        ("Calls a second", compared(was(|endpoint| endpoint.per_second.to_string()), after.per_second.to_string())),
    ];
    if !interface.is_asked() {
        facts.push(("Waits before retries", compared(was(waits), waits(after))));
    }
    if !typed.extra_name.is_empty() && typed.authentication.starts_with("oauth") {
        facts.push(("Header beside the token", format!("{}, with the value that you typed", typed.extra_name)));
    }
    if presented.certificate.is_some() || was_certificate.is_some_and(|was| was.is_some()) {
        facts.push(("Client certificate", compared(was_certificate.map(certificate), certificate(presented.certificate))));
    }
    facts.push(("Version header", compared(was(version), version(after))));
    if before.is_none() && !interface.is_asked() {
        facts.push(("Signing secret", "A new one is made, and shown once, on the next page.".to_owned()));
    }
    if before.as_ref().is_some_and(|(before, _)| before.tested_at.is_some() && after.tested_at.is_none()) {
        facts.push(("Test", "The endpoint counts as not tested until a test succeeds.".to_owned()));
    }
    if *waiting > 0 {
        let messages = if *waiting == 1 { "1 message that was".to_owned() } else { format!("{} messages that were", grouped(*waiting)) };
        let fate = if typed.sends_waiting() { "is sent now, in order" } else { "stays unsent" };
        facts.push(("Written before", format!("{messages} written while there was no endpoint: {fate}.")));
    }
    facts.push(("Undone by", "setting it again; what was sent meanwhile stays sent".to_owned()));
    facts
}

/// Shows what the form will do.
pub(super) fn show(
    by: &By<Manager>,
    merchant: &Merchant,
    interface: Interface,
    typed: &Settings,
    previewed: &Previewed,
) -> Result<Response, ConsoleError> {
    let (handle, name) = (&merchant.handle, &merchant.name);
    let (asks, does) = match previewed.before {
        None => (format!("Add the endpoint {interface} of {name}?"), "Add the endpoint"),
        Some(_) => (format!("Change the endpoint {interface} of {name}?"), "Save the endpoint"),
    };
    let mut fields = typed.fields();
    fields.push(("sealed", seal(&by.app, merchant.id, &typed.secret)?));
    fields.push(("sealed_extra", seal(&by.app, merchant.id, &typed.extra_value)?));
    fields.push(("sealed_key", seal(&by.app, merchant.id, &typed.client_key)?));
    fields.push((SURE, "yes".to_owned()));
    let head = Head::new(merchant, Tab::Endpoints, by);
    Question {
        frame: by.frame(Section::Merchants, &asks),
        asks,
        facts: facts(interface, typed, previewed),
        action: format!("/merchants/{handle}/endpoints/{interface}/set"),
        does: does.to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/endpoints/{interface}/set"),
        command: format!("{} --url {}", head.endpoint_command("set", interface.as_str()), previewed.after.0.url),
        head,
    }
    .show_with(&fields)
}
