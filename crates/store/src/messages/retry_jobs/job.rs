//! Retry jobs as they are stored and created.

use chrono::{DateTime, Utc};
use domain::id::EndpointId;
use uuid::Uuid;

/// A job that retries open failures at an endpoint, a few at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: Uuid,
    pub endpoint: EndpointId,
    pub interface: String,
    /// Only messages that failed since then.
    pub failed_since: Option<DateTime<Utc>>,
    /// Only messages that failed for this reason.
    pub reason: Option<String>,
    /// The number of messages that a person has selected, if the job is for these alone.
    pub selected: Option<i32>,
    /// The rate in messages per second.
    pub per_second: i32,
    /// The number of messages when the job was created.
    pub total: i64,
    /// The number of messages retried so far.
    pub released: i64,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub cancelled_at: Option<DateTime<Utc>>,
}

/// A job to create.
pub struct NewJob<'a> {
    pub id: Uuid,
    pub endpoint: EndpointId,
    /// Only messages that failed since then.
    pub failed_since: Option<DateTime<Utc>>,
    /// The rate in messages per second.
    pub per_second: i32,
    pub created_by: &'a str,
}
