//! Messages in a list, and the filters that they fit.

use chrono::{DateTime, Utc};
use store::merchants::accounts::Merchant;
use store::messages::late::{Late, LateEndpoint};
use store::messages::log::written_at;
use uuid::Uuid;

use super::by::{By, Viewer};
use super::long_id::LongId;
use super::stamp::Stamp;

/// The filters as they were understood.
pub(super) struct Wanted<'a> {
    pub(super) merchant: Option<&'a Merchant>,
    pub(super) interface: &'a str,
    pub(super) subject: &'a str,
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) until: Option<DateTime<Utc>>,
}

impl Wanted<'_> {
    /// Messages are told apart by more than their merchant and interface.
    pub(super) fn is_narrowed(&self) -> bool {
        !self.subject.is_empty() || self.since.is_some() || self.until.is_some()
    }

    pub(super) fn fits(&self, subject: &str, written_at: DateTime<Utc>) -> bool {
        (self.subject.is_empty() || self.subject == subject)
            && self.since.is_none_or(|since| written_at >= since)
            && self.until.is_none_or(|until| written_at < until)
    }
}

/// A message of the list.
pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) shown: LongId,
    pub(super) written_at: Stamp,
    /// The due time of a late message.
    pub(super) due_at: Option<Stamp>,
    pub(super) event: String,
    pub(super) handle: String,
    pub(super) merchant: String,
    pub(super) subject: String,
    /// The list of the subject's messages.
    pub(super) subject_at: String,
    pub(super) sequence: i64,
    pub(super) state: (&'static str, &'static str),
}

impl Row {
    pub(super) fn new(
        by: &By<Viewer>,
        (handle, merchant): (&str, &str),
        (id, sequence): (Uuid, i64),
        event: String,
        subject: String,
        state: (&'static str, &'static str),
    ) -> Self {
        Self {
            id,
            shown: LongId(id),
            written_at: by.log_time(written_at(id)),
            due_at: None,
            event,
            handle: handle.to_owned(),
            merchant: merchant.to_owned(),
            subject_at: subject_at(handle, &subject),
            subject,
            sequence,
            state,
        }
    }

    /// A message that is past due.
    pub(super) fn late(by: &By<Viewer>, at: &LateEndpoint, message: Late) -> Self {
        let due_at = Some(by.ago(message.due_at));
        let (whose, place) = ((at.handle.as_str(), at.merchant_name.as_str()), (message.id, message.sequence));
        Self { due_at, ..Self::new(by, whose, place, message.event, message.subject, ("warn", "Late")) }
    }
}

/// The address of the messages of a subject.
pub(super) fn subject_at(handle: &str, subject: &str) -> String {
    let fields = [("merchant", handle), ("subject", subject)];
    format!("/messages?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
}
