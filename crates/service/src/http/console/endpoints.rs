//! `GET /merchants/{handle}/endpoints`: the eight interfaces of a merchant. `…/{interface}/set` adds or changes one.

use askama::Template;
use axum::response::Response;
use domain::messages::message::Interface;
use store::merchants::accounts::Merchant;
use store::messages::endpoints::{self, Endpoint};

use super::by::{By, Manager, Viewer};
use super::endpoint::{Once, refused, show_secret};
use super::endpoint_form::{Settings, change, present};
use super::endpoint_preview;
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant::{EndpointRow, endpoint_rows};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::merchants::capitalised;
use super::page::render;
use crate::delivery::secrets::stored::Secrets;
use crate::flow::messages::configure_endpoint::{self as flow, ConfigureEndpointError};
use crate::http::pages::see;

#[derive(Template)]
#[template(path = "console/endpoints.html")]
struct Page {
    frame: Frame,
    head: Head,
    rows: Vec<EndpointRow>,
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let rows = endpoint_rows(&by, &merchant).await?;
    let frame = by.frame(Section::Merchants, &format!("{}: endpoints", merchant.name));
    render(&Page { frame, head: Head::new(&merchant, Tab::Endpoints, &by), rows })
}

/// The ways to authenticate: the value of the form's field, and its words.
const WAYS: [(&str, &str); 8] = [
    ("none", "Only the signature"),
    ("bearer", "A fixed bearer token"),
    ("basic", "User name and password"),
    ("api-key", "A key in a header"),
    ("oauth-json", "OAuth, client credentials in JSON"),
    ("oauth-form", "OAuth, client credentials in a form"),
    ("oauth-basic", "OAuth, client credentials as HTTP Basic"),
    ("oauth-tls", "OAuth, id and client certificate"),
];

#[derive(Template)]
#[template(path = "console/endpoint_set.html")]
struct SetPage {
    frame: Frame,
    head: Head,
    interface: &'static str,
    is_new: bool,
    is_asked: bool,
    example: String,
    typed: Settings,
    has_certificate: bool,
    /// The authentication that is set, in words.
    present: &'static str,
    ways: &'static [(&'static str, &'static str)],
    fault: Option<String>,
}

pub(super) async fn ask(by: By<Manager>, Path((handle, interface)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let (merchant, interface) = (find(&by.app, &handle).await?, parse(&interface)?);
    let endpoint = endpoints::find_for(by.app.store(merchant.id), merchant.id, interface).await?;
    let typed = endpoint.as_ref().map(present).unwrap_or_default();
    form(&by, &merchant, interface, endpoint.as_ref(), typed, None)
}

/// The interface of a path.
pub(super) fn parse(interface: &str) -> Result<Interface, ConsoleError> {
    interface.parse().map_err(|_| ConsoleError::NotFound)
}

fn form(
    by: &By<Manager>,
    merchant: &Merchant,
    interface: Interface,
    endpoint: Option<&Endpoint>,
    typed: Settings,
    fault: Option<String>,
) -> Result<Response, ConsoleError> {
    let secrets = endpoint.map(|endpoint| Secrets::open(&by.app, merchant.id, endpoint));
    render(&SetPage {
        frame: by.frame(Section::Merchants, &format!("{}: {interface}", merchant.name)),
        head: Head::new(merchant, Tab::Endpoints, by),
        interface: interface.as_str(),
        is_new: endpoint.is_none(),
        is_asked: interface.is_asked(),
        example: format!("https://api.example.com{}", interface.path()),
        typed,
        has_certificate: endpoint.is_some_and(|endpoint| endpoint.client.is_some()),
        present: secrets.map_or("", |secrets| secrets.map_or("unreadable", |secrets| secrets.authentication.word())),
        ways: &WAYS,
        fault,
    })
}

/// Shows what the form will do, and from there adds or changes the endpoint. The signing secret of a new one is on this answer and
/// nowhere else.
pub(super) async fn set(
    by: By<Manager>,
    Path((handle, interface)): Path<(String, String)>,
    Form(mut typed): Form<Settings>,
) -> Result<Response, ConsoleError> {
    let (merchant, interface) = (find(&by.app, &handle).await?, parse(&interface)?);
    if !typed.sealed.is_empty() {
        typed.secret = endpoint_preview::open(&by.app, merchant.id, &typed.sealed).ok_or(ConsoleError::Foreign)?;
    }
    if !typed.sealed_extra.is_empty() {
        typed.extra_value = endpoint_preview::open(&by.app, merchant.id, &typed.sealed_extra).ok_or(ConsoleError::Foreign)?;
    }
    if !typed.sealed_key.is_empty() {
        typed.client_key = endpoint_preview::open(&by.app, merchant.id, &typed.sealed_key).ok_or(ConsoleError::Foreign)?;
    }
    let change = match change(&typed, interface) {
        Ok(change) => change,
        Err(fault) => return again(&by, &merchant, interface, typed, fault).await,
    };
    if typed.sure.is_none() {
        return match flow::preview_endpoint(&by.app, merchant.id, interface, change).await {
            Ok(previewed) => endpoint_preview::show(&by, &merchant, interface, &typed, &previewed),
            Err(error @ (ConfigureEndpointError::Failed(_) | ConfigureEndpointError::Unusable(_))) => Err(refused(error)),
            Err(error) => again(&by, &merchant, interface, typed, sentence(&error)).await,
        };
    }
    match flow::set_endpoint(&by.app, &by.actor(), merchant.id, interface, change).await {
        Ok(configured) => match configured.secret {
            Some(secret) => show_secret(&by, &merchant, interface, Once { secret, previous_until: None }),
            None => Ok(see(&format!("/merchants/{handle}/endpoints/{interface}"))),
        },
        Err(error @ (ConfigureEndpointError::Failed(_) | ConfigureEndpointError::Unusable(_))) => Err(refused(error)),
        Err(error) => again(&by, &merchant, interface, typed, sentence(&error)).await,
    }
}

/// An error with its causes, as a sentence.
fn sentence(error: &ConfigureEndpointError) -> String {
    let mut told = capitalised(&error.to_string());
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause {
        told = format!("{told}: {deeper}");
        cause = deeper.source();
    }
    format!("{told}.")
}

/// Shows the form again with what was typed, but for the secret.
async fn again(
    by: &By<Manager>,
    merchant: &Merchant,
    interface: Interface,
    typed: Settings,
    fault: String,
) -> Result<Response, ConsoleError> {
    let endpoint = endpoints::find_for(by.app.store(merchant.id), merchant.id, interface).await?;
    unprocessable(form(by, merchant, interface, endpoint.as_ref(), typed, Some(fault)))
}
