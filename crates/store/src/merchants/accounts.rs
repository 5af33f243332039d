//! The merchants.

use chrono::{DateTime, Utc};
use domain::id::{Handle, MerchantId};
use uuid::Uuid;

use crate::messages::positions;
use crate::{Failed, Store, Tx};

/// The constraint that makes a handle unique.
pub const HANDLE_IS_UNIQUE: &str = "merchant_handle_is_unique";

/// A merchant.
#[derive(Clone, Debug)]
pub struct Merchant {
    pub id: MerchantId,
    /// The short name that people type.
    pub handle: String,
    pub name: String,
    /// The contact for failures of the merchant's systems.
    pub technical_contact: Option<String>,
    pub created_at: DateTime<Utc>,
    /// `Some` while the merchant's calls are refused.
    pub paused_at: Option<DateTime<Utc>>,
    /// The days after the last change for which orders and returns keep personal data.
    pub retention_days: i32,
    /// The days within which the merchant promises to refund goods that came back.
    pub refund_days: i32,
    /// `None` while the merchant is being set up.
    pub live_at: Option<DateTime<Utc>>,
    /// Whoever decided that the merchant is live.
    pub live_by: Option<String>,
    /// `Some` while everything of the merchant is being deleted.
    pub deleting_at: Option<DateTime<Utc>>,
}

impl Merchant {
    /// The merchant's state, in a word.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        match (self.deleting_at, self.paused_at, self.live_at) {
            (Some(_), ..) => "deleting",
            (None, Some(_), _) => "paused",
            (None, None, Some(_)) => "live",
            (None, None, None) => "onboarding",
        }
    }
}

struct Row {
    merchant_id: Uuid,
    handle: String,
    name: String,
    technical_contact: Option<String>,
    created_at: DateTime<Utc>,
    paused_at: Option<DateTime<Utc>>,
    retention_days: i32,
    refund_days: i32,
    live_at: Option<DateTime<Utc>>,
    live_by: Option<String>,
    deleting_at: Option<DateTime<Utc>>,
}

impl From<Row> for Merchant {
    fn from(row: Row) -> Self {
        Self {
            id: MerchantId(row.merchant_id),
            handle: row.handle,
            name: row.name,
            technical_contact: row.technical_contact,
            created_at: row.created_at,
            paused_at: row.paused_at,
            retention_days: row.retention_days,
            refund_days: row.refund_days,
            live_at: row.live_at,
            live_by: row.live_by,
            deleting_at: row.deleting_at,
        }
    }
}

/// Inserts the transaction's merchant, and starts its feed.
pub async fn insert(tx: &mut Tx, handle: &Handle, name: &str, technical_contact: Option<&str>, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        "insert into merchant (merchant_id, handle, name, technical_contact, created_at) values ($1, $2, $3, $4, $5)",
        tx.merchant().0,
        handle.as_str(),
        name,
        technical_contact,
        now,
    )
    .execute(tx.connection())
    .await?;
    positions::start(tx).await
}

/// Sets the merchant's name.
pub async fn set_name(tx: &mut Tx, name: &str) -> Result<(), Failed> {
    sqlx::query!("update merchant set name = $2 where merchant_id = $1", tx.merchant().0, name).execute(tx.connection()).await?;
    Ok(())
}

/// Sets the contact for failures of the merchant's systems.
pub async fn set_technical_contact(tx: &mut Tx, contact: Option<&str>) -> Result<(), Failed> {
    sqlx::query!("update merchant set technical_contact = $2 where merchant_id = $1", tx.merchant().0, contact)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Sets the days for which orders and returns keep personal data.
pub async fn set_retention(tx: &mut Tx, days: i32) -> Result<(), Failed> {
    sqlx::query!("update merchant set retention_days = $2 where merchant_id = $1", tx.merchant().0, days).execute(tx.connection()).await?;
    Ok(())
}

/// Sets the days within which the merchant promises to refund goods that came back.
pub async fn set_refund_days(tx: &mut Tx, days: i32) -> Result<(), Failed> {
    sqlx::query!("update merchant set refund_days = $2 where merchant_id = $1", tx.merchant().0, days).execute(tx.connection()).await?;
    Ok(())
}

/// Pauses the merchant as of `paused_at`, or resumes it. Returns false if it is being deleted.
pub async fn set_paused(tx: &mut Tx, paused_at: Option<DateTime<Utc>>) -> Result<bool, Failed> {
    let done =
        sqlx::query!("update merchant set paused_at = $2 where merchant_id = $1 and deleting_at is null", tx.merchant().0, paused_at,)
            .execute(tx.connection())
            .await?;
    Ok(done.rows_affected() > 0)
}

/// Records that the merchant is live, and who decided it. Returns false if it has been live before.
pub async fn set_live(tx: &mut Tx, by: &str, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        "update merchant set live_at = $2, live_by = $3 where merchant_id = $1 and live_at is null",
        tx.merchant().0,
        now,
        by,
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Locks the merchant against concurrent changes to its configuration. Its calls are not affected.
pub async fn lock(tx: &mut Tx) -> Result<(), Failed> {
    let merchant = tx.merchant().0;
    sqlx::query!("select merchant_id from merchant where merchant_id = $1 for no key update", merchant).fetch_one(tx.connection()).await?;
    Ok(())
}

/// The merchant with this handle.
pub async fn find(store: &Store, handle: &Handle) -> Result<Option<Merchant>, Failed> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select merchant_id, handle, name, technical_contact, created_at, paused_at, retention_days, refund_days, live_at, live_by,
            deleting_at
        from merchant
        where handle = $1
        "#,
        handle.as_str(),
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(row.map(Merchant::from))
}

/// Up to `limit` merchants whose handles follow `after`, by handle.
pub async fn page(store: &Store, after: &str, limit: i64) -> Result<Vec<Merchant>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select merchant_id, handle, name, technical_contact, created_at, paused_at, retention_days, refund_days, live_at, live_by,
            deleting_at
        from merchant
        where handle > $1
        order by handle
        limit $2
        "#,
        after,
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(Merchant::from).collect())
}

/// The names of a merchant.
#[derive(Clone, Debug)]
pub struct Named {
    pub id: MerchantId,
    pub handle: String,
    pub name: String,
}

/// The names of those of `merchants` that live in this cell.
pub async fn names(store: &Store, merchants: &[Uuid]) -> Result<Vec<Named>, Failed> {
    let rows = sqlx::query!("select merchant_id, handle, name from merchant where merchant_id = any ($1)", merchants);
    let rows = rows.fetch_all(&store.pool).await?;
    Ok(rows.into_iter().map(|row| Named { id: MerchantId(row.merchant_id), handle: row.handle, name: row.name }).collect())
}

/// The handles in the order in which this database lists merchants, each once.
pub async fn in_order(store: &Store, handles: &[String]) -> Result<Vec<String>, Failed> {
    let ordered = sqlx::query_scalar!(
        r#"select handle as "handle!" from unnest($1::text[]) as known (handle) group by handle order by handle"#,
        handles
    );
    Ok(ordered.fetch_all(&store.pool).await?)
}

/// Every merchant, by handle.
pub async fn list(store: &Store) -> Result<Vec<Merchant>, Failed> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select merchant_id, handle, name, technical_contact, created_at, paused_at, retention_days, refund_days, live_at, live_by,
            deleting_at
        from merchant
        order by handle
        "#,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(Merchant::from).collect())
}
