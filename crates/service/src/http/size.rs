//! The size limit of a body.

/// The largest body: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;

/// The largest head of a request, and the most headers in it; above either, the answer is 431. The number of headers is hyper's
/// own limit for HTTP/1.1.
pub(super) const HEAD_BYTES: u16 = 16 * 1024;
pub(super) const MOST_HEADERS: usize = 100;
