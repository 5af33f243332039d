//! Reactions: what happens here, in the same transaction, when a message of a kind is delivered or given up.
//!
//! A message of a kind with a reaction is settled alone, in its merchant's transaction, and the reaction takes part in it: the
//! delivery and what follows from it are one. Its attempt is written down before the call, so that a crash leaves a trace that
//! the other side may have acted. A message can be delivered again, so a reaction does nothing the second time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::messages::message::Kind;
use store::{Failed, Tx};
use uuid::Uuid;

/// How a message ended.
pub struct Ending {
    /// Which message.
    pub message: Uuid,
    /// When.
    pub at: DateTime<Utc>,
    /// The number of the last attempt, as the receiver was told.
    pub number: i16,
    /// The calls of that attempt, with how each was answered. What is written down of them does not say it yet.
    pub calls: Vec<Call>,
    /// How.
    pub how: How,
}

/// A call of a message.
pub struct Call {
    /// Under which id it is written down.
    pub id: Uuid,
    /// The answer's status, if there was one.
    pub status: Option<u16>,
}

/// How a message ended.
pub enum How {
    /// It was delivered, and answered with this status and this body.
    Delivered(u16, Bytes),
    /// It was refused with this status, and is tried again unless it is withdrawn.
    Refused(u16),
    /// Its attempts are used up.
    GivenUp,
}

/// The consequence of a reaction for its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Followed {
    /// The message is settled as it ended.
    #[default]
    Settled,
    /// The message, which was not delivered, is withdrawn: it is neither retried nor put into the failure queue.
    Withdrawn,
}

/// What a reaction does.
pub type Reacting<'a> = Pin<Box<dyn Future<Output = Result<Followed, Failed>> + Send + 'a>>;

/// What happens when a message of a kind ends.
pub trait Reaction: Send + Sync {
    /// Does it, in the transaction in which the message is settled, before anything of the delivery engine is locked: what it
    /// locks comes first in the order of locks. If the message turns out to be somebody else's, all of it is undone.
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a>;

    /// What is missing in an answer that says that all is well; nothing, where the status says enough. Such an answer is a failed
    /// attempt.
    fn misses(&self, _answer: &[u8]) -> Option<&'static str> {
        None
    }

    /// Whether it is told of an answer with this status though the message would be tried again.
    fn minds(&self, _status: u16) -> bool {
        false
    }
}

/// Which kinds have which reaction.
#[derive(Clone, Default)]
pub struct Reactions(Vec<(Kind, Arc<dyn Reaction>)>);

impl Reactions {
    /// The same, and this one.
    #[must_use]
    pub fn with(mut self, kind: Kind, reaction: impl Reaction + 'static) -> Self {
        self.0.push((kind, Arc::new(reaction)));
        self
    }

    /// The reaction of a kind, if it has one.
    pub(super) fn of(&self, kind: Kind) -> Option<&Arc<dyn Reaction>> {
        self.0.iter().find(|(of, _)| *of == kind).map(|(_, reaction)| reaction)
    }
}
