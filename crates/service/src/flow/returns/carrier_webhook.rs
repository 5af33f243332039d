//! Applies a carrier's webhook, once. Its signature proves that the carrier sent it.

use domain::id::MerchantId;
use domain::returns::rma::TrackingNumber;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use store::Failed;
use store::returns::{carrier_accounts, carrier_webhooks};
use wire::returns::easypost::{SIGNATURE_SCHEME, Tracker, WebhookEvent};

use super::carrier_event::{CarrierEventError, EventOutcome, Report, take};
use crate::app::App;
use crate::delivery::secrets::stored::{CarrierKeys, Unusable};

/// The reasons a webhook is not applied.
#[derive(Debug, thiserror::Error)]
pub enum CarrierWebhookError {
    /// Also for webhooks that are too old.
    #[error("the webhook is not signed with the merchant's webhook secret, or it is too old")]
    NotSigned,
    #[error("the webhook is not a carrier event")]
    NoEvent,
    #[error(transparent)]
    Unusable(#[from] Unusable),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Applies a webhook for `merchant`, which is named in its URL, after checking its signature.
pub async fn carrier_webhook(
    app: &App,
    merchant: MerchantId,
    signature: Option<&str>,
    body: &[u8],
) -> Result<EventOutcome, CarrierWebhookError> {
    let account = carrier_accounts::current(app.store(merchant), merchant).await?.ok_or(CarrierWebhookError::NotSigned)?;
    let keys = CarrierKeys::open(app, merchant, &account)?;
    // While a secret is being replaced, both are taken.
    let old = keys.old_webhook_secret.as_ref().filter(|(_, until)| app.now() < *until).map(|(secret, _)| secret);
    let secrets = [Some(&keys.webhook_secret), old];
    if !signature.is_some_and(|signature| secrets.into_iter().flatten().any(|secret| is_signed(secret, signature, body))) {
        return Err(CarrierWebhookError::NotSigned);
    }
    let event: WebhookEvent = serde_json::from_slice(body).map_err(|_| CarrierWebhookError::NoEvent)?;
    let created_at = wire::time::read(&event.created_at).ok_or(CarrierWebhookError::NoEvent)?;
    // The ids of older webhooks are forgotten, so a repeat would go unnoticed. Carriers use real time even if the sandbox's clock was moved.
    if created_at < app.clock.wall() - carrier_webhooks::KEPT_FOR {
        return Err(CarrierWebhookError::NotSigned);
    }
    let report = |tracker: Tracker| Some((tracker.word()?, tracker.tracking_code?));
    let Some((word, number)) = event.tracker().and_then(report) else { return Ok(EventOutcome::Ignored) };
    let number: TrackingNumber = number.parse().map_err(|_| CarrierWebhookError::NoEvent)?;
    let report = Report::of_parcel(word, number, created_at);
    match take(app, merchant, &report, Some(&event.id)).await {
        Ok(taken) => Ok(taken),
        // Sending it again would change nothing, so do not make the carrier retry.
        Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn | CarrierEventError::TrackingNumberTaken) => {
            Ok(EventOutcome::Ignored)
        }
        Err(CarrierEventError::Failed(failed)) => Err(failed.into()),
    }
}

/// Checks the signature of the body in constant time.
fn is_signed(secret: &SecretString, signature: &str, body: &[u8]) -> bool {
    let Some(hex) = signature.trim().strip_prefix(SIGNATURE_SCHEME) else { return false };
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    let Some(claimed) = pairs.collect::<Option<Vec<u8>>>() else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()) else { return false };
    mac.update(body);
    mac.verify_slice(&claimed).is_ok()
}
