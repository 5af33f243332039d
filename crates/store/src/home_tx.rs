//! The transaction on what belongs to no merchant: operators, their sessions and requests, and the audit of them.

use crate::connection::Connection;
use crate::failed::Failed;
use crate::merchants::audit_rows::{self, Unwritten};
use crate::pool::Store;

/// A transaction on tables that belong to no merchant. Dropping it without [`HomeTx::commit`] changes nothing. It owes no messages.
pub struct HomeTx {
    connection: Connection,
    audit: Vec<Unwritten>,
}

impl Store {
    /// Opens a transaction on what belongs to no merchant.
    pub async fn begin_home(&self) -> Result<HomeTx, Failed> {
        Ok(HomeTx::new(self.pool.begin().await?))
    }

    /// [`Store::begin_home`] on the connection that is kept free for limits and the clock, which are changed when all others are busy.
    pub async fn begin_home_aside(&self) -> Result<HomeTx, Failed> {
        Ok(HomeTx::new(self.aside.begin().await?))
    }
}

impl HomeTx {
    fn new(connection: Connection) -> Self {
        Self { connection, audit: Vec::new() }
    }

    /// Keeps an entry of the audit trail for the end of the transaction, as [`Tx`](crate::Tx) does.
    pub(crate) fn keep_audit(&mut self, entry: Unwritten) {
        self.audit.push(entry);
    }

    /// Writes the audit trail as the last statement, and commits.
    pub async fn commit(mut self) -> Result<(), Failed> {
        audit_rows::write_home(&mut self.connection, &self.audit).await?;
        Ok(self.connection.commit().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
