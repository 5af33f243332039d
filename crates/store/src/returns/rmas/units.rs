//! Reads the units of returns.

use domain::id::MerchantId;
use sqlx::{Executor, Postgres};
use uuid::Uuid;

use super::rows::ItemRow;
use crate::{Failed, Tx};

/// Selects units: the conditions, then the arguments.
macro_rules! units {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            ItemRow,
            "select rma_id, product_cents, discount_cents, tax_cents, estimated_cents, fee_cents, service_cents, shopper_cents, unit, "
                + "exchange_owed, refund_type, order_line, sku, title, reason, parcel, tracking_number, receiving, refund_identifier, "
                + "refund_in_question, "
                + "exchange_sku, exchange_order_identifier from rma_item "
                + $end,
            $($argument),*
        )
    };
}

/// The units of a return, by position.
pub(super) async fn of(tx: &mut Tx, id: Uuid) -> Result<Vec<ItemRow>, Failed> {
    let merchant = tx.merchant();
    of_all(tx.connection(), merchant, &[id]).await
}

/// The units of returns, by return and position.
pub(super) async fn of_all<'e>(
    connection: impl Executor<'e, Database = Postgres>,
    merchant: MerchantId,
    ids: &[Uuid],
) -> Result<Vec<ItemRow>, Failed> {
    Ok(match ids {
        [] => Vec::new(),
        // With a list PostgreSQL would plan the statement anew every time.
        [id] => units!("where merchant_id = $1 and rma_id = $2 order by position", merchant.0, *id).fetch_all(connection).await?,
        ids => {
            units!("where merchant_id = $1 and rma_id = any($2) order by rma_id, position", merchant.0, ids).fetch_all(connection).await?
        }
    })
}
