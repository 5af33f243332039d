//! Buckets of endpoints as the database stores them.

use crate::failed::Failed;

/// Converts a stored bucket number, which must be 0 to 255.
pub(crate) fn bucket(number: i16) -> Result<u8, Failed> {
    u8::try_from(number).map_err(|_| Failed::Internal("a stored bucket number is not between 0 and 255"))
}
