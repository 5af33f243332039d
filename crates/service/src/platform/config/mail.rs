//! The settings for sending mail.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

/// The mail server and the sender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// A secret because it may contain a password.
    url: SecretString,
    /// The sender's address.
    pub from: String,
    connect_timeout_ms: u64,
    send_timeout_ms: u64,
}

impl Mail {
    /// The mail server's URL; none if mail is off.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        Some(self.url.expose_secret()).filter(|url| !url.is_empty())
    }

    /// Replaces the mail server's URL.
    pub fn set_url(&mut self, url: &str) {
        self.url = url.into();
    }

    /// The time limit for connecting to one address of the server.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// The time limit for sending a mail, from the name lookup to the server's final reply.
    #[must_use]
    pub fn send_timeout(&self) -> Duration {
        Duration::from_millis(self.send_timeout_ms)
    }
}
