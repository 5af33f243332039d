//! Buckets of endpoints as the database stores them.

use crate::failed::Failed;

/// A stored bucket number; there are 256.
pub(crate) fn bucket(number: i16) -> Result<u8, Failed> {
    u8::try_from(number).map_err(|_| Failed::Internal("a bucket beyond 255"))
}
