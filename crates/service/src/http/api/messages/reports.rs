//! Reports: `/v1/reports`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use wire::answer::ErrorBody;
use wire::messages::report::{DeliveriesReport, ReportFormat, ReportQuery};

use crate::app::App;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;
use crate::show::messages::report::{Deliveries, Range};

/// Read the delivery report.
///
/// Figures on the messages to your systems: attempts by status, interface and day, and the messages that arrived, by
/// attempt and by delay. Endpoint tests do not count. As `text/csv` there is one row per figure.
#[utoipa::path(
    get,
    path = "/v1/reports/deliveries",
    tag = "reports",
    security(("oauth2" = ["orders"])),
    params(ReportQuery),
    responses(
        (status = 200, description = "The report.", content((DeliveriesReport = "application/json"), (String = "text/csv"))),
        (status = 400, description = "The days are invalid or more than 92, or the format is unknown.", body = ErrorBody),
    )
)]
pub(crate) async fn deliveries(
    State(app): State<App>,
    caller: Merchant,
    query: Result<Query<ReportQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::BadQuery("from and to must be days, and format json or csv".to_owned()))?;
    let range =
        Range::read(query.from.as_deref(), query.to.as_deref(), app.now()).map_err(|wrong| ApiError::BadQuery(wrong.to_string()))?;
    let read = Deliveries::read(&app, caller.merchant, range).await?;
    Ok(match query.format.unwrap_or_else(|| accepted(&headers)) {
        ReportFormat::Json => Json(read.report()).into_response(),
        ReportFormat::Csv => ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], read.csv()).into_response(),
    })
}

/// Reads the caller's `Accept`: JSON unless it names `text/csv`.
fn accepted(headers: &HeaderMap) -> ReportFormat {
    let csv = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .any(|accept| accept.split(',').any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/csv")));
    if csv { ReportFormat::Csv } else { ReportFormat::Json }
}
