//! `GET /merchants/{handle}/endpoints/{interface}`: how an endpoint fares, its settings, its secret and its pause.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::messages::message::Interface;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::accounts::Merchant;
use store::messages::endpoints::{self, Endpoint};
use store::messages::health;
use wire::messages::message::EndpointCertificate;

use super::by::{By, Manager, Permission, Viewer};
use super::endpoint_hours::{Hours, hours_of};
use super::error::ConsoleError;
use super::form::Path;
use super::frame::{Frame, Section};
use super::merchant::{MOST_COUNTED, state_of};
use super::merchant_head::{Head, State, Tab, find, up_to};
use super::merchants::capitalised;
use super::page::render;
use super::question::Question;
use super::stamp::Stamp;
use super::view::span;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::stored::Secrets;
use crate::flow::messages::configure_endpoint::{self as flow, ConfigureEndpointError};
use crate::http::pages::see;
use crate::show::messages::endpoints::{answer_in_words, certificate, schedule};

/// The endpoint of a path, with its merchant.
pub(super) async fn found<P: Permission>(
    by: &By<P>,
    (handle, interface): &(String, String),
) -> Result<(Merchant, Interface, Endpoint), ConsoleError> {
    let merchant = find(&by.app, handle).await?;
    let interface: Interface = interface.parse().map_err(|_| ConsoleError::NotFound)?;
    let endpoint = endpoints::find_for(by.app.store(merchant.id), merchant.id, interface).await?;
    Ok((merchant, interface, endpoint.ok_or(ConsoleError::NotFound)?))
}

/// The page of an error of the flow.
pub(super) fn refused(error: ConfigureEndpointError) -> ConsoleError {
    match error {
        ConfigureEndpointError::Failed(failed) => failed.into(),
        ConfigureEndpointError::NoSuchEndpoint(_) => {
            ConsoleError::Conflict("The endpoint has been removed meanwhile. Open the merchant's endpoints again.".to_owned())
        }
        ConfigureEndpointError::Unusable(_) => {
            ConsoleError::Refused("The stored secrets of this endpoint cannot be opened with the keys of this installation. Set its authentication again, or see `backhaul doctor`.".to_owned())
        }
        error => ConsoleError::Refused(format!("{}.", capitalised(&error.to_string()))),
    }
}

#[derive(Template)]
#[template(path = "console/endpoint.html")]
struct Page {
    frame: Frame,
    head: Head,
    interface: &'static str,
    is_asked: bool,
    state: State,
    /// The last answer in words, and its time.
    last_answer: Option<(String, Stamp)>,
    last_success: Option<Stamp>,
    next_attempt: Option<Stamp>,
    url: String,
    is_paused: bool,
    owed: String,
    failed: String,
    authentication: String,
    certificate: Option<EndpointCertificate>,
    version: String,
    waits: Vec<String>,
    is_usual: bool,
    slots: i32,
    per_second: i32,
    changed: Stamp,
    tested: Option<Stamp>,
    /// Until when the previous secret signs too.
    previous_until: Option<(Stamp, String)>,
    hours: Hours,
}

pub(super) async fn show(by: By<Viewer>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    let store = by.app.store(merchant.id);
    let health = health::endpoints_up_to(store, merchant.id, by.now, MOST_COUNTED).await?;
    let health = health.into_iter().find(|health| health.endpoint == endpoint.id);
    let last = health.as_ref().and_then(|health| health.last_call.as_ref());
    let hours = hours_of(store, merchant.id, endpoint.id, &by).await?;
    let until = endpoint.previous_secret.as_ref().map(|(_, until)| *until).filter(|until| *until > by.now);
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: {interface}", merchant.name)),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        interface: interface.as_str(),
        is_asked: interface.is_asked(),
        state: state_of(&endpoint, health.as_ref(), interface),
        last_answer: last.map(|call| (answer_in_words(&call.outcome, call.reason.as_deref()), by.time(call.at))),
        last_success: health.as_ref().and_then(|health| health.last_success_at).map(|at| by.time(at)),
        next_attempt: health.as_ref().and_then(|health| health.next_attempt_at).map(|at| by.time(at)),
        is_paused: endpoint.paused_at.is_some(),
        owed: up_to(health.as_ref().map_or(0, |health| health.owed), MOST_COUNTED),
        failed: up_to(health.as_ref().map_or(0, |health| health.failed), MOST_COUNTED),
        authentication: authentication(&by, &merchant, &endpoint),
        certificate: endpoint.client.as_ref().and_then(certificate),
        version: endpoint.version_header.as_ref().map_or_else(
            || format!("{}: {}", wire::messages::headers::VERSION, interface.version()),
            |(name, value)| format!("{name}: {value}"),
        ),
        waits: schedule(&endpoint).waits().into_iter().map(span).collect(),
        is_usual: endpoint.waits.is_none(),
        slots: endpoint.slots,
        per_second: endpoint.per_second,
        changed: by.time(endpoint.changed_at),
        tested: endpoint.tested_at.map(|at| by.time(at)),
        previous_until: until.map(|until| (by.time(until), span(until - by.now))),
        url: endpoint.url,
        hours,
    })
}

fn authentication(by: &By<Viewer>, merchant: &Merchant, endpoint: &Endpoint) -> String {
    match Secrets::open(&by.app, merchant.id, endpoint).map(|secrets| secrets.authentication) {
        Ok(Authentication::None) => "only the signature".to_owned(),
        Ok(Authentication::Bearer(_)) => "a fixed bearer token".to_owned(),
        Ok(Authentication::Basic { user, .. }) => format!("user name {user} and a password"),
        Ok(Authentication::ApiKey { header, .. }) => format!("a key in the header {header}"),
        Ok(Authentication::OAuth(oauth)) => format!("OAuth, client {}, token from {}", oauth.client_id, oauth.token_url),
        Err(_) => "cannot be opened with the keys of this installation".to_owned(),
    }
}

/// `GET …/pause`: what pausing the endpoint does; `…/resume` what resuming does.
pub(super) async fn ask_to_pause(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    let owed = owed(&by, &merchant, &endpoint).await?;
    let handle = &merchant.handle;
    let waits = if interface.is_asked() {
        "No exchanges for other variants are offered to shoppers.".to_owned()
    } else {
        format!("Messages wait, and none is lost: {owed} at this moment.")
    };
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        asks: format!("Pause {} · {interface}?", merchant.name),
        facts: vec![
            ("Meanwhile", waits),
            ("Alarms", "What waits for a paused endpoint is not counted as past due.".to_owned()),
            ("Undone by", "resuming; then everything is sent, in order".to_owned()),
        ],
        action: format!("/merchants/{handle}/endpoints/{interface}/pause"),
        does: "Pause the endpoint".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/endpoints/{interface}"),
        command: format!("backhaul endpoint pause --merchant {handle} {interface}"),
    }
    .show()
}

async fn owed<P: Permission>(by: &By<P>, merchant: &Merchant, endpoint: &Endpoint) -> Result<String, ConsoleError> {
    let health = health::endpoints_up_to(by.app.store(merchant.id), merchant.id, by.now, MOST_COUNTED).await?;
    let owed = health.iter().find(|health| health.endpoint == endpoint.id).map_or(0, |health| health.owed);
    Ok(up_to(owed, MOST_COUNTED))
}

pub(super) async fn pause(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &path).await?;
    flow::pause_endpoint(&by.app, &by.actor(), merchant.id, interface).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{}/endpoints/{interface}", merchant.handle)))
}

pub(super) async fn ask_to_resume(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    let (handle, owed) = (&merchant.handle, owed(&by, &merchant, &endpoint).await?);
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        asks: format!("Resume {} · {interface}?", merchant.name),
        facts: vec![("Sent", format!("{owed} messages that wait, in order, at most {} a second", endpoint.per_second))],
        action: format!("/merchants/{handle}/endpoints/{interface}/resume"),
        does: "Resume the endpoint".to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/endpoints/{interface}"),
        command: format!("backhaul endpoint resume --merchant {handle} {interface}"),
    }
    .show()
}

pub(super) async fn resume(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &path).await?;
    flow::resume_endpoint(&by.app, &by.actor(), merchant.id, interface).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{}/endpoints/{interface}", merchant.handle)))
}

/// `GET …/secret`: what a new signing secret does.
pub(super) async fn ask_to_rotate(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, endpoint) = found(&by, &path).await?;
    if interface.is_asked() {
        return Err(refused(ConfigureEndpointError::NotSigned(interface)));
    }
    let handle = &merchant.handle;
    let replaces = match endpoint.previous_secret.as_ref().filter(|(_, until)| *until > by.now) {
        Some(_) => "The last change is less than a day old: the secret before it stops signing at once.",
        None => "Every message is signed with the present secret too for 24 hours.",
    };
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Endpoints, &by),
        asks: format!("Make a new signing secret for {} · {interface}?", merchant.name),
        facts: vec![
            ("Shown", "The new secret is shown once, on the next page. Send it to the merchant over a secure channel.".to_owned()),
            ("Overlap", replaces.to_owned()),
            ("Undone by", "nothing; make another one".to_owned()),
        ],
        action: format!("/merchants/{handle}/endpoints/{interface}/secret"),
        does: "Make a new secret".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/endpoints/{interface}"),
        command: format!("backhaul endpoint rotate-secret --merchant {handle} {interface}"),
    }
    .show()
}

/// Makes a new signing secret, which is on this answer and nowhere else.
pub(super) async fn rotate(by: By<Manager>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface, _) = found(&by, &path).await?;
    let secret = flow::rotate_secret(&by.app, &by.actor(), merchant.id, interface).await.map_err(refused)?;
    let (_, _, endpoint) = found(&by, &path).await?;
    let previous_until = endpoint.previous_secret.map(|(_, until)| until);
    show_secret(&by, &merchant, interface, Once { secret, previous_until })
}

/// A signing secret that is shown once.
pub(super) struct Once {
    pub(super) secret: SecretString,
    pub(super) previous_until: Option<DateTime<Utc>>,
}

#[derive(Template)]
#[template(path = "console/endpoint_secret.html")]
struct SecretPage {
    frame: Frame,
    head: Head,
    interface: &'static str,
    secret: SecretString,
    previous_until: Option<Stamp>,
}

pub(super) fn show_secret(by: &By<Manager>, merchant: &Merchant, interface: Interface, once: Once) -> Result<Response, ConsoleError> {
    render(&SecretPage {
        frame: by.frame(Section::Merchants, &format!("{}: {interface}", merchant.name)),
        head: Head::new(merchant, Tab::Endpoints, by),
        interface: interface.as_str(),
        previous_until: once.previous_until.map(|until| by.time(until)),
        secret: once.secret,
    })
}
