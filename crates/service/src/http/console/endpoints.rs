//! `GET /merchants/{handle}/endpoints`: the eight interfaces of a merchant. `…/{interface}/set` adds or changes one.

use askama::Template;
use axum::response::Response;
use domain::messages::message::Interface;
use secrecy::SecretString;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::endpoints::{self, Endpoint};

use super::by::{By, Manager, Viewer};
use super::endpoint::{Once, refused, show_secret};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant::{EndpointRow, endpoint_rows};
use super::merchant_head::{Head, Tab, find, unprocessable};
use super::merchants::capitalised;
use super::page::render;
use crate::delivery::secrets::authentication::{Authentication, OAuth, Style};
use crate::delivery::secrets::stored::Secrets;
use crate::flow::messages::configure_endpoint::{self as flow, ConfigureEndpointError, EndpointChange};
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

/// The form of an endpoint. An empty field keeps its value.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    url: String,
    authentication: String,
    user: String,
    secret: SecretString,
    header: String,
    token_url: String,
    scope: String,
    slots: String,
    per_second: String,
    waits: String,
    version_name: String,
    version_value: String,
    send_waiting: Option<String>,
}

/// The ways to authenticate: the value of the form's field, and its words.
const WAYS: [(&str, &str); 6] = [
    ("none", "Only the signature"),
    ("bearer", "A fixed bearer token"),
    ("basic", "User name and password"),
    ("api-key", "A key in a header"),
    ("oauth-json", "OAuth, client credentials in JSON"),
    ("oauth-form", "OAuth, client credentials in a form"),
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

/// The settings of an endpoint as the form shows them. Secrets are not among them.
fn present(endpoint: &Endpoint) -> Settings {
    let waits = endpoint.waits.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (version_name, version_value) = endpoint.version_header.clone().unwrap_or_default();
    Settings {
        url: endpoint.url.clone(),
        slots: endpoint.slots.to_string(),
        per_second: endpoint.per_second.to_string(),
        waits,
        version_name,
        version_value,
        ..Settings::default()
    }
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
        present: secrets.map_or("", |secrets| secrets.map_or("unreadable", |secrets| secrets.authentication.word())),
        ways: &WAYS,
        fault,
    })
}

/// Adds or changes the endpoint. The signing secret of a new one is on this answer and nowhere else.
pub(super) async fn set(
    by: By<Manager>,
    Path((handle, interface)): Path<(String, String)>,
    Form(typed): Form<Settings>,
) -> Result<Response, ConsoleError> {
    let (merchant, interface) = (find(&by.app, &handle).await?, parse(&interface)?);
    let change = match change(&typed, interface) {
        Ok(change) => change,
        Err(fault) => return again(&by, &merchant, interface, typed, fault).await,
    };
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

/// The change that a form asks for, or what is wrong with the form.
fn change(typed: &Settings, interface: Interface) -> Result<EndpointChange, String> {
    let count = |text: &str, what| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{what} must be a whole number.")),
    };
    let waits = match typed.waits.trim() {
        _ if interface.is_asked() => None,
        "" => Some(Vec::new()),
        waits => {
            let waits: Result<Vec<i64>, _> = waits.split(',').map(|wait| wait.trim().parse()).collect();
            Some(waits.map_err(|_| "Write the waits as five whole numbers of seconds, such as 5,40,320,2560,20480.".to_owned())?)
        }
    };
    let version = (typed.version_name.trim(), typed.version_value.trim());
    Ok(EndpointChange {
        url: given(&typed.url),
        authentication: authentication(typed)?,
        slots: count(&typed.slots, "The calls at once")?,
        per_second: count(&typed.per_second, "The calls a second")?,
        waits,
        version_header: (!version.0.is_empty()).then(|| (version.0.to_owned(), version.1.to_owned())),
        send_waiting: typed.send_waiting.is_some(),
    })
}

fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn authentication(typed: &Settings) -> Result<Option<Authentication>, String> {
    let secret = || Some(typed.secret.clone()).filter(|secret| !secrecy::ExposeSecret::expose_secret(secret).is_empty());
    let secret = || secret().ok_or_else(|| "This authentication needs a secret.".to_owned());
    let user = || given(&typed.user).ok_or_else(|| "This authentication needs a user name or client id.".to_owned());
    let oauth = |style| {
        Ok::<_, String>(Authentication::OAuth(OAuth {
            token_url: given(&typed.token_url).ok_or("OAuth needs the URL that issues tokens.")?,
            client_id: user()?,
            client_secret: secret()?,
            scope: given(&typed.scope),
            style,
        }))
    };
    Ok(Some(match typed.authentication.as_str() {
        "none" => Authentication::None,
        "bearer" => Authentication::Bearer(secret()?),
        "basic" => Authentication::Basic { user: user()?, password: secret()? },
        "api-key" => {
            let header = given(&typed.header).unwrap_or_else(|| "X-Api-Key".to_owned());
            Authentication::ApiKey { header, value: secret()? }
        }
        "oauth-json" => oauth(Style::Json)?,
        "oauth-form" => oauth(Style::Form)?,
        _ => return Ok(None),
    }))
}
