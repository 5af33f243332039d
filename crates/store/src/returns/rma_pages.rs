//! Lists of returns: newest first, a page at a time.

use chrono::{DateTime, Utc};
use domain::id::MerchantId;
use domain::returns::rma::{ExchangeState, Method, Status};
use uuid::Uuid;

use crate::messages::log::first_id;
use crate::{Failed, Store};

/// The maximum page size.
pub const MOST_LISTED: usize = 100;

/// The filter of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub order: Option<String>,
    pub tracking_number: Option<String>,
    pub status: Option<Status>,
    /// Started at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Started before this time.
    pub to: Option<DateTime<Utc>>,
}

/// A return in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: Uuid,
    pub identifier: String,
    pub order: String,
    pub status: Status,
    pub method: Method,
    /// The number of units.
    pub units: i64,
    /// `None` unless units are exchanged.
    pub exchange: Option<ExchangeState>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The time by which the merchant has promised the refund. `None` unless it owes one for goods that came back.
    pub refund_due_at: Option<DateTime<Utc>>,
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub returns: Vec<Listed>,
    /// Continue before this return. `None` on the last page.
    pub next: Option<Uuid>,
}

struct Row {
    rma_id: Uuid,
    identifier: String,
    order_identifier: String,
    status: String,
    method: String,
    units: i64,
    exchange: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    refund_due_at: Option<DateTime<Utc>>,
}

/// Selects the rows of a page: the conditions, then the arguments.
macro_rules! rows {
    ($end:tt $(, $argument:expr)* $(,)?) => {
        sqlx::query_as!(
            Row,
            "select rma.rma_id, rma.identifier, rma.order_identifier, rma.status, rma.method, rma.created_at, rma.updated_at, "
                + r#"(select count(*) from rma_item where rma_item.merchant_id = rma.merchant_id and rma_item.rma_id = rma.rma_id) as "units!", "#
                + "rma.exchange, rma.refund_due_at from rma "
                + $end
                + " order by rma.rma_id desc limit $4",
            $($argument),*
        )
    };
}

/// The returns of `merchant` before the return `before`, at most `limit` of them.
pub async fn list(store: &Store, merchant: MerchantId, filter: &Filter, before: Option<Uuid>, limit: usize) -> Result<Page, Failed> {
    let limit = limit.min(MOST_LISTED);
    let until = filter.to.map_or(Uuid::max(), first_id);
    let before = before.map_or(until, |before| before.min(until));
    let from = filter.from.map_or(Uuid::nil(), first_id);
    // One extra row tells whether there are more.
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let status = filter.status.map(Status::as_str);
    let rows = match (&filter.tracking_number, &filter.order, status) {
        // Look up the return of the tracking number first; there is at most one. A join might scan all returns of a status
        // instead.
        (Some(number), order, status) => {
            rows!(
                "where rma.merchant_id = $1 and rma.rma_id >= $2 and rma.rma_id < $3 \
                and rma.rma_id = (select parcel.rma_id from parcel where parcel.merchant_id = $1 and parcel.tracking_number = $5) \
                and rma.order_identifier = coalesce($6, rma.order_identifier) and rma.status = coalesce($7, rma.status)",
                merchant.0,
                from,
                before,
                most,
                number,
                order.as_deref(),
                status,
            )
            .fetch_all(&store.pool)
            .await?
        }
        (None, Some(order), status) => {
            rows!(
                "where rma.merchant_id = $1 and rma.rma_id >= $2 and rma.rma_id < $3 and rma.order_identifier = $5 \
                and rma.status = coalesce($6, rma.status)",
                merchant.0,
                from,
                before,
                most,
                order,
                status,
            )
            .fetch_all(&store.pool)
            .await?
        }
        (None, None, Some(status)) => {
            rows!(
                "where rma.merchant_id = $1 and rma.rma_id >= $2 and rma.rma_id < $3 and rma.status = $5",
                merchant.0,
                from,
                before,
                most,
                status,
            )
            .fetch_all(&store.pool)
            .await?
        }
        (None, None, None) => {
            rows!("where rma.merchant_id = $1 and rma.rma_id >= $2 and rma.rma_id < $3", merchant.0, from, before, most)
                .fetch_all(&store.pool)
                .await?
        }
    };
    let more = rows.len() > limit;
    let returns = rows.into_iter().take(limit).map(listed).collect::<Result<Vec<_>, _>>()?;
    let next = returns.last().map(|last| last.id).filter(|_| more);
    Ok(Page { returns, next })
}

fn listed(row: Row) -> Result<Listed, Failed> {
    let unknown = |_| Failed::Internal("a stored value of a return is unknown");
    Ok(Listed {
        id: row.rma_id,
        identifier: row.identifier,
        order: row.order_identifier,
        status: row.status.parse().map_err(unknown)?,
        method: row.method.parse().map_err(unknown)?,
        units: row.units,
        exchange: row.exchange.map(|state| state.parse().map_err(unknown)).transpose()?,
        created_at: row.created_at,
        updated_at: row.updated_at,
        refund_due_at: row.refund_due_at,
    })
}

/// A return in a list over all merchants.
#[derive(Clone, Debug)]
pub struct ListedAcross {
    pub handle: String,
    pub merchant_name: String,
    pub listed: Listed,
}

/// The newest returns of all merchants in one of these statuses that were started from `from` until `to` and before the return `before`,
/// at most `most`.
pub async fn list_across(
    store: &Store,
    statuses: &[Status],
    (from, to): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
    before: Option<Uuid>,
    most: i64,
) -> Result<Vec<ListedAcross>, Failed> {
    let until = to.map_or(Uuid::max(), first_id);
    let statuses: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
    let rows = sqlx::query!(
        r#"
        select merchant.handle, merchant.name as merchant_name, newest.rma_id, newest.identifier, newest.order_identifier, newest.status,
            newest.method, newest.exchange, newest.created_at, newest.updated_at, newest.refund_due_at,
            (
                select count(*) from rma_item
                where rma_item.merchant_id = newest.merchant_id and rma_item.rma_id = newest.rma_id
            ) as "units!"
        from (
            select one.*
            from unnest($1::text[]) as wanted (status)
            -- Over all merchants, by the index of each status.
            cross join lateral (
                select * from rma
                where rma.status = wanted.status and rma.rma_id >= $2 and rma.rma_id < $3
                order by rma.rma_id desc
                limit $4
            ) as one
            order by one.rma_id desc
            limit $4
        ) as newest
        join merchant on merchant.merchant_id = newest.merchant_id
        order by newest.rma_id desc
        "#,
        &statuses as &[&str],
        from.map_or(Uuid::nil(), first_id),
        before.map_or(until, |before| before.min(until)),
        most,
    )
    .fetch_all(&store.pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let (handle, merchant_name) = (row.handle, row.merchant_name);
            let listed = listed(Row {
                rma_id: row.rma_id,
                identifier: row.identifier,
                order_identifier: row.order_identifier,
                status: row.status,
                method: row.method,
                units: row.units,
                exchange: row.exchange,
                created_at: row.created_at,
                updated_at: row.updated_at,
                refund_due_at: row.refund_due_at,
            })?;
            Ok(ListedAcross { handle, merchant_name, listed })
        })
        .collect()
}
