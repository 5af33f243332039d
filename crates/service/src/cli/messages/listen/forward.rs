//! Calls to the local server, with the headers and the signature of the delivery engine.

use std::time::Duration;

use bytes::Bytes;
use domain::messages::delivery::Outcome;
use domain::messages::message::Interface;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use url::Url;
use wire::messages::event::EventIn;

use crate::delivery::client::Client;
use crate::delivery::secrets::signature::{NoSecret, Secret};
use crate::delivery::{Envelope, headers};

const VERSION: HeaderName = HeaderName::from_static(wire::messages::headers::VERSION);
/// The purpose of the derived secret, so that nothing else derives the same.
const PURPOSE: &[u8] = b"backhaul listen: signing secret";

/// The signing secret that belongs to a credential: the same at every start, and nothing is stored. It tells nothing about the
/// credential's own secret.
pub(super) fn secret_for(client_secret: &SecretString) -> Result<Secret, NoSecret> {
    let mut mac = Hmac::<Sha256>::new_from_slice(client_secret.expose_secret().as_bytes()).map_err(|_| NoSecret)?;
    mac.update(PURPOSE);
    Secret::from_bytes(&mac.finalize().into_bytes())
}

/// The outcome of an attempt.
pub(super) enum Sent {
    Accepted {
        answer: String,
        took: Duration,
    },
    NotAccepted {
        answer: String,
        took: Duration,
    },
    /// No server listens there.
    Nobody {
        why: String,
    },
}

/// Sends messages to the local server.
pub(super) struct Forwarder {
    client: Client,
    url: String,
    secret: Secret,
    attempts: u8,
}

impl Forwarder {
    pub(super) fn new(client: Client, url: &Url, secret: Secret, attempts: u8) -> Self {
        Self { client, url: url.to_string(), secret, attempts }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The attempts for a message that is answered, but not accepted.
    pub(super) fn attempts(&self) -> u8 {
        self.attempts
    }

    /// Posts a message, with the deadline of every delivery.
    pub(super) async fn send(&self, message: &EventIn, attempt: u8) -> Sent {
        let body = message.body.get().as_bytes();
        let EventIn { id, event, sequence, .. } = message;
        let envelope = Envelope { id: *id, event, sequence: *sequence, attempt: attempt.into(), body };
        let mut request = self.client.request(Method::POST, &self.url);
        request.headers = headers(&[&self.secret], &envelope, self.client.clock().wall());
        if let Ok(interface) = message.interface.parse::<Interface>() {
            request.headers.insert(VERSION, HeaderValue::from_static(interface.version()));
        }
        request.body = Bytes::copy_from_slice(body);
        let result = self.client.call(request).await;
        let (answer, took) = (result.outcome.word(), result.took);
        match result.outcome {
            Outcome::Unreachable(why) | Outcome::Refused(why) => Sent::Nobody { why },
            outcome if outcome.is_success() => Sent::Accepted { answer, took },
            Outcome::Answered { .. } | Outcome::TimedOut => Sent::NotAccepted { answer, took },
        }
    }
}

/// The text form of a secret, for whoever checks signatures with it.
pub(super) fn shown(secret: &Secret) -> String {
    secret.show().expose_secret().to_owned()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn a_credential_has_one_signing_secret_which_is_not_its_own() {
        let secret = |text: &str| shown(&secret_for(&text.to_owned().into()).unwrap());
        assert_eq!(secret("bhs_one"), secret("bhs_one"));
        assert_ne!(secret("bhs_one"), secret("bhs_two"));
        assert!(!secret("bhs_one").contains(&STANDARD.encode("bhs_one")));
    }
}
