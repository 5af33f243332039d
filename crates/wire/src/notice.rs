//! What the operator's systems are told when an endpoint fails, recovers, or fills the failure queue.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::time;

/// A notice.
pub struct NoticeBody<'a> {
    /// What happened: `endpoint.failing`.
    pub event: &'a str,
    /// When that was seen.
    pub noticed_at: DateTime<Utc>,
    /// The merchant's handle.
    pub merchant: &'a str,
    /// The endpoint's interface.
    pub interface: &'a str,
    /// Its address.
    pub url: &'a str,
    /// Since when it fails, or failed until now.
    pub failing_since: Option<DateTime<Utc>>,
    /// What came of the last call that failed: a status, or what came instead of one.
    pub last_answer: Option<&'a str>,
    /// How many messages are owed to it.
    pub waiting: i64,
    /// How many of its messages are in the failure queue.
    pub failed: i64,
}

/// The notice as it is sent.
#[must_use]
pub fn write(notice: &NoticeBody<'_>) -> String {
    let NoticeBody { event, noticed_at, merchant, interface, url, failing_since, last_answer, waiting, failed } = *notice;
    json!({
        "event": event,
        "noticed_at": time::write(noticed_at),
        "merchant": merchant,
        "interface": interface,
        "url": url,
        "failing_since": failing_since.map(time::write),
        "last_answer": last_answer,
        "waiting": waiting,
        "failed": failed,
    })
    .to_string()
}
