//! The operator's webhook, which receives notices.

use crate::delivery::client::Client;
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::secrets::signature::{NoSecret, Secret};
use crate::platform::config::Settings;

/// The target of the operator's webhook, and the secret that signs its calls.
pub struct OperatorHook {
    pub(crate) target: Target,
    pub(crate) secret: Secret,
}

/// The reasons a configured webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoHook {
    #[error("notices.webhook_url cannot be called: {0}")]
    Url(#[from] NotAllowed),
    #[error("notices.webhook_secret: {0}")]
    Secret(#[from] NoSecret),
}

impl OperatorHook {
    /// The webhook from the settings, if one is configured. `client` calls it, so its guard applies.
    pub fn new(settings: &Settings, client: &Client) -> Result<Option<Self>, NoHook> {
        let Some(url) = settings.notices.webhook_url() else { return Ok(None) };
        let target = client.guard().check_url(url)?;
        Ok(Some(Self { target, secret: Secret::parse(&settings.notices.webhook_secret)? }))
    }
}
