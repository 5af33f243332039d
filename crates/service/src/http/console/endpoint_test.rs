//! `GET /merchants/{handle}/endpoints/{interface}/test`: sends an endpoint a test, and shows the whole exchange.

use askama::Template;
use axum::response::Response;
use domain::messages::delivery::{Outcome, Verdict, judge};
use domain::messages::message::{Interface, Kind};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::attempts::{self, Attempt};
use store::messages::endpoints::Endpoint;
use store::messages::log;
use store::messages::settlements::UNKNOWN;
use uuid::Uuid;

use super::by::{By, Manager, Permission, Viewer};
use super::endpoint::{found, refused};
use super::endpoint_hours::class_of;
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab};
use super::page::render;
use super::stamp::Stamp;
use super::view::span;
use crate::delivery::transports::answer::KnownSecrets;
use crate::delivery::transports::shown::{ShownHeader, ShownMessage, headers_of, headers_of_query};
use crate::flow::messages::configure_endpoint::test_endpoint;
use crate::flow::messages::test_endpoint::ask_endpoint;
use crate::http::pages::see;
use crate::show::messages::endpoints::schedule;

/// The request of a test.
struct Sent {
    method: &'static str,
    url: String,
    headers: Vec<ShownHeader>,
    /// Why the headers cannot be shown.
    unusable: Option<String>,
    body: Option<String>,
}

/// The answer to a test.
struct Answered {
    class: &'static str,
    outcome: String,
    took: String,
    reason: Option<String>,
    body: Option<String>,
    /// What the engine would have concluded of a real message.
    conclusion: String,
    is_success: bool,
}

#[derive(Template)]
#[template(path = "console/endpoint_test.html")]
struct Page {
    frame: Frame,
    head: Head,
    interface: &'static str,
    is_asked: bool,
    is_paused: bool,
    url: String,
    tested: Option<Stamp>,
    sent_at: Option<Stamp>,
    sent: Option<Sent>,
    answered: Option<Answered>,
}

impl Page {
    fn new<P: Permission>(by: &By<P>, (merchant, interface, endpoint): &(Merchant, Interface, Endpoint)) -> Self {
        Self {
            frame: by.frame(Section::Merchants, &format!("{}: test {interface}", merchant.name)),
            head: Head::new(merchant, Tab::Endpoints, by),
            interface: interface.as_str(),
            is_asked: interface.is_asked(),
            is_paused: endpoint.paused_at.is_some(),
            url: endpoint.url.clone(),
            tested: endpoint.tested_at.map(|at| by.time(at)),
            sent_at: None,
            sent: None,
            answered: None,
        }
    }
}

pub(super) async fn ask(by: By<Viewer>, Path(path): Path<(String, String)>) -> Result<Response, ConsoleError> {
    render(&Page::new(&by, &found(&by, &path).await?))
}

/// The form of a test.
#[derive(Debug, Deserialize)]
pub(super) struct Test {
    /// The variant that a query asks for.
    #[serde(default)]
    variant: String,
}

/// Sends the test. A message leads to the page that shows what becomes of it; a query is answered here.
pub(super) async fn send(
    by: By<Manager>,
    Path(path): Path<(String, String)>,
    Form(Test { variant }): Form<Test>,
) -> Result<Response, ConsoleError> {
    let tested = found(&by, &path).await?;
    let (merchant, interface, endpoint) = &tested;
    if !interface.is_asked() {
        let message = test_endpoint(&by.app, &by.actor(), merchant.id, *interface).await.map_err(refused)?;
        return Ok(see(&format!("/merchants/{}/endpoints/{interface}/test/{message}", merchant.handle)));
    }
    let variant = Some(variant.trim()).filter(|variant| !variant.is_empty()).unwrap_or("test");
    let trial = ask_endpoint(&by.app, &by.actor(), merchant.id, *interface, variant).await.map_err(refused)?;
    let trial = trial.map_err(|failure| ConsoleError::Refused(format!("The endpoint cannot be queried: {failure}.")))?;
    let (headers, unusable) = told(headers_of_query(&by.app, merchant.id, endpoint));
    let conclusion = match &trial.listed {
        Some(listed) => {
            format!("A shopper would be offered {} variants; {} entries could not be read.", listed.variants.len(), listed.skipped)
        }
        None => "A shopper would be offered no exchange: the answer cannot be used.".to_owned(),
    };
    render(&Page {
        sent_at: Some(by.log_time(by.now)),
        sent: Some(Sent { method: "GET", url: endpoint.url.replace("{variant_identifier}", variant), headers, unusable, body: None }),
        answered: Some(Answered {
            class: class_of(&trial.outcome.word()),
            outcome: trial.outcome.word(),
            took: seconds(i64::try_from(trial.took.as_millis()).unwrap_or(i64::MAX)),
            is_success: trial.outcome.is_success() && trial.listed.is_some(),
            reason: match trial.outcome {
                Outcome::Answered { .. } | Outcome::TimedOut => None,
                Outcome::Unreachable(why) | Outcome::Refused(why) => Some(why),
            },
            body: text(&known(&by, &tested), &trial.answer),
            conclusion,
        }),
        ..Page::new(&by, &tested)
    })
}

fn told(headers: Result<Vec<ShownHeader>, String>) -> (Vec<ShownHeader>, Option<String>) {
    headers.map_or_else(|why| (Vec::new(), Some(why)), |headers| (headers, None))
}

/// The secrets that an answer of the endpoint is shown without.
fn known<P: Permission>(by: &By<P>, (merchant, _, endpoint): &(Merchant, Interface, Endpoint)) -> KnownSecrets {
    KnownSecrets::of(&by.app, merchant.id, std::slice::from_ref(endpoint), &[])
}

/// The beginning of an answer as text, without secrets in it.
fn text(secrets: &KnownSecrets, answer: &[u8]) -> Option<String> {
    const SHOWN: usize = 16 * 1024;
    let text = String::from_utf8_lossy(answer.get(..SHOWN).unwrap_or(answer));
    (!text.is_empty()).then(|| secrets.mask(&text))
}

fn seconds(ms: i64) -> String {
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

/// `GET …/test/{message}`: what became of a test message.
pub(super) async fn show(
    by: By<Viewer>,
    Path((handle, interface, message)): Path<(String, String, Uuid)>,
) -> Result<Response, ConsoleError> {
    let tested = found(&by, &(handle, interface)).await?;
    let (merchant, _, endpoint) = &tested;
    let store = by.app.store(merchant.id);
    let found = log::find(store, merchant.id, message).await?.filter(|found| found.kind == Kind::EndpointTest.as_str());
    let found = found.ok_or(ConsoleError::NotFound)?;
    let attempt = attempts::list(store, merchant.id, message).await?.pop().filter(|attempt| attempt.outcome != UNKNOWN);
    let at = attempt.as_ref().map_or_else(|| log::written_at(message), |attempt| attempt.started_at);
    // The receiver compares the time with its own clock, which does not follow a sandbox's clock.
    let signed_at = at - (by.app.now() - by.app.clock.wall());
    let number = attempt.as_ref().map_or(1, |attempt| attempt.number);
    let message = ShownMessage { id: message, event: &found.event, sequence: found.sequence, attempt: number, at: signed_at };
    let (headers, unusable) = told(headers_of(&by.app, merchant.id, endpoint, message));
    let page = Page::new(&by, &tested);
    let frame = if attempt.is_none() { page.frame.renewing(1) } else { page.frame };
    render(&Page {
        frame,
        sent_at: Some(by.log_time(at)),
        sent: Some(Sent { method: "POST", url: endpoint.url.clone(), headers, unusable, body: Some(found.body) }),
        answered: attempt.map(|attempt| answered(attempt, endpoint, &known(&by, &tested))),
        ..page
    })
}

fn answered(attempt: Attempt, endpoint: &Endpoint, secrets: &KnownSecrets) -> Answered {
    let reason = attempt.reason.clone().unwrap_or_default();
    let outcome = match (attempt.status.and_then(|status| u16::try_from(status).ok()), attempt.outcome.as_str()) {
        (Some(status), _) => Outcome::Answered { status, retry_after: None },
        (None, "timed out") => Outcome::TimedOut,
        (None, "refused") => Outcome::Refused(reason),
        (None, _) => Outcome::Unreachable(reason),
    };
    let conclusion = match judge(&outcome, 1, &schedule(endpoint), 0.0, attempt.started_at) {
        Verdict::Delivered => "A real message would count as delivered.".to_owned(),
        Verdict::Retry { at } => format!(
            "A real message would be tried again after {}, or later if the answer asks for it with Retry-After, and given up after the sixth attempt.",
            span(at - attempt.started_at)
        ),
        Verdict::Failed => "A real message would be given up.".to_owned(),
    };
    Answered {
        class: class_of(&attempt.outcome),
        is_success: outcome.is_success(),
        outcome: attempt.outcome,
        took: seconds(attempt.took_ms.into()),
        reason: attempt.reason,
        body: attempt.answer.as_deref().and_then(|answer| text(secrets, answer)),
        conclusion,
    }
}
