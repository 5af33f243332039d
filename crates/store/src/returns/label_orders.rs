//! Purchases of labels: at most one for a return is under way.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::label::LabelState;
use domain::returns::work::WorkKind;
use uuid::Uuid;

use crate::{Failed, Store, Tx};

/// The purchase of a return's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelOrder {
    /// Counts the purchases of this return, from 1.
    pub number: u32,
    pub state: LabelState,
}

/// Saves the purchase of a return. The return must be locked, or new.
pub async fn save(tx: &mut Tx, rma: Uuid, order: &LabelOrder, now: DateTime<Utc>) -> Result<(), Failed> {
    sqlx::query!(
        r#"
        insert into label_order (merchant_id, rma_id, changed_at, number, state)
        values ($1, $2, $3, $4, $5)
        on conflict (merchant_id, rma_id) do update
        set changed_at = excluded.changed_at, number = excluded.number, state = excluded.state
        "#,
        tx.merchant().0,
        rma,
        now,
        i32::try_from(order.number).unwrap_or(i32::MAX),
        order.state.as_str(),
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The purchase of a return, if one was begun. The return must be locked.
pub async fn find(tx: &mut Tx, rma: Uuid) -> Result<Option<LabelOrder>, Failed> {
    let row = sqlx::query!("select number, state from label_order where merchant_id = $1 and rma_id = $2", tx.merchant().0, rma)
        .fetch_optional(tx.connection())
        .await?;
    row.map(|row| Ok(LabelOrder { number: u32::try_from(row.number).map_err(unknown)?, state: row.state.parse().map_err(unknown)? }))
        .transpose()
}

/// The return that the purchase by `message` is for.
pub async fn of_message(tx: &mut Tx, message: Uuid) -> Result<Option<String>, Failed> {
    let identifier =
        sqlx::query_scalar!("select subject from message where merchant_id = $1 and message_id = $2", tx.merchant().0, message)
            .fetch_optional(tx.connection())
            .await?;
    Ok(identifier)
}

/// The progress of a return's purchase.
pub struct Progress {
    pub state: LabelState,
    /// The carrier's reason, if it refuses the label.
    pub reason: Option<String>,
    /// There is a QR code.
    pub has_code: bool,
}

/// The progress of a return's purchase. `None` if no label was ordered.
pub async fn look(store: &Store, merchant: MerchantId, rma: Uuid) -> Result<Option<Progress>, Failed> {
    let row = sqlx::query!(
        r#"
        select label_order.state, work_item.reason as "reason?", coalesce(label.qr_code <> '', false) as "has_code!"
        from label_order
        join rma on rma.merchant_id = label_order.merchant_id and rma.rma_id = label_order.rma_id
        left join label on label.merchant_id = label_order.merchant_id and label.rma_id = label_order.rma_id
        left join work_item
            on work_item.merchant_id = label_order.merchant_id and work_item.subject = rma.identifier
            and work_item.kind = $3 and work_item.closed_at is null
        where label_order.merchant_id = $1 and label_order.rma_id = $2
        "#,
        merchant.0,
        rma,
        WorkKind::LabelRefused.as_str(),
    )
    .fetch_optional(&store.pool)
    .await?;
    row.map(|row| Ok(Progress { state: row.state.parse().map_err(unknown)?, reason: row.reason, has_code: row.has_code })).transpose()
}

fn unknown<T>(_: T) -> Failed {
    Failed::Internal("a stored purchase of a label is unknown")
}
