//! The notice to the operator's systems that an endpoint fails, has recovered, or has messages in the failure queue.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::time;

/// A notice about an endpoint.
pub struct NoticeBody<'a> {
    /// Such as `endpoint.failing`.
    pub event: &'a str,
    pub noticed_at: DateTime<Utc>,
    /// The handle.
    pub merchant: &'a str,
    pub interface: &'a str,
    pub url: &'a str,
    /// Start of the outage, current or just ended.
    pub failing_since: Option<DateTime<Utc>>,
    /// The outcome of the last failed call: a status, or the reason there was none.
    pub last_answer: Option<&'a str>,
    /// Messages owed to the endpoint.
    pub waiting: i64,
    /// Messages of the endpoint in the failure queue.
    pub failed: i64,
}

/// Renders the notice as JSON.
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
