//! The key for shoppers' fingerprints, which is kept outside the database.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::orders::shopper::{normal_email, normal_zip};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use store::orders::snapshots::Fingerprint;

/// Computes the fingerprints by which shoppers' e-mail addresses and postal codes are compared. Without the key, a copy of the
/// database does not reveal them, not even by trying addresses.
#[derive(Clone)]
pub struct FingerprintKey(Hmac<Sha256>);

/// The error for a missing or malformed key.
#[derive(Debug, thiserror::Error)]
#[error("the key is missing, unreadable, or not 32 bytes in base64; generate one with `openssl rand -base64 32`")]
pub struct NoKey;

impl FingerprintKey {
    /// Parses a key in base64.
    pub fn parse(text: &SecretString) -> Result<Self, NoKey> {
        let bytes = STANDARD.decode(text.expose_secret().trim()).map_err(|_| NoKey)?;
        if bytes.len() == 32 { Self::new(&bytes) } else { Err(NoKey) }
    }

    /// The well-known key of sandboxes without one of their own.
    pub fn of_sandboxes() -> Result<Self, NoKey> {
        Self::new(&[0x5b; 32])
    }

    fn new(bytes: &[u8]) -> Result<Self, NoKey> {
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| NoKey)
    }

    /// The fingerprint of an e-mail address.
    #[must_use]
    pub fn email(&self, email: &str) -> Fingerprint {
        self.of("email", &normal_email(email))
    }

    /// The fingerprint of a postal code.
    #[must_use]
    pub fn zip(&self, zip_code: &str, country_code: Option<&str>) -> Fingerprint {
        self.of("zip", &normal_zip(zip_code, country_code))
    }

    /// The key of a counter of misses in the portal: an address or an order's number must not be stored in the clear.
    #[must_use]
    pub fn miss(&self, of: &str, value: &str) -> Fingerprint {
        self.of(of, value)
    }

    /// The keyed hash under which an operator's personal token is stored.
    #[must_use]
    pub fn token(&self, token: &str) -> [u8; 32] {
        self.whole("operator token", token)
    }

    /// Truncated to save storage; 16 bytes are plenty to compare the shopper of one order.
    fn of(&self, kind: &str, value: &str) -> Fingerprint {
        let whole = self.whole(kind, value);
        std::array::from_fn(|at| whole.get(at).copied().unwrap_or_default())
    }

    fn whole(&self, kind: &str, value: &str) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(value.as_bytes());
        mac.finalize().into_bytes().into()
    }
}
