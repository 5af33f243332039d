//! `GET /messages`: what merchants' systems were sent or are owed, newest first.

use askama::Template;
use axum::response::Response;
use chrono::{DateTime, Utc};
use domain::messages::message::Interface;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::log::State;
use store::messages::message_pages::{self, Filter};
use store::messages::recent::{self, Account};
use uuid::Uuid;
use wire::time;

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::long_id::LongId;
use super::page::render;
use super::stamp::Stamp;

/// The messages on a page of one merchant, and of every merchant.
const LISTED: usize = 50;
const LISTED_OF_ALL: i64 = 25;
/// The merchants that are looked at if none is named, by their handles.
const MERCHANTS: i64 = 50;

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
}

impl Filters {
    fn is_set(&self) -> bool {
        [&self.merchant, &self.interface, &self.state, &self.subject, &self.since, &self.until].iter().any(|value| !value.is_empty())
    }

    /// The address of this list, from the message `before` on.
    fn at(&self, before: Option<Uuid>) -> String {
        let before = before.map(|id| id.to_string()).unwrap_or_default();
        let fields = [
            ("merchant", &self.merchant),
            ("interface", &self.interface),
            ("state", &self.state),
            ("subject", &self.subject),
            ("since", &self.since),
            ("until", &self.until),
            ("before", &before),
        ];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/messages?{}", serde_urlencoded::to_string(set).unwrap_or_default())
    }
}

struct Row {
    id: Uuid,
    shown: LongId,
    written_at: Stamp,
    event: String,
    handle: String,
    merchant: String,
    subject: String,
    /// The list of the subject's messages.
    subject_at: String,
    sequence: i64,
    state: (&'static str, &'static str),
}

#[derive(Template)]
#[template(path = "console/messages.html")]
struct Page {
    frame: Frame,
    is_set: bool,
    filters: Filters,
    interfaces: Vec<&'static str>,
    states: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    older: Option<String>,
    follows: bool,
    /// Not every merchant was looked at.
    some_merchants: bool,
    most_merchants: i64,
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
    let mut time = |text: &str, fault: &'static str| {
        let read = by.parse(text);
        if read.is_none() && !text.is_empty() {
            faults.push(fault);
        }
        read
    };
    let since = time(&filters.since, "“Written since” cannot be read.");
    let until = time(&filters.until, "“Until” cannot be read.");
    let state = State::ALL.into_iter().find(|state| state.as_str() == filters.state);
    if state.is_none() && !filters.state.is_empty() {
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
    let (rows, next, some_merchants) = match &merchant {
        Some(merchant) => {
            let (rows, next) = of_merchant(&by, merchant, &filters, &read).await?;
            (rows, next, false)
        }
        None if !filters.subject.is_empty() => {
            read.faults.push("A subject is found with its merchant only: name the merchant as well.");
            (Vec::new(), None, false)
        }
        None if !filters.merchant.is_empty() => (Vec::new(), None, false),
        None => of_all(&by, &filters, &read).await?,
    };
    let frame = by.frame(Section::Messages, "Messages");
    let faults = read.faults.join(" ");
    let frame = if faults.is_empty() { frame } else { frame.with(Some(Notice::warn("A filter was left out.", &faults))) };
    let follows = filters.before.is_none() && read.until.is_none();
    render(&Page {
        frame: if follows { frame.renewing() } else { frame },
        is_set: filters.is_set(),
        interfaces: Interface::ALL.into_iter().filter(|interface| !interface.is_asked()).map(Interface::as_str).collect(),
        states: State::ALL.into_iter().map(|one| (one.as_str(), state(one).1)).collect(),
        older: next.map(|before| filters.at(Some(before))),
        follows,
        some_merchants,
        most_merchants: MERCHANTS,
        command: command(&filters, &read),
        rows,
        filters,
    })
}

fn command(filters: &Filters, read: &Read) -> String {
    let merchant = if filters.merchant.is_empty() { "HANDLE" } else { &filters.merchant };
    let options = [
        ("interface", filters.interface.clone()),
        ("state", read.state.map(|state| state.as_str().to_owned()).unwrap_or_default()),
        ("subject", filters.subject.clone()),
        ("from", read.since.map(time::write).unwrap_or_default()),
        ("to", read.until.map(time::write).unwrap_or_default()),
    ];
    let set = options.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!(" --{name} {value}"));
    format!("backhaul messages list --merchant {merchant}{}", set.collect::<String>())
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
    let rows = page.messages.into_iter().map(|message| Row {
        id: message.id,
        shown: LongId(message.id),
        written_at: by.log_time(message.written_at()),
        event: message.event,
        handle: merchant.handle.clone(),
        merchant: merchant.name.clone(),
        subject_at: subject_at(&merchant.handle, &message.subject),
        subject: message.subject,
        sequence: message.sequence,
        state: state(message.state),
    });
    Ok((rows.collect(), page.next))
}

/// The address of the messages of a subject.
pub(super) fn subject_at(handle: &str, subject: &str) -> String {
    let fields = [("merchant", handle), ("subject", subject)];
    format!("/messages?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
}

async fn of_all(by: &By<Viewer>, filters: &Filters, read: &Read) -> Result<(Vec<Row>, Option<Uuid>, bool), ConsoleError> {
    let mut accounts = recent::merchants(by.app.cell(), MERCHANTS + 1).await?;
    let some_merchants = i64::try_from(accounts.len()).unwrap_or(i64::MAX) > MERCHANTS;
    accounts.truncate(usize::try_from(MERCHANTS).unwrap_or(usize::MAX));
    let ids: Vec<_> = accounts.iter().map(|account| account.id).collect();
    let (found, next) = recent::newest(by.app.cell(), &ids, (read.since, read.until), filters.before, LISTED_OF_ALL).await?;
    let row = |message: recent::Recent| {
        let Account { handle, name, .. } = accounts.iter().find(|account| account.id == message.merchant)?;
        let fits =
            read.state.is_none_or(|state| state == message.state) && (filters.interface.is_empty() || filters.interface == message.kind);
        fits.then(|| Row {
            id: message.id,
            shown: LongId(message.id),
            written_at: by.log_time(message.written_at()),
            handle: handle.clone(),
            merchant: name.clone(),
            subject_at: subject_at(handle, &message.subject),
            event: message.event,
            subject: message.subject,
            sequence: message.sequence,
            state: state(message.state),
        })
    };
    Ok((found.into_iter().filter_map(row).collect(), next, some_merchants))
}
