//! Lists of drop-ship orders: newest first, a page at a time.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::warehouse::drop_ship::Status;
use uuid::Uuid;

use super::order::status;
use crate::{Failed, Store};

/// The maximum page size.
pub const MOST_LISTED: usize = 100;

/// An order in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    /// The merchant's identifier.
    pub client_identifier: String,
    pub status: Status,
    /// The time it was accepted.
    pub created_at: DateTime<Utc>,
    /// The time it last changed.
    pub updated_at: DateTime<Utc>,
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub orders: Vec<Listed>,
    /// Continue before this order. `None` on the last page.
    pub next: Option<Uuid>,
}

struct Row {
    drop_ship_order_id: Uuid,
    client_identifier: String,
    status: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// Selects the rows of a page: the conditions, then the arguments.
macro_rules! rows {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select drop_ship_order_id, client_identifier, status, created_at, updated_at from drop_ship_order "
                + $end
                + " order by drop_ship_order_id desc limit $3",
            $($argument),*
        )
    };
}

/// The drop-ship orders of `merchant` before the order `before`, at most `limit` of them, optionally in one status.
pub async fn list(store: &Store, merchant: MerchantId, wanted: Option<Status>, before: Option<Uuid>, limit: usize) -> Result<Page, Failed> {
    let limit = limit.min(MOST_LISTED);
    let before = before.unwrap_or(Uuid::max());
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = match wanted {
        Some(wanted) => {
            rows!("where merchant_id = $1 and drop_ship_order_id < $2 and status = $4", merchant.0, before, most, wanted.as_str())
                .fetch_all(&store.pool)
                .await?
        }
        None => rows!("where merchant_id = $1 and drop_ship_order_id < $2", merchant.0, before, most).fetch_all(&store.pool).await?,
    };
    let more = rows.len() > limit;
    let orders = rows.into_iter().take(limit).map(listed).collect::<Result<Vec<_>, _>>()?;
    let next = orders.last().map(|last| last.id).filter(|_| more);
    Ok(Page { orders, next })
}

fn listed(row: Row) -> Result<Listed, Failed> {
    Ok(Listed {
        id: row.drop_ship_order_id,
        client_identifier: row.client_identifier,
        status: status(&row.status)?,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
