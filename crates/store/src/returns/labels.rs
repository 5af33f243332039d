//! The labels of returns.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::MerchantId;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// A label that was bought.
pub struct Label<'a> {
    pub tracking_number: &'a str,
    pub carrier: &'a str,
    /// The carrier's identifier of the shipment.
    pub shipment: &'a str,
    /// Its cost in cents, and the currency, if the carrier told them.
    pub cost: Option<(i64, &'a str)>,
    /// The document to print.
    pub pdf: &'a [u8],
}

/// Saves the label of a return. Returns false if it already has one.
pub async fn insert(tx: &mut Tx, rma: Uuid, label: &Label<'_>, now: DateTime<Utc>) -> Result<bool, Failed> {
    let done = sqlx::query!(
        r#"
        insert into label (merchant_id, rma_id, bought_at, tracking_number, carrier, shipment, pdf, cost_cents, currency)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (merchant_id, rma_id) do nothing
        "#,
        tx.merchant().0,
        rma,
        now,
        label.tracking_number,
        label.carrier,
        label.shipment,
        label.pdf,
        label.cost.map(|(cents, _)| cents),
        label.cost.map(|(_, currency)| currency),
    )
    .execute(tx.connection())
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Saves the QR code of a return's label as a PNG, unless the label is that of another shipment or its documents have been deleted.
pub async fn save_code(tx: &mut Tx, rma: Uuid, shipment: &str, png: &[u8]) -> Result<(), Failed> {
    sqlx::query!(
        "update label set qr_code = $4 where merchant_id = $1 and rma_id = $2 and shipment = $3 and pdf <> ''",
        tx.merchant().0,
        rma,
        shipment,
        png,
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The document to print for the return `identifier` of `merchant`. `None` if there is no label yet, or if it has been
/// erased.
pub async fn document(store: &Store, merchant: MerchantId, identifier: &str) -> Result<Option<Vec<u8>>, Failed> {
    let pdf = sqlx::query_scalar!(
        r#"
        select label.pdf
        from rma
        join label on label.merchant_id = rma.merchant_id and label.rma_id = rma.rma_id
        where rma.merchant_id = $1 and rma.identifier = $2 and label.pdf <> ''
        "#,
        merchant.0,
        identifier,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(pdf)
}

/// The QR code of the label of the return `identifier` of `merchant`, as a PNG. `None` if there is none, not yet or not any more.
pub async fn code(store: &Store, merchant: MerchantId, identifier: &str) -> Result<Option<Vec<u8>>, Failed> {
    let png = sqlx::query_scalar!(
        r#"
        select label.qr_code
        from rma
        join label on label.merchant_id = rma.merchant_id and label.rma_id = rma.rma_id
        where rma.merchant_id = $1 and rma.identifier = $2 and label.qr_code <> ''
        "#,
        merchant.0,
        identifier,
    )
    .fetch_optional(&store.pool)
    .await?;
    Ok(png)
}

/// The time for which a label can be printed.
const PRINTED_FOR: TimeDelta = TimeDelta::days(90);

/// Labels of all merchants whose documents are too old at `now`, oldest first.
pub async fn list_outdated(store: &Store, now: DateTime<Utc>, most: i64) -> Result<Vec<(MerchantId, Uuid)>, Failed> {
    let rows = sqlx::query!(
        "select merchant_id, rma_id from label where bought_at <= $1 and pdf <> '' order by bought_at limit $2",
        now - PRINTED_FOR,
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    Ok(rows.into_iter().map(|row| (MerchantId(row.merchant_id), row.rma_id)).collect())
}

/// Deletes the documents of these returns and their QR codes. Their tracking numbers stay.
pub async fn forget_documents(tx: &mut Tx, returns: &[Uuid]) -> Result<(), Failed> {
    sqlx::query!("update label set pdf = '', qr_code = '' where merchant_id = $1 and rma_id = any($2)", tx.merchant().0, returns)
        .execute(tx.connection())
        .await?;
    Ok(())
}
