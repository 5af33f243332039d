//! How merchants' secrets are kept: sealed with a key that is not in the database, and bound to the place where they are
//! kept, so that a sealed value moved to another merchant, row or column does not open there.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use domain::id::MerchantId;
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use uuid::Uuid;

use crate::platform::entropy::Entropy;

/// The form of what is sealed; its first byte.
const FORM: u8 = 1;
/// The length of a nonce: long enough to be drawn at random for ever.
const NONCE: usize = 24;

/// The keys, the current one first.
#[derive(Clone)]
pub struct Keyring(Arc<[Key]>);

struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

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

/// Why a text holds no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "keys are written `id:key`, the current one first, with commas between; a key is 32 bytes in base64, made with `openssl rand -base64 32`"
)]
pub struct NoKeyring;

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
    /// It was changed, or it belongs elsewhere.
    #[error("what is sealed was changed, or belongs elsewhere")]
    Spoilt,
}

impl Keyring {
    /// The names of the keys, that of the current one first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| key.id.as_str())
    }

    /// Reads `id:key,id:key`.
    pub fn parse(text: &SecretString) -> Result<Self, NoKeyring> {
        let keys: Vec<Key> = text.expose_secret().split(',').map(|key| Key::parse(key.trim())).collect::<Result<_, _>>()?;
        let mut ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() == keys.len() { Ok(Self(keys.into())) } else { Err(NoKeyring) }
    }

    /// The key of every sandbox that is not given one of its own.
    pub fn of_sandboxes() -> Result<Self, NoKeyring> {
        Ok(Self([Key::new("sandbox", &[0x5e; 32])?].into()))
    }

    /// Seals `plain` with the current key.
    pub fn seal(&self, context: &Context<'_>, plain: &[u8], entropy: &Entropy) -> Result<Sealed, NotSealed> {
        let Key { id, cipher } = self.0.first().ok_or(NotSealed)?;
        let nonce = entropy.bytes::<NONCE>();
        let sealed = cipher.encrypt(&nonce.into(), Payload { msg: plain, aad: &context.bytes() }).map_err(|_| NotSealed)?;
        Ok(Sealed { key_id: id.clone(), bytes: [&[FORM], nonce.as_slice(), &sealed].concat() })
    }

    /// Opens what was sealed for this context, with the key that it names.
    pub fn open(&self, context: &Context<'_>, sealed: &Sealed) -> Result<SecretSlice<u8>, NotOpened> {
        let key = self.0.iter().find(|key| key.id == sealed.key_id).ok_or_else(|| NotOpened::UnknownKey(sealed.key_id.clone()))?;
        let (form, rest) = sealed.bytes.split_first().ok_or(NotOpened::Spoilt)?;
        let (nonce, msg) = rest.split_first_chunk::<NONCE>().filter(|_| *form == FORM).ok_or(NotOpened::Spoilt)?;
        let plain = key.cipher.decrypt(&(*nonce).into(), Payload { msg, aad: &context.bytes() });
        plain.map(Into::into).map_err(|_| NotOpened::Spoilt)
    }

    /// Whether it is sealed with the current key; if not, it should be sealed again.
    #[must_use]
    pub fn is_current(&self, sealed: &Sealed) -> bool {
        self.0.first().is_some_and(|key| key.id == sealed.key_id)
    }
}

/// Says which keys there are, and nothing about them.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}

impl Key {
    fn parse(text: &str) -> Result<Self, NoKeyring> {
        let (id, key) = text.split_once(':').ok_or(NoKeyring)?;
        let fit = (1..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fit { Self::new(id, &STANDARD.decode(key).map_err(|_| NoKeyring)?) } else { Err(NoKeyring) }
    }

    fn new(id: &str, bytes: &[u8]) -> Result<Self, NoKeyring> {
        Ok(Self { id: id.to_owned(), cipher: XChaCha20Poly1305::new_from_slice(bytes).map_err(|_| NoKeyring)? })
    }
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
    fn an_older_key_still_opens_and_the_first_one_seals() {
        let before = keyring(&format!("k1:{KEY}"));
        let sealed = before.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap();
        let after = keyring(&format!("k2:{OTHER}, k1:{KEY}\n"));
        assert_eq!(open(&after, &context(), &sealed), Ok(b"secret".to_vec()));
        assert!(before.is_current(&sealed) && !after.is_current(&sealed));
        assert_eq!(after.seal(&context(), b"secret", &Entropy::seeded(1)).unwrap().key_id, "k2");
        let without = keyring(&format!("k2:{OTHER}"));
        assert_eq!(open(&without, &context(), &sealed), Err(NotOpened::UnknownKey("k1".to_owned())));
        let another = keyring(&format!("k1:{OTHER}"));
        assert_eq!(open(&another, &context(), &sealed), Err(NotOpened::Spoilt));
    }

    #[test]
    fn the_same_secret_never_looks_the_same() {
        let (keyring, entropy) = (Keyring::of_sandboxes().unwrap(), Entropy::seeded(1));
        let [one, two] = [(); 2].map(|()| keyring.seal(&context(), b"secret", &entropy).unwrap());
        assert_ne!(one, two);
    }

    #[test]
    fn keys_are_written_with_their_ids() {
        for wrong in [
            "",
            KEY,
            ":",
            "k1:",
            "k1:c2hvcnQ=",
            &format!(":{KEY}"),
            &format!("k 1:{KEY}"),
            &format!("k1:{KEY},"),
            &format!("k1:{KEY},k1:{OTHER}"),
        ] {
            assert_eq!(Keyring::parse(&wrong.into()).err(), Some(NoKeyring), "{wrong}");
        }
        assert_eq!(format!("{:?}", keyring(&format!("k2:{OTHER},k1:{KEY}"))), r#"["k2", "k1"]"#);
    }
}
