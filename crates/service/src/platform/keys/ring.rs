//! Several keys of a kind: how they are written, and which of them is active.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretString};

/// The id of a key that is written without one.
pub const UNNAMED: &str = "default";

/// The error for a text that holds no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "keys are written `id:key`, with commas between; a key is 32 bytes in base64, made with `openssl rand -base64 32`, and no id is there twice"
)]
pub struct NoKeys;

/// Reads `id:key,id:key`. A single key may have no id.
pub(super) fn parse(text: &SecretString) -> Result<Vec<(String, Vec<u8>)>, NoKeys> {
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

/// The position of the active key; at first, the first one.
#[derive(Debug, Default)]
pub(super) struct Active(AtomicUsize);

impl Active {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes the key at this position the active one. One that is not there changes nothing.
    pub(super) fn set(&self, position: Option<usize>) {
        if let Some(position) = position {
            self.0.store(position, Ordering::Relaxed);
        }
    }
}
