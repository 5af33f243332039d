//! The headers of messages to merchants' systems. The `webhook-` headers are those of Standard Webhooks.

/// The message id: the same on every attempt.
pub const ID: &str = "webhook-id";
/// The time the attempt was signed, in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// One signature per active secret.
pub const SIGNATURE: &str = "webhook-signature";
/// The version of the interface.
pub const VERSION: &str = "x-service-api-version";
/// The event name.
pub const EVENT: &str = "x-service-event";
/// The position within the subject.
pub const SEQUENCE: &str = "x-service-sequence";
/// The number of the attempt, from 1.
pub const ATTEMPT: &str = "x-service-attempt";
/// Marks a trial, which is never real. Other messages do not have it.
pub const TRIAL: &str = "x-service-trial";
/// The place in a trace (W3C Trace Context), taken from requests and sent with messages while traces are on.
pub const TRACE: &str = "traceparent";
