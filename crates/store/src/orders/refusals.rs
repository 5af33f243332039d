//! Refused order messages and the reasons, kept for support.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::messages::window::Window;
use crate::{Failed, Store, Tx};

/// A refused message. Of its content, its orders' identifiers are kept, and what is around its faults without anything personal.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub id: Uuid,
    pub refused_at: DateTime<Utc>,
    /// The request id in the response.
    pub request_id: String,
    /// The identifiers of its orders, as far as they could be read.
    pub order_identifiers: Vec<String>,
    /// The summary in the response.
    pub reason: String,
    /// The faults in the response, as JSON.
    pub faults: String,
    /// The lines around its faults, as JSON. `None` if it could not be read.
    pub excerpt: Option<String>,
}

/// Inserts a refusal.
pub async fn insert(tx: &mut Tx, refusal: &Refusal) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into intake_refusal (merchant_id, refusal_id, refused_at, request_id, order_identifiers, reason, faults, excerpt)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        "#,
        tx.merchant().0,
        refusal.id,
        refusal.refused_at,
        refusal.request_id,
        &refusal.order_identifiers,
        refusal.reason,
        refusal.faults,
        refusal.excerpt,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The newest refusals of `merchant` before the refusal `before`.
pub async fn list(store: &Store, merchant: MerchantId, before: Option<Uuid>, limit: i64) -> Result<Vec<Refusal>, Failed> {
    let rows = sqlx::query_as!(
        Refusal,
        r#"
        select refusal_id as id, refused_at, request_id, order_identifiers, reason, faults, excerpt
        from intake_refusal
        where merchant_id = $1 and refusal_id < $2
        order by refusal_id desc
        limit $3
        "#,
        merchant.0,
        before.unwrap_or(Uuid::max()),
        limit,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows)
}

/// The refusal `id` of `merchant`.
pub async fn find(store: &Store, merchant: MerchantId, id: Uuid) -> Result<Option<Refusal>, Failed> {
    let refusal = sqlx::query_as!(
        Refusal,
        r#"
        select refusal_id as id, refused_at, request_id, order_identifiers, reason, faults, excerpt
        from intake_refusal
        where merchant_id = $1 and refusal_id = $2
        "#,
        merchant.0,
        id,
    );
    Ok(refusal.fetch_optional(&store.pool).await?)
}

/// A refusal in a list.
#[derive(Clone, Debug)]
pub struct ListedRefusal {
    pub id: Uuid,
    pub handle: String,
    pub merchant_name: String,
    pub refused_at: DateTime<Utc>,
    pub request_id: String,
    pub order_identifiers: Vec<String>,
    pub reason: String,
    /// The faults in the response, as JSON.
    pub faults: String,
}

macro_rules! refusals {
    ($whose:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ListedRefusal,
            "select newest.refusal_id as id, merchant.handle, merchant.name as merchant_name, newest.refused_at, newest.request_id, "
                + "newest.order_identifiers, newest.reason, newest.faults from (select * from intake_refusal where "
                + $whose
                + "refusal_id >= $1 and refusal_id < $2 order by refusal_id desc limit $3) as newest "
                + "join merchant on merchant.merchant_id = newest.merchant_id order by newest.refusal_id desc",
            $($argument),*
        )
    };
}

/// The refusals of one merchant or of all, newest first.
pub async fn list_across(store: &Store, merchant: Option<MerchantId>, window: &Window) -> Result<Vec<ListedRefusal>, Failed> {
    let (from, before) = window.bounds();
    let refusals = match merchant {
        Some(merchant) => refusals!("merchant_id = $4 and ", from, before, window.most, merchant.0).fetch_all(&store.pool).await?,
        None => refusals!("", from, before, window.most).fetch_all(&store.pool).await?,
    };
    Ok(refusals)
}

/// The time for which a refusal is kept.
const KEPT_FOR: TimeDelta = TimeDelta::days(90);

/// Refusals of all merchants that are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, refusal_id from intake_refusal where refused_at <= $1 order by refused_at limit $2",
        now - KEPT_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.refusal_id)).collect())
}

/// Deletes these refusals.
pub async fn forget(tx: &mut Tx, refusals: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("delete from intake_refusal where merchant_id = $1 and refusal_id = any($2)", tx.merchant().0, refusals)
        .execute(tx.connection())
        .await?;
    Ok(())
}
