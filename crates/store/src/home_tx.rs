//! The transaction on what belongs to no merchant: operators, their sessions and requests, and the audit of them.

use crate::connection::Connection;
use crate::failed::Failed;
use crate::pool::Store;

/// A transaction on tables that belong to no merchant. Dropping it without [`HomeTx::commit`] changes nothing. It owes no messages.
pub struct HomeTx {
    connection: Connection,
}

impl Store {
    /// Opens a transaction on what belongs to no merchant.
    pub async fn begin_home(&self) -> Result<HomeTx, Failed> {
        Ok(HomeTx { connection: self.pool.begin().await? })
    }

    /// [`Store::begin_home`] on the connection that is kept free for limits and the clock, which are changed when all others are busy.
    pub async fn begin_home_aside(&self) -> Result<HomeTx, Failed> {
        Ok(HomeTx { connection: self.aside.begin().await? })
    }
}

impl HomeTx {
    /// Commits.
    pub async fn commit(self) -> Result<(), Failed> {
        Ok(self.connection.commit().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
