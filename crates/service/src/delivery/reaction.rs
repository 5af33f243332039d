//! Reactions: the changes that follow when a message of a certain kind is delivered or given up.
//!
//! A message with a reaction is settled alone, in its merchant's transaction, and the reaction runs in the same transaction. So
//! the delivery and its consequences commit together. The attempt is recorded before the call, so that after a crash we know that
//! the receiver may have acted. A message can be delivered twice, so a reaction must change nothing the second time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::messages::message::Kind;
use store::{Failed, Tx};
use uuid::Uuid;

/// The end of a message's last attempt, as a reaction gets it.
pub struct Ending {
    pub message: Uuid,
    pub at: DateTime<Utc>,
    /// The number of the last attempt, as sent to the receiver.
    pub number: i16,
    /// The calls of that attempt. Their records in the database do not have the outcomes yet.
    pub calls: Vec<Call>,
    /// The body of the last answer, unless the message was delivered.
    pub refusal: Bytes,
    pub how: How,
}

/// A call made for a message.
pub struct Call {
    /// The id of the attempt's record.
    pub id: Uuid,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
}

/// The result of a message's last attempt.
pub enum How {
    /// Delivered, and answered with this status and body.
    Delivered(u16, Bytes),
    /// Refused with this status. The message is retried unless the reaction withdraws it.
    Refused(u16),
    /// All attempts are used up.
    GivenUp,
}

/// The decision of a reaction about its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Followed {
    /// Settle the message as it ended.
    #[default]
    Settled,
    /// Withdraw the undelivered message: neither retry it nor put it into the failure queue.
    Withdrawn,
}

/// The future of a running reaction.
pub type Reacting<'a> = Pin<Box<dyn Future<Output = Result<Followed, Failed>> + Send + 'a>>;

/// A reaction to the messages of one kind.
pub trait Reaction: Send + Sync {
    /// Runs the reaction in the transaction that settles the message, before any row of the delivery engine is locked: the locks it
    /// takes come first in the lock order. If the bucket turns out to be no longer ours, everything is rolled back.
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a>;

    /// True if the reaction runs for an answer with this status even though the message would be retried.
    fn handles_refusal(&self, _status: u16) -> bool {
        false
    }
}

/// The reactions by message kind.
#[derive(Clone, Default)]
pub struct Reactions(Vec<(Kind, Arc<dyn Reaction>)>);

impl Reactions {
    /// Adds the reaction to messages of `kind`.
    #[must_use]
    pub fn with(mut self, kind: Kind, reaction: impl Reaction + 'static) -> Self {
        self.0.push((kind, Arc::new(reaction)));
        self
    }

    pub(super) fn of(&self, kind: Kind) -> Option<&Arc<dyn Reaction>> {
        self.0.iter().find(|(of, _)| *of == kind).map(|(_, reaction)| reaction)
    }
}
