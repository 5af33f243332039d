//! Access tokens and client credentials: their format, and the hashes that are stored.
//!
//! A token is opaque to clients: `bht_` and 48 bytes in base64, the merchant's id and 256 random bits. It contains the merchant's
//! id so that its lookup stays within that merchant's data. The database stores its scopes under its hash, so a token can be
//! revoked, and a copy of the database contains no usable token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::platform::entropy::Entropy;

/// The lifetime of a token: 25 hours.
pub const LIFETIME: chrono::TimeDelta = chrono::TimeDelta::seconds(90_000);

const TOKEN_PREFIX: &str = "bht_";
const MERCHANT_BYTES: usize = 16;
const RANDOM_BYTES: usize = 32;

/// SHA-256 of a token or secret.
pub type Hash = [u8; 32];

/// Hashes a secret. A fast hash is enough, because a secret with 256 random bits cannot be guessed.
#[must_use]
pub fn hash(secret: &str) -> Hash {
    Sha256::digest(secret).into()
}

/// Compares two hashes in constant time.
#[must_use]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// Creates a token for `merchant`.
#[must_use]
pub fn new_token(merchant: MerchantId, entropy: &Entropy) -> SecretString {
    let mut bytes = Vec::with_capacity(MERCHANT_BYTES + RANDOM_BYTES);
    bytes.extend_from_slice(merchant.0.as_bytes());
    bytes.extend_from_slice(&entropy.bytes::<RANDOM_BYTES>());
    format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into()
}

/// The merchant in a token; none if the token is malformed.
#[must_use]
pub fn merchant_of(token: &SecretString) -> Option<MerchantId> {
    let encoded = token.expose_secret().strip_prefix(TOKEN_PREFIX)?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    if bytes.len() != MERCHANT_BYTES + RANDOM_BYTES {
        return None;
    }
    Uuid::from_slice(bytes.get(..MERCHANT_BYTES)?).ok().map(MerchantId)
}

/// Creates a secret of 256 random bits, for a cookie or a link.
#[must_use]
pub fn new_secret(entropy: &Entropy) -> SecretString {
    URL_SAFE_NO_PAD.encode(entropy.bytes::<RANDOM_BYTES>()).into()
}

/// Creates a personal token of an operator: `bho_` and 256 random bits.
#[must_use]
pub fn new_personal_token(entropy: &Entropy) -> SecretString {
    format!("bho_{}", URL_SAFE_NO_PAD.encode(entropy.bytes::<RANDOM_BYTES>())).into()
}

/// Creates a credential: its public id and its secret.
#[must_use]
pub fn new_credential(entropy: &Entropy) -> (String, SecretString) {
    let id = format!("bhc_{}", URL_SAFE_NO_PAD.encode(entropy.bytes::<12>()));
    let secret = format!("bhs_{}", URL_SAFE_NO_PAD.encode(entropy.bytes::<32>()));
    (id, secret.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_merchant_and_has_256_random_bits() {
        let entropy = Entropy::seeded(1);
        let merchant = MerchantId(entropy.mint(chrono::DateTime::default()));
        let (one, two) = (new_token(merchant, &entropy), new_token(merchant, &entropy));
        assert_eq!(merchant_of(&one), Some(merchant));
        assert_eq!(one.expose_secret().len(), TOKEN_PREFIX.len() + 64);
        let random = |token: &SecretString| URL_SAFE_NO_PAD.decode(&token.expose_secret()[4..]).expect("base64").split_off(16);
        assert_eq!(random(&one).len() * 8, 256);
        assert_ne!(random(&one), random(&two));
    }

    #[test]
    fn a_malformed_token_has_no_merchant() {
        for text in ["", "bht_", "bht_AAAA", "AAAA", "bht_%%%%", &format!("bht_{}", "A".repeat(63)), &format!("BHT_{}", "A".repeat(64))] {
            assert_eq!(merchant_of(&SecretString::from(text)), None, "{text}");
        }
    }

    #[test]
    fn hashes_are_compared_completely() {
        assert!(same(&hash("a"), &hash("a")));
        assert!(!same(&hash("a"), &hash("b")));
        assert!(!same(&hash("a"), &[]));
    }
}
