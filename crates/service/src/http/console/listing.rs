//! What the lists of the warehouse and of the intake share: tabs, filters in the address, and pages of rows.

use std::cmp::Reverse;

use domain::warehouse::inbound::{State, Target};
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::messages::window::Window;
use store::{Failed, Store};
use uuid::Uuid;

use super::by::{By, Permission, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::frame::Notice;
use super::return_found::{asn_at, return_at};
use crate::node::each_cell;

/// The rows of a page.
const PAGE: usize = 50;

/// The pages of the section Warehouse, and their names.
const WAREHOUSE: [(&str, &str); 5] = [
    ("/warehouse", "Inbound"),
    ("/exceptions", "Exceptions"),
    ("/warehouse/returns", "Expected returns"),
    ("/warehouse/shipments", "Shipments"),
    ("/warehouse/drop-ship", "Drop-ship orders"),
];

/// The pages of the section Intake, and their names.
const INTAKE: [(&str, &str); 3] = [("/intake", "Refused messages"), ("/intake/warnings", "Warnings"), ("/intake/imports", "Imports")];

/// A choice of the filter by state: its value in the address, its name, and the stored states.
pub(super) type Choice = (&'static str, &'static str, &'static [&'static str]);

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    pub(super) merchant: String,
    pub(super) state: String,
    pub(super) since: String,
    pub(super) until: String,
    before: Option<Uuid>,
}

/// A list: its filters as they were understood.
pub(super) struct List {
    /// The path of the page.
    pub(super) at: &'static str,
    pub(super) filters: Filters,
    pub(super) choices: &'static [Choice],
    pub(super) older: Option<String>,
    merchant: Option<Merchant>,
    faults: Vec<&'static str>,
}

impl List {
    pub(super) async fn read(
        by: &By<Viewer>,
        at: &'static str,
        choices: &'static [Choice],
        filters: Filters,
    ) -> Result<(Self, Window), ConsoleError> {
        let mut faults = Vec::new();
        let window = Window {
            from: by.parse_filter(&filters.since, "“Since” cannot be read.", &mut faults),
            to: by.parse_filter(&filters.until, "“Until” cannot be read.", &mut faults),
            before: filters.before,
            most: i64::try_from(PAGE).unwrap_or(i64::MAX).saturating_add(1),
        };
        let merchant = named_merchant(by, &filters.merchant, &mut faults).await?;
        if !filters.state.is_empty() && !choices.iter().any(|(value, ..)| *value == filters.state) {
            faults.push("There is no such state.");
        }
        Ok((Self { at, filters, choices, older: None, merchant, faults }, window))
    }

    /// The merchant whose rows are listed; `None` for all.
    pub(super) fn merchant(&self) -> Option<domain::id::MerchantId> {
        self.merchant.as_ref().map(|merchant| merchant.id)
    }

    /// A merchant was named that there is none of, so nothing is listed.
    fn is_nobodys(&self) -> bool {
        !self.filters.merchant.trim().is_empty() && self.merchant.is_none()
    }

    /// The stored states that are listed.
    pub(super) fn states(&self) -> Vec<&'static str> {
        let chosen = |(value, ..): &&Choice| *value == self.filters.state;
        match self.choices.iter().find(chosen) {
            Some((.., stored)) => stored.to_vec(),
            None => self.choices.iter().flat_map(|(.., stored)| stored.iter().copied()).collect(),
        }
    }

    /// The rows of this page, newest first: those that `ask` finds in each cell of one merchant or of all, unless a merchant was named
    /// that there is none of.
    pub(super) async fn find<'a, T, F>(
        &mut self,
        by: &'a By<Viewer>,
        ask: impl Fn(&'a Store) -> F,
        id: impl Fn(&T) -> Uuid,
    ) -> Result<Vec<T>, ConsoleError>
    where
        F: Future<Output = Result<Vec<T>, Failed>>,
    {
        if self.is_nobodys() {
            return Ok(Vec::new());
        }
        let found = each_cell::list(&by.app, ask, |row| Reverse(id(row))).await?;
        Ok(self.cut(found, id))
    }

    /// The rows of this page; one more than fit means that there is another.
    fn cut<T>(&mut self, mut rows: Vec<T>, id: impl Fn(&T) -> Uuid) -> Vec<T> {
        let more = rows.len() > PAGE;
        rows.truncate(PAGE);
        self.older = rows.last().filter(|_| more).map(|last| self.before(id(last)));
        rows
    }

    fn before(&self, before: Uuid) -> String {
        let before = before.to_string();
        let Filters { merchant, state, since, until, .. } = &self.filters;
        let fields = [("merchant", merchant), ("state", state), ("since", since), ("until", until), ("before", &before)];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("{}?{}", self.at, serde_urlencoded::to_string(set).unwrap_or_default())
    }

    pub(super) fn is_set(&self) -> bool {
        let Filters { merchant, state, since, until, .. } = &self.filters;
        [merchant, state, since, until].iter().any(|value| !value.is_empty())
    }

    pub(super) fn notice(&self) -> Option<Notice> {
        (!self.faults.is_empty()).then(|| Notice::warn("A filter was left out.", &self.faults.join(" ")))
    }

    pub(super) fn tabs(&self) -> Tabs {
        tabs(self.at)
    }

    pub(super) fn section(&self) -> &'static str {
        if is_intake(self.at) { "Intake" } else { "Warehouse" }
    }

    /// The merchant's handle as a command names it.
    pub(super) fn handle(&self) -> &str {
        self.merchant.as_ref().map_or("HANDLE", |merchant| &merchant.handle)
    }
}

/// The tabs of the section: path, name, and whether it is this page.
pub(super) type Tabs = Vec<(&'static str, &'static str, bool)>;

pub(super) fn tabs(here: &str) -> Tabs {
    let all: &[(&'static str, &'static str)] = if is_intake(here) { &INTAKE } else { &WAREHOUSE };
    all.iter().map(|(path, name)| (*path, *name, *path == here)).collect()
}

fn is_intake(at: &str) -> bool {
    at.starts_with("/intake")
}

/// The merchant that a filter names; nobody with that handle is a fault.
pub(super) async fn named_merchant<P: Permission>(
    by: &By<P>,
    handle: &str,
    faults: &mut Vec<&'static str>,
) -> Result<Option<Merchant>, ConsoleError> {
    match handle.trim() {
        "" => Ok(None),
        handle => match merchant_of(by, handle).await {
            Ok(merchant) => Ok(Some(merchant)),
            Err(ConsoleError::NotFound) => {
                faults.push("There is no merchant with this handle.");
                Ok(None)
            }
            Err(error) => Err(error),
        },
    }
}

/// The class and the word of an ASN's state.
pub(super) const fn asn_state(state: State) -> (&'static str, &'static str) {
    match state {
        State::Open => ("off", "Open"),
        State::Receiving => ("run", "Receiving"),
        State::Closed => ("ok", "Closed"),
        State::Cancelled => ("off", "Cancelled"),
    }
}

/// What a unit was scanned for: its kind, its name, and its page, if it has one.
pub(super) fn scanned_for(handle: &str, exception: &str, key: &str) -> (&'static str, String, Option<String>) {
    let is_known = !exception.starts_with("unknown");
    match Target::of_key(key) {
        Target::Asn(number) => ("ASN", number.to_owned(), is_known.then(|| asn_at(handle, number))),
        Target::Return(rma) => ("Return", rma.to_owned(), is_known.then(|| return_at(handle, rma))),
        Target::Parcel(number) => ("Parcel", number.to_owned(), None),
    }
}
