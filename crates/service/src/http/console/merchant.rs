//! `GET /merchants/{handle}`: how a merchant fares. `…/contact` has its technical contact and its pause.

use askama::Template;
use axum::response::Response;
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::merchants::{credentials, onboarding, overview};
use store::messages::endpoints::{self, Endpoint};
use store::messages::health::{self, Health};
use wire::messages::message::EndpointState;

use super::by::{By, Manager, Viewer};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, State, Tab, find, unprocessable, up_to};
use super::merchants::refused;
use super::page::render;
use super::question::{Question, SURE};
use super::stamp::Stamp;
use crate::flow::merchants::configure_merchant as flow;
use crate::http::pages::see;
use crate::show::messages::endpoints::state;

/// Counts on a merchant's pages stop here.
pub(super) const MOST_COUNTED: i64 = 20;

/// An interface of the merchant, as it is drawn.
pub(super) struct EndpointRow {
    pub(super) interface: &'static str,
    /// `None` if it is not set.
    pub(super) set: Option<SetEndpoint>,
}

/// An endpoint that is set.
pub(super) struct SetEndpoint {
    pub(super) state: State,
    pub(super) url: String,
    pub(super) owed: String,
    pub(super) past_due: String,
    pub(super) failed: String,
    pub(super) tested: Option<Stamp>,
}

/// The eight interfaces of the merchant.
pub(super) async fn endpoint_rows(by: &By<Viewer>, merchant: &Merchant) -> Result<Vec<EndpointRow>, ConsoleError> {
    let store = by.app.store(merchant.id);
    let kept = endpoints::list(store, merchant.id).await?;
    let health = health::endpoints_up_to(store, merchant.id, by.now, MOST_COUNTED).await?;
    let rows = Interface::ALL.into_iter().map(|interface| {
        let endpoint = kept.iter().find(|endpoint| endpoint.interface == interface.as_str());
        let set = endpoint.map(|endpoint| {
            let health = health.iter().find(|health| health.endpoint == endpoint.id);
            let counted = |count: fn(&Health) -> i64| up_to(health.map_or(0, count), MOST_COUNTED);
            SetEndpoint {
                state: state_of(endpoint, health, interface),
                url: endpoint.url.clone(),
                owed: counted(|health| health.owed),
                past_due: counted(|health| health.past_due),
                failed: counted(|health| health.failed),
                tested: endpoint.tested_at.map(|at| by.time(at)),
            }
        });
        EndpointRow { interface: interface.as_str(), set }
    });
    Ok(rows.collect())
}

/// The state of an endpoint that is set.
pub(super) fn state_of(endpoint: &Endpoint, health: Option<&Health>, interface: Interface) -> State {
    match state(endpoint, health) {
        EndpointState::Paused => State::new("pause", "Paused"),
        EndpointState::Failing => State::new("bad", "Failing"),
        EndpointState::Untried => State::new("off", "No calls yet"),
        EndpointState::Healthy if interface.is_asked() => State::new("ok", "Answering"),
        EndpointState::Healthy => State::new("ok", "Delivering"),
    }
}

/// A change of the merchant's settings.
struct Change {
    at: Stamp,
    actor: String,
    action: String,
    detail: String,
}

#[derive(Template)]
#[template(path = "console/merchant.html")]
struct Page {
    frame: Frame,
    head: Head,
    added: Stamp,
    live: Option<(Stamp, String)>,
    /// The step that it is at, and since when.
    step: Option<(&'static str, Stamp)>,
    contact: Option<String>,
    retention_days: i32,
    rows: Vec<EndpointRow>,
    failing: usize,
    in_use: usize,
    changes: Vec<Change>,
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let store = by.app.store(merchant.id);
    let rows = endpoint_rows(&by, &merchant).await?;
    let issued = credentials::list(store, merchant.id).await?;
    let changes = overview::changes(store, merchant.id, 8).await?.into_iter();
    let facts = if merchant.live_at.is_none() { onboarding::facts(store, merchant.id).await? } else { None };
    render(&Page {
        head: Head::new(&merchant, Tab::Overview, &by),
        frame: by.frame(Section::Merchants, &merchant.name),
        added: by.day(merchant.created_at),
        live: merchant.live_at.zip(merchant.live_by).map(|(at, who)| (by.day(at), who)),
        step: facts.and_then(|facts| facts.current()).map(|(step, since)| (step.as_str(), by.ago(since))),
        contact: merchant.technical_contact,
        retention_days: merchant.retention_days,
        failing: rows.iter().filter(|row| row.set.as_ref().is_some_and(|set| set.state.class == "bad")).count(),
        rows,
        in_use: issued.iter().filter(|credential| credential.revoked_at.is_none()).count(),
        changes: changes
            .map(|change| Change { at: by.time(change.done_at), actor: change.actor, action: change.action, detail: change.detail })
            .collect(),
    })
}

#[derive(Template)]
#[template(path = "console/merchant_contact.html")]
struct ContactPage {
    frame: Frame,
    head: Head,
    typed: String,
    fault: Option<&'static str>,
    paused: Option<Stamp>,
}

pub(super) async fn contact(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    render(&ContactPage {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Contact, &by),
        paused: merchant.paused_at.map(|at| by.ago(at)),
        typed: merchant.technical_contact.unwrap_or_default(),
        fault: None,
    })
}

/// The form of the technical contact.
#[derive(Debug, Deserialize)]
pub(super) struct Contact {
    technical_contact: String,
    /// Set by the preview.
    sure: Option<String>,
}

/// `POST …/contact`: shows what the new contact changes, and from there sets it.
pub(super) async fn set_contact(
    by: By<Manager>,
    Path(handle): Path<String>,
    Form(Contact { technical_contact, sure }): Form<Contact>,
) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let contact = Some(technical_contact.trim()).filter(|contact| !contact.is_empty());
    if contact.is_some_and(|contact| !contact.contains('@') || contact.contains(char::is_whitespace)) {
        return unprocessable(render(&ContactPage {
            frame: by.frame(Section::Merchants, &merchant.name),
            head: Head::new(&merchant, Tab::Contact, &by),
            paused: merchant.paused_at.map(|at| by.ago(at)),
            typed: technical_contact,
            fault: Some("Give one e-mail address, or leave the field empty to remove the contact."),
        }));
    }
    if sure.is_none() {
        return preview_contact(&by, &merchant, contact);
    }
    flow::set_technical_contact(&by.app, &by.actor(), &merchant, contact).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/contact")))
}

fn preview_contact(by: &By<Manager>, merchant: &Merchant, contact: Option<&str>) -> Result<Response, ConsoleError> {
    let Merchant { handle, name, technical_contact, .. } = merchant;
    let was = technical_contact.as_deref().unwrap_or("nobody");
    let told = match contact {
        Some(contact) => format!("{contact}, instead of {was}"),
        None => format!("nobody any more, instead of {was}; the operator's own notices go on"),
    };
    let (asks, option) = match contact {
        Some(contact) => (format!("Make {contact} the technical contact?"), format!(" --technical-contact {contact}")),
        None => ("Remove the technical contact?".to_owned(), " --technical-contact \"\"".to_owned()),
    };
    Question {
        frame: by.frame(Section::Merchants, name),
        head: Head::new(merchant, Tab::Contact, by),
        asks,
        facts: vec![
            ("Is told", told),
            ("About", format!("systems of {name} that fail, and that answer again; from the next notice on")),
            ("Undone by", "setting another contact".to_owned()),
        ],
        action: format!("/merchants/{handle}/contact"),
        does: "Save the contact".to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/contact"),
        command: format!("backhaul merchant set {handle}{option}"),
    }
    .show_with(&[("technical_contact", contact.unwrap_or_default().to_owned()), (SURE, "yes".to_owned())])
}

/// `GET …/pause`: what pausing the merchant does; `…/resume` what resuming does.
pub(super) async fn ask_to_pause(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Contact, &by),
        asks: format!("Pause {}?", merchant.name),
        facts: vec![
            (
                "Refused",
                "Every call of the merchant's systems is answered with 403 within 5 seconds: orders, returns, warehouse reports."
                    .to_owned(),
            ),
            (
                "Goes on",
                "Messages that are owed are still delivered, and shoppers' pages still work. Pause an endpoint to stop messages."
                    .to_owned(),
            ),
            ("Undone by", "resuming; nothing is lost that their systems send again".to_owned()),
        ],
        action: format!("/merchants/{handle}/pause"),
        does: "Pause the merchant".to_owned(),
        is_grave: true,
        back: format!("/merchants/{handle}/contact"),
        command: format!("backhaul merchant pause {handle}"),
    }
    .show()
}

pub(super) async fn pause(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    flow::pause_merchant(&by.app, &by.actor(), &merchant).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/contact")))
}

pub(super) async fn ask_to_resume(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Contact, &by),
        asks: format!("Resume {}?", merchant.name),
        facts: vec![("Accepted", "Calls of the merchant's systems are accepted again within 5 seconds.".to_owned())],
        action: format!("/merchants/{handle}/resume"),
        does: "Resume the merchant".to_owned(),
        is_grave: false,
        back: format!("/merchants/{handle}/contact"),
        command: format!("backhaul merchant resume {handle}"),
    }
    .show()
}

pub(super) async fn resume(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    flow::resume_merchant(&by.app, &by.actor(), &merchant).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/contact")))
}
