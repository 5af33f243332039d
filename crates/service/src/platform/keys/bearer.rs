//! Access tokens and client credentials: their format, and the hashes that are stored.
//!
//! A token is opaque to clients: `bht_` and 48 bytes in base64, the merchant's id, 160 random bits, and a check of 96 bits that only
//! we can compute. It contains the merchant's id so that its lookup stays within that merchant's data, and the check so that a
//! forged token costs no lookup. The database stores its scopes under its hash, so a token can be revoked, and a copy of the
//! database contains no usable token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::platform::entropy::Entropy;
use crate::platform::keys::fingerprint::FingerprintKeys;

/// The lifetime of a token: 25 hours.
pub const LIFETIME: chrono::TimeDelta = chrono::TimeDelta::seconds(90_000);

const TOKEN_PREFIX: &str = "bht_";
const MERCHANT_BYTES: usize = 16;
const RANDOM_BYTES: usize = 32;
const CHECK_BYTES: usize = 12;
/// The bytes of a token that its check is about: the merchant's id, and random bytes.
const CHECKED_BYTES: usize = MERCHANT_BYTES + RANDOM_BYTES - CHECK_BYTES;

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

/// Creates a token for `merchant`, with a check by the active one of `keys`.
#[must_use]
pub fn new_token(merchant: MerchantId, entropy: &Entropy, keys: &FingerprintKeys) -> SecretString {
    let mut bytes = Vec::with_capacity(CHECKED_BYTES + CHECK_BYTES);
    bytes.extend_from_slice(merchant.0.as_bytes());
    bytes.extend_from_slice(&entropy.bytes::<RANDOM_BYTES>());
    bytes.truncate(CHECKED_BYTES);
    let check = keys.access_token(&bytes);
    bytes.extend(check.into_iter().take(CHECK_BYTES));
    format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into()
}

/// The merchant in a token; none if the token is malformed, or was not made with one of `keys`.
#[must_use]
pub fn merchant_of(token: &SecretString, keys: &FingerprintKeys) -> Option<MerchantId> {
    let encoded = token.expose_secret().strip_prefix(TOKEN_PREFIX)?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    let (checked, check) = bytes.split_at_checked(CHECKED_BYTES)?;
    if !keys.access_tokens(checked).any(|by_key| by_key.get(..CHECK_BYTES).is_some_and(|expected| same(expected, check))) {
        return None;
    }
    Uuid::from_slice(checked.get(..MERCHANT_BYTES)?).ok().map(MerchantId)
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
    (id, new_client_secret(entropy))
}

/// Creates the secret of a credential: `bhs_` and 256 random bits.
#[must_use]
pub fn new_client_secret(entropy: &Entropy) -> SecretString {
    format!("bhs_{}", URL_SAFE_NO_PAD.encode(entropy.bytes::<RANDOM_BYTES>())).into()
}

/// The last four characters of a secret, by which people tell secrets apart.
#[must_use]
pub fn end_of(secret: &SecretString) -> &str {
    let secret = secret.expose_secret();
    secret.get(secret.len().saturating_sub(4)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> FingerprintKeys {
        FingerprintKeys::with_that_of_sandboxes(None).expect("a key")
    }

    #[test]
    fn a_token_names_its_merchant_and_has_160_random_bits() {
        let entropy = Entropy::seeded(1);
        let merchant = MerchantId(entropy.mint(chrono::DateTime::default()));
        let (one, two) = (new_token(merchant, &entropy, &key()), new_token(merchant, &entropy, &key()));
        assert_eq!(merchant_of(&one, &key()), Some(merchant));
        assert_eq!(one.expose_secret().len(), TOKEN_PREFIX.len() + 64);
        let random = |token: &SecretString| URL_SAFE_NO_PAD.decode(&token.expose_secret()[4..]).expect("base64")[16..36].to_vec();
        assert_eq!(random(&one).len() * 8, 160);
        assert_ne!(random(&one), random(&two));
    }

    #[test]
    fn a_token_of_another_installation_is_not_ours() {
        let entropy = Entropy::seeded(1);
        let merchant = MerchantId(entropy.mint(chrono::DateTime::default()));
        let other = FingerprintKeys::parse(&"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=".into()).expect("a key");
        assert_eq!(merchant_of(&new_token(merchant, &entropy, &other), &key()), None);
    }

    #[test]
    fn a_malformed_token_has_no_merchant() {
        for text in ["", "bht_", "bht_AAAA", "AAAA", "bht_%%%%", &format!("bht_{}", "A".repeat(63)), &format!("BHT_{}", "A".repeat(64))] {
            assert_eq!(merchant_of(&SecretString::from(text), &key()), None, "{text}");
        }
    }

    #[test]
    fn hashes_are_compared_completely() {
        assert!(same(&hash("a"), &hash("a")));
        assert!(!same(&hash("a"), &hash("b")));
        assert!(!same(&hash("a"), &[]));
    }
}
