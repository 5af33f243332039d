//! The operator sets up the carrier that a merchant's labels are bought from. Every change is audited in its own transaction.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use domain::id::MerchantId;
use domain::returns::carrier::Carrier;
use secrecy::{ExposeSecret as _, SecretString};
use store::merchants::audit::{self, Change, Entry};
use store::returns::carrier_accounts::{self, Account};
use store::{Failed, Tx};
use wire::merchants::audit::Changes;
use wire::returns::label::PostalAddress;

use crate::app::App;
use crate::delivery::guard::NotAllowed;
use crate::delivery::secrets::renewal::renew;
use crate::delivery::secrets::stored::{CarrierKeys, Unusable};

/// The weight assumed for goods of unknown weight, in thousandths of a pound.
const USUAL_WEIGHT: u32 = 1_000;

/// The time for which webhooks that are signed with the old secret are still taken.
const ROTATES_FOR: TimeDelta = TimeDelta::hours(24);

/// Changes to a carrier account. Absent fields stay as they are, or get their defaults in a new account.
#[derive(Default)]
pub struct CarrierChange {
    pub url: Option<String>,
    pub api_key: Option<SecretString>,
    /// The address that parcels are sent to.
    pub destination: Option<PostalAddress>,
    /// The weight assumed for goods of unknown weight, in thousandths of a pound.
    pub usual_weight: Option<u32>,
}

/// The reasons a carrier account cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureCarrierError {
    #[error("the merchant has no carrier; add one with `backhaul carrier set --merchant HANDLE`")]
    NoAccount,
    #[error("a new carrier needs {0}")]
    Incomplete(&'static str),
    #[error("the carrier's URL cannot be called")]
    NotAllowed(#[from] NotAllowed),
    #[error("the usual weight must be greater than 0")]
    Weight,
    #[error("the stored carrier account cannot be used")]
    Unusable(#[from] Unusable),
    #[error(transparent)]
    Failed(#[from] Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail: Carrier::EasyPost.as_str(), done_at: app.now() }).await
}

/// Adds or changes the merchant's carrier. Returns the webhook secret of a new one, which is shown only once.
pub async fn set_carrier(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    change: CarrierChange,
) -> Result<Option<SecretString>, ConfigureCarrierError> {
    let mut tx = app.begin(merchant).await?;
    let known = carrier_accounts::find(&mut tx).await?;
    let is_new = known.is_none();
    let before = known.clone();
    let (mut account, mut keys) = match known {
        Some(account) => {
            let keys = CarrierKeys::open(app, merchant, &account)?;
            (account, keys)
        }
        None => new_account(app, &change)?,
    };
    if let Some(url) = change.url {
        app.client.guard().check_url(&url)?;
        account.url = url;
    }
    if let Some(api_key) = change.api_key {
        keys.api_key = api_key;
    }
    if let Some(destination) = change.destination {
        account.destination = serde_json::to_string(&destination).unwrap_or_default();
    }
    if let Some(weight) = change.usual_weight {
        account.usual_weight = if weight == 0 { return Err(ConfigureCarrierError::Weight) } else { weight };
    }
    account.changed_at = app.now();
    let print = |keys: &CarrierKeys| app.fingerprints.audited(keys.api_key.expose_secret());
    let former = before.as_ref().map(|account| CarrierKeys::open(app, merchant, account)).transpose()?;
    let was = |field: fn(&Account) -> String| before.as_ref().map(field);
    let changes = Changes::default()
        .field("url", was(|account| account.url.clone()), account.url.clone())
        // People may be named in it.
        .field(
            "destination",
            before.as_ref().map(|account| app.fingerprints.audited(&account.destination)),
            app.fingerprints.audited(&account.destination),
        )
        .field("usual_weight", was(|account| account.usual_weight.to_string()), account.usual_weight.to_string())
        .field("api_key", former.as_ref().map(print), print(&keys));
    keys.seal(app, &mut tx, &mut account).await?;
    carrier_accounts::save(&mut tx, &account).await?;
    let action = if is_new { "carrier.added" } else { "carrier.changed" };
    let entry = Entry { id: app.mint(), actor, action, detail: Carrier::EasyPost.as_str(), done_at: app.now() };
    audit::record(&mut tx, entry.with(Change { before: changes.before(), after: changes.after() })).await?;
    app.commit(tx).await?;
    Ok(is_new.then_some(keys.webhook_secret))
}

/// A new account. Fails if a required field is missing.
fn new_account(app: &App, change: &CarrierChange) -> Result<(Account, CarrierKeys), ConfigureCarrierError> {
    let missing = ConfigureCarrierError::Incomplete;
    let api_key = change.api_key.clone().ok_or_else(|| missing("its API key"))?;
    change.url.as_ref().ok_or_else(|| missing("the URL of its API: --url"))?;
    change.destination.as_ref().ok_or_else(|| missing("the address that parcels go to: --destination"))?;
    let webhook_secret = new_webhook_secret(app);
    let account = Account {
        carrier: Carrier::EasyPost,
        url: String::new(),
        usual_weight: USUAL_WEIGHT,
        destination: String::new(),
        merchant_key: None,
        key_id: String::new(),
        api_key: Vec::new(),
        webhook_secret: Vec::new(),
        old_webhook_secret: None,
        changed_at: app.now(),
    };
    Ok((account, CarrierKeys { api_key, webhook_secret, old_webhook_secret: None }))
}

/// Replaces the secret of the carrier's webhooks. The old one still signs until the overlap ends. Returns the new one, which is shown
/// only once.
pub async fn rotate_webhook_secret(app: &App, actor: &str, merchant: MerchantId) -> Result<SecretString, ConfigureCarrierError> {
    let mut tx = app.begin(merchant).await?;
    let mut account = carrier_accounts::find(&mut tx).await?.ok_or(ConfigureCarrierError::NoAccount)?;
    let mut keys = CarrierKeys::open(app, merchant, &account)?;
    let secret = new_webhook_secret(app);
    keys.old_webhook_secret = Some((std::mem::replace(&mut keys.webhook_secret, secret.clone()), app.now() + ROTATES_FOR));
    account.changed_at = app.now();
    keys.seal(app, &mut tx, &mut account).await?;
    carrier_accounts::save(&mut tx, &account).await?;
    record(app, &mut tx, actor, "carrier.secret_rotated").await?;
    app.commit(tx).await?;
    Ok(secret)
}

fn new_webhook_secret(app: &App) -> SecretString {
    BASE64_URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>()).into()
}

/// Removes the merchant's carrier. Labels that are still owed wait for a new one.
pub async fn remove_carrier(app: &App, actor: &str, merchant: MerchantId) -> Result<(), ConfigureCarrierError> {
    let mut tx = app.begin(merchant).await?;
    if !carrier_accounts::remove(&mut tx).await? {
        return Err(ConfigureCarrierError::NoAccount);
    }
    record(app, &mut tx, actor, "carrier.removed").await?;
    Ok(app.commit(tx).await?)
}

/// Seals the merchant's secrets with its data key, and that with the active key. Returns `false` if there was nothing to do.
pub async fn reseal_carrier(app: &App, actor: &str, merchant: MerchantId) -> Result<bool, ConfigureCarrierError> {
    let mut tx = app.begin(merchant).await?;
    if renew(app, &mut tx).await? == 0 {
        return Ok(false);
    }
    record(app, &mut tx, actor, "carrier.resealed").await?;
    app.commit(tx).await?;
    Ok(true)
}
