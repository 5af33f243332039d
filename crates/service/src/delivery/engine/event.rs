//! The events that the engine's loop reacts to.

use domain::id::EndpointId;
use domain::messages::notice::ReportedHealth;
use store::messages::deliveries::Odd;
use store::messages::notices::Troubled;
use store::messages::outbox::Signal;
use store::messages::settlements::Hold;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::reading::Reading;
use super::result::{AttemptResult, Batch};

/// Something that happened.
pub(in crate::delivery) enum Event {
    /// Leases were renewed.
    Leased {
        /// The buckets that were gained.
        gained: Vec<Hold>,
        /// The buckets that were lost.
        lost: Vec<u8>,
    },
    /// Buckets were given back.
    Released(Vec<u8>),
    /// The table was looked at.
    Looked {
        /// Endpoints with something due.
        found: Vec<Signal>,
        /// What needs us without being due.
        odd: Vec<Odd>,
        /// Up to which request this is the answer.
        answers: u64,
    },
    /// Another process told of work.
    Heard(Signal),
    /// A reading ended.
    Read(Reading),
    /// A call ended.
    Called(AttemptResult),
    /// A call broke off: it was dropped, or it panicked.
    Broke(EndpointId, Hold, Uuid),
    /// A batch was settled.
    Settled(Batch),
    /// Endpoints in trouble were looked for in buckets that were gained.
    Reviewed(Vec<(Troubled, Hold)>),
    /// What was to be told of an endpoint is told, or could not be.
    Told(EndpointId, Hold, Result<Option<ReportedHealth>, store::Failed>),
    /// Say when nothing is left to do.
    Drain(oneshot::Sender<()>),
}
