//! Times as people give them.

use chrono::{DateTime, Utc};
use wire::time;

/// Parses a time given as an option.
pub(super) fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    time::read(text).ok_or_else(|| "write the time as 2026-03-01T12:00:00Z".to_owned())
}
