//! Messages, the feed, endpoints, and reports.

pub(in crate::http) mod endpoints;
pub(in crate::http) mod event_stream;
pub(in crate::http) mod events;
pub(in crate::http) mod log;
pub(in crate::http) mod reports;
