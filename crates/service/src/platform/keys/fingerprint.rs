//! The keys for shoppers' fingerprints, which are kept outside the database.

use std::fmt;
use std::sync::Arc;

use domain::orders::shopper::{normal_email, normal_zip};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::SecretString;
use sha2::Sha256;
use store::orders::snapshots::Fingerprint;

use super::ring::{Active, NoKeys, parse};
use super::{Kind, Known};

/// Computes the fingerprints by which shoppers' e-mail addresses and postal codes are compared. Without the keys, a copy of the
/// database does not reveal them, not even by trying addresses.
///
/// New fingerprints are computed with the active key. While keys are being rotated, stored ones may be of any of them, so whatever is
/// looked up is computed with all.
#[derive(Clone)]
pub struct FingerprintKeys {
    keys: Arc<[Key]>,
    active: Arc<Active>,
}

struct Key {
    id: String,
    mac: Hmac<Sha256>,
    check: [u8; 16],
}

impl FingerprintKeys {
    /// Parses `id:key,id:key`, or a single key in base64 without an id.
    pub fn parse(text: &SecretString) -> Result<Self, NoKeys> {
        let keys = parse(text)?.into_iter().map(|(id, bytes)| Key::new(id, &bytes)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { keys: keys.into(), active: Arc::default() })
    }

    /// The same with the well-known key of sandboxes as the last one; it is the only one without others.
    pub fn with_that_of_sandboxes(keys: Option<Self>) -> Result<Self, NoKeys> {
        let built_in = Key::new("sandbox".to_owned(), &[0x5b; 32])?;
        let own = keys.map(|keys| keys.keys.iter().map(Key::copy).collect::<Vec<_>>()).unwrap_or_default();
        let keys = if own.iter().any(|key| key.id == built_in.id) { own } else { own.into_iter().chain([built_in]).collect() };
        Ok(Self { keys: keys.into(), active: Arc::default() })
    }

    /// The keys as the database knows them.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        self.keys.iter().map(|key| Known { kind: Kind::Fingerprint, id: key.id.clone(), check: key.check }).collect()
    }

    /// Computes new fingerprints with the key of this id from now on.
    pub fn activate(&self, id: &str) {
        self.active.set(self.keys.iter().position(|key| key.id == id));
    }

    /// The id of the active key.
    #[must_use]
    pub fn active(&self) -> &str {
        self.active_key().map_or("", |key| &key.id)
    }

    fn active_key(&self) -> Option<&Key> {
        self.keys.get(self.active.get()).or(self.keys.first())
    }

    /// The active key, and then the others.
    fn all(&self) -> impl Iterator<Item = &Key> {
        let active = self.active();
        let others = self.keys.iter().filter(move |key| key.id != active);
        self.active_key().into_iter().chain(others)
    }

    /// Whether there is one key only, so that whatever is stored is of that one.
    #[must_use]
    pub fn are_one(&self) -> bool {
        self.keys.len() == 1
    }

    /// The fingerprint of an e-mail address.
    #[must_use]
    pub fn email(&self, email: &str) -> Fingerprint {
        self.with(|key| key.of("email", &normal_email(email)))
    }

    /// The fingerprints of an e-mail address by every key, that of the active one first.
    #[must_use]
    pub fn emails(&self, email: &str) -> Vec<Fingerprint> {
        self.all().map(|key| key.of("email", &normal_email(email))).collect()
    }

    /// The fingerprint of a postal code.
    #[must_use]
    pub fn zip(&self, zip_code: &str, country_code: Option<&str>) -> Fingerprint {
        self.with(|key| key.of("zip", &normal_zip(zip_code, country_code)))
    }

    /// The fingerprints of a postal code by every key, that of the active one first.
    #[must_use]
    pub fn zips(&self, zip_code: &str, country_code: Option<&str>) -> Vec<Fingerprint> {
        self.all().map(|key| key.of("zip", &normal_zip(zip_code, country_code))).collect()
    }

    /// The key of a counter of misses in the portal: an address or an order's number must not be stored in the clear. Counters live
    /// for a day at most, so those of other keys are not looked for.
    #[must_use]
    pub fn miss(&self, of: &str, value: &str) -> Fingerprint {
        self.with(|key| key.of(of, value))
    }

    /// The keyed hash under which an operator's personal token is stored.
    #[must_use]
    pub fn token(&self, token: &str) -> [u8; 32] {
        self.with(|key| key.whole("operator token", token.as_bytes()))
    }

    /// The keyed hashes of a personal token by every key, that of the active one first.
    #[must_use]
    pub fn tokens(&self, token: &str) -> Vec<[u8; 32]> {
        self.all().map(|key| key.whole("operator token", token.as_bytes())).collect()
    }

    /// The check in an access token, by which a forged one is known without the database.
    #[must_use]
    pub fn access_token(&self, bytes: &[u8]) -> [u8; 32] {
        self.with(|key| key.whole("access token", bytes))
    }

    /// The checks in an access token by every key, that of the active one first.
    pub fn access_tokens<'k>(&'k self, bytes: &'k [u8]) -> impl Iterator<Item = [u8; 32]> + 'k {
        self.all().map(|key| key.whole("access token", bytes))
    }

    /// A secret or an e-mail address as the audit trail shows it. Two can be compared, and nothing else.
    #[must_use]
    pub fn audited(&self, value: &str) -> String {
        let first_bytes = u128::from_be_bytes(self.with(|key| key.of("audit", value))) >> 80;
        format!("hmac:{first_bytes:012x}")
    }

    /// There is always a key, so the default is never used.
    fn with<T: Default>(&self, compute: impl Fn(&Key) -> T) -> T {
        self.active_key().map(compute).unwrap_or_default()
    }
}

/// Says which keys there are, and nothing about them.
impl fmt::Debug for FingerprintKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

impl Key {
    fn new(id: String, bytes: &[u8]) -> Result<Self, NoKeys> {
        let mac = Hmac::new_from_slice(bytes).map_err(|_| NoKeys)?;
        let check = super::check(bytes, &id)?;
        Ok(Self { id, mac, check })
    }

    fn copy(&self) -> Self {
        Self { id: self.id.clone(), mac: self.mac.clone(), check: self.check }
    }

    /// Truncated to save storage; 16 bytes are plenty to compare the shopper of one order.
    fn of(&self, kind: &str, value: &str) -> Fingerprint {
        let whole = self.whole(kind, value.as_bytes());
        std::array::from_fn(|at| whole.get(at).copied().unwrap_or_default())
    }

    fn whole(&self, kind: &str, value: &[u8]) -> [u8; 32] {
        let mut mac = self.mac.clone();
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(value);
        mac.finalize().into_bytes().into()
    }
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
