//! Merchants' endpoints, which receive messages or answer queries.

pub mod sealed;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::message::{Interface, Kind};
use uuid::Uuid;

use crate::merchants::merchant_keys::MerchantKey;
use crate::messages::buckets::bucket;
use crate::{Failed, Store, Tx};

/// Selects endpoints that are not removed: further conditions, then the arguments.
macro_rules! endpoints {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select endpoint_id, bucket, interface, url, slots, per_second, waits, version_header, version_value, key_id, "
                + "authentication, secret, previous_secret, previous_secret_until, revision, paused_at, changed_at, tested_at, "
                + "client_certificate, client_key, "
                + "(select key_id from merchant_key where merchant_key.merchant_id = endpoint.merchant_id) as merchant_key_id, "
                + "(select sealed from merchant_key where merchant_key.merchant_id = endpoint.merchant_id) as merchant_key from endpoint "
                + "where removed_at is null and "
                + $end,
            $($argument),*
        )
    };
}

/// A stored endpoint. Its secrets are sealed.
#[derive(Clone)]
pub struct Endpoint {
    pub id: EndpointId,
    pub bucket: u8,
    /// The interface as stored.
    pub interface: String,
    pub url: String,
    /// Maximum number of concurrent calls.
    pub slots: i32,
    /// Maximum number of calls per second.
    pub per_second: i32,
    /// Seconds before each retry. `None` means the default.
    pub waits: Option<Vec<i64>>,
    /// The name and value of the header with the API version. `None` means the default.
    pub version_header: Option<(String, String)>,
    /// The merchant's data key, sealed.
    pub merchant_key: Option<MerchantKey>,
    /// The key that sealed the secrets.
    pub key_id: String,
    /// The authentication settings, sealed.
    pub authentication: Vec<u8>,
    pub secret: Vec<u8>,
    /// The previous signing secret, sealed, and the end of its use.
    pub previous_secret: Option<(Vec<u8>, DateTime<Utc>)>,
    /// Grows with every change.
    pub revision: i64,
    /// `Some` while nothing is sent.
    pub paused_at: Option<DateTime<Utc>>,
    /// The time of the last change.
    pub changed_at: DateTime<Utc>,
    /// The time at which a test of this address and authentication last succeeded.
    pub tested_at: Option<DateTime<Utc>>,
    /// The client certificate that we present.
    pub client: Option<EndpointClient>,
}

/// The client certificate that we present to an endpoint.
#[derive(Clone)]
pub struct EndpointClient {
    /// The certificate, followed by its intermediates, in DER.
    pub chain: Vec<Vec<u8>>,
    /// Its private key, sealed.
    pub sealed_key: Vec<u8>,
}

struct Row {
    endpoint_id: Uuid,
    bucket: i16,
    interface: String,
    url: String,
    slots: i32,
    per_second: i32,
    waits: Option<Vec<i64>>,
    version_header: Option<String>,
    version_value: Option<String>,
    key_id: String,
    authentication: Vec<u8>,
    secret: Vec<u8>,
    previous_secret: Option<Vec<u8>>,
    previous_secret_until: Option<DateTime<Utc>>,
    revision: i64,
    paused_at: Option<DateTime<Utc>>,
    changed_at: DateTime<Utc>,
    tested_at: Option<DateTime<Utc>>,
    client_certificate: Option<Vec<Vec<u8>>>,
    client_key: Option<Vec<u8>>,
    merchant_key_id: Option<String>,
    merchant_key: Option<Vec<u8>>,
}

impl TryFrom<Row> for Endpoint {
    type Error = Failed;

    fn try_from(row: Row) -> Result<Self, Failed> {
        Ok(Self {
            id: EndpointId(row.endpoint_id),
            bucket: bucket(row.bucket)?,
            interface: row.interface,
            url: row.url,
            slots: row.slots,
            per_second: row.per_second,
            waits: row.waits,
            version_header: row.version_header.zip(row.version_value),
            merchant_key: row.merchant_key_id.zip(row.merchant_key).map(|(key_id, sealed)| MerchantKey { key_id, sealed }),
            key_id: row.key_id,
            authentication: row.authentication,
            secret: row.secret,
            previous_secret: row.previous_secret.zip(row.previous_secret_until),
            revision: row.revision,
            paused_at: row.paused_at,
            changed_at: row.changed_at,
            tested_at: row.tested_at,
            client: row.client_certificate.zip(row.client_key).map(|(chain, sealed_key)| EndpointClient { chain, sealed_key }),
        })
    }
}

/// Inserts an endpoint.
pub async fn insert(tx: &mut Tx, endpoint: &Endpoint) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into endpoint (
            merchant_id, endpoint_id, created_at, changed_at, revision, slots, per_second, bucket, interface, url, waits,
            version_header, version_value, key_id, authentication, secret, client_certificate, client_key
        )
        values ($1, $2, $3, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        "#,
        tx.merchant().0,
        endpoint.id.0,
        endpoint.changed_at,
        endpoint.slots,
        endpoint.per_second,
        i16::from(endpoint.bucket),
        endpoint.interface,
        endpoint.url,
        endpoint.waits.as_deref(),
        endpoint.version_header.as_ref().map(|(name, _)| name),
        endpoint.version_header.as_ref().map(|(_, value)| value),
        endpoint.key_id,
        endpoint.authentication,
        endpoint.secret,
        endpoint.client.as_ref().map(|client| client.chain.as_slice()),
        endpoint.client.as_ref().map(|client| client.sealed_key.as_slice()),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Saves a changed endpoint and increments its revision.
pub async fn save(tx: &mut Tx, endpoint: &Endpoint) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint
        set changed_at = $3, revision = revision + 1, slots = $4, per_second = $5, url = $6, waits = $7, version_header = $8,
            version_value = $9, key_id = $10, authentication = $11, secret = $12, previous_secret = $13,
            previous_secret_until = $14, paused_at = $15, tested_at = $16,
            client_certificate = $17, client_key = $18
        where merchant_id = $1 and endpoint_id = $2
        "#,
        tx.merchant().0,
        endpoint.id.0,
        endpoint.changed_at,
        endpoint.slots,
        endpoint.per_second,
        endpoint.url,
        endpoint.waits.as_deref(),
        endpoint.version_header.as_ref().map(|(name, _)| name),
        endpoint.version_header.as_ref().map(|(_, value)| value),
        endpoint.key_id,
        endpoint.authentication,
        endpoint.secret,
        endpoint.previous_secret.as_ref().map(|(secret, _)| secret),
        endpoint.previous_secret.as_ref().map(|(_, until)| *until),
        endpoint.paused_at,
        endpoint.tested_at,
        endpoint.client.as_ref().map(|client| client.chain.as_slice()),
        endpoint.client.as_ref().map(|client| client.sealed_key.as_slice()),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Notes that a test of the endpoint that was sent at `sent_at` succeeded at `now`, unless the endpoint was changed in between. The
/// revision stays, because nothing changes for those who call it.
pub async fn note_tested(tx: &mut Tx, endpoint: EndpointId, sent_at: DateTime<Utc>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint
        set tested_at = $4
        where merchant_id = $1 and endpoint_id = $2 and removed_at is null
            and changed_at < $3
        "#,
        tx.merchant().0,
        endpoint.0,
        // The time of a test comes from an id, which goes to the millisecond.
        sent_at + TimeDelta::milliseconds(1),
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The endpoint to which `message` is still owed.
pub async fn of_delivery(tx: &mut Tx, message: Uuid) -> Result<Option<EndpointId>, Failed> {
    let endpoint =
        sqlx::query_scalar!("select endpoint_id from delivery where merchant_id = $1 and message_id = $2", tx.merchant().0, message)
            .fetch_optional(tx.connection())
            .await?;
    Ok(endpoint.map(EndpointId))
}

/// Removes the endpoint, and the key of its client certificate. Nothing new is owed to it, and its outstanding messages go to the failure
/// queue.
pub async fn remove(tx: &mut Tx, endpoint: EndpointId, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint
        set removed_at = $3, changed_at = $3, revision = revision + 1, client_certificate = null, client_key = null
        where merchant_id = $1 and endpoint_id = $2 and removed_at is null
        "#,
        tx.merchant().0,
        endpoint.0,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes every endpoint of the merchant. Our own internal work has no end.
pub async fn remove_all(tx: &mut Tx, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        update endpoint
        set removed_at = $2, changed_at = $2, revision = revision + 1, client_certificate = null, client_key = null
        where merchant_id = $1 and removed_at is null and not internal
        "#,
        tx.merchant().0,
        now,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The endpoint for messages of `kind`, locked against other changes.
pub async fn lock(tx: &mut Tx, kind: Kind) -> Result<Option<Endpoint>, Failed> {
    let row = endpoints!("merchant_id = $1 and interface = $2 for update", tx.merchant().0, kind.as_str(),)
        .fetch_optional(tx.connection())
        .await?;
    row.map(Endpoint::try_from).transpose()
}

/// The endpoint `endpoint` of `merchant`, read by the delivery engine.
pub async fn find(store: &Store, merchant: MerchantId, endpoint: EndpointId) -> Result<Option<Endpoint>, Failed> {
    let row = endpoints!("merchant_id = $1 and endpoint_id = $2", merchant.0, endpoint.0,).fetch_optional(&store.engine).await?;
    row.map(Endpoint::try_from).transpose()
}

/// The endpoint of `merchant` for `interface`, read to ask it a question.
pub async fn find_for(store: &Store, merchant: MerchantId, interface: Interface) -> Result<Option<Endpoint>, Failed> {
    let row = endpoints!("merchant_id = $1 and interface = $2", merchant.0, interface.as_str(),).fetch_optional(&store.pool).await?;
    row.map(Endpoint::try_from).transpose()
}

/// The endpoints of `merchant`, without those for internal work.
pub async fn list(store: &Store, merchant: MerchantId) -> Result<Vec<Endpoint>, Failed> {
    let rows = endpoints!("merchant_id = $1 and not internal order by interface", merchant.0,).fetch_all(&store.pool).await?;
    rows.into_iter().map(Endpoint::try_from).collect()
}

/// The removed endpoints of `merchant`, without those for internal work; the newest, at most `most`.
pub async fn list_removed(store: &Store, merchant: MerchantId, most: i64) -> Result<Vec<Endpoint>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select endpoint_id, bucket, interface, url, slots, per_second, waits, version_header, version_value, key_id, authentication,
            secret, previous_secret, previous_secret_until, revision, paused_at, changed_at, tested_at,
            client_certificate, client_key,
            (select key_id from merchant_key where merchant_key.merchant_id = endpoint.merchant_id) as merchant_key_id,
            (select sealed from merchant_key where merchant_key.merchant_id = endpoint.merchant_id) as merchant_key
        from endpoint
        where merchant_id = $1 and not internal and removed_at is not null
        order by removed_at desc
        limit $2
        "#,
        merchant.0,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(Endpoint::try_from).collect()
}

/// Whether the merchant takes messages of `kind`. Its endpoint stays as it is until the transaction ends.
pub async fn is_there(tx: &mut Tx, kind: Kind) -> Result<bool, Failed> {
    let found = sqlx::query_scalar!(
        "select endpoint_id from endpoint where merchant_id = $1 and interface = $2 and removed_at is null for share",
        tx.merchant().0,
        kind.as_str(),
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(found.is_some())
}
