//! The size limits of requests.

/// The largest body: 5 MiB.
pub(super) const MOST_BYTES: usize = 5 * 1024 * 1024;

/// The largest body of a token request, whose caller is not known yet: 16 KiB.
pub(super) const TOKEN_BYTES: usize = 16 * 1024;

/// The largest body of a carrier webhook, whose signature can be checked only once it is there: 256 KiB.
pub(super) const WEBHOOK_BYTES: usize = 256 * 1024;

/// The largest head of a request, and the most headers in it; above either, the answer is 431. The number of headers is hyper's
/// own limit for HTTP/1.1.
pub(super) const HEAD_BYTES: u16 = 16 * 1024;
pub(super) const MOST_HEADERS: usize = 100;
