//! The operator says where a merchant's systems take messages. Every change leaves an audit row in its own transaction.

use chrono::TimeDelta;
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::{NoSchedule, Schedule};
use domain::messages::message::{Interface, Kind, bucket_of};
use secrecy::SecretString;
use store::merchants::audit::{self, Entry};
use store::messages::endpoints::{self, Endpoint};
use store::messages::outbox::{Message, Signal};
use store::{Failed, Tx};
use uuid::Uuid;

use crate::app::App;
use crate::delivery::guard::NotAllowed;
use crate::delivery::secrets::authentication::{Authentication, NoAuthentication};
use crate::delivery::secrets::signature::{NoSecret, Secret};
use crate::delivery::secrets::stored::{Secrets, Unusable};
use crate::delivery::variants::template::{self, NoTemplate};
use crate::platform::keys::sealing::Sealed;

/// How many calls at once, and how many a second, an endpoint takes unless something else is set.
const USUAL_SLOTS: i32 = 10;
const USUAL_RATE: i32 = 20;
/// For how long the previous signing secret is used beside the new one.
const ROTATES_FOR: TimeDelta = TimeDelta::hours(24);

/// What is to be changed; what is absent stays as it is, or is the usual for a new endpoint.
#[derive(Default)]
pub struct Change {
    /// The whole address.
    pub url: Option<String>,
    /// How it knows us.
    pub authentication: Option<Authentication>,
    /// Calls at once.
    pub slots: Option<i32>,
    /// Calls a second.
    pub per_second: Option<i32>,
    /// Seconds before each retry; an empty list is the usual schedule.
    pub waits: Option<Vec<i64>>,
    /// A header with the API's version, and its value.
    pub version_header: Option<(String, String)>,
}

/// Why an endpoint was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureEndpointError {
    /// There is none for the interface.
    #[error("the merchant has no endpoint for {0}; `backhaul endpoint set` makes one")]
    NoSuchEndpoint(Interface),
    /// A new one needs an address.
    #[error("a new endpoint needs an address: give --url, or --base for the usual path below it")]
    NoAddress,
    /// The address may not be called.
    #[error("the address cannot be called")]
    NotAllowed(#[from] NotAllowed),
    /// The address cannot be asked for variants.
    #[error("the address cannot be asked for variants")]
    NoTemplate(#[from] NoTemplate),
    /// The schedule.
    #[error(transparent)]
    Schedule(#[from] NoSchedule),
    /// Nothing is tried again where somebody waits for the answer.
    #[error("{0} is asked while a shopper waits, so that nothing is tried again: leave --waits out")]
    NoRetries(Interface),
    /// Nothing is signed where nothing is sent.
    #[error("{0} is asked and sent no messages, so that there is nothing to sign")]
    NotSigned(Interface),
    /// It takes no message, and so no trial message.
    #[error("{0} is asked and sent no messages; `backhaul endpoint test` asks it")]
    Asked(Interface),
    /// The limits.
    #[error("calls at once are 1 to 1000, calls a second 1 to 100000")]
    Limits,
    /// The version header.
    #[error("the version header is not the name and the value of a header")]
    VersionHeader,
    /// What was kept cannot be used.
    #[error("what is kept of the endpoint cannot be used")]
    Unusable(#[from] Unusable),
    /// The authentication.
    #[error(transparent)]
    Authentication(#[from] NoAuthentication),
    /// The signing secret.
    #[error(transparent)]
    Secret(#[from] NoSecret),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, interface: Interface) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail: interface.as_str(), done_at: app.now() }).await
}

/// Adds the endpoint of `interface` or changes it. Answers the signing secret of a new one that is sent messages, which is shown
/// once.
pub async fn set_endpoint(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
    change: Change,
) -> Result<Option<SecretString>, ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    if let Some(mut endpoint) = endpoints::lock(&mut tx, Kind::Of(interface)).await? {
        let mut secrets = Secrets::open(app, merchant, &endpoint)?;
        apply(app, interface, &mut endpoint, &mut secrets, change)?;
        secrets.seal(app, merchant, &mut endpoint)?;
        endpoints::save(&mut tx, &endpoint).await?;
        record(app, &mut tx, actor, "endpoint.changed", interface).await?;
        app.commit(tx).await?;
        return Ok(None);
    }
    let id = EndpointId(app.mint());
    let mut secrets = Secrets { authentication: Authentication::None, secret: Secret::generate(&app.entropy)?, previous: None };
    let mut endpoint = Endpoint {
        id,
        bucket: bucket_of(id.0),
        interface: interface.as_str().to_owned(),
        url: String::new(),
        slots: USUAL_SLOTS,
        per_second: USUAL_RATE,
        waits: None,
        version_header: None,
        key_id: String::new(),
        authentication: Vec::new(),
        secret: Vec::new(),
        previous_secret: None,
        revision: 1,
        paused_at: None,
        changed_at: app.now(),
    };
    apply(app, interface, &mut endpoint, &mut secrets, change)?;
    if endpoint.url.is_empty() {
        return Err(ConfigureEndpointError::NoAddress);
    }
    secrets.seal(app, merchant, &mut endpoint)?;
    endpoints::insert(&mut tx, &endpoint).await?;
    record(app, &mut tx, actor, "endpoint.added", interface).await?;
    app.commit(tx).await?;
    Ok((!interface.is_asked()).then(|| secrets.secret.show()))
}

fn apply(
    app: &App,
    interface: Interface,
    endpoint: &mut Endpoint,
    secrets: &mut Secrets,
    change: Change,
) -> Result<(), ConfigureEndpointError> {
    let Change { url, authentication, slots, per_second, waits, version_header } = change;
    if let Some(url) = url {
        app.client.guard().check_url(&url)?;
        if interface.is_asked() {
            template::check(app.client.guard(), &url)?;
        }
        endpoint.url = url;
    }
    if let Some(authentication) = authentication {
        authentication.check(app.client.guard())?;
        secrets.authentication = authentication;
    }
    endpoint.slots = slots.unwrap_or(endpoint.slots);
    endpoint.per_second = per_second.unwrap_or(endpoint.per_second);
    if !(1..=1_000).contains(&endpoint.slots) || !(1..=100_000).contains(&endpoint.per_second) {
        return Err(ConfigureEndpointError::Limits);
    }
    if let Some(waits) = waits {
        if interface.is_asked() {
            return Err(ConfigureEndpointError::NoRetries(interface));
        }
        Schedule::of_seconds(&waits)?;
        endpoint.waits = (!waits.is_empty()).then_some(waits);
    }
    if let Some((name, value)) = version_header {
        let fit = name.parse::<hyper::header::HeaderName>().is_ok() && hyper::header::HeaderValue::from_str(&value).is_ok();
        endpoint.version_header = Some(fit.then_some((name, value)).ok_or(ConfigureEndpointError::VersionHeader)?);
    }
    endpoint.changed_at = app.now();
    Ok(())
}

/// Sends nothing to the endpoint until it is resumed; what is owed waits.
pub async fn pause_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<(), ConfigureEndpointError> {
    save(app, actor, merchant, interface, "endpoint.paused", |endpoint| endpoint.paused_at = Some(app.now())).await.map(|_| ())
}

/// Sends to the endpoint again.
pub async fn resume_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<(), ConfigureEndpointError> {
    let endpoint = save(app, actor, merchant, interface, "endpoint.resumed", |endpoint| endpoint.paused_at = None).await?;
    app.signal(Signal { merchant, endpoint: endpoint.id, bucket: endpoint.bucket, due_at: chrono::DateTime::UNIX_EPOCH });
    Ok(())
}

async fn save(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
    action: &str,
    change: impl FnOnce(&mut Endpoint),
) -> Result<Endpoint, ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    let mut endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    change(&mut endpoint);
    endpoint.changed_at = app.now();
    endpoints::save(&mut tx, &endpoint).await?;
    record(app, &mut tx, actor, action, interface).await?;
    app.commit(tx).await?;
    Ok(endpoint)
}

/// Gives the endpoint a new signing secret, which is shown once. The previous one is used beside it for a day.
pub async fn rotate_secret(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
) -> Result<SecretString, ConfigureEndpointError> {
    if interface.is_asked() {
        return Err(ConfigureEndpointError::NotSigned(interface));
    }
    let mut tx = app.begin(merchant).await?;
    let mut endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    let mut secrets = Secrets::open(app, merchant, &endpoint)?;
    let secret = Secret::generate(&app.entropy)?;
    let shown = secret.show();
    secrets.previous = Some(std::mem::replace(&mut secrets.secret, secret));
    endpoint.previous_secret = Some((Vec::new(), app.now() + ROTATES_FOR));
    endpoint.changed_at = app.now();
    secrets.seal(app, merchant, &mut endpoint)?;
    endpoints::save(&mut tx, &endpoint).await?;
    record(app, &mut tx, actor, "endpoint.secret_rotated", interface).await?;
    app.commit(tx).await?;
    Ok(shown)
}

/// Removes the endpoint; what is owed to it goes to the failure queue.
pub async fn remove_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<(), ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    endpoints::remove(&mut tx, endpoint.id, app.now()).await?;
    record(app, &mut tx, actor, "endpoint.removed", interface).await?;
    Ok(app.commit(tx).await?)
}

/// Seals what the merchant's endpoints keep with the current key, where another one did. Answers how many were.
pub async fn reseal_endpoints(app: &App, actor: &str, merchant: MerchantId) -> Result<usize, ConfigureEndpointError> {
    let mut resealed = 0;
    for kept in endpoints::list(app.store(merchant), merchant).await? {
        if app.keyring.is_current(&Sealed { key_id: kept.key_id.clone(), bytes: Vec::new() }) {
            continue;
        }
        let Ok(interface) = kept.interface.parse::<Interface>() else { continue };
        let mut tx = app.begin(merchant).await?;
        let Some(mut endpoint) = endpoints::lock(&mut tx, Kind::Of(interface)).await? else { continue };
        Secrets::open(app, merchant, &endpoint)?.seal(app, merchant, &mut endpoint)?;
        endpoints::save(&mut tx, &endpoint).await?;
        record(app, &mut tx, actor, "endpoint.resealed", interface).await?;
        app.commit(tx).await?;
        resealed += 1;
    }
    Ok(resealed)
}

/// Sends a trial through the whole engine, once, whatever comes of it. Answers the message's id.
pub async fn test_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<Uuid, ConfigureEndpointError> {
    if interface.is_asked() {
        return Err(ConfigureEndpointError::Asked(interface));
    }
    let id = app.mint();
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    app.client.guard().check_url(&endpoint.url)?;
    let body = wire::messages::endpoint_test::body(interface, app.now());
    let (kind, event, subject) = (Kind::EndpointTest, "endpoint.test", id.to_string());
    tx.owe_to(endpoint.id, Message { id, kind, event, subject, sequence: 1, body, due_at: app.now() });
    record(app, &mut tx, actor, "endpoint.tested", interface).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// The endpoint that an operator is about to ask on trial; that it was tried is in the audit.
pub async fn endpoint_to_ask(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
) -> Result<Endpoint, ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    record(app, &mut tx, actor, "endpoint.tested", interface).await?;
    app.commit(tx).await?;
    Ok(endpoint)
}
