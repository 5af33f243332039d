//! The operator sets up the endpoints that a merchant's messages are delivered to. Every change is audited in its own transaction.

mod apply;
mod audited;
mod change;

use chrono::TimeDelta;
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Kind, bucket_of};
use secrecy::SecretString;
use store::merchants::audit::{self, Change, Entry};
use store::messages::endpoints::{self, Endpoint};
use store::messages::outbox::{Message, Signal};
use store::messages::unsent;
use store::{Failed, Tx};
use uuid::Uuid;
use wire::merchants::audit::Changes;

use self::apply::apply;
use self::audited::Audited;
pub use self::change::{CertificateChange, ConfigureEndpointError, EndpointChange};
use crate::app::App;
use crate::delivery::secrets::authentication::Authentication;
use crate::delivery::secrets::client_pair::ClientPair;
use crate::delivery::secrets::renewal::renew;
use crate::delivery::secrets::signature::Secret;
use crate::delivery::secrets::stored::Secrets;
use crate::platform::client_certificate::ClientCertificate;

/// The default limits of an endpoint: concurrent calls, and calls per second.
const USUAL_SLOTS: i32 = 10;
const USUAL_RATE: i32 = 20;
/// The time for which messages are also signed with the previous secret.
const ROTATES_FOR: TimeDelta = TimeDelta::hours(24);

/// An endpoint that was added or changed.
#[derive(Debug)]
pub struct Configured {
    /// The signing secret of a new endpoint that gets messages. It is shown only once.
    pub secret: Option<SecretString>,
    /// The unsent messages that are now owed.
    pub sent: i64,
    /// The unsent messages that still wait.
    pub waiting: i64,
}

async fn record(app: &App, tx: &mut Tx, actor: &str, action: &str, interface: Interface) -> Result<(), Failed> {
    audit::record(tx, Entry { id: app.mint(), actor, action, detail: interface.as_str(), done_at: app.now() }).await
}

/// Records a change of an endpoint with the fields that differ.
async fn record_change(
    app: &App,
    tx: &mut Tx,
    actor: &str,
    action: &str,
    interface: Interface,
    before: Option<&Audited>,
    after: Option<&Audited>,
) -> Result<(), Failed> {
    let entry = Entry { id: app.mint(), actor, action, detail: interface.as_str(), done_at: app.now() };
    let changes = Audited::differing(before, after);
    audit::record(tx, entry.with(Change { before: changes.before(), after: changes.after() })).await
}

/// Adds or changes the endpoint of `interface`. Unsent messages are owed in the same transaction, so that they go before anything
/// new on their subjects.
pub async fn set_endpoint(
    app: &App,
    actor: &str,
    merchant: MerchantId,
    interface: Interface,
    change: EndpointChange,
) -> Result<Configured, ConfigureEndpointError> {
    let send_waiting = change.send_waiting;
    if send_waiting && interface.is_asked() {
        return Err(ConfigureEndpointError::NothingWaits(interface));
    }
    let mut tx = app.begin(merchant).await?;
    if let Some(mut endpoint) = endpoints::lock(&mut tx, Kind::Of(interface)).await? {
        let mut secrets = Secrets::open(app, merchant, &endpoint)?;
        let before = Audited::of(app, &endpoint, &secrets)?;
        apply(app, interface, &mut endpoint, &mut secrets, change)?;
        let after = Audited::of(app, &endpoint, &secrets)?;
        // An endpoint that is set to what it is stays as it is, with the time of its last change.
        if Audited::differing(Some(&before), Some(&after)) != Changes::default() {
            record_change(app, &mut tx, actor, "endpoint.changed", interface, Some(&before), Some(&after)).await?;
            secrets.seal(app, &mut tx, &mut endpoint).await?;
            endpoints::save(&mut tx, &endpoint).await?;
        }
        return finish(app, tx, actor, interface, &endpoint, send_waiting).await;
    }
    let (mut endpoint, secrets) = new_endpoint(app, interface, change)?;
    record_change(app, &mut tx, actor, "endpoint.added", interface, None, Some(&Audited::of(app, &endpoint, &secrets)?)).await?;
    secrets.seal(app, &mut tx, &mut endpoint).await?;
    endpoints::insert(&mut tx, &endpoint).await?;
    let configured = finish(app, tx, actor, interface, &endpoint, send_waiting).await?;
    Ok(Configured { secret: (!interface.is_asked()).then(|| secrets.secret.show()), ..configured })
}

/// A new endpoint with its secrets.
fn new_endpoint(app: &App, interface: Interface, change: EndpointChange) -> Result<(Endpoint, Secrets), ConfigureEndpointError> {
    let id = EndpointId(app.mint());
    let secret = Secret::generate(&app.entropy)?;
    let mut secrets = Secrets { authentication: Authentication::None, secret, previous: None, client: None };
    let mut endpoint = Endpoint {
        id,
        bucket: bucket_of(id.0),
        interface: interface.as_str().to_owned(),
        url: String::new(),
        slots: USUAL_SLOTS,
        per_second: USUAL_RATE,
        waits: None,
        version_header: None,
        merchant_key: None,
        key_id: String::new(),
        authentication: Vec::new(),
        secret: Vec::new(),
        previous_secret: None,
        revision: 1,
        paused_at: None,
        changed_at: app.now(),
        tested_at: None,
        client: None,
    };
    apply(app, interface, &mut endpoint, &mut secrets, change)?;
    if endpoint.url.is_empty() {
        return Err(ConfigureEndpointError::NoAddress);
    }
    Ok((endpoint, secrets))
}

/// An endpoint as it is, if there is one, and as a change makes it; each with what it presents.
pub struct Previewed {
    pub before: Option<(Endpoint, Presented)>,
    pub after: (Endpoint, Presented),
    /// The messages that were written while there was no endpoint.
    pub waiting: i64,
}

/// What calls to an endpoint present, as far as it is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presented {
    /// The word for the authentication.
    pub authentication: &'static str,
    pub certificate: Option<ClientCertificate>,
}

impl Presented {
    fn of(secrets: &Secrets) -> Self {
        Self { authentication: secrets.authentication.word(), certificate: secrets.client.as_ref().and_then(ClientPair::certificate) }
    }
}

/// Checks a change of the endpoint of `interface` without making it.
pub async fn preview_endpoint(
    app: &App,
    merchant: MerchantId,
    interface: Interface,
    change: EndpointChange,
) -> Result<Previewed, ConfigureEndpointError> {
    if change.send_waiting && interface.is_asked() {
        return Err(ConfigureEndpointError::NothingWaits(interface));
    }
    // Nothing is written in this transaction, and it is never committed.
    let mut tx = app.begin(merchant).await?;
    let waiting = unsent::count(&mut tx, interface).await?;
    drop(tx);
    let Some(before) = endpoints::find_for(app.store(merchant), merchant, interface).await? else {
        let (after, secrets) = new_endpoint(app, interface, change)?;
        return Ok(Previewed { before: None, after: (after, Presented::of(&secrets)), waiting });
    };
    let mut secrets = Secrets::open(app, merchant, &before)?;
    let presented = Presented::of(&secrets);
    let mut after = before.clone();
    apply(app, interface, &mut after, &mut secrets, change)?;
    Ok(Previewed { before: Some((before, presented)), after: (after, Presented::of(&secrets)), waiting })
}

/// Owes the unsent messages if that was asked for, and commits.
async fn finish(
    app: &App,
    mut tx: Tx,
    actor: &str,
    interface: Interface,
    endpoint: &Endpoint,
    send_waiting: bool,
) -> Result<Configured, ConfigureEndpointError> {
    let sent = if send_waiting { unsent::release(&mut tx, interface, endpoint.id, app.now()).await? } else { 0 };
    if sent > 0 {
        record(app, &mut tx, actor, "endpoint.waiting_sent", interface).await?;
    }
    let waiting = unsent::count(&mut tx, interface).await?;
    let merchant = tx.merchant();
    app.commit(tx).await?;
    if sent > 0 {
        app.signal(Signal { merchant, endpoint: endpoint.id, bucket: endpoint.bucket, due_at: app.now() });
    }
    Ok(Configured { secret: None, sent, waiting })
}

/// Pauses the endpoint: owed messages wait until it is resumed.
pub async fn pause_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<(), ConfigureEndpointError> {
    save(app, actor, merchant, interface, "endpoint.paused", |endpoint| endpoint.paused_at = Some(app.now())).await.map(|_| ())
}

/// Resumes the endpoint: owed messages are delivered again.
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

/// Gives the endpoint a new signing secret, which is shown only once. Messages are also signed with the previous one for a day.
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
    let before = Audited::of(app, &endpoint, &secrets)?;
    let secret = Secret::generate(&app.entropy)?;
    let shown = secret.show();
    secrets.previous = Some(std::mem::replace(&mut secrets.secret, secret));
    endpoint.previous_secret = Some((Vec::new(), app.now() + ROTATES_FOR));
    endpoint.changed_at = app.now();
    let after = Audited::of(app, &endpoint, &secrets)?;
    record_change(app, &mut tx, actor, "endpoint.secret_rotated", interface, Some(&before), Some(&after)).await?;
    secrets.seal(app, &mut tx, &mut endpoint).await?;
    endpoints::save(&mut tx, &endpoint).await?;
    app.commit(tx).await?;
    Ok(shown)
}

/// Removes the endpoint. Its owed messages go to the failure queue.
pub async fn remove_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<(), ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    let before = Audited::of(app, &endpoint, &Secrets::open(app, merchant, &endpoint)?)?;
    endpoints::remove(&mut tx, endpoint.id, app.now()).await?;
    record_change(app, &mut tx, actor, "endpoint.removed", interface, Some(&before), None).await?;
    Ok(app.commit(tx).await?)
}

/// Seals the merchant's secrets with its data key, and that with the active key. Returns the number of things that were sealed anew.
pub async fn reseal_endpoints(app: &App, actor: &str, merchant: MerchantId) -> Result<usize, ConfigureEndpointError> {
    let mut tx = app.begin(merchant).await?;
    let resealed = renew(app, &mut tx).await?;
    if resealed > 0 {
        let detail = resealed.to_string();
        audit::record(&mut tx, Entry { id: app.mint(), actor, action: "endpoint.resealed", detail: &detail, done_at: app.now() }).await?;
    }
    app.commit(tx).await?;
    Ok(resealed)
}

/// Sends a test message through the delivery engine, with a single attempt. Returns the message's id.
pub async fn test_endpoint(app: &App, actor: &str, merchant: MerchantId, interface: Interface) -> Result<Uuid, ConfigureEndpointError> {
    if interface.is_asked() {
        return Err(ConfigureEndpointError::Asked(interface));
    }
    let id = app.mint();
    let mut tx = app.begin(merchant).await?;
    let endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await?.ok_or(ConfigureEndpointError::NoSuchEndpoint(interface))?;
    app.client.guard().check_url(&endpoint.url)?;
    let body = wire::messages::endpoint_test::body(interface, app.now());
    let (kind, event, subject) = (Kind::EndpointTest, wire::messages::endpoint_test::EVENT, id.to_string());
    tx.owe_to(endpoint.id, Message { id, kind, event, subject, sequence: 1, body, due_at: app.now() });
    record(app, &mut tx, actor, "endpoint.tested", interface).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// The endpoint that an operator is about to query as a test. The test is audited.
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
