//! Statements of withdrawal: `/v1/withdrawals`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use store::returns::withdrawals;
use wire::answer::ErrorBody;
use wire::page::PageQuery;
use wire::returns::withdrawal::{Withdrawals, WithdrawalsQuery};

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::http::page::{Page, identifier};
use crate::show::returns::withdrawals as show;

/// List withdrawals.
///
/// Shoppers' statements of withdrawal from contracts, newest first, with the exact text that was confirmed. Receipt of each was
/// acknowledged to the shopper. Goods that were shipped come back in the return `rma_identifier`; goods that were not, the merchant
/// cancels.
#[utoipa::path(
    get,
    path = "/v1/withdrawals",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    params(WithdrawalsQuery, PageQuery),
    responses(
        (status = 200, description = "A page of withdrawals.", body = Withdrawals),
        (status = 400, description = "`cursor` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    page: Page,
    query: Result<Query<WithdrawalsQuery>, QueryRejection>,
) -> Result<Json<Withdrawals>, ApiError> {
    let Query(query) = query?;
    let order = identifier(query.order_identifier.as_deref())?;
    let mut found = withdrawals::list(app.store(caller.merchant), caller.merchant, order, page.place()?, page.most()).await?;
    let next = page.cut(&mut found, |last| last.id.to_string());
    Ok(Json(Withdrawals { items: found.into_iter().map(show::shown).collect(), next }))
}
