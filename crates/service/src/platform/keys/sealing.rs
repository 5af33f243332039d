//! How secrets are kept: sealed with a key that is not in the database, and bound to the place where they are kept, so that a sealed
//! value moved to another merchant, row or column does not open there.
//!
//! A merchant's secrets are sealed with a key of the merchant, its data key, which is itself sealed with a key of the installation.
//! So a new key of the installation seals the data keys anew and nothing else, and without its data key nothing of a merchant opens
//! any more.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use uuid::Uuid;

use super::ring::{NoKeys, Ring};
use super::{Kind, Known};
use crate::platform::entropy::Entropy;

/// The form of what is sealed; its first byte.
const FORM: u8 = 1;
/// The length of a nonce: long enough to be drawn at random for ever.
const NONCE: usize = 24;
/// The length of a data key.
const KEY_BYTES: usize = 32;

/// The name under which values are kept that a data key has sealed. No key of the installation can have it.
pub const OF_MERCHANT: &str = "@merchant";

/// The keys of the installation, of which one is active.
#[derive(Clone)]
pub struct Keyring(Ring<XChaCha20Poly1305>);

/// The data key of a merchant.
pub struct DataKey(XChaCha20Poly1305);

/// Where a secret is kept.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Whose it is.
    pub merchant: MerchantId,
    /// Its row.
    pub row: Uuid,
    /// Its column, with the table's name: `endpoint.authentication`.
    pub column: &'a str,
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Which key opens it.
    pub key_id: String,
    /// The form, the nonce, and what is sealed.
    pub bytes: Vec<u8>,
}

/// Why something cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is too long to be sealed")]
pub struct NotSealed;

/// Why something does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// Its key is not there.
    #[error("it was sealed with the key `{0}`, which is not in keys.sealing")]
    UnknownKey(String),
    /// The merchant has no data key any more.
    #[error("the merchant's data key was deleted, so its secrets cannot be read any more")]
    NoDataKey,
    /// It was changed, or it belongs elsewhere.
    #[error("what is sealed was changed, or belongs elsewhere")]
    Spoilt,
}

impl Keyring {
    /// Reads `id:key,id:key`.
    pub fn parse(text: &SecretString) -> Result<Self, NoKeys> {
        Ring::parse(text, cipher).map(Self)
    }

    /// The same with the well-known key of sandboxes as the last one; it is the only one without others.
    pub fn with_that_of_sandboxes(keys: Option<Self>) -> Result<Self, NoKeys> {
        Ring::with_that_of_sandboxes(keys.map(|keys| keys.0), &[0x5e; KEY_BYTES], cipher).map(Self)
    }

    /// The keys as the database knows them.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        self.0.known(Kind::Sealing)
    }

    /// Seals with the key of this id from now on.
    pub fn activate(&self, id: &str) {
        self.0.activate(id);
    }

    /// The id of the active key.
    #[must_use]
    pub fn active(&self) -> &str {
        self.0.active_id()
    }

    /// Seals `plain` with the active key, for what belongs to no merchant.
    pub fn seal(&self, context: &Context<'_>, plain: &[u8], entropy: &Entropy) -> Result<Sealed, NotSealed> {
        let key = self.0.active().ok_or(NotSealed)?;
        Ok(Sealed { key_id: key.id.clone(), bytes: encrypt(&key.made, context, plain, entropy)? })
    }

    /// Opens what was sealed for this context, with the key that it names.
    pub fn open(&self, context: &Context<'_>, sealed: &Sealed) -> Result<SecretSlice<u8>, NotOpened> {
        let key = self.0.find(&sealed.key_id).ok_or_else(|| NotOpened::UnknownKey(sealed.key_id.clone()))?;
        decrypt(&key.made, context, &sealed.bytes)
    }

    /// Whether it is sealed with the active key; if not, it should be sealed again.
    #[must_use]
    pub fn is_current(&self, key_id: &str) -> bool {
        self.active() == key_id
    }

    /// Makes a data key for `merchant`, sealed.
    pub fn new_data_key(&self, merchant: MerchantId, entropy: &Entropy) -> Result<Sealed, NotSealed> {
        self.seal(&of_data_key(merchant), &entropy.bytes::<KEY_BYTES>(), entropy)
    }

    /// Opens the data key of `merchant`.
    pub fn data_key(&self, merchant: MerchantId, sealed: &Sealed) -> Result<DataKey, NotOpened> {
        let bytes = self.open(&of_data_key(merchant), sealed)?;
        XChaCha20Poly1305::new_from_slice(bytes.expose_secret()).map(DataKey).map_err(|_| NotOpened::Spoilt)
    }

    /// Seals the data key of `merchant` with the active key.
    pub fn reseal_data_key(&self, merchant: MerchantId, sealed: &Sealed, entropy: &Entropy) -> Result<Sealed, NotOpened> {
        let bytes = self.open(&of_data_key(merchant), sealed)?;
        self.seal(&of_data_key(merchant), bytes.expose_secret(), entropy).map_err(|NotSealed| NotOpened::Spoilt)
    }
}

impl DataKey {
    /// Seals `plain` with the merchant's key.
    pub fn seal(&self, context: &Context<'_>, plain: &[u8], entropy: &Entropy) -> Result<Sealed, NotSealed> {
        Ok(Sealed { key_id: OF_MERCHANT.to_owned(), bytes: encrypt(&self.0, context, plain, entropy)? })
    }

    /// Opens what was sealed for this context.
    pub fn open(&self, context: &Context<'_>, bytes: &[u8]) -> Result<SecretSlice<u8>, NotOpened> {
        decrypt(&self.0, context, bytes)
    }
}

fn encrypt(cipher: &XChaCha20Poly1305, context: &Context<'_>, plain: &[u8], entropy: &Entropy) -> Result<Vec<u8>, NotSealed> {
    let nonce = entropy.bytes::<NONCE>();
    let sealed = cipher.encrypt(&nonce.into(), Payload { msg: plain, aad: &context.bytes() }).map_err(|_| NotSealed)?;
    Ok([&[FORM], nonce.as_slice(), &sealed].concat())
}

fn decrypt(cipher: &XChaCha20Poly1305, context: &Context<'_>, bytes: &[u8]) -> Result<SecretSlice<u8>, NotOpened> {
    let (form, rest) = bytes.split_first().ok_or(NotOpened::Spoilt)?;
    let (nonce, msg) = rest.split_first_chunk::<NONCE>().filter(|_| *form == FORM).ok_or(NotOpened::Spoilt)?;
    let plain = cipher.decrypt(&(*nonce).into(), Payload { msg, aad: &context.bytes() });
    plain.map(Into::into).map_err(|_| NotOpened::Spoilt)
}

/// Where the data key of a merchant is kept.
fn of_data_key(merchant: MerchantId) -> Context<'static> {
    Context { merchant, row: merchant.0, column: "merchant_key.sealed" }
}

/// Says which keys there are, and nothing about them.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A key as it seals and opens.
fn cipher(bytes: &[u8]) -> Result<XChaCha20Poly1305, NoKeys> {
    XChaCha20Poly1305::new_from_slice(bytes).map_err(|_| NoKeys)
}

impl Context<'_> {
    /// No two contexts have the same bytes: only the last part can have another length.
    fn bytes(&self) -> Vec<u8> {
        [self.merchant.0.as_bytes(), self.row.as_bytes(), self.column.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    const OTHER: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";

    fn keyring(text: &str) -> Keyring {
        Keyring::parse(&text.into()).unwrap()
    }

    fn context() -> Context<'static> {
        Context { merchant: MerchantId(Uuid::from_u128(1)), row: Uuid::from_u128(2), column: "endpoint.authentication" }
    }

    fn open(keyring: &Keyring, context: &Context<'_>, sealed: &Sealed) -> Result<Vec<u8>, NotOpened> {
        keyring.open(context, sealed).map(|plain| plain.expose_secret().to_vec())
    }

    #[test]
    fn what_is_sealed_opens_where_it_was_sealed_and_nowhere_else() {
        let keyring = keyring(&format!("k1:{KEY}"));
        let sealed = keyring.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap();
        assert_eq!(sealed.key_id, "k1");
        assert!(!sealed.bytes.windows(6).any(|window| window == b"secret"));
        assert_eq!(open(&keyring, &context(), &sealed), Ok(b"secret".to_vec()));
        for elsewhere in [
            Context { merchant: MerchantId(Uuid::from_u128(9)), ..context() },
            Context { row: Uuid::from_u128(9), ..context() },
            Context { column: "endpoint.signing_secret", ..context() },
            Context { column: "", ..context() },
        ] {
            assert_eq!(open(&keyring, &elsewhere, &sealed), Err(NotOpened::Spoilt), "{elsewhere:?}");
        }
    }

    #[test]
    fn a_change_of_any_byte_is_noticed() {
        let keyring = keyring(&format!("k1:{KEY}"));
        let sealed = keyring.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap();
        for at in 0..sealed.bytes.len() {
            let mut changed = sealed.clone();
            changed.bytes[at] ^= 1;
            assert_eq!(open(&keyring, &context(), &changed), Err(NotOpened::Spoilt), "byte {at}");
            changed.bytes.truncate(at);
            assert_eq!(open(&keyring, &context(), &changed), Err(NotOpened::Spoilt), "{at} bytes");
        }
    }

    #[test]
    fn an_older_key_still_opens_and_the_active_one_seals() {
        let before = keyring(&format!("k1:{KEY}"));
        let sealed = before.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap();
        let after = keyring(&format!("k2:{OTHER}, k1:{KEY}\n"));
        assert_eq!(open(&after, &context(), &sealed), Ok(b"secret".to_vec()));
        assert!(before.is_current("k1") && !after.is_current("k1"));
        let seals_with = || after.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap().key_id;
        assert_eq!(seals_with(), "k2", "the first one, as long as nobody says more");
        after.activate("k1");
        assert_eq!(seals_with(), "k1");
        let without = keyring(&format!("k2:{OTHER}"));
        assert_eq!(open(&without, &context(), &sealed), Err(NotOpened::UnknownKey("k1".to_owned())));
        let another = keyring(&format!("k1:{OTHER}"));
        assert_eq!(open(&another, &context(), &sealed), Err(NotOpened::Spoilt));
    }

    #[test]
    fn without_its_data_key_nothing_of_a_merchant_opens() {
        let (keyring, entropy) = (keyring(&format!("k1:{KEY}")), Entropy::seeded(1));
        let merchants = [1, 2].map(|number| MerchantId(Uuid::from_u128(number)));
        let [mine, other] = merchants.map(|merchant| keyring.new_data_key(merchant, &entropy).unwrap());
        let key = keyring.data_key(merchants[0], &mine).unwrap();
        let sealed = key.seal(&context(), b"secret", &entropy).unwrap();
        assert_eq!(sealed.key_id, OF_MERCHANT);
        assert_eq!(key.open(&context(), &sealed.bytes).unwrap().expose_secret(), b"secret");
        let others = keyring.data_key(merchants[1], &other).unwrap();
        assert!(others.open(&context(), &sealed.bytes).is_err(), "another merchant's key");
        assert!(keyring.data_key(merchants[0], &other).is_err(), "a key that was moved to another merchant");
        assert!(keyring.open(&context(), &sealed).is_err(), "the installation's key alone");
    }

    #[test]
    fn a_new_key_of_the_installation_seals_the_data_key_and_leaves_the_values() {
        let entropy = Entropy::seeded(1);
        let merchant = MerchantId(Uuid::from_u128(1));
        let before = keyring(&format!("k1:{KEY}"));
        let old = before.new_data_key(merchant, &entropy).unwrap();
        let sealed = before.data_key(merchant, &old).unwrap().seal(&context(), b"secret", &entropy).unwrap();
        let new = keyring(&format!("k2:{OTHER},k1:{KEY}")).reseal_data_key(merchant, &old, &entropy).unwrap();
        assert_eq!(new.key_id, "k2");
        let after = keyring(&format!("k2:{OTHER}"));
        assert_eq!(after.data_key(merchant, &new).unwrap().open(&context(), &sealed.bytes).unwrap().expose_secret(), b"secret");
        assert!(after.data_key(merchant, &old).is_err());
    }

    #[test]
    fn the_same_secret_never_looks_the_same() {
        let (keyring, entropy) = (Keyring::with_that_of_sandboxes(None).unwrap(), Entropy::seeded(1));
        let [one, two] = [(); 2].map(|()| keyring.seal(&context(), b"secret", &entropy).unwrap());
        assert_ne!(one, two);
    }

    #[test]
    fn keys_are_written_with_their_ids() {
        for wrong in [
            "",
            ":",
            "k1:",
            "k1:c2hvcnQ=",
            &format!(":{KEY}"),
            &format!("k 1:{KEY}"),
            &format!("k1:{KEY},"),
            &format!("k1:{KEY},k1:{OTHER}"),
        ] {
            assert_eq!(Keyring::parse(&wrong.into()).err(), Some(NoKeys), "{wrong}");
        }
        assert_eq!(format!("{:?}", keyring(&format!("k2:{OTHER},k1:{KEY}"))), r#"["k2", "k1"]"#);
    }
}
