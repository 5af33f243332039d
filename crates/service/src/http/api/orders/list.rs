//! The list of orders: `/v1/orders`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use store::orders::order_pages::{self, Changed, Changes};
use wire::answer::ErrorBody;
use wire::orders::listed::{OrderListed, Orders, OrdersQuery};
use wire::page::{PageQuery, read_moment, write_moment};
use wire::time;

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::Page;

/// The statuses of an order, as they are sent and stored.
const STATUSES: [&str; 3] = ["Created", "Shipped", "Cancelled"];

/// List orders.
///
/// Newest change first, without anything personal; `GET /v1/orders/{identifier}` shows one in full. Orders whose shopper was erased are
/// not listed.
#[utoipa::path(
    get,
    path = "/v1/orders",
    tag = "orders",
    security(("oauth2" = ["orders"])),
    params(OrdersQuery, PageQuery),
    responses(
        (status = 200, description = "A page of orders.", body = Orders),
        (status = 400, description = "A filter, `cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    page: Page,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Json<Orders>, ApiError> {
    let Query(query) = query?;
    let bad = |why: &str| ApiError::BadQuery(why.to_owned());
    let since = query.since.map(|text| time::read(&text).ok_or_else(|| bad("since must be a time such as 2026-03-01T12:00:00Z")));
    if query.status.as_deref().is_some_and(|status| !STATUSES.contains(&status)) {
        return Err(bad("status must be Created, Shipped or Cancelled"));
    }
    let filter = Changes { since: since.transpose()?, status: query.status };
    let (store, before) = (app.store(caller.merchant), page.after(read_moment)?);
    let found = order_pages::list_changed(store, caller.merchant, &filter, before, page.limit as usize).await?;
    let next = found.next.map(|(at, identifier)| write_moment(at, identifier));
    Ok(Json(Orders { items: found.orders.into_iter().map(listed).collect(), next }))
}

fn listed(order: Changed) -> OrderListed {
    OrderListed {
        identifier: order.identifier,
        status: order.status,
        revision: order.revision,
        created_at: time::write(order.placed_at),
        updated_at: time::write(order.updated_at),
        received_at: time::write(order.received_at),
        changed_at: time::write(order.changed_at),
        has_returns: order.has_returns,
        has_warnings: order.has_warnings,
    }
}
