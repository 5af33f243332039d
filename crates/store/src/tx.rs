//! The transaction on one merchant's data, including the messages that its changes owe.

use domain::id::{EndpointId, MerchantId};
use sqlx::{Executor as _, PgConnection, Postgres, Transaction};

use crate::crash::{self, Point};
use crate::failed::Failed;
use crate::messages::outbox::{Message, Outbox, Signal};

/// A transaction on one merchant's data. Dropping it without [`Tx::commit`] changes nothing.
pub struct Tx {
    transaction: Transaction<'static, Postgres>,
    merchant: MerchantId,
    outbox: Outbox,
}

impl Tx {
    pub(crate) fn new(transaction: Transaction<'static, Postgres>, merchant: MerchantId) -> Self {
        Self { transaction, merchant, outbox: Outbox::default() }
    }

    /// The merchant whose data this transaction touches.
    #[must_use]
    pub fn merchant(&self) -> MerchantId {
        self.merchant
    }

    /// Sets a savepoint, so that later changes and owed messages can be undone on their own. There can be one at a time.
    pub async fn mark(&mut self) -> Result<(), Failed> {
        self.connection().execute("savepoint mark").await?;
        self.outbox.mark();
        Ok(())
    }

    /// Releases the savepoint and keeps everything since.
    pub async fn keep(&mut self) -> Result<(), Failed> {
        self.connection().execute("release savepoint mark").await?;
        self.outbox.keep();
        Ok(())
    }

    /// Undoes everything since the savepoint and releases it.
    pub async fn undo(&mut self) -> Result<(), Failed> {
        self.connection().execute("rollback to savepoint mark; release savepoint mark").await?;
        self.outbox.undo();
        Ok(())
    }

    /// Owes `message` to the merchant's endpoint for its kind. Without such an endpoint, the message appears in the feed only.
    pub fn owe(&mut self, message: Message) {
        self.outbox.push(message, None);
    }

    /// Owes `message` to `endpoint` only.
    pub fn owe_to(&mut self, endpoint: EndpointId, message: Message) {
        self.outbox.push(message, Some(endpoint));
    }

    /// Writes the messages owed so far ahead of the commit, for a change that owes too many to keep in memory. They are signalled
    /// after the commit, like the others. Does nothing after a savepoint.
    pub async fn write_early(&mut self) -> Result<(), Failed> {
        if self.outbox.may_write_early() {
            self.outbox.write(&mut self.transaction, self.merchant).await?;
        }
        Ok(())
    }

    /// Writes the owed messages as the last statement and commits. Returns the signals for the delivery engine.
    pub async fn commit(mut self) -> Result<Vec<Signal>, Failed> {
        self.outbox.write(&mut self.transaction, self.merchant).await?;
        crash::point(Point::Commit);
        self.transaction.commit().await?;
        crash::point(Point::Committed);
        Ok(self.outbox.into_signals())
    }

    /// Undoes everything done in this transaction.
    pub async fn rollback(self) -> Result<(), Failed> {
        Ok(self.transaction.rollback().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}
