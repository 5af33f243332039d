//! `GET /messages`: what merchants' systems were sent or are owed, newest first.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::endpoints;
use store::messages::late::{self as late_messages, Place};
use store::messages::log::State;
use store::messages::message_pages::Listed;
use store::messages::message_pages::{self, Filter};
use store::messages::recent::Account;
use uuid::Uuid;
use wire::time;

use super::by::{By, Viewer};
use super::count::{Count, MOST_COUNTED};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::late;
pub(super) use super::message_row::subject_at;
use super::message_row::{Row, Wanted};
use super::page::render;
use crate::show::messages::across;

/// The messages on a page of one merchant, and of every merchant.
const LISTED: usize = 50;
const LISTED_OF_ALL: usize = 25;
/// The merchants that are looked at if none is named, by their handles.
const MERCHANTS: usize = 50;

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    interface: String,
    state: String,
    subject: String,
    since: String,
    until: String,
    before: Option<Uuid>,
    /// Of late messages: the endpoint and the due time, in microseconds, of the message `before`.
    endpoint: Option<Uuid>,
    due: Option<i64>,
}

/// The state of messages that are past due, which is a part of those that are owed.
const LATE: &str = "late";

/// Where the next page starts.
enum Next {
    Before(Uuid),
    After(Place),
}

impl Filters {
    fn is_set(&self) -> bool {
        [&self.merchant, &self.interface, &self.state, &self.subject, &self.since, &self.until].iter().any(|value| !value.is_empty())
    }

    fn is_late(&self) -> bool {
        self.state == LATE
    }

    /// The place after which late messages are listed.
    fn after(&self) -> Option<Place> {
        Some((EndpointId(self.endpoint?), DateTime::from_timestamp_micros(self.due?)?, self.before?))
    }

    /// The address of the next page.
    fn at(&self, next: &Next) -> String {
        let (before, endpoint, due) = match next {
            Next::Before(id) => (id.to_string(), String::new(), String::new()),
            Next::After((endpoint, due, id)) => (id.to_string(), endpoint.0.to_string(), due.timestamp_micros().to_string()),
        };
        let fields = [
            ("merchant", &self.merchant),
            ("interface", &self.interface),
            ("state", &self.state),
            ("subject", &self.subject),
            ("since", &self.since),
            ("until", &self.until),
            ("before", &before),
            ("endpoint", &endpoint),
            ("due", &due),
        ];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/messages?{}", serde_urlencoded::to_string(set).unwrap_or_default())
    }
}

#[derive(Template)]
#[template(path = "console/messages.html")]
struct Page {
    frame: Frame,
    is_set: bool,
    is_late: bool,
    filters: Filters,
    interfaces: Vec<&'static str>,
    states: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    older: Option<String>,
    /// Not every merchant was looked at.
    some_merchants: bool,
    most_merchants: usize,
    command: String,
}

/// A state as people read it.
pub(super) const fn state(state: State) -> (&'static str, &'static str) {
    match state {
        State::Owed => ("run", "Owed"),
        State::Delivered => ("ok", "Delivered"),
        State::Failed => ("bad", "In the failure queue"),
        State::Unsent => ("off", "Unsent"),
        State::Discarded => ("off", "Discarded"),
    }
}

/// The times and the state of the filters, and what could not be read of them.
struct Read {
    state: Option<State>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
    faults: Vec<&'static str>,
}

fn read(by: &By<Viewer>, filters: &Filters) -> Read {
    let mut faults = Vec::new();
    let since = by.parse_filter(&filters.since, "“Written since” cannot be read.", &mut faults);
    let until = by.parse_filter(&filters.until, "“Until” cannot be read.", &mut faults);
    let state = State::ALL.into_iter().find(|state| state.as_str() == filters.state);
    if state.is_none() && !filters.state.is_empty() && !filters.is_late() {
        faults.push("There is no such state.");
    }
    Read { state, since, until, faults }
}

pub(super) async fn show(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let mut read = read(&by, &filters);
    let merchant = match filters.merchant.trim() {
        "" => None,
        handle => match merchant_of(&by, handle).await {
            Ok(merchant) => Some(merchant),
            Err(ConsoleError::NotFound) => {
                read.faults.push("There is no merchant with this handle.");
                None
            }
            Err(error) => return Err(error),
        },
    };
    let wanted = Wanted {
        merchant: merchant.as_ref(),
        interface: filters.interface.trim(),
        subject: filters.subject.trim(),
        since: read.since,
        until: read.until,
    };
    let (rows, next, some_merchants) = match &merchant {
        None if !filters.subject.is_empty() => {
            read.faults.push("A subject is found with its merchant only: name the merchant as well.");
            (Vec::new(), None, false)
        }
        None if !filters.merchant.is_empty() => (Vec::new(), None, false),
        _ if filters.is_late() => {
            let (rows, next) = late::list(&by, &wanted, filters.after()).await?;
            (rows, next.map(Next::After), false)
        }
        Some(merchant) => {
            let (rows, next) = of_merchant(&by, merchant, &filters, &read).await?;
            (rows, next.map(Next::Before), false)
        }
        None => {
            let (rows, next, some_merchants) = of_all(&by, &filters, &read).await?;
            (rows, next.map(Next::Before), some_merchants)
        }
    };
    let is_whole = filters.before.is_none() && next.is_none();
    let count = if is_whole && filters.is_set() && !some_merchants && read.faults.is_empty() {
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        Some(Count { count, bound: i64::MAX })
    } else {
        count(&by, &filters, &read, &wanted).await?
    };
    let name = if filters.is_late() { "Late messages" } else { "Messages" };
    let frame = by.frame(Section::Messages, &count.map_or_else(|| name.to_owned(), |count| format!("{name}: {count}")));
    let faults = read.faults.join(" ");
    let frame = if faults.is_empty() { frame } else { frame.with(Some(Notice::warn("A filter was left out.", &faults))) };
    let follows = filters.before.is_none() && read.until.is_none();
    render(&Page {
        frame: if follows { frame.renewing(5) } else { frame },
        is_set: filters.is_set(),
        is_late: filters.is_late(),
        interfaces: Interface::ALL.into_iter().filter(|interface| !interface.is_asked()).map(Interface::as_str).collect(),
        states: [(LATE, "Late")].into_iter().chain(State::ALL.into_iter().map(|one| (one.as_str(), state(one).1))).collect(),
        older: next.map(|next| filters.at(&next)),
        some_merchants,
        most_merchants: MERCHANTS,
        command: command(&filters, &read),
        rows,
        filters,
    })
}

/// The number of messages that fit the filters, where it can be known without reading all of them.
async fn count(by: &By<Viewer>, filters: &Filters, read: &Read, wanted: &Wanted<'_>) -> Result<Option<Count>, ConsoleError> {
    if filters.is_late() {
        return late::count(by, wanted).await;
    }
    let (Some(State::Owed), Some(merchant), Ok(interface), false) =
        (read.state, wanted.merchant, wanted.interface.parse(), wanted.is_narrowed())
    else {
        return Ok(None);
    };
    let store = by.app.store(merchant.id);
    let Some(endpoint) = endpoints::find_for(store, merchant.id, interface).await? else { return Ok(None) };
    Ok(Some(Count::of(late_messages::count_owed(store, merchant.id, endpoint.id, MOST_COUNTED).await?)))
}

fn command(filters: &Filters, read: &Read) -> String {
    if filters.is_late() {
        return "backhaul deliverers".to_owned();
    }
    let of = match filters.merchant.as_str() {
        "" => "--all-merchants".to_owned(),
        handle => format!("--merchant {handle}"),
    };
    let options = [
        ("interface", filters.interface.clone()),
        ("state", read.state.map(|state| state.as_str().to_owned()).unwrap_or_default()),
        ("subject", filters.subject.clone()),
        ("from", read.since.map(time::write).unwrap_or_default()),
        ("to", read.until.map(time::write).unwrap_or_default()),
    ];
    let set = options.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!(" --{name} {value}"));
    format!("backhaul messages list {of}{}", set.collect::<String>())
}

async fn of_merchant(
    by: &By<Viewer>,
    merchant: &Merchant,
    filters: &Filters,
    read: &Read,
) -> Result<(Vec<Row>, Option<Uuid>), ConsoleError> {
    let some = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    let filter = Filter {
        subject: some(&filters.subject),
        kind: some(&filters.interface),
        event: None,
        state: read.state,
        from: read.since,
        to: read.until,
    };
    let page = message_pages::list(by.app.store(merchant.id), merchant.id, &filter, filters.before, LISTED).await?;
    let whose = (merchant.handle.as_str(), merchant.name.as_str());
    let rows = page
        .messages
        .into_iter()
        .map(|message| Row::new(by, whose, (message.id, message.sequence), message.event, message.subject, state(message.state)));
    Ok((rows.collect(), page.next))
}

async fn of_all(by: &By<Viewer>, filters: &Filters, read: &Read) -> Result<(Vec<Row>, Option<Uuid>, bool), ConsoleError> {
    let interface = Some(filters.interface.as_str()).filter(|interface| !interface.is_empty());
    let wanted = across::Wanted { state: read.state, interface, event: None, from: read.since, to: read.until };
    let page = across::newest(&by.app, &wanted, filters.before, (MERCHANTS, LISTED_OF_ALL)).await?;
    let row = |(account, message): (Account, Listed)| {
        let place = (message.id, message.sequence);
        Row::new(by, (&account.handle, &account.name), place, message.event, message.subject, state(message.state))
    };
    Ok((page.messages.into_iter().map(row).collect(), page.next, page.some_merchants))
}
