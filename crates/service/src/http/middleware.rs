//! The middleware around every handler.
//!
//! It gives every request an id, counts it towards the rate limit of its address and refuses it above the limit. It runs the
//! handler in a task of its own, so that a caller who hangs up cannot leave a transaction half way. It renders errors in the
//! format that the caller accepts, as JSON for machines and as a page for people, and counts and logs every request once.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::error::{ApiError, ErrorFormat, Exceeded, REQUEST_ID};
use super::pages;
use super::pages::language::Choice;
use super::rate;
use super::request_id::RequestId;
use crate::app::App;
use crate::node::Phase;
use crate::platform::metrics::{RequestLabels, RouteLabels};

/// The beginning of the portal's pages on which shoppers withdraw from contracts.
const WITHDRAW: &str = "/r/{merchant}/withdraw";

/// Handles one request of a machine, from its id to its log line.
pub(super) async fn handle(State(app): State<App>, request: Request, next: Next) -> Response {
    let format = ErrorFormat::accepted_by(request.headers());
    serve(&app, request, next, |response, id, route| render(response, id, route, format)).await
}

/// Handles one request of a person, from its id to its log line.
pub(super) async fn handle_page(State(app): State<App>, request: Request, next: Next) -> Response {
    let choice = Choice::of(&app, &request);
    serve(&app, request, next, |response, id, route| pages::error::render(response, id, route, choice)).await
}

/// Handles one request, from its id to its log line. `render` completes the answer.
pub(super) async fn serve(
    app: &App,
    mut request: Request,
    next: Next,
    render: impl Fn(Response, &RequestId, &str) -> Response,
) -> Response {
    let started = app.clock.uptime();
    let id = RequestId(app.mint().simple().to_string());
    let route = request.extensions().get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str).to_owned();
    let method = request.method().as_str().to_owned();
    let version = request.version();
    request.extensions_mut().insert(id.clone());

    let verdict = rate::count(app, &mut request);
    // No limit may refuse a withdrawal from a contract.
    let mut response = if verdict.admitted || route.starts_with(WITHDRAW) {
        tokio::spawn(next.run(request)).await.unwrap_or_else(|_| ApiError::Internal("the handler panicked".to_owned()).into_response())
    } else {
        rate::refuse(app, Exceeded::Requests, verdict).into_response()
    };

    response = render(response, &id, &route);
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    rate::announce(verdict, response.headers_mut());
    // The caller's next request goes to another node. HTTP/2 has a frame for this, which the listener sends when it closes.
    if app.is_in(Phase::Leaving) && version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }

    let status = response.status().as_u16();
    let took = app.clock.uptime().saturating_sub(started);
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    // Successes are counted in the metrics; a log line for each would cost more than the answer.
    if response.status().is_success() {
        tracing::debug!(request_id = id.0, method, route, status, took_us, "answered a request");
    } else {
        tracing::info!(request_id = id.0, method, route, status, took_us, "answered a request");
    }
    app.metrics.request_seconds.get_or_create(&RouteLabels { route: route.clone() }).observe(took.as_secs_f64());
    app.metrics.requests.get_or_create(&RequestLabels { route, method, status }).inc();
    response
}

/// Renders the error of an answer, if it has one.
pub(super) fn render(mut response: Response, id: &RequestId, route: &str, format: ErrorFormat) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    error.log(&id.0, route);
    let rendered = error.render(&id.0, format);
    // The handler's own headers stay, such as Api-Version.
    let (mut parts, _) = response.into_parts();
    let (rendered, body) = rendered.into_parts();
    parts.status = rendered.status;
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.extend(rendered.headers);
    Response::from_parts(parts, body)
}
