//! The settings for notices to the operator's systems.

use secrecy::SecretString;
use serde::Deserialize;

/// The webhook for notices to the operator's systems.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notices {
    webhook_url: String,
    /// The secret that signs the webhook's calls.
    pub webhook_secret: SecretString,
}

impl Notices {
    /// The webhook's URL; none if notices are off.
    #[must_use]
    pub fn webhook_url(&self) -> Option<&str> {
        Some(self.webhook_url.as_str()).filter(|url| !url.is_empty())
    }
}
