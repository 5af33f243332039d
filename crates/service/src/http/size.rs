//! The size limit of a body.

/// The largest body: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;
