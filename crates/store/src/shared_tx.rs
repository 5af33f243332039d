//! The transaction on returns of several merchants: what is done with them at the same time shares one, and each return stands alone.
//!
//! Besides the batch upsert of orders and settling, this is the only transaction that touches more than one merchant. It waits for no
//! return and no order, and for the counters of the feed in the order of their merchants, as its last locks. So it cannot be part of a
//! deadlock.

use domain::id::MerchantId;
use domain::node::trace::SpanIds;

use crate::connection::Connection;
use crate::crash::{self, Point};
use crate::failed::Failed;
use crate::messages::outbox::{self, Announced, Shared};
use crate::returns::rma_changes::Change;
use crate::returns::rma_starts::Start;

/// A transaction that changes or starts returns of several merchants. Dropping it without [`SharedTx::commit`] changes nothing.
pub struct SharedTx {
    connection: Connection,
    kept: Kept,
}

/// What the commit writes. It is of one kind, so that it is one statement, which takes each counter once.
#[derive(Default)]
enum Kept {
    #[default]
    Nothing,
    Changes(Vec<Shared<Change>>),
    Starts(Vec<Shared<Start>>),
}

impl SharedTx {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, kept: Kept::default() }
    }

    /// Keeps a change with its message for the commit.
    pub(crate) fn keep_change(&mut self, change: Shared<Change>) -> Result<(), Failed> {
        match &mut self.kept {
            Kept::Nothing => self.kept = Kept::Changes(vec![change]),
            Kept::Changes(changes) => changes.push(change),
            Kept::Starts(_) => return Err(MIXED),
        }
        Ok(())
    }

    /// Keeps a new return with its message for the commit.
    pub(crate) fn keep_start(&mut self, start: Shared<Start>) -> Result<(), Failed> {
        match &mut self.kept {
            Kept::Nothing => self.kept = Kept::Starts(vec![start]),
            Kept::Starts(starts) => starts.push(start),
            Kept::Changes(_) => return Err(MIXED),
        }
        Ok(())
    }

    /// The merchant of each message, and the place in a trace that it carries.
    #[must_use]
    pub fn messages(&self) -> Vec<(MerchantId, Option<SpanIds>)> {
        fn of<W>(kept: &[Shared<W>]) -> Vec<(MerchantId, Option<SpanIds>)> {
            kept.iter().map(|kept| (kept.merchant, kept.trace)).collect()
        }
        match &self.kept {
            Kept::Nothing => Vec::new(),
            Kept::Changes(changes) => of(changes),
            Kept::Starts(starts) => of(starts),
        }
    }

    /// Writes everything kept with its messages as the last statement, and commits. Returns what the delivery engine is told.
    pub async fn commit(mut self) -> Result<Announced, Failed> {
        let announced = match self.kept {
            Kept::Nothing => Announced::default(),
            Kept::Changes(changes) => outbox::write_changes(&mut self.connection, changes).await?,
            Kept::Starts(starts) => outbox::write_starts(&mut self.connection, starts).await?,
        };
        crash::point(Point::Commit);
        self.connection.commit().await?;
        crash::point(Point::Committed);
        Ok(announced)
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

const MIXED: Failed = Failed::Internal("a shared transaction either starts returns or changes them");
