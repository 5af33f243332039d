//! `GET /merchants/{handle}/onboarding`: the way to live, step by step. `…/live` declares the merchant live.

use askama::Template;
use axum::response::Response;
use domain::merchants::onboarding::{Facts, Step};
use store::merchants::accounts::Merchant;
use store::merchants::onboarding;

use super::by::{By, Manager, Viewer};
use super::error::ConsoleError;
use super::form::Path;
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find};
use super::merchants::refused;
use super::page::render;
use super::question::Question;
use super::stamp::Stamp;
use super::view::View;
use crate::flow::merchants::configure_merchant::go_live;
use crate::http::pages::see;

/// A step, as it is drawn.
struct Row {
    number: usize,
    name: &'static str,
    words: String,
    done: Option<Stamp>,
    /// Since when the merchant is at this step.
    stuck: Option<Stamp>,
}

#[derive(Template)]
#[template(path = "console/onboarding.html")]
struct Page {
    frame: Frame,
    head: Head,
    steps: Vec<Row>,
    done: usize,
    added: Stamp,
    stuck_for: Option<String>,
    contact: Option<String>,
    /// Endpoints that are set: the interface, and when its test succeeded.
    endpoints: Vec<(String, Option<Stamp>)>,
    is_live: bool,
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let facts = onboarding::facts(by.app.store(merchant.id), merchant.id).await?.ok_or(ConsoleError::NotFound)?;
    let current = facts.current();
    let steps: Vec<Row> = Step::ALL
        .into_iter()
        .enumerate()
        .map(|(at, step)| Row {
            number: at + 1,
            name: name(step),
            words: words(step, &facts, &merchant),
            done: facts.done_at(step).map(|at| by.time(at)),
            stuck: current.filter(|(current, _)| *current == step).map(|(_, since)| by.time(since)),
        })
        .collect();
    let endpoints = facts.endpoints.iter().map(|endpoint| (endpoint.interface.clone(), endpoint.tested_at.map(|at| by.time(at))));
    render(&Page {
        frame: by.frame(Section::Merchants, &format!("{}: onboarding", merchant.name)),
        head: Head::new(&merchant, Tab::Onboarding, &by),
        done: steps.iter().filter(|step| step.done.is_some()).count(),
        steps,
        added: by.day(merchant.created_at),
        stuck_for: stuck_for(&facts, &by),
        endpoints: endpoints.collect(),
        contact: merchant.technical_contact,
        is_live: merchant.live_at.is_some(),
    })
}

/// The time for which the merchant has been at its step, if it is at one.
fn stuck_for(facts: &Facts, view: &View) -> Option<String> {
    facts.current().map(|(_, since)| view.since(since))
}

const fn name(step: Step) -> &'static str {
    match step {
        Step::Credential => "Credential issued",
        Step::Token => "First access token",
        Step::Order => "First order",
        Step::Endpoints => "Endpoints tested",
        Step::Live => "Live",
    }
}

fn words(step: Step, facts: &Facts, merchant: &Merchant) -> String {
    match (step, facts.done_at(step)) {
        (Step::Credential, Some(_)) => "Their systems can fetch access tokens with it.".to_owned(),
        (Step::Credential, None) => "Issue one, and send id and secret to the merchant over a secure channel.".to_owned(),
        (Step::Token, Some(_)) => "Their system knows its secret.".to_owned(),
        (Step::Token, None) => "Nobody has fetched one yet. If they tried and failed, the secret may have been cut when it was pasted: issue another credential.".to_owned(),
        (Step::Order, Some(_)) => "Orders arrive.".to_owned(),
        (Step::Order, None) => "Their system sends an order message, or months of them as an import.".to_owned(),
        (Step::Endpoints, Some(_)) => "Each endpoint that is set has answered a test.".to_owned(),
        (Step::Endpoints, None) => {
            let untested: Vec<&str> =
                facts.endpoints.iter().filter(|endpoint| endpoint.tested_at.is_none()).map(|endpoint| endpoint.interface.as_str()).collect();
            if untested.is_empty() {
                "No endpoint is set. Messages are written all the same, and can be sent once there is one.".to_owned()
            } else {
                format!("Not tested yet: {}.", untested.join(", "))
            }
        }
        (Step::Live, Some(_)) => format!("Decided by {}.", merchant.live_by.as_deref().unwrap_or("nobody")),
        (Step::Live, None) => "A manager decides it. Nothing is switched by it: it says that the merchant is not being set up any more.".to_owned(),
    }
}

/// `GET …/live`: what declaring the merchant live means.
pub(super) async fn ask_to_go_live(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let facts = onboarding::facts(by.app.store(merchant.id), merchant.id).await?.ok_or(ConsoleError::NotFound)?;
    if facts.live_at.is_some() {
        return Err(ConsoleError::Conflict(format!("{} is live already.", merchant.name)));
    }
    let open: Vec<&str> = facts.open().into_iter().filter(|step| *step != Step::Live).map(Step::as_str).collect();
    let missing = if open.is_empty() { "none: every step is done".to_owned() } else { open.join(", ") };
    Question {
        frame: by.frame(Section::Merchants, &merchant.name),
        head: Head::new(&merchant, Tab::Onboarding, &by),
        asks: format!("Declare {} live?", merchant.name),
        facts: vec![
            ("Shown as", "live, since now, decided by you".to_owned()),
            ("Still open", missing),
            ("Undone by", "nothing: a merchant stays live; pause it to stop its calls".to_owned()),
        ],
        action: format!("/merchants/{handle}/live"),
        does: "Go live".to_owned(),
        is_grave: !open.is_empty(),
        back: format!("/merchants/{handle}/onboarding"),
        command: format!("backhaul merchant live {handle}"),
    }
    .show()
}

pub(super) async fn live(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    go_live(&by.app, &by.actor(), &merchant).await.map_err(refused)?;
    Ok(see(&format!("/merchants/{handle}/onboarding")))
}
