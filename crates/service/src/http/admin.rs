//! Health, readiness and metrics, for the operator's machines.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::json;

use crate::app::App;
use crate::node::{Phase, health};

/// Answers as long as the process is alive.
pub(super) async fn healthz() -> impl IntoResponse {
    Json(json!({ "alive": true }))
}

/// Tells whether the process should get traffic; each failed check says what to do.
pub(super) async fn readyz(State(app): State<App>) -> impl IntoResponse {
    let (ready, checks) = health::ready(&app).await;
    let serving = app.is_in(Phase::Serving);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": ready, "serving": serving, "checks": checks })))
}

/// The metrics, for Prometheus.
pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    match app.metrics.page(app.cell().connections()) {
        Ok(page) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], page).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
