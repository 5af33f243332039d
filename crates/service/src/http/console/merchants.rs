//! `GET /merchants`: every merchant with what is wrong with it. `GET` and `POST /merchants/new` add one.

use askama::Template;
use axum::response::Response;
use domain::id::Handle;
use serde::Deserialize;
use store::merchants::onboarding;
use store::merchants::overview::{self, Filter, Listed, MOST_COUNTED, PAGE};

use super::by::{By, Manager, Viewer};
use super::error::ConsoleError;
use super::form::{Form, Query};
use super::frame::{Frame, Section};
use super::merchant_head::{State, unprocessable, up_to};
use super::page::render;
use super::stamp::Stamp;
use crate::flow::merchants::add_merchant::add_merchant;
use crate::flow::merchants::bind_certificate::BindError;
use crate::flow::merchants::configure_merchant::{ConfigureError, LONGEST_NAME};
use crate::http::pages::see;
use crate::node::cell::Cell;
use crate::node::each_cell;
use crate::show::merchants::handles::by_handle;

/// The filters of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filters {
    q: String,
    state: String,
    after: Option<String>,
}

/// A merchant of the list, as it is drawn.
struct Row {
    handle: String,
    name: String,
    state: State,
    /// The step of one that is being set up, and since when.
    step: Option<(&'static str, Stamp)>,
    cell: String,
    endpoints: i64,
    failing: i64,
    failures: i64,
    failures_told: String,
    past_due: i64,
    past_due_told: String,
}

impl Row {
    fn new(merchant: &Listed, step: Option<(&'static str, Stamp)>, cell: &str) -> Self {
        let state = match (merchant.paused_at, merchant.live_at) {
            (Some(_), _) => State::new("pause", "Paused"),
            (None, Some(_)) => State::new("ok", "Live"),
            (None, None) => State::new("run", "Being set up"),
        };
        Self {
            handle: merchant.handle.clone(),
            name: merchant.name.clone(),
            state,
            step,
            cell: cell.to_owned(),
            endpoints: merchant.endpoints,
            failing: merchant.failing,
            failures: merchant.failures,
            failures_told: up_to(merchant.failures, MOST_COUNTED),
            past_due: merchant.past_due,
            past_due_told: up_to(merchant.past_due, MOST_COUNTED),
        }
    }
}

#[derive(Template)]
#[template(path = "console/merchants.html")]
struct Page {
    frame: Frame,
    q: String,
    state: String,
    is_filtered: bool,
    /// There are several cells, so each merchant's is named.
    in_cells: bool,
    rows: Vec<Row>,
    /// The address of the next page.
    next: Option<String>,
}

const STATES: [&str; 4] = ["failing", "live", "onboarding", "paused"];

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let state = STATES.into_iter().find(|state| *state == filters.state);
    let words = Some(filters.q.trim().to_owned()).filter(|words| !words.is_empty());
    let filter = Filter { words: words.clone(), state: state.map(str::to_owned) };
    let of_cells = each_cell::each(&by.app, |store| overview::list(store, &filter, filters.after.as_deref(), by.now)).await?;
    let of_cells = each_cell::placed(by.app.cells(), of_cells);
    let mut found: Vec<(&Cell, Listed)> = by_handle(&by.app, of_cells, |(_, merchant)| &merchant.handle).await?;
    let more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| more).map(|(_, last)| {
        let fields = [("q", filters.q.as_str()), ("state", state.unwrap_or_default()), ("after", last.handle.as_str())];
        format!("/merchants?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
    });
    let mut rows = Vec::with_capacity(found.len());
    for (cell, merchant) in &found {
        let facts = if merchant.live_at.is_none() { onboarding::facts(&cell.store, merchant.id).await? } else { None };
        let step = facts.and_then(|facts| facts.current()).map(|(step, since)| (step.as_str(), by.ago(since)));
        rows.push(Row::new(merchant, step, cell.name()));
    }
    let frame = by.frame(Section::Merchants, "Merchants");
    let is_filtered = words.is_some() || state.is_some();
    let in_cells = by.app.has_several_cells();
    render(&Page { frame, in_cells, q: filters.q, state: state.unwrap_or_default().to_owned(), is_filtered, rows, next })
}

/// The form of a new merchant.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct New {
    handle: String,
    name: String,
    #[serde(default)]
    technical_contact: String,
}

#[derive(Template)]
#[template(path = "console/merchant_new.html")]
struct NewPage {
    frame: Frame,
    typed: New,
    /// What is wrong with the handle.
    handle_fault: Option<String>,
    name_fault: Option<String>,
}

pub(super) async fn new(by: By<Manager>) -> Result<Response, ConsoleError> {
    ask(&by, New::default(), None, None)
}

fn ask(by: &By<Manager>, typed: New, handle_fault: Option<String>, name_fault: Option<String>) -> Result<Response, ConsoleError> {
    render(&NewPage { frame: by.frame(Section::Merchants, "Add a merchant"), typed, handle_fault, name_fault })
}

pub(super) async fn add(by: By<Manager>, Form(typed): Form<New>) -> Result<Response, ConsoleError> {
    let name = typed.name.trim().to_owned();
    let name_fault = match name.chars().count() {
        0 => Some("Give the merchant's full name.".to_owned()),
        length if length > LONGEST_NAME => Some(format!("Give a name of at most {LONGEST_NAME} characters.")),
        _ => None,
    };
    let handle: Handle = match (typed.handle.trim().parse::<Handle>(), name_fault) {
        (Ok(handle), None) => handle,
        (parsed, name_fault) => {
            let handle_fault = parsed.err().map(|wrong| format!("{}.", capitalised(&wrong.to_string())));
            return unprocessable(ask(&by, typed, handle_fault, name_fault));
        }
    };
    let contact = Some(typed.technical_contact.trim()).filter(|contact| !contact.is_empty());
    match add_merchant(&by.app, &by.actor(), &handle, &name, contact).await {
        Ok(_) => Ok(see(&format!("/merchants/{handle}/onboarding"))),
        Err(ConfigureError::HandleTaken(_)) => {
            let fault = "Another merchant has this handle. Choose another one.".to_owned();
            unprocessable(ask(&by, typed, Some(fault), None))
        }
        Err(error) => Err(refused(error)),
    }
}

/// The page of an error of the flow.
pub(super) fn refused(error: ConfigureError) -> ConsoleError {
    match error {
        ConfigureError::Failed(failed) | ConfigureError::Binding(BindError::Failed(failed)) => failed.into(),
        ConfigureError::HandleTaken(_)
        | ConfigureError::NoSuchCredential(_)
        | ConfigureError::NoScope
        | ConfigureError::TooManyNetworks
        | ConfigureError::Deleting(_)
        | ConfigureError::Binding(_)
        | ConfigureError::NoContact(_)
        | ConfigureError::NoName
        | ConfigureError::NoSuchCell(_)
        | ConfigureError::CellNotAdded(_)
        | ConfigureError::CellDrains(_)
        | ConfigureError::NoOpenCell
        | ConfigureError::AlreadyLive(_) => ConsoleError::Conflict(format!("{}.", capitalised(&error.to_string()))),
    }
}

/// A sentence of the command line as a sentence of a page.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
