//! `GET /merchants/{handle}/check`: checks whether a merchant's endpoints are fit to go live.

use askama::Template;
use axum::response::Response;
use domain::messages::endpoint_check::{Check, Finding, State};
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::endpoints;
use wire::messages::endpoint_check::{happened, name, next, seconds, why, word};

use super::by::{By, Manager};
use super::error::ConsoleError;
use super::form::{Form, Path};
use super::frame::{Frame, Section};
use super::merchant_head::{Head, Tab, find};
use super::merchants::capitalised;
use super::page::render;
use super::stamp::Stamp;
use crate::delivery::endpoint_check::Checked;
use crate::flow::messages::check_endpoints::{CHECK_TIMEOUT, CheckEndpointsError, check_endpoints};

/// The result of a check, as it is drawn.
struct Shown {
    class: &'static str,
    state: String,
}

impl Shown {
    fn new(state: State) -> Self {
        let class = match state {
            State::Failed => "bad",
            State::Warned => "warn",
            State::NotChecked | State::NotApplicable => "off",
            State::Passed => "ok",
        };
        Self { class, state: capitalised(word(state)) }
    }
}

/// An interface and its checks. One without an endpoint has none.
struct Row {
    interface: &'static str,
    /// The name of each check, and its result.
    checks: Vec<(&'static str, Shown)>,
    took: String,
}

/// A finding that a person should read.
struct Told {
    interface: &'static str,
    check: &'static str,
    shown: Shown,
    happened: String,
    why: &'static str,
    next: Option<String>,
}

/// The report of a check.
struct Report {
    at: Stamp,
    took: String,
    rows: Vec<Row>,
    /// Everything that did not pass, the worst first.
    found: Vec<Told>,
    /// Everything else.
    passed: Vec<Told>,
    failed: usize,
    warned: usize,
    unchecked: usize,
}

#[derive(Template)]
#[template(path = "console/endpoint_check.html")]
struct Page {
    frame: Frame,
    head: Head,
    /// The interfaces that have an endpoint, with its address.
    endpoints: Vec<(String, String)>,
    names: Vec<&'static str>,
    asks_variants: bool,
    variant: String,
    within: u64,
    report: Option<Report>,
}

async fn page(by: &By<Manager>, merchant: &Merchant, variant: &str) -> Result<Page, ConsoleError> {
    let endpoints = endpoints::list(by.app.store(merchant.id), merchant.id).await?;
    let variants = Interface::ExchangeVariants.as_str();
    Ok(Page {
        frame: by.frame(Section::Merchants, &format!("{}: check of the endpoints", merchant.name)),
        head: Head::new(merchant, Tab::Endpoints, by),
        asks_variants: endpoints.iter().any(|endpoint| endpoint.interface == variants),
        endpoints: endpoints.into_iter().map(|endpoint| (endpoint.interface, endpoint.url)).collect(),
        names: Check::ALL.into_iter().map(name).collect(),
        variant: variant.to_owned(),
        within: CHECK_TIMEOUT.as_secs(),
        report: None,
    })
}

pub(super) async fn ask(by: By<Manager>, Path(handle): Path<String>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    render(&page(&by, &merchant, "test").await?)
}

/// The form of a check.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    /// The variant that a query asks for.
    #[serde(default)]
    variant: String,
}

/// Checks, and shows the report as the answer. Nothing of it is stored but the audit row.
pub(super) async fn run(
    by: By<Manager>,
    Path(handle): Path<String>,
    Form(Asked { variant }): Form<Asked>,
) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let variant = Some(variant.trim()).filter(|variant| !variant.is_empty()).unwrap_or("test");
    let began = by.app.clock.uptime();
    let checked = check_endpoints(&by.app, &by.actor(), merchant.id, None, variant, |_| ()).await.map_err(refused)?;
    let took = seconds(by.app.clock.uptime().saturating_sub(began));
    let page = page(&by, &merchant, variant).await?;
    render(&Page { report: Some(report(&by, &checked, took)), ..page })
}

fn refused(error: CheckEndpointsError) -> ConsoleError {
    match error {
        CheckEndpointsError::Failed(failed) => failed.into(),
        CheckEndpointsError::NoEndpoint | CheckEndpointsError::NoSuchEndpoint(_) => {
            ConsoleError::Refused("The merchant has no endpoint yet, so there is nothing to check. Set one first.".to_owned())
        }
    }
}

fn report(by: &By<Manager>, checked: &[Checked], took: String) -> Report {
    let count = |state| checked.iter().map(|checked| checked.count(state)).sum();
    let all = || checked.iter().flat_map(|checked| checked.findings.iter().map(|finding| (checked.interface, finding)));
    let passes = |finding: &Finding| matches!(finding.state(), State::Passed | State::NotApplicable);
    let mut found: Vec<_> = all().filter(|(_, finding)| !passes(finding)).collect();
    found.sort_by_key(|(_, finding)| finding.state());
    Report {
        at: by.log_time(by.now),
        took,
        rows: Interface::ALL.into_iter().map(|interface| row(interface, checked)).collect(),
        found: found.into_iter().map(told).collect(),
        passed: all().filter(|(_, finding)| passes(finding)).map(told).collect(),
        failed: count(State::Failed),
        warned: count(State::Warned),
        unchecked: count(State::NotChecked),
    }
}

fn row(interface: Interface, checked: &[Checked]) -> Row {
    let checked = checked.iter().find(|checked| checked.interface == interface);
    let shown = |finding: &Finding| (name(finding.check()), Shown::new(finding.state()));
    Row {
        interface: interface.as_str(),
        checks: checked.map(|checked| checked.findings.iter().map(shown).collect()).unwrap_or_default(),
        took: checked.map(|checked| seconds(checked.took)).unwrap_or_default(),
    }
}

fn told((interface, finding): (Interface, &Finding)) -> Told {
    Told {
        interface: interface.as_str(),
        check: name(finding.check()),
        shown: Shown::new(finding.state()),
        happened: happened(finding),
        why: why(finding.check()),
        next: next(finding),
    }
}
