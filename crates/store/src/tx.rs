//! The transaction on one merchant's data, including the messages that its changes owe.

use std::sync::Arc;

use domain::id::{EndpointId, MerchantId};
use domain::node::trace::SpanIds;

use crate::connection::Connection;
use crate::crash::{self, Point};
use crate::failed::Failed;
use crate::merchants::audit_rows::{self, Unwritten};
use crate::messages::outbox::{Announced, Message, Outbox};
use crate::returns::rma_writes::Write;
use crate::turns::Turn;

/// A transaction on one merchant's data. Dropping it without [`Tx::commit`] changes nothing.
pub struct Tx {
    connection: Connection,
    /// Its place among the merchant's transactions, if they are bounded here.
    _turn: Option<Turn>,
    merchant: MerchantId,
    outbox: Outbox,
    /// The return that was last inserted or saved. The connection knows if it is still to be written.
    kept: Option<Arc<Write>>,
    audit: Vec<Unwritten>,
}

impl Tx {
    pub(crate) fn new(connection: Connection, merchant: MerchantId) -> Self {
        Self { connection, _turn: None, merchant, outbox: Outbox::default(), kept: None, audit: Vec::new() }
    }

    /// This transaction, which holds `turn` until it ends.
    pub(crate) fn in_turn(self, turn: Turn) -> Self {
        Self { _turn: Some(turn), ..self }
    }

    /// The merchant whose data this transaction touches.
    #[must_use]
    pub fn merchant(&self) -> MerchantId {
        self.merchant
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
    /// after the commit, like the others.
    pub async fn write_early(&mut self) -> Result<(), Failed> {
        self.outbox.write_early(&mut self.connection, self.merchant).await
    }

    /// Stores this place in a trace with every message that is owed, so that whoever delivers it continues the trace.
    pub fn carry(&mut self, trace: SpanIds) {
        self.outbox.carry(trace);
    }

    /// The place in a trace that its messages carry, if any.
    #[must_use]
    pub fn trace(&self) -> Option<SpanIds> {
        self.outbox.trace()
    }

    /// The number of messages owed so far, those that were written early included.
    #[must_use]
    pub fn owed(&self) -> usize {
        self.outbox.count()
    }

    /// Keeps a new or changed return for the next statement. If that is the commit, it is one statement with the message on it.
    pub(crate) async fn keep(&mut self, write: Write) -> Result<(), Failed> {
        let (write, merchant) = (Arc::new(write), self.merchant);
        let kept = Arc::clone(&write);
        self.connection.defer(Box::new(move |connection| Box::pin(async move { kept.run(connection, merchant).await }))).await?;
        self.kept = Some(write);
        Ok(())
    }

    /// Keeps an entry of the audit trail for the end of the transaction. Entries are chained, so the chain's head is locked by the
    /// first of them; written late, they hold nobody up for long, and only the counter of the feed is locked after the head.
    pub(crate) fn keep_audit(&mut self, entry: Unwritten) {
        self.audit.push(entry);
    }

    /// Writes the audit trail and then the owed messages as the last statements, and commits. Returns what the delivery engine is
    /// told.
    pub async fn commit(mut self) -> Result<Announced, Failed> {
        // Taken over before anything else is written, which would write it alone.
        let kept = if self.outbox.owes_one() { self.kept.take().filter(|_| self.connection.take_over()) } else { None };
        audit_rows::write(&mut self.connection, self.merchant, &self.audit).await?;
        if let Some(kept) = kept {
            self.outbox.write_with(&mut self.connection, self.merchant, &kept).await?;
        }
        self.outbox.write(&mut self.connection, self.merchant).await?;
        crash::point(Point::Commit);
        self.connection.commit().await?;
        crash::point(Point::Committed);
        Ok(self.outbox.into_announced())
    }

    /// Undoes everything done in this transaction.
    pub async fn rollback(self) -> Result<(), Failed> {
        Ok(self.connection.rollback().await?)
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
