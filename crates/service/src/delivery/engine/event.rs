//! The events that the engine's loop reacts to.

use domain::id::EndpointId;
use store::Failed;
use store::messages::deliveries::Cleanup;
use store::messages::notices::TroubledEndpoint;
use store::messages::outbox::Signal;
use store::messages::settlements::Hold;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::notices::Reported;
use super::reading::Reading;
use super::result::{AttemptResult, Batch};

/// An event for the loop: a task has ended, something was found, or someone asks for something.
#[expect(clippy::large_enum_variant, reason = "nearly all events are calls that ended, and none waits for long")]
pub(crate) enum Event {
    /// The leases were renewed.
    Leased {
        gained: Vec<Hold>,
        lost: Vec<u8>,
    },
    /// Buckets were given back.
    Released(Vec<u8>),
    Polled {
        /// Endpoints with something due.
        found: Vec<Signal>,
        cleanups: Vec<Cleanup>,
        /// The last poll request that this poll answers.
        answers: u64,
    },
    /// Another process has signalled work.
    SignalReceived(Signal),
    ReadingEnded(Reading),
    CallEnded(AttemptResult),
    /// A call was aborted or panicked, or it was not made.
    CallLost(EndpointId, Hold, Uuid),
    Settled(Batch),
    /// A review found these endpoints in trouble in the buckets that were gained.
    Reviewed(Vec<(TroubledEndpoint, Hold)>),
    /// The reporting of an incident ended.
    Reported(EndpointId, Hold, Result<Option<Reported>, Failed>),
    /// A request to be notified once nothing is left to do.
    Drain(oneshot::Sender<()>),
}
