//! The audit trail of all merchants, and of what belongs to none, for the console and the command line.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use store::Failed;
use store::merchants::audit::{self, LISTED, Recorded};
use uuid::Uuid;

use crate::node::{Node, each_cell};

/// The entries since `since` that were made before the entry `before`, newest first, at most [`LISTED`].
pub(crate) async fn list_all(node: &Node, since: DateTime<Utc>, before: (DateTime<Utc>, Uuid)) -> Result<Vec<Recorded>, Failed> {
    let of_cells = each_cell::each(node, |store| audit::list_all(store, since, before)).await?;
    // An entry of a merchant that has moved is also in its old cell, which does not know the merchant's handle any more.
    let mut entries = each_cell::merge(of_cells, |entry| (Reverse((entry.done_at, entry.id)), entry.handle.is_none()));
    entries.dedup_by_key(|entry| entry.id);
    entries.truncate(usize::try_from(LISTED).unwrap_or(usize::MAX));
    Ok(entries)
}
