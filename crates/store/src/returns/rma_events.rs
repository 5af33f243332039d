//! The changes of returns after they were started, for their time lines. They are recorded with the change (`rmas::save_event`).

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::Event;
use uuid::Uuid;

use crate::{Failed, Store};

/// A change of a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub event: Event,
    pub happened_at: DateTime<Utc>,
    /// The parcel states of its units after the change, each once.
    pub parcels: Vec<String>,
}

/// The changes of a return, oldest first.
pub async fn list(store: &Store, merchant: MerchantId, rma: Uuid) -> Result<Vec<Change>, Failed> {
    let rows = sqlx::query!(
        r#"
        select happened_at, event, parcels
        from rma_event
        where merchant_id = $1 and rma_id = $2
        order by sequence
        "#,
        merchant.0,
        rma,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(|row| change(&row.event, row.happened_at, row.parcels)).collect()
}

/// The newest changes of a return, latest first, at most `most`.
pub async fn list_newest(store: &Store, merchant: MerchantId, rma: Uuid, most: i64) -> Result<Vec<Change>, Failed> {
    let rows = sqlx::query!(
        r#"
        select happened_at, event, parcels
        from rma_event
        where merchant_id = $1 and rma_id = $2
        order by sequence desc
        limit $3
        "#,
        merchant.0,
        rma,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter().map(|row| change(&row.event, row.happened_at, row.parcels)).collect()
}

fn change(event: &str, happened_at: DateTime<Utc>, parcels: Vec<String>) -> Result<Change, Failed> {
    let event = event.parse().map_err(|_| Failed::Internal("a stored event of a return is unknown"))?;
    Ok(Change { event, happened_at, parcels })
}
