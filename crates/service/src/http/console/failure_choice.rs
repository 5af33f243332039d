//! A part of the failure queue that an address or a form names: a group of failures, or messages that were ticked in it.

use chrono::{DateTime, SubsecRound as _, Utc};
use domain::id::{EndpointId, Handle};
use domain::messages::message::Kind;
use store::merchants::accounts::{self, Merchant};
use store::messages::failure_groups::{self, EndpointFacts, GroupKey};
use store::messages::failure_selection::Selection;
use uuid::Uuid;
use wire::time;

use super::by::{By, Permission};
use super::error::ConsoleError;

/// The fields of an address or a form, in order.
pub(super) type Named = Vec<(String, String)>;

/// The last value of the field `name`, unless it is empty.
pub(super) fn field<'a>(fields: &'a Named, name: &str) -> Option<&'a str> {
    fields.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// A group of failures, or some of its messages.
pub(super) struct Choice {
    pub(super) merchant: Merchant,
    pub(super) endpoint: EndpointId,
    pub(super) facts: EndpointFacts,
    pub(super) reason: String,
    pub(super) since: Option<DateTime<Utc>>,
    /// What fails later is left alone.
    pub(super) until: DateTime<Utc>,
    /// The messages that were ticked; none for the whole group.
    pub(super) messages: Vec<Uuid>,
}

/// The merchant whose handle is `handle`.
pub(super) async fn merchant_of<P: Permission>(by: &By<P>, handle: &str) -> Result<Merchant, ConsoleError> {
    let handle: Handle = handle.parse().map_err(|_| ConsoleError::NotFound)?;
    accounts::find(by.app.cell(), &handle).await?.ok_or(ConsoleError::NotFound)
}

impl Choice {
    /// Reads the fields `merchant`, `endpoint`, `reason`, `since`, `until`, and `id` for each message.
    pub(super) async fn read<P: Permission>(by: &By<P>, fields: &Named) -> Result<Self, ConsoleError> {
        let merchant = merchant_of(by, field(fields, "merchant").unwrap_or_default()).await?;
        let endpoint = field(fields, "endpoint").and_then(|id| id.parse().ok()).map(EndpointId).ok_or(ConsoleError::NotFound)?;
        let reason = field(fields, "reason").ok_or(ConsoleError::NotFound)?.to_owned();
        let facts = failure_groups::endpoint(by.app.store(merchant.id), merchant.id, endpoint).await?.ok_or(ConsoleError::NotFound)?;
        let since = match field(fields, "since") {
            None => None,
            Some(text) => Some(by.parse(text).ok_or_else(|| {
                ConsoleError::Refused("The time since when cannot be read. Write it as 2026-03-01T12:00, and try again.".to_owned())
            })?),
        };
        let until = field(fields, "until").and_then(time::read).unwrap_or(by.now).trunc_subsecs(6);
        let ticked = fields.iter().filter(|(name, _)| name == "id").map(|(_, id)| id.parse::<Uuid>());
        let mut messages = ticked.collect::<Result<Vec<_>, _>>().map_err(|_| ConsoleError::Foreign)?;
        messages.sort_unstable();
        messages.dedup();
        Ok(Self { merchant, endpoint, facts, reason, since, until, messages })
    }

    pub(super) fn key(&self) -> GroupKey {
        GroupKey { merchant: self.merchant.id, endpoint: self.endpoint, reason: self.reason.clone() }
    }

    pub(super) fn selection(&self) -> Selection {
        if self.messages.is_empty() {
            let Self { endpoint, reason, since, until, .. } = self;
            return Selection::Group { endpoint: *endpoint, reason: reason.clone(), since: *since, until: *until };
        }
        Selection::Messages(self.messages.clone())
    }

    /// The kind of messages that the endpoint takes.
    pub(super) fn kind(&self) -> Result<Kind, ConsoleError> {
        self.facts.interface.parse().map_err(|_| ConsoleError::Internal("a stored interface is unknown".to_owned()))
    }

    /// The address of the group's page.
    pub(super) fn group_at(&self) -> String {
        group_at(&self.merchant.handle, self.endpoint, &self.reason)
    }

    /// The address of `page` for this choice.
    pub(super) fn at(&self, page: &str) -> String {
        let mut fields = group_fields(&self.merchant.handle, self.endpoint, &self.reason);
        fields.extend(self.messages.iter().map(|id| ("id", id.to_string())));
        format!("{page}?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
    }

    /// The fields of a form that names this choice again.
    pub(super) fn hidden(&self) -> Vec<(&'static str, String)> {
        let mut fields = group_fields(&self.merchant.handle, self.endpoint, &self.reason);
        fields.extend(self.since.map(|since| ("since", time::write(since))));
        fields.push(("until", time::write(self.until)));
        fields.extend(self.messages.iter().map(|id| ("id", id.to_string())));
        fields
    }
}

fn group_fields(handle: &str, endpoint: EndpointId, reason: &str) -> Vec<(&'static str, String)> {
    vec![("merchant", handle.to_owned()), ("endpoint", endpoint.0.to_string()), ("reason", reason.to_owned())]
}

/// The address of a group's page.
pub(super) fn group_at(handle: &str, endpoint: EndpointId, reason: &str) -> String {
    format!("/failures/group?{}", serde_urlencoded::to_string(group_fields(handle, endpoint, reason)).unwrap_or_default())
}
