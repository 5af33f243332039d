//! Maps tracking numbers to returns.

use uuid::Uuid;

use crate::{Failed, Tx};

/// The return that a tracking number belongs to. `None` if the number is unknown, or expected but not claimed yet.
pub async fn find(tx: &mut Tx, tracking_number: &str) -> Result<Option<Uuid>, Failed> {
    let rma =
        sqlx::query_scalar!("select rma_id from parcel where merchant_id = $1 and tracking_number = $2", tx.merchant().0, tracking_number,)
            .fetch_optional(tx.connection())
            .await?;
    Ok(rma.flatten())
}

/// Reserves a tracking number that has no label yet, so that whoever adds the label waits until this transaction ends.
/// Returns the return if the label came first.
pub async fn expect(tx: &mut Tx, tracking_number: &str) -> Result<Option<Uuid>, Failed> {
    let rma = sqlx::query_scalar!(
        r#"
        insert into parcel (merchant_id, tracking_number)
        values ($1, $2)
        on conflict (merchant_id, tracking_number) do update set rma_id = parcel.rma_id
        returning rma_id
        "#,
        tx.merchant().0,
        tracking_number,
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(rma)
}

/// Assigns a tracking number to a return, also if it belongs to the return `before`. Returns false if yet another return has it.
pub async fn claim(tx: &mut Tx, tracking_number: &str, rma: Uuid, before: Option<Uuid>) -> Result<bool, Failed> {
    let claimed = sqlx::query_scalar!(
        r#"
        insert into parcel (merchant_id, tracking_number, rma_id)
        values ($1, $2, $3)
        on conflict (merchant_id, tracking_number) do update set rma_id = excluded.rma_id
        where parcel.rma_id is null or parcel.rma_id = excluded.rma_id or parcel.rma_id = $4
        returning tracking_number
        "#,
        tx.merchant().0,
        tracking_number,
        rma,
        before,
    )
    .fetch_optional(tx.connection())
    .await?;
    Ok(claimed.is_some())
}

/// The identifiers of the returns that these tracking numbers belong to; unknown numbers are left out.
pub async fn returns_of(tx: &mut Tx, tracking_numbers: &[&str]) -> Result<Vec<(String, String)>, Failed> {
    let rows = sqlx::query!(
        r#"
        select parcel.tracking_number, rma.identifier
        from parcel
        join rma on rma.merchant_id = $1 and rma.rma_id = parcel.rma_id
        where parcel.merchant_id = $1 and parcel.tracking_number = any($2)
        "#,
        tx.merchant().0,
        tracking_numbers as &[&str],
    )
    .fetch_all(tx.connection())
    .await?;
    Ok(rows.into_iter().map(|row| (row.tracking_number, row.identifier)).collect())
}
