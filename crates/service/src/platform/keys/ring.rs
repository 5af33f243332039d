//! Several keys of a kind: how they are written, and which of them is active.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use super::{Kind, Known};

/// The id of a key that is written without one.
pub const UNNAMED: &str = "default";

/// The error for a text that holds no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "keys are written `id:key`, with commas between; a key is 32 bytes in base64, made with `openssl rand -base64 32`, and no id is there twice"
)]
pub struct NoKeys;

/// Reads `id:key,id:key`. A single key may have no id.
fn parse(text: &SecretString) -> Result<Vec<(String, Vec<u8>)>, NoKeys> {
    let keys: Vec<(String, Vec<u8>)> = text.expose_secret().split(',').map(|key| one(key.trim())).collect::<Result<_, _>>()?;
    let mut ids: Vec<&str> = keys.iter().map(|(id, _)| id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() == keys.len() { Ok(keys) } else { Err(NoKeys) }
}

fn one(text: &str) -> Result<(String, Vec<u8>), NoKeys> {
    let (id, key) = text.split_once(':').unwrap_or((UNNAMED, text));
    let fit = (1..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let bytes = STANDARD.decode(key).map_err(|_| NoKeys)?;
    if fit && bytes.len() == 32 { Ok((id.to_owned(), bytes)) } else { Err(NoKeys) }
}

/// The check value of a key.
fn check(key: &[u8], id: &str) -> Result<[u8; 16], NoKeys> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| NoKeys)?;
    mac.update(b"check value of the key ");
    mac.update(id.as_bytes());
    let whole: [u8; 32] = mac.finalize().into_bytes().into();
    Ok(std::array::from_fn(|at| whole.get(at).copied().unwrap_or_default()))
}

/// A key of a ring, made into what computes with it.
#[derive(Clone)]
pub(super) struct Key<K> {
    pub(super) id: String,
    pub(super) made: K,
    check: [u8; 16],
}

impl<K> Key<K> {
    fn new(id: &str, bytes: &[u8], make: impl FnOnce(&[u8]) -> Result<K, NoKeys>) -> Result<Self, NoKeys> {
        Ok(Self { id: id.to_owned(), made: make(bytes)?, check: check(bytes, id)? })
    }
}

/// The keys of a kind, of which one is active: at first, the first one. Copies share which one that is.
#[derive(Clone)]
pub(super) struct Ring<K> {
    keys: Arc<[Key<K>]>,
    /// The position of the active key.
    active: Arc<AtomicUsize>,
}

impl<K: Clone> Ring<K> {
    /// Parses `id:key,id:key`, or a single key without an id.
    pub(super) fn parse(text: &SecretString, make: impl Fn(&[u8]) -> Result<K, NoKeys>) -> Result<Self, NoKeys> {
        let keys = parse(text)?.iter().map(|(id, bytes)| Key::new(id, bytes, &make)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::of(keys))
    }

    /// The same with the well-known key of sandboxes as the last one; it is the only one without others.
    pub(super) fn with_that_of_sandboxes(
        own: Option<Self>,
        bytes: &[u8],
        make: impl FnOnce(&[u8]) -> Result<K, NoKeys>,
    ) -> Result<Self, NoKeys> {
        let built_in = Key::new("sandbox", bytes, make)?;
        let mut keys = own.map(|own| own.keys.to_vec()).unwrap_or_default();
        if !keys.iter().any(|key| key.id == built_in.id) {
            keys.push(built_in);
        }
        Ok(Self::of(keys))
    }

    fn of(keys: Vec<Key<K>>) -> Self {
        Self { keys: keys.into(), active: Arc::default() }
    }

    /// The keys as the database knows them.
    pub(super) fn known(&self, kind: Kind) -> Vec<Known> {
        self.keys.iter().map(|key| Known { kind, id: key.id.clone(), check: key.check }).collect()
    }

    /// Makes the key of this id the active one. One that is not there changes nothing.
    pub(super) fn activate(&self, id: &str) {
        if let Some(position) = self.keys.iter().position(|key| key.id == id) {
            self.active.store(position, Ordering::Relaxed);
        }
    }

    /// The active key. There always is one.
    pub(super) fn active(&self) -> Option<&Key<K>> {
        self.keys.get(self.active.load(Ordering::Relaxed)).or(self.keys.first())
    }

    /// The id of the active key.
    pub(super) fn active_id(&self) -> &str {
        self.active().map_or("", |key| &key.id)
    }

    /// The active key, and then the others.
    pub(super) fn all(&self) -> impl Iterator<Item = &Key<K>> {
        let active = self.active_id();
        self.active().into_iter().chain(self.keys.iter().filter(move |key| key.id != active))
    }

    /// The key of this id.
    pub(super) fn find(&self, id: &str) -> Option<&Key<K>> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}

/// Says which keys there are, and nothing about them.
impl<K> fmt::Debug for Ring<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}
