//! Which snapshot of an order stands.
//!
//! An order message carries the whole order as it was at its `updated_at`. Messages overtake each other and are
//! repeated; the newest snapshot wins, and of two with the same time the later arrival.

use chrono::{DateTime, Utc};

/// SHA-256 of a snapshot's bytes: equal digests are the same content.
pub type Digest = [u8; 32];

/// What tells one snapshot of an order from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The merchant's own time of the last update.
    pub updated_at: DateTime<Utc>,
    /// The snapshot's content.
    pub digest: Digest,
}

/// What became of an arriving snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The order was not known.
    Created,
    /// It replaces the stored snapshot.
    Updated,
    /// It is the stored snapshot again.
    Unchanged,
    /// It is older than the stored snapshot, which stands.
    Stale,
}

/// Judges an `arriving` snapshot against the `stored` one.
///
/// The store's upsert carries the same rule in SQL, because it must be decided under the row's lock; a test drives
/// both with the same histories.
#[must_use]
pub fn judge(stored: Option<&Version>, arriving: &Version) -> Verdict {
    match stored {
        None => Verdict::Created,
        Some(stored) if stored.digest == arriving.digest => Verdict::Unchanged,
        Some(stored) if arriving.updated_at < stored.updated_at => Verdict::Stale,
        Some(_) => Verdict::Updated,
    }
}
