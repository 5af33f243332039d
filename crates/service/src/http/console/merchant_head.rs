//! The head of every page of one merchant: name, state and tabs. And how these pages tell numbers.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use domain::id::Handle;
use store::merchants::accounts::{self, Merchant};

use super::by::By;
use super::count::Count;
use super::error::ConsoleError;
use crate::app::App;

/// The merchant with this handle.
pub(super) async fn find(app: &App, handle: &str) -> Result<Merchant, ConsoleError> {
    let handle: Handle = handle.parse().map_err(|_| ConsoleError::NotFound)?;
    accounts::find(app.cell(), &handle).await?.ok_or(ConsoleError::NotFound)
}

/// A tab of a merchant's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Endpoints,
    Policy,
    Brand,
    Mails,
    Credentials,
    Contact,
    Onboarding,
}

impl Tab {
    const ALL: [Self; 8] =
        [Self::Overview, Self::Endpoints, Self::Policy, Self::Brand, Self::Mails, Self::Credentials, Self::Contact, Self::Onboarding];

    const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Endpoints => "Endpoints",
            Self::Policy => "Policy",
            Self::Brand => "Brand",
            Self::Mails => "Mails",
            Self::Credentials => "Credentials",
            Self::Contact => "Contact and pause",
            Self::Onboarding => "Onboarding",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Endpoints => "/endpoints",
            Self::Policy => "/policy",
            Self::Brand => "/brand",
            Self::Mails => "/mails",
            Self::Credentials => "/credentials",
            Self::Contact => "/contact",
            Self::Onboarding => "/onboarding",
        }
    }
}

/// The head of a merchant's page.
pub(super) struct Head {
    pub(super) handle: String,
    pub(super) name: String,
    pub(super) state: State,
    /// The cell that it lives in, where there are several.
    pub(super) cell: Option<String>,
    here: Tab,
}

impl Head {
    pub(super) fn new<P>(merchant: &Merchant, here: Tab, by: &By<P>) -> Self {
        let state = match (merchant.paused_at, merchant.live_at) {
            (Some(at), _) => State { class: "pause", words: format!("Paused for {}", by.since(at)) },
            (None, Some(_)) => State { class: "ok", words: "Live".to_owned() },
            (None, None) => State { class: "run", words: "Being set up".to_owned() },
        };
        let cell = by.app.has_several_cells().then(|| by.app.place().name().to_owned());
        Self { handle: merchant.handle.clone(), name: merchant.name.clone(), state, cell, here }
    }

    /// A command of this merchant: the handle between two texts.
    pub(super) fn command(&self, before: &str, after: &str) -> String {
        format!("{before} {}{after}", self.handle)
    }

    /// A command on an endpoint of this merchant.
    pub(super) fn endpoint_command(&self, verb: &str, interface: &str) -> String {
        format!("backhaul endpoint {verb} --merchant {} {interface}", self.handle)
    }

    /// The tabs: name, path, and whether it is this one.
    pub(super) fn tabs(&self) -> Vec<(&'static str, String, bool)> {
        Tab::ALL.into_iter().map(|tab| (tab.name(), format!("/merchants/{}{}", self.handle, tab.path()), tab == self.here)).collect()
    }
}

/// A state as it is drawn: shape and colour by its class, and words.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) class: &'static str,
    pub(super) words: String,
}

impl State {
    pub(super) fn new(class: &'static str, words: &str) -> Self {
        Self { class, words: words.to_owned() }
    }
}

/// A count that stops at `most`.
pub(super) fn up_to(count: i64, most: i64) -> String {
    Count { count, bound: most }.to_string()
}

/// A page that tells what is wrong with a form.
pub(super) fn unprocessable(page: Result<Response, ConsoleError>) -> Result<Response, ConsoleError> {
    page.map(|page| (StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}
