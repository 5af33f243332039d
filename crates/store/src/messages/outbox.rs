//! The outbox: messages owed to merchants' systems, written in the transaction of the change that they report.
//!
//! A flow owes a message with [`crate::Tx::owe`]. The commit writes the messages and their deliveries as its last statement and
//! returns what the delivery engine is told ([`Announced`]). There is no other way to owe a message.
//!
//! The same statement takes the merchant's counter of positions and numbers the messages for the feed. Whoever comes later waits for
//! the commit and gets later numbers. So the counter is the last lock of a transaction, and a process that stops with it is ended by
//! the database after 2 seconds.

mod addressee;
mod early;
mod message;
mod one;
mod several;
mod shared;
mod with_change;
mod with_start;

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::Kind;
use domain::node::trace::SpanIds;
use uuid::Uuid;

use self::addressee::Addressee;
pub use self::message::Message;
pub(crate) use self::shared::Shared;
use crate::connection::Connection;
use crate::failed::Failed;
use crate::messages::due::DueRow;
use crate::messages::internal_endpoints;
pub use crate::messages::signal::Signal;
use crate::returns::rma_changes::Change;
use crate::returns::rma_starts::Start;
use crate::returns::rma_writes::Write;

/// What a transaction has written for the delivery engine.
#[derive(Default)]
pub struct Announced {
    /// The endpoints with work to be read.
    pub signals: Vec<Signal>,
    /// Messages that are next in their lanes. Whoever calls their endpoints need not read them.
    pub next: Vec<DueRow>,
}

impl Announced {
    /// Announces what was written at once, to whom it is addressed.
    fn of<W>(kept: Vec<Shared<W>>, mut addressed: BTreeMap<Uuid, Addressee>) -> Self {
        let mut announced = Self::default();
        for Shared { merchant, message, trace, .. } in kept {
            if let Some(addressee) = addressed.remove(&message.id) {
                announced.add(merchant, message, addressee, trace);
            }
        }
        announced
    }

    /// Announces a message that was written alone, or beside those of other subjects.
    fn add(&mut self, merchant: MerchantId, message: Message, addressee: Addressee, trace: Option<SpanIds>) {
        match addressee.announce(merchant, message, trace.map(|trace| trace.context)) {
            Ok(next) => self.next.push(next),
            Err(signal) => self.signal(signal),
        }
    }

    /// Keeps one signal per endpoint, with the earliest due time.
    fn signal(&mut self, signal: Signal) {
        match self.signals.iter_mut().find(|before| before.endpoint == signal.endpoint) {
            Some(before) => before.due_at = before.due_at.min(signal.due_at),
            None => self.signals.push(signal),
        }
    }
}

/// Writes changes of several merchants, each of another return, with their messages.
pub(crate) async fn write_changes(connection: &mut Connection, changes: Vec<Shared<Change>>) -> Result<Announced, Failed> {
    let addressed = shared::changes::insert(connection, &changes).await?;
    Ok(Announced::of(changes, addressed))
}

/// Writes new returns of several merchants with their messages.
pub(crate) async fn write_starts(connection: &mut Connection, starts: Vec<Shared<Start>>) -> Result<Announced, Failed> {
    let addressed = shared::starts::insert(connection, &starts).await?;
    Ok(Announced::of(starts, addressed))
}

/// The messages that a transaction owes and has not written yet.
#[derive(Default)]
pub(crate) struct Outbox {
    owed: Vec<Owed>,
    /// The messages of the feed that were written ahead of the commit, which numbers them.
    unnumbered: Vec<Uuid>,
    announced: Announced,
    /// The place in a trace that is stored with every message.
    trace: Option<SpanIds>,
    /// The messages written so far.
    written: usize,
}

struct Owed {
    message: Message,
    /// The only endpoint to deliver to. `None` stands for the merchant's endpoint for messages of this kind.
    endpoint: Option<EndpointId>,
}

impl Outbox {
    pub(crate) fn push(&mut self, message: Message, endpoint: Option<EndpointId>) {
        self.owed.push(Owed { message, endpoint });
    }

    /// Stores this place in a trace with every message from here on.
    pub(crate) fn carry(&mut self, trace: SpanIds) {
        self.trace = Some(trace);
    }

    /// The place in a trace that is stored with the messages.
    pub(crate) fn trace(&self) -> Option<SpanIds> {
        self.trace
    }

    /// The number of messages, those that were written early included.
    pub(crate) fn count(&self) -> usize {
        self.written + self.owed.len()
    }

    pub(crate) fn into_announced(self) -> Announced {
        self.announced
    }

    /// True if exactly one message of the feed is owed in all, and it goes to whichever endpoint the merchant has for its kind.
    pub(crate) fn owes_one(&self) -> bool {
        self.unnumbered.is_empty() && matches!(self.owed.as_slice(), [Owed { message, endpoint: None }] if message.is_in_feed())
    }

    /// Writes the message owed together with the return that it reports. There is one message, see [`Self::owes_one`].
    pub(crate) async fn write_with(&mut self, connection: &mut Connection, merchant: MerchantId, of: &Write) -> Result<(), Failed> {
        let trace = self.stored_trace();
        for Owed { message, .. } in std::mem::take(&mut self.owed) {
            let addressee = match of {
                Write::Start(start) => with_start::insert(connection, merchant, start, &message, trace.as_deref()).await?,
                Write::Change(change) => with_change::insert(connection, merchant, change, &message, trace.as_deref()).await?,
            };
            self.written += 1;
            if let Some(addressee) = addressee {
                self.announced.add(merchant, message, addressee, self.trace);
            }
        }
        Ok(())
    }

    /// Writes everything owed, and numbers it together with what was written early. This is the last statement before the commit.
    pub(crate) async fn write(&mut self, connection: &mut Connection, merchant: MerchantId) -> Result<(), Failed> {
        self.insert(connection, merchant, true).await?;
        let unnumbered = std::mem::take(&mut self.unnumbered);
        if unnumbered.is_empty() { Ok(()) } else { early::number(connection, merchant, &unnumbered).await }
    }

    /// Writes everything owed so far, without numbers: the transaction goes on, and nobody is to wait for it.
    pub(crate) async fn write_early(&mut self, connection: &mut Connection, merchant: MerchantId) -> Result<(), Failed> {
        self.insert(connection, merchant, false).await
    }

    /// Inserts what is owed. It is numbered in the same statement if the transaction is about to end and nothing has to be numbered
    /// before it.
    async fn insert(&mut self, connection: &mut Connection, merchant: MerchantId, ends: bool) -> Result<(), Failed> {
        let trace = self.stored_trace();
        let trace = trace.as_deref();
        self.written += self.owed.len();
        let (for_one, for_kind): (Vec<Owed>, Vec<Owed>) = self.owed.drain(..).partition(|owed| owed.endpoint.is_some());
        for Owed { message, endpoint } in for_one {
            if let Some(endpoint) = endpoint {
                insert_for(connection, merchant, endpoint, &message, trace).await?;
                self.unnumbered.extend(message.is_in_feed().then_some(message.id));
                self.announced.signal(Signal::new(merchant, endpoint, message.due_at));
            }
        }
        let numbered = ends && self.unnumbered.is_empty();
        let messages: Vec<Message> = for_kind.into_iter().map(|owed| owed.message).collect();
        if !numbered {
            self.unnumbered.extend(messages.iter().filter(|message| message.is_in_feed()).map(|message| message.id));
        }
        let mut addressed = match messages.as_slice() {
            [] => return Ok(()),
            [message] => {
                let addressee = one::insert(connection, merchant, message, numbered && message.is_in_feed(), trace).await?;
                if addressee.is_some() {
                    messages
                        .into_iter()
                        .zip(addressee)
                        .for_each(|(message, addressee)| self.announced.add(merchant, message, addressee, self.trace));
                    return Ok(());
                }
                Vec::new()
            }
            messages => several::insert(connection, merchant, messages, numbered, trace).await?,
        };
        insert_internal(connection, merchant, &messages, &mut addressed).await?;
        let due_at: HashMap<Uuid, DateTime<Utc>> = messages.iter().map(|message| (message.id, message.due_at)).collect();
        let signals = addressed.into_iter().filter_map(|(id, endpoint)| Some(Signal::new(merchant, endpoint, *due_at.get(&id)?)));
        signals.for_each(|signal| self.announced.signal(signal));
        Ok(())
    }

    /// The place in a trace as it is stored. Without one, nothing is stored.
    fn stored_trace(&self) -> Option<Vec<u8>> {
        self.trace.map(|trace| trace.context.to_bytes())
    }
}

/// Creates the internal endpoints for a merchant's first internal work, and the deliveries that could not be written without them. Only
/// then, once for a merchant, something follows the statement that took the counter.
async fn insert_internal(
    connection: &mut Connection,
    merchant: MerchantId,
    messages: &[Message],
    addressed: &mut Vec<(Uuid, EndpointId)>,
) -> Result<(), Failed> {
    let mut first = true;
    for message in messages {
        let Kind::Internal(internal) = message.kind else { continue };
        if addressed.iter().any(|(id, _)| *id == message.id) {
            continue;
        }
        if std::mem::take(&mut first) {
            internal_endpoints::insert(connection, merchant, message.due_at).await?;
        }
        let endpoint = internal.endpoint_of(merchant);
        sqlx::query!(
            r#"
            insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
            values ($1, $2, $3, $4, $5, 0, 0, false, $6)
            "#,
            merchant.0,
            message.id,
            endpoint.0,
            message.sequence,
            message.due_at,
            message.subject,
        )
        .execute(&mut *connection)
        .await?;
        addressed.push((message.id, endpoint));
    }
    Ok(())
}

/// Writes a message for one given endpoint, and its delivery.
async fn insert_for(
    connection: &mut Connection,
    merchant: MerchantId,
    endpoint: EndpointId,
    message: &Message,
    trace: Option<&[u8]>,
) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        with written as (
            insert into message (merchant_id, message_id, transaction, feed_epoch, sequence, kind, event, subject, body, trace)
            values ($1, $2, pg_current_xact_id(), feed_epoch(), $3, $4, $5, $6, $7, $10)
        )
        insert into delivery (merchant_id, message_id, endpoint_id, sequence, due_at, attempts, attempts_before, discard, lane)
        values ($1, $2, $8, $3, $9, 0, 0, false, $6)
        "#,
        merchant.0,
        message.id,
        message.sequence,
        message.kind.as_str(),
        message.event,
        message.subject,
        message.body,
        endpoint.0,
        message.due_at,
        trace,
    )
    .execute(connection)
    .await?;
    Ok(())
}
