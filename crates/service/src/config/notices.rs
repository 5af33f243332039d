//! The settings of notices.

use secrecy::SecretString;
use serde::Deserialize;

/// How the operator's systems are told.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notices {
    webhook_url: String,
    /// With what it is signed.
    pub webhook_secret: SecretString,
}

impl Notices {
    /// Whom to call; nothing when nobody is.
    #[must_use]
    pub fn webhook_url(&self) -> Option<&str> {
        Some(self.webhook_url.as_str()).filter(|url| !url.is_empty())
    }
}
