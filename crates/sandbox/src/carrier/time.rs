//! The format of times in the carrier's JSON.

use chrono::{DateTime, SecondsFormat, Utc};

/// Formats a time for JSON.
pub(super) fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}
