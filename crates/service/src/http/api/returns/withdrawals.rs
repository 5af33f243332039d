//! Statements of withdrawal: `/v1/withdrawals`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use store::returns::withdrawals;
use uuid::Uuid;
use wire::answer::ErrorBody;
use wire::returns::withdrawal::{MOST_WITHDRAWALS, Withdrawals, WithdrawalsQuery};

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
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
    params(WithdrawalsQuery),
    responses(
        (status = 200, description = "A page of withdrawals.", body = Withdrawals),
        (status = 400, description = "`before` or `limit` is invalid.", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Merchant,
    query: Result<Query<WithdrawalsQuery>, QueryRejection>,
) -> Result<Json<Withdrawals>, ApiError> {
    let bad = || ApiError::BadQuery(format!("limit must be between 1 and {MOST_WITHDRAWALS}"));
    let Query(query) = query.map_err(|_| bad())?;
    if !(1..=MOST_WITHDRAWALS).contains(&query.limit) {
        return Err(bad());
    }
    let before = query.before.map(|before| before.parse()).transpose();
    let before: Option<Uuid> = before.map_err(|_| ApiError::BadQuery("before must be the next_before of another page".to_owned()))?;
    // One more than asked for tells if there are more.
    let (order, most) = (query.order_identifier.as_deref(), i64::from(query.limit));
    let mut found = withdrawals::list(app.store(caller.merchant), caller.merchant, order, before, most + 1).await?;
    let has_more = found.len() > query.limit as usize;
    found.truncate(query.limit as usize);
    let next_before = found.last().filter(|_| has_more).map(|last| last.id.to_string());
    Ok(Json(Withdrawals { withdrawals: found.into_iter().map(show::shown).collect(), has_more, next_before }))
}
