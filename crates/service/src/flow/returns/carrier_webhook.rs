//! A carrier's webhook: who sent it is proved by its signature, and what it says is taken once.

use domain::id::MerchantId;
use domain::returns::rma::TrackingNumber;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use store::Failed;
use store::returns::{carrier_accounts, carrier_webhooks};
use wire::returns::easypost::{SIGNATURE_SCHEME, Tracker, WebhookEvent};

use super::carrier_event::{CarrierEventError, Report, Taken, take};
use crate::app::App;
use crate::delivery::secrets::stored::{CarrierKeys, Unusable};

/// Why a webhook was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CarrierWebhookError {
    /// It was not sent by the merchant's carrier, or long ago.
    #[error("the webhook is not signed as the merchant's carrier would sign it, or it is old")]
    NotSigned,
    /// It is no event.
    #[error("it is no event")]
    NoEvent,
    /// What is kept of the carrier cannot be used.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Takes a webhook for `merchant`, whom its address names, with the signature that came with it.
pub async fn carrier_webhook(app: &App, merchant: MerchantId, signature: Option<&str>, body: &[u8]) -> Result<Taken, CarrierWebhookError> {
    let account = carrier_accounts::current(app.store(merchant), merchant).await?.ok_or(CarrierWebhookError::NotSigned)?;
    let keys = CarrierKeys::open(app, merchant, &account)?;
    if !signature.is_some_and(|signature| is_signed(&keys.webhook_secret, signature, body)) {
        return Err(CarrierWebhookError::NotSigned);
    }
    let event: WebhookEvent = serde_json::from_slice(body).map_err(|_| CarrierWebhookError::NoEvent)?;
    let created_at = wire::time::read(&event.created_at).ok_or(CarrierWebhookError::NoEvent)?;
    // What we do not remember any more could come a second time. The carrier goes by real time, also where the sandbox does not.
    if created_at < app.clock.wall() - carrier_webhooks::KEPT_FOR {
        return Err(CarrierWebhookError::NotSigned);
    }
    let said = |tracker: Tracker| Some((tracker.word()?, tracker.tracking_code?));
    let Some((word, number)) = event.tracker().and_then(said) else { return Ok(Taken::Ignored) };
    let number: TrackingNumber = number.parse().map_err(|_| CarrierWebhookError::NoEvent)?;
    let report = Report::of_parcel(word, number, created_at);
    match take(app, merchant, &report, Some(&event.id)).await {
        Ok(taken) => Ok(taken),
        // What cannot be any more was answered long ago; to send it again would change nothing.
        Err(CarrierEventError::Refused(_) | CarrierEventError::NoSuchReturn | CarrierEventError::AnothersNumber) => Ok(Taken::Ignored),
        Err(CarrierEventError::Failed(failed)) => Err(failed.into()),
    }
}

/// Whether the body is signed with the secret; compared in constant time.
fn is_signed(secret: &SecretString, signature: &str, body: &[u8]) -> bool {
    let Some(hex) = signature.trim().strip_prefix(SIGNATURE_SCHEME) else { return false };
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    let Some(claimed) = pairs.collect::<Option<Vec<u8>>>() else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()) else { return false };
    mac.update(body);
    mac.verify_slice(&claimed).is_ok()
}
