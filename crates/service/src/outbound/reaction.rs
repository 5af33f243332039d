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
use domain::message::Kind;
use store::outbox::Owed;
use store::{Failed, Tx};
use uuid::Uuid;

/// How a message ended.
pub struct Ending {
    /// Which message.
    pub message: Uuid,
    /// When.
    pub at: DateTime<Utc>,
    /// How.
    pub how: How,
}

/// How a message ended.
pub enum How {
    /// It was delivered, and answered with this status and this body.
    Delivered(u16, Bytes),
    /// Its attempts are used up.
    GivenUp,
}

/// What a reaction does; it answers what is owed now, to be told of after the commit.
pub type Reacting<'a> = Pin<Box<dyn Future<Output = Result<Vec<Owed>, Failed>> + Send + 'a>>;

/// What happens when a message of a kind ends.
pub trait Reaction: Send + Sync {
    /// Does it, in the transaction in which the message is settled, before anything of the delivery engine is locked: what it
    /// locks comes first in the order of locks. If the message turns out to be somebody else's, all of it is undone.
    fn react<'a>(&'a self, tx: &'a mut Tx, ending: &'a Ending) -> Reacting<'a>;
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
    pub(super) fn of(&self, kind: Kind) -> Option<&dyn Reaction> {
        self.0.iter().find(|(of, _)| *of == kind).map(|(_, reaction)| reaction.as_ref())
    }
}
