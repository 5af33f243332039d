//! The transaction: one merchant's data, and the messages owed with its change.

use domain::id::{EndpointId, MerchantId};
use sqlx::{Executor as _, PgConnection, Postgres, Transaction};

use crate::crash::{self, Point};
use crate::failed::Failed;
use crate::messages::outbox::{Message, Outbox, Signal};

/// A transaction on one merchant's data. Dropped without [`Tx::commit`], it changes nothing.
pub struct Tx {
    transaction: Transaction<'static, Postgres>,
    merchant: MerchantId,
    outbox: Outbox,
}

impl Tx {
    pub(crate) fn new(transaction: Transaction<'static, Postgres>, merchant: MerchantId) -> Self {
        Self { transaction, merchant, outbox: Outbox::default() }
    }

    /// Whose data this transaction touches.
    #[must_use]
    pub fn merchant(&self) -> MerchantId {
        self.merchant
    }

    /// Sets a savepoint: everything from here on can be undone without the rest, messages owed included. One at a time.
    pub async fn mark(&mut self) -> Result<(), Failed> {
        self.connection().execute("savepoint mark").await?;
        self.outbox.mark();
        Ok(())
    }

    /// Keeps everything since the savepoint, and releases it.
    pub async fn keep(&mut self) -> Result<(), Failed> {
        self.connection().execute("release savepoint mark").await?;
        self.outbox.keep();
        Ok(())
    }

    /// Undoes everything since the savepoint, and releases it.
    pub async fn undo(&mut self) -> Result<(), Failed> {
        self.connection().execute("rollback to savepoint mark; release savepoint mark").await?;
        self.outbox.undo();
        Ok(())
    }

    /// Owes `message` to the merchant's endpoint for messages of its kind. Without such an endpoint it is in the feed only.
    pub fn owe(&mut self, message: Message) {
        self.outbox.push(message, None);
    }

    /// Owes `message` to `endpoint` and no other.
    pub fn owe_to(&mut self, endpoint: EndpointId, message: Message) {
        self.outbox.push(message, Some(endpoint));
    }

    /// Writes the messages owed so far ahead of the commit, for a change with so many that they should not all be in memory. They
    /// are signalled with the others, after the commit.
    pub async fn write_early(&mut self) -> Result<(), Failed> {
        if self.outbox.may_write_early() {
            self.outbox.write(&mut self.transaction, self.merchant).await?;
        }
        Ok(())
    }

    /// Writes the messages owed as the last statement, and commits. Answers the signals for whoever delivers them.
    pub async fn commit(mut self) -> Result<Vec<Signal>, Failed> {
        self.outbox.write(&mut self.transaction, self.merchant).await?;
        crash::point(Point::Commit);
        self.transaction.commit().await?;
        crash::point(Point::Committed);
        Ok(self.outbox.into_signals())
    }

    /// Undoes everything done in here.
    pub async fn rollback(self) -> Result<(), Failed> {
        Ok(self.transaction.rollback().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}
