//! The transaction on returns of several merchants: changes that arrive at the same time share one, and each stands alone.
//!
//! Besides the batch upsert of orders and settling, this is the only transaction that touches more than one merchant. It waits for no
//! return, and for the counters of the feed in the order of their merchants, as its last locks. So it cannot be part of a deadlock.

use crate::connection::Connection;
use crate::crash::{self, Point};
use crate::failed::Failed;
use crate::messages::outbox::{self, Announced, Shared};

/// A transaction that changes returns of several merchants. Dropping it without [`SharedTx::commit`] changes nothing.
pub struct SharedTx {
    connection: Connection,
    /// What the commit writes.
    kept: Vec<Shared>,
}

impl SharedTx {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, kept: Vec::new() }
    }

    /// Keeps a change with its message for the commit.
    pub(crate) fn keep(&mut self, change: Shared) {
        self.kept.push(change);
    }

    /// The changes, each with its message.
    #[must_use]
    pub fn kept(&self) -> &[Shared] {
        &self.kept
    }

    /// Writes all changes with their messages as the last statement, and commits. Returns what the delivery engine is told.
    pub async fn commit(mut self) -> Result<Announced, Failed> {
        let announced = outbox::write_shared(&mut self.connection, self.kept).await?;
        crash::point(Point::Commit);
        self.connection.commit().await?;
        crash::point(Point::Committed);
        Ok(announced)
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
