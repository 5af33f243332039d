//! The part of a list that a page shows, for lists in the order of their ids.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::log::first_id;

/// The part of a list that a page shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Made at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Made before this time.
    pub to: Option<DateTime<Utc>>,
    /// Before this row.
    pub before: Option<Uuid>,
    /// The most rows.
    pub most: i64,
}

impl Window {
    /// The first id that belongs to it, and the first that does not any more.
    pub(crate) fn bounds(&self) -> (Uuid, Uuid) {
        let until = self.to.map_or(Uuid::max(), first_id);
        (self.from.map_or(Uuid::nil(), first_id), self.before.map_or(until, |before| before.min(until)))
    }
}
