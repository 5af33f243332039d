//! Snapshots as parameters of a statement.

use chrono::{DateTime, Utc};
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo};
use sqlx::{Postgres, Type};

use super::record::Snapshot;

/// The snapshots as `unnest` takes them: one list per column.
pub(super) struct Columns<'a> {
    pub(super) merchants: Vec<uuid::Uuid>,
    pub(super) identifiers: Vec<&'a str>,
    pub(super) statuses: Vec<&'a str>,
    pub(super) placed: Vec<DateTime<Utc>>,
    pub(super) updated: Vec<DateTime<Utc>>,
    pub(super) received: Vec<DateTime<Utc>>,
    pub(super) digests: Vec<&'a [u8]>,
    pub(super) emails: Vec<Option<&'a [u8]>>,
    pub(super) zips: Vec<Option<&'a [u8]>>,
    pub(super) warnings: Vec<Option<&'a str>>,
    pub(super) texts: Texts<'a>,
    pub(super) erased: Vec<Option<DateTime<Utc>>>,
}

impl<'a> Columns<'a> {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            merchants: Vec::with_capacity(rows),
            identifiers: Vec::with_capacity(rows),
            statuses: Vec::with_capacity(rows),
            placed: Vec::with_capacity(rows),
            updated: Vec::with_capacity(rows),
            received: Vec::with_capacity(rows),
            digests: Vec::with_capacity(rows),
            emails: Vec::with_capacity(rows),
            zips: Vec::with_capacity(rows),
            warnings: Vec::with_capacity(rows),
            texts: Texts(Vec::with_capacity(rows)),
            erased: Vec::with_capacity(rows),
        }
    }

    pub(super) fn push(&mut self, snapshot: &'a Snapshot<'_>) {
        self.merchants.push(snapshot.merchant.0);
        self.identifiers.push(&snapshot.identifier);
        self.statuses.push(snapshot.status.as_str());
        self.placed.push(snapshot.placed_at);
        self.updated.push(snapshot.version.updated_at);
        self.received.push(snapshot.received_at);
        self.digests.push(&snapshot.version.digest);
        self.emails.push(snapshot.email_fingerprint.as_ref().map(<[u8; 16]>::as_slice));
        self.zips.push(snapshot.zip_fingerprint.as_ref().map(<[u8; 16]>::as_slice));
        self.warnings.push(snapshot.warnings.as_deref());
        self.texts.0.push(snapshot.text.as_str());
        self.erased.push(snapshot.erased_at);
    }
}

/// Texts, which are most of what a statement sends. They tell their size, so that the memory for all parameters is taken once. Otherwise it
/// grows by doubling, and everything is copied each time.
pub(super) struct Texts<'a>(Vec<&'a str>);

impl Texts<'_> {
    /// About what an order takes besides its text.
    const REST: usize = 256;
}

impl Type<Postgres> for Texts<'_> {
    fn type_info() -> PgTypeInfo {
        <[&str] as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Texts<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.as_slice().encode_by_ref(buffer)
    }

    fn size_hint(&self) -> usize {
        self.0.iter().map(|text| text.len() + Self::REST).sum()
    }
}
