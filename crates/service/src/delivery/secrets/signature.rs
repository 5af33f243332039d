//! Signatures of messages, as defined by [Standard Webhooks].
//!
//! [Standard Webhooks]: https://www.standardwebhooks.com

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use sha2::Sha256;

use crate::platform::entropy::Entropy;

/// The prefix of a secret in its text form.
const PREFIX: &str = "whsec_";
/// The length of a new secret in bytes.
const NEW: usize = 32;

/// A signing secret that we share with an endpoint: 24 to 64 bytes.
#[derive(Clone)]
pub struct Secret {
    bytes: SecretSlice<u8>,
    mac: Hmac<Sha256>,
}

/// The text or the bytes are not a valid [`Secret`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret must be `whsec_` followed by 24 to 64 bytes in base64")]
pub struct NoSecret;

impl Secret {
    /// Generates a random secret.
    pub fn generate(entropy: &Entropy) -> Result<Self, NoSecret> {
        Self::new(entropy.bytes::<NEW>().to_vec())
    }

    /// Parses the text form of a secret.
    pub fn parse(text: &SecretString) -> Result<Self, NoSecret> {
        let encoded = text.expose_secret().trim().strip_prefix(PREFIX).ok_or(NoSecret)?;
        Self::new(STANDARD.decode(encoded).map_err(|_| NoSecret)?)
    }

    /// Restores a secret from [`Self::bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoSecret> {
        Self::new(bytes.to_vec())
    }

    /// The raw bytes, to be sealed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.expose_secret()
    }

    fn new(bytes: Vec<u8>) -> Result<Self, NoSecret> {
        if !(24..=64).contains(&bytes.len()) {
            return Err(NoSecret);
        }
        let mac = Hmac::new_from_slice(&bytes).map_err(|_| NoSecret)?;
        Ok(Self { bytes: bytes.into(), mac })
    }

    /// The text form, as the merchant gets it.
    #[must_use]
    pub fn show(&self) -> SecretString {
        format!("{PREFIX}{}", STANDARD.encode(self.bytes.expose_secret())).into()
    }

    /// The signature of message `id` sent at `timestamp`.
    fn sign(&self, id: &str, timestamp: DateTime<Utc>, body: &[u8]) -> String {
        let mut mac = self.mac.clone();
        mac.update(format!("{id}.{}.", timestamp.timestamp()).as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// Does not reveal the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The value of `webhook-signature`: one signature per valid secret, because while a secret is being replaced the endpoint may
/// know only one of the two. `timestamp` is the value of `webhook-timestamp`, in whole seconds.
#[must_use]
pub fn sign(secrets: &[&Secret], id: &str, timestamp: DateTime<Utc>, body: &[u8]) -> String {
    secrets.iter().map(|secret| secret.sign(id, timestamp, body)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use standardwebhooks::Webhook;

    use super::*;
    use crate::platform::clock::Clock;

    const BODY: &[u8] = r#"{"rma_identifier":"R-1","note":"größer"}"#.as_bytes();

    fn secret(text: &str) -> Result<Secret, NoSecret> {
        Secret::parse(&text.into())
    }

    fn headers(id: &str, timestamp: DateTime<Utc>, signature: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        headers.insert("webhook-timestamp", timestamp.timestamp().to_string().parse().unwrap());
        headers.insert("webhook-signature", signature.parse().unwrap());
        headers
    }

    #[test]
    fn the_published_example_is_signed_as_published() {
        let secret = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let timestamp = DateTime::from_timestamp(1_614_265_330, 0).unwrap();
        let signature = sign(&[&secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_reference_verifies_what_we_sign_with_every_live_secret() {
        let (entropy, now) = (Entropy::seeded(1), Clock::system().now());
        let [old, new, other] = [(); 3].map(|()| Secret::generate(&entropy).unwrap());
        let signature = sign(&[&new, &old], "msg_1", now, BODY);
        assert_eq!(signature.split(' ').count(), 2);
        let verify = |secret: &Secret, id, body: &[u8]| {
            Webhook::new(secret.show().expose_secret()).unwrap().verify(body, &headers(id, now, &signature)).is_ok()
        };
        assert!(verify(&old, "msg_1", BODY) && verify(&new, "msg_1", BODY));
        assert!(!verify(&other, "msg_1", BODY));
        assert!(!verify(&new, "msg_2", BODY));
        assert!(!verify(&new, "msg_1", b"{}"));
    }

    #[test]
    fn a_secret_is_24_to_64_bytes_and_reads_as_it_is_shown() {
        for length in [24, 32, 64] {
            let text = format!("whsec_{}", STANDARD.encode(vec![7; length]));
            assert_eq!(secret(&text).unwrap().show().expose_secret(), text);
        }
        for length in [0, 23, 65] {
            assert_eq!(secret(&format!("whsec_{}", STANDARD.encode(vec![7; length]))).err(), Some(NoSecret));
        }
        for text in ["", "whsec_", "whsec_!", &STANDARD.encode([7; 32]), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert_eq!(secret(text).err(), Some(NoSecret), "{text}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::generate(&Entropy::seeded(1)).unwrap()), "Secret(…)");
    }
}
