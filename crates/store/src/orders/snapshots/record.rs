//! Snapshots as they arrive.

use std::borrow::Cow;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::orders::order::Status;
use domain::orders::snapshot::Version;

use super::text::Text;

/// A keyed hash of a personal value.
pub type Fingerprint = [u8; 16];

/// A snapshot that arrived.
pub struct Snapshot<'a> {
    pub merchant: MerchantId,
    pub identifier: Cow<'a, str>,
    pub status: Status,
    pub placed_at: DateTime<Utc>,
    /// Tells it from other snapshots of the order.
    pub version: Version,
    pub received_at: DateTime<Utc>,
    /// Fingerprint of the shopper's e-mail address.
    pub email_fingerprint: Option<Fingerprint>,
    /// Fingerprint of the shopper's postal code.
    pub zip_fingerprint: Option<Fingerprint>,
    /// Inconsistencies in the order, as JSON.
    pub warnings: Option<String>,
    /// The order exactly as sent, or without anything personal if it was erased.
    pub text: Text<'a>,
    /// `Some` if everything personal was removed because the shopper was erased.
    pub erased_at: Option<DateTime<Utc>>,
}

impl Snapshot<'_> {
    /// The same snapshot, with its text as a part of the `body` that it came in.
    #[must_use]
    pub fn keep(self, body: &Bytes) -> Snapshot<'static> {
        Snapshot { identifier: Cow::Owned(self.identifier.into_owned()), text: self.text.keep(body), ..self }
    }

    /// The key of a snapshot. Snapshots of one batch are sorted by it, and it must be unique among them.
    #[must_use]
    pub fn key(&self) -> (MerchantId, &str) {
        (self.merchant, &self.identifier)
    }
}
