//! The keys for shoppers' fingerprints, which are kept outside the database.

use std::fmt;

use domain::orders::shopper::{normal_email, normal_zip};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::SecretString;
use sha2::Sha256;
use store::orders::snapshots::Fingerprint;

use super::ring::{NoKeys, Ring};
use super::{Kind, Known};

/// Computes the fingerprints by which shoppers' e-mail addresses and postal codes are compared. Without the keys, a copy of the
/// database does not reveal them, not even by trying addresses.
///
/// New fingerprints are computed with the active key. While keys are being rotated, stored ones may be of any of them, so whatever is
/// looked up is computed with all.
#[derive(Clone)]
pub struct FingerprintKeys(Ring<Hmac<Sha256>>);

impl FingerprintKeys {
    /// Parses `id:key,id:key`, or a single key in base64 without an id.
    pub fn parse(text: &SecretString) -> Result<Self, NoKeys> {
        Ring::parse(text, mac).map(Self)
    }

    /// The same with the well-known key of sandboxes as the last one; it is the only one without others.
    pub fn with_that_of_sandboxes(keys: Option<Self>) -> Result<Self, NoKeys> {
        Ring::with_that_of_sandboxes(keys.map(|keys| keys.0), &[0x5b; 32], mac).map(Self)
    }

    /// The keys as the database knows them.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        self.0.known(Kind::Fingerprint)
    }

    /// Computes new fingerprints with the key of this id from now on.
    pub fn activate(&self, id: &str) {
        self.0.activate(id);
    }

    /// The id of the active key.
    #[must_use]
    pub fn active(&self) -> &str {
        self.0.active_id()
    }

    /// Whether there is one key only, so that whatever is stored is of that one.
    #[must_use]
    pub fn are_one(&self) -> bool {
        self.0.len() == 1
    }

    /// The fingerprint of an e-mail address.
    #[must_use]
    pub fn email(&self, email: &str) -> Fingerprint {
        self.with(|mac| short(mac, "email", &normal_email(email)))
    }

    /// The fingerprints of an e-mail address by every key, that of the active one first.
    #[must_use]
    pub fn emails(&self, email: &str) -> Vec<Fingerprint> {
        self.all().map(|mac| short(mac, "email", &normal_email(email))).collect()
    }

    /// The fingerprint of a postal code.
    #[must_use]
    pub fn zip(&self, zip_code: &str, country_code: Option<&str>) -> Fingerprint {
        self.with(|mac| short(mac, "zip", &normal_zip(zip_code, country_code)))
    }

    /// The fingerprints of a postal code by every key, that of the active one first.
    #[must_use]
    pub fn zips(&self, zip_code: &str, country_code: Option<&str>) -> Vec<Fingerprint> {
        self.all().map(|mac| short(mac, "zip", &normal_zip(zip_code, country_code))).collect()
    }

    /// The key of a counter of misses in the portal: an address or an order's number must not be stored in the clear. Counters live
    /// for a day at most, so those of other keys are not looked for.
    #[must_use]
    pub fn miss(&self, of: &str, value: &str) -> Fingerprint {
        self.with(|mac| short(mac, of, value))
    }

    /// The keyed hash under which an operator's personal token is stored.
    #[must_use]
    pub fn token(&self, token: &str) -> [u8; 32] {
        self.with(|mac| whole(mac, "operator token", token.as_bytes()))
    }

    /// The keyed hashes of a personal token by every key, that of the active one first.
    #[must_use]
    pub fn tokens(&self, token: &str) -> Vec<[u8; 32]> {
        self.all().map(|mac| whole(mac, "operator token", token.as_bytes())).collect()
    }

    /// The check in an access token, by which a forged one is known without the database.
    #[must_use]
    pub fn access_token(&self, bytes: &[u8]) -> [u8; 32] {
        self.with(|mac| whole(mac, "access token", bytes))
    }

    /// The checks in an access token by every key, that of the active one first.
    pub fn access_tokens<'k>(&'k self, bytes: &'k [u8]) -> impl Iterator<Item = [u8; 32]> + 'k {
        self.all().map(|mac| whole(mac, "access token", bytes))
    }

    /// A secret or an e-mail address as the audit trail shows it. Two can be compared, and nothing else.
    #[must_use]
    pub fn audited(&self, value: &str) -> String {
        let first_bytes = u128::from_be_bytes(self.with(|mac| short(mac, "audit", value))) >> 80;
        format!("hmac:{first_bytes:012x}")
    }

    /// There is always a key, so the default is never used.
    fn with<T: Default>(&self, compute: impl Fn(&Hmac<Sha256>) -> T) -> T {
        self.0.active().map(|key| compute(&key.made)).unwrap_or_default()
    }

    /// The active key, and then the others.
    fn all(&self) -> impl Iterator<Item = &Hmac<Sha256>> {
        self.0.all().map(|key| &key.made)
    }
}

/// Says which keys there are, and nothing about them.
impl fmt::Debug for FingerprintKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A key as it computes.
fn mac(bytes: &[u8]) -> Result<Hmac<Sha256>, NoKeys> {
    Hmac::new_from_slice(bytes).map_err(|_| NoKeys)
}

/// Truncated to save storage; 16 bytes are plenty to compare the shopper of one order.
fn short(mac: &Hmac<Sha256>, kind: &str, value: &str) -> Fingerprint {
    let whole = whole(mac, kind, value.as_bytes());
    std::array::from_fn(|at| whole.get(at).copied().unwrap_or_default())
}

fn whole(mac: &Hmac<Sha256>, kind: &str, value: &[u8]) -> [u8; 32] {
    let mut mac = mac.clone();
    mac.update(kind.as_bytes());
    mac.update(&[0]);
    mac.update(value);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    const NEW: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";

    #[test]
    fn the_active_key_computes_and_all_keys_are_looked_up() {
        let before = FingerprintKeys::parse(&OLD.into()).unwrap();
        assert_eq!(format!("{before:?}"), r#"["default"]"#);
        let after = FingerprintKeys::parse(&format!("k2:{NEW},default:{OLD}").into()).unwrap();
        after.activate("default");
        assert_eq!(after.email("pat@example.com"), before.email("PAT@example.com "));
        after.activate("k2");
        assert_ne!(after.email("pat@example.com"), before.email("pat@example.com"));
        assert_eq!(after.emails("pat@example.com")[1], before.email("pat@example.com"));
        assert_eq!(after.tokens("bho_x")[1], before.token("bho_x"));
        assert_eq!(after.access_tokens(b"x").nth(1), Some(before.access_token(b"x")));
        after.activate("unknown");
        assert_eq!(after.active(), "k2", "what is not there cannot be used");
    }

    #[test]
    fn a_sandbox_keeps_its_built_in_key_beside_its_own() {
        let built_in = FingerprintKeys::with_that_of_sandboxes(None).unwrap();
        let own = FingerprintKeys::parse(&NEW.into()).unwrap();
        let both = FingerprintKeys::with_that_of_sandboxes(Some(own)).unwrap();
        assert_eq!((built_in.active(), both.active()), ("sandbox", "default"));
        assert_eq!(both.emails("pat@example.com")[1], built_in.email("pat@example.com"));
    }
}
