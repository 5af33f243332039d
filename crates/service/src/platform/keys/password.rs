//! Operators' passwords: hashed with Argon2id, a few at a time, so that a flood of sign-ins cannot eat the memory.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Semaphore;

use crate::platform::entropy::Entropy;

/// The memory of one hash, in KiB, and its passes over it.
const MEMORY: u32 = 19_456;
const PASSES: u32 = 2;
/// The hashes that are computed at a time. Others wait.
static AT_A_TIME: Semaphore = Semaphore::const_new(2);
/// The salt of the hash that is computed for accounts without a password.
const NOBODYS_SALT: &[u8; 16] = b"nobody is hashed";

/// The password could not be hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct NotHashed;

fn hasher() -> Result<Argon2<'static>, NotHashed> {
    let params = Params::new(MEMORY, PASSES, 1, None).map_err(|_| NotHashed)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Hashes a new password. The result is a PHC string, which holds the salt and the parameters.
pub async fn hash(password: &SecretString, entropy: &Entropy) -> Result<String, NotHashed> {
    let salt = entropy.bytes::<16>();
    let password = password.clone();
    work(move || {
        let hash = hasher()?.hash_password_with_salt(password.expose_secret().as_bytes(), &salt).map_err(|_| NotHashed)?;
        Ok(hash.to_string())
    })
    .await
}

/// Compares a password with a stored hash. Without one, it takes as long and is false, so that nobody learns who has an account.
pub async fn verify(password: &SecretString, stored: Option<&str>) -> Result<bool, NotHashed> {
    let (password, stored): (SecretString, Option<Arc<str>>) = (password.clone(), stored.map(Into::into));
    work(move || {
        let (hasher, password) = (hasher()?, password.expose_secret().as_bytes());
        match stored.as_deref().map(PasswordHash::new) {
            Some(Ok(stored)) => Ok(hasher.verify_password(password, &stored).is_ok()),
            Some(Err(_)) => Err(NotHashed),
            None => {
                let mut hash = [0; 32];
                hasher.hash_password_into(password, NOBODYS_SALT, &mut hash).map_err(|_| NotHashed)?;
                Ok(false)
            }
        }
    })
    .await
}

#[expect(clippy::disallowed_methods, reason = "a hash takes tens of milliseconds of computing by design")]
async fn work<T: Send + 'static>(work: impl FnOnce() -> Result<T, NotHashed> + Send + 'static) -> Result<T, NotHashed> {
    let permit = AT_A_TIME.acquire().await.map_err(|_| NotHashed)?;
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| NotHashed)?;
    drop(permit);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_only() {
        let entropy = Entropy::seeded(1);
        let password = SecretString::from("correct horse battery");
        let stored = hash(&password, &entropy).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(!stored.contains("correct"));
        assert_eq!(verify(&password, Some(&stored)).await, Ok(true));
        assert_eq!(verify(&"correct horse batterY".into(), Some(&stored)).await, Ok(false));
        assert_eq!(verify(&password, None).await, Ok(false));
        assert_eq!(verify(&password, Some("no hash")).await, Err(NotHashed));
        assert_ne!(hash(&password, &entropy).await.unwrap(), stored, "each hash has a salt of its own");
    }
}
