//! A run of an import, and the reasons it ends early.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use store::orders::imports::Lease;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::lines::SourceError;

/// The lease of a run. Until it ends, no other run can resume the import.
pub const LEASE: TimeDelta = TimeDelta::seconds(15);

/// A run of an import. It holds the lease.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub(super) merchant: MerchantId,
    pub(super) lease: Lease,
    /// Lines stored by earlier runs.
    pub(super) done: i64,
}

impl Run {
    /// The id of the import.
    #[must_use]
    pub fn import(&self) -> Uuid {
        self.lease.import
    }

    /// The lines stored by earlier runs.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.unsigned_abs()
    }
}

/// The reasons an import is interrupted.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Fewer lines than earlier runs stored, so it must be another file.
    #[error("the file has {lines} lines, but {done} are done already; send the same file from its start")]
    Shorter { lines: u64, done: u64 },
    #[error("the service is shutting down")]
    Leaving,
    /// The lease ran out and another run acquired it.
    #[error("another run has taken over the import")]
    TakenOver,
    #[error(transparent)]
    Failed(#[from] store::Failed),
    /// A task panicked or was dropped: a bug.
    #[error("a chunk of the import was aborted")]
    ChunkAborted,
}

/// The end of a lease that is taken or renewed now.
pub(super) fn lease_end(now: DateTime<Utc>) -> DateTime<Utc> {
    now + LEASE
}

/// A chunk being stored. Yields the import's line count afterwards.
pub(super) type Storing = JoinHandle<Result<i64, Cause>>;
