//! Hashes that name files by their content, so that browsers can keep them for good: other content has another name.

use sha2::{Digest as _, Sha256};

/// The value of `Cache-Control` for a file whose path has its hash.
pub const KEPT_FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// The beginning of the content's SHA-256, as hexadecimal digits.
#[must_use]
pub fn content_hash(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().take(6).fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"))
}
