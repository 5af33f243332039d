//! The signal that an endpoint has work.

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::bucket_of;

/// Tells the delivery engine, after the commit, that an endpoint has work due at `due_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub merchant: MerchantId,
    pub endpoint: EndpointId,
    pub bucket: u8,
    pub due_at: DateTime<Utc>,
}

impl Signal {
    /// The bucket is computed from the endpoint's id, the same way as when the endpoint was created.
    #[must_use]
    pub fn new(merchant: MerchantId, endpoint: EndpointId, due_at: DateTime<Utc>) -> Self {
        Self { merchant, endpoint, bucket: bucket_of(endpoint.0), due_at }
    }
}
