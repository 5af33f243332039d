//! The headers of the messages that merchants' systems are sent. Those of Standard Webhooks are its own.

/// The message's id: the same on every repeat.
pub const ID: &str = "webhook-id";
/// When this attempt was signed, in seconds.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// A signature for each secret that is live.
pub const SIGNATURE: &str = "webhook-signature";
/// The API's version.
pub const VERSION: &str = "x-service-api-version";
/// What happened.
pub const EVENT: &str = "x-service-event";
/// The position within the subject.
pub const SEQUENCE: &str = "x-service-sequence";
/// The number of this attempt.
pub const ATTEMPT: &str = "x-service-attempt";
