//! A settlement: what is to be done with a delivery, and the calls that led to it.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::is_success;
use uuid::Uuid;

use crate::messages::holds::Hold;

/// The outcome of a call that was recorded before it was made, until its real outcome is known.
pub const UNKNOWN: &str = "unknown";

/// A delivery to settle.
pub struct Settlement {
    pub hold: Hold,
    pub merchant: MerchantId,
    pub message: Uuid,
    pub disposition: Disposition,
}

/// The action that settling takes on a delivery.
pub enum Disposition {
    /// Delivered, discarded, or a test message.
    Finished,
    /// Not delivered, and not to be retried.
    Withdrawn,
    /// To be tried again later.
    Postponed {
        due_at: DateTime<Utc>,
        /// Counted attempts so far.
        attempts: i16,
    },
    /// Given up; moves to the failure queue.
    Failed {
        /// Counted attempts in all rounds.
        attempts: i16,
        /// The last outcome, or another reason such as a removed endpoint.
        reason: String,
        failed_at: DateTime<Utc>,
    },
    /// Another message of its lane goes first.
    Parked,
}

/// One call, as the history and the reports need it.
pub struct Attempt {
    pub hold: Hold,
    pub id: Uuid,
    pub merchant: MerchantId,
    pub message: Uuid,
    pub endpoint: EndpointId,
    pub started_at: DateTime<Utc>,
    pub took_ms: i32,
    /// The attempt number that was sent to the receiver.
    pub number: i16,
    /// True for a manual retry.
    pub by_hand: bool,
    pub status: Option<i16>,
    pub outcome: String,
    /// The reason there was no response, or no usable one.
    pub reason: Option<String>,
    /// The beginning of the response body.
    pub answer: Option<Vec<u8>>,
    /// The message kind, if the reports count this call.
    pub counted_as: Option<&'static str>,
}

impl Attempt {
    /// True if this attempt delivered the message.
    #[must_use]
    pub fn arrived(&self) -> bool {
        self.reason.is_none() && self.status.is_some_and(|status| is_success(status.unsigned_abs()))
    }
}
