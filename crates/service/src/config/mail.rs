//! The settings of e-mail.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

/// How mails are sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// The address may hold a password.
    url: SecretString,
    /// Who writes.
    pub from: String,
    connect_timeout_ms: u64,
    send_timeout_ms: u64,
}

impl Mail {
    /// Where the mail server is, as it is set; nothing when no mails are sent.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        Some(self.url.expose_secret()).filter(|url| !url.is_empty())
    }

    /// Hands mails to another server.
    pub fn set_url(&mut self, url: &str) {
        self.url = url.into();
    }

    /// How long a connection to one address of the server may take.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// How long it may take to hand a mail over, from the look-up of the name to the server's word.
    #[must_use]
    pub fn send_timeout(&self) -> Duration {
        Duration::from_millis(self.send_timeout_ms)
    }
}
