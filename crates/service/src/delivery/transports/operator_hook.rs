//! The operator's webhook: where the operator's own systems are told of things.

use crate::delivery::client::Client;
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::secrets::signature::{NoSecret, Secret};
use crate::platform::config::Settings;

/// Where the operator's systems are called, and with what calls are signed.
pub struct OperatorHook {
    pub(in crate::delivery) target: Target,
    pub(in crate::delivery) secret: Secret,
}

/// Why there is no webhook, though one is set.
#[derive(Debug, thiserror::Error)]
pub enum NoHook {
    /// Its address.
    #[error("notices.webhook_url cannot be called: {0}")]
    Url(#[from] NotAllowed),
    /// Its secret.
    #[error("notices.webhook_secret: {0}")]
    Secret(#[from] NoSecret),
}

impl OperatorHook {
    /// The webhook of these settings, if one is set. It is called by `client`, and so behind its guard.
    pub fn new(settings: &Settings, client: &Client) -> Result<Option<Self>, NoHook> {
        let Some(url) = settings.notices.webhook_url() else { return Ok(None) };
        let target = client.guard().check_url(url)?;
        Ok(Some(Self { target, secret: Secret::parse(&settings.notices.webhook_secret)? }))
    }
}
