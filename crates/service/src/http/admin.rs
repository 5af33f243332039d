//! Health, readiness and metrics, for the operator's machines.

use std::ops::Deref;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::caller::bearer_token;
use crate::app::App;
use crate::node::{Phase, health};
use crate::platform::keys::bearer::{self, Hash};

/// The app, and the token that the operator's machines have to show.
#[derive(Clone)]
pub(super) struct Admin {
    app: App,
    /// None if everybody who reaches the listener may see everything.
    token: Option<Hash>,
}

impl Admin {
    pub(super) fn new(app: &App, token: Option<&SecretString>) -> Self {
        Self { app: app.clone(), token: token.map(|token| bearer::hash(token.expose_secret())) }
    }

    /// True if the request shows the token, or none is needed.
    fn may_see(&self, headers: &HeaderMap) -> bool {
        let shown = || bearer_token(headers).map(|token| bearer::hash(token.expose_secret()));
        self.token.is_none_or(|token| shown().is_some_and(|shown| bearer::same(&shown, &token)))
    }
}

impl Deref for Admin {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

/// Answers as long as the process is alive.
pub(super) async fn healthz() -> impl IntoResponse {
    Json(json!({ "alive": true }))
}

/// Tells whether the process should get traffic; each failed check says what to do. Load balancers have no token, so they learn the
/// former without one.
pub(super) async fn readyz(State(admin): State<Admin>, headers: HeaderMap) -> impl IntoResponse {
    let (ready, checks) = health::ready(&admin).await;
    let serving = admin.is_in(Phase::Serving);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let told = if admin.may_see(&headers) {
        json!({ "ready": ready, "serving": serving, "checks": checks })
    } else {
        json!({ "ready": ready, "serving": serving })
    };
    (status, Json(told))
}

/// The open connections to all cells, and those of them that are idle.
fn connections(app: &App) -> (u32, usize) {
    let of_cells = app.cells().iter().map(|cell| cell.store.connections());
    of_cells.fold((0, 0), |(open, idle), of_cell| (open + of_cell.0, idle + of_cell.1))
}

/// The metrics, for Prometheus.
pub(super) async fn metrics(State(admin): State<Admin>, headers: HeaderMap) -> impl IntoResponse {
    if !admin.may_see(&headers) {
        let challenge = [(header::WWW_AUTHENTICATE, r#"Bearer realm="backhaul-admin""#)];
        return (StatusCode::UNAUTHORIZED, challenge, "The metrics take the token of http.admin_token.\n").into_response();
    }
    match admin.metrics.page(connections(&admin)) {
        Ok(page) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], page).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
