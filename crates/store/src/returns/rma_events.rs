//! The changes of returns after they were started, for their time lines.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::Event;
use uuid::Uuid;

use super::rmas::Return;
use crate::{Failed, Store, Tx};

/// A change of a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub event: Event,
    pub happened_at: DateTime<Utc>,
    /// The parcel states of its units after the change, each once.
    pub parcels: Vec<String>,
}

/// Records that `event` changed a return at `now`.
pub async fn insert(tx: &mut Tx, changed: &Return, event: Event, now: DateTime<Utc>) -> Result<(), Failed> {
    let mut parcels: Vec<&str> = changed.rma.units.iter().filter_map(|unit| unit.parcel.as_str()).collect();
    parcels.sort_unstable();
    parcels.dedup();
    sqlx::query!(
        r#"
        insert into rma_event (merchant_id, rma_id, sequence, happened_at, event, parcels)
        values ($1, $2, $3, $4, $5, $6)
        "#,
        tx.merchant().0,
        changed.id,
        changed.sequence,
        now,
        event.as_str(),
        &parcels as &[&str],
    )
    .execute(tx.connection())
    .await?;
    Ok(())
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
