//! The middleware around every handler.
//!
//! It gives every request an id, counts it towards the rate limit of its address and refuses it above the limit. It runs the
//! handler in a task of its own, so that a caller who hangs up cannot leave a transaction half way. That task counts as in flight
//! until it is done, whether or not the caller still waits: resetting a request does not make room for another one. It renders
//! errors in the format that the caller accepts, as JSON for machines and as a page for people, and counts and logs every request
//! once.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::field::display;
use wire::messages::headers::TRACE;
use wire::node::otlp::Attribute;

use super::absent;
use super::address::Client;
use super::asker::Asker;
use super::cells::Unplaced;
use super::error::{ApiError, ErrorFormat, Exceeded, REQUEST_ID};
use super::pages;
use super::pages::language::Choice;
use super::rate;
use super::request_id::RequestId;
use crate::app::App;
use crate::node::Phase;
use crate::node::security::{self, Origin};
use crate::node::shares::{Most, Party, Share};
use crate::node::traces::{self, Begun};
use crate::platform::metrics::{RequestLabels, RouteLabels, Surface};

/// The beginning of the portal's pages on which shoppers withdraw from contracts.
const WITHDRAW: &str = "/r/{merchant}/withdraw";

/// Handles one request of a machine, from its id to its log line.
pub(super) async fn handle(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let format = ErrorFormat::accepted_by(request.headers());
    let (asker, uri) = (Asker::of(&mut request), request.uri().clone());
    let render = |mut response: Response, id: &RequestId, route: &str| {
        absent::explain(&mut response, &asker, route, uri.path());
        render(response, id, route, format)
    };
    let mut response = serve(&app, request, next, render).await;
    // Nearly every answer holds somebody's data. What may be kept says so itself.
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Handles one request of a person, from its id to its log line.
pub(super) async fn handle_page(State(app): State<App>, request: Request, next: Next) -> Response {
    let choice = Choice::of(&app, &request);
    let render = |response: Response, id: &RequestId, route: &str| pages::error::render(response, id, route, choice);
    serve_page(&app, Surface::Portal, request, next, render).await
}

/// Handles one request of a person, and counts it as a page of `surface`.
pub(super) async fn serve_page(
    app: &App,
    surface: Surface,
    request: Request,
    next: Next,
    render: impl Fn(Response, &RequestId, &str) -> Response,
) -> Response {
    let (started, is_page) = (app.clock.uptime(), is_page(&request));
    let response = serve(app, request, next, render).await;
    if is_page {
        app.metrics.pages.answered(surface, response.status().as_u16(), app.clock.uptime().saturating_sub(started));
    }
    response
}

/// True for a page itself. What it loads does not count: browsers keep style sheets and pictures.
fn is_page(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    !["/assets/", "/brand/{file}", "/photos/", "/favicon.ico"].iter().any(|part| route.contains(part))
}

/// Handles one request, from its id to its log line. `render` completes the answer.
pub(super) async fn serve(
    app: &App,
    mut request: Request,
    next: Next,
    render: impl Fn(Response, &RequestId, &str) -> Response,
) -> Response {
    let started = app.clock.uptime();
    let mut span = app.traces.begin_request(request.headers().get(TRACE).and_then(|header| header.to_str().ok()));
    let place = span.as_ref().map(Begun::context);
    let id = RequestId(app.mint().simple().to_string());
    let route = request.extensions().get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str).to_owned();
    let method = known(request.method());
    let version = request.version();
    request.extensions_mut().insert(id.clone());
    let asker = Asker::of(&mut request);

    let verdict = rate::count(app, &mut request);
    let origin = Origin {
        request_id: id.0.clone(),
        address: Client::of(&request).counted,
        lines: Arc::clone(&app.log_lines),
        counts: app.metrics.security_events.clone(),
        uptime: app.clock.uptime(),
    };
    // No limit may refuse a withdrawal from a contract.
    let share = if let Some(Unplaced(failed)) = request.extensions_mut().remove() {
        Err(failed.into())
    } else if route.starts_with(WITHDRAW) {
        Ok(None)
    } else if verdict.admitted {
        security::during(origin.clone(), || admit(app, &request).map(Some))
    } else {
        security::during(origin.clone(), || Err(rate::refuse(app, Exceeded::Requests, verdict)))
    };
    let mut response = match share {
        Err(refused) => refused.into_response(),
        Ok(share) => {
            let mut waiting = Waiting { app, id: &id, method, route: &route, asker: &asker, span: span.take(), answered: false };
            let work = async move {
                let response = traces::within(place, security::from(origin, next.run(request))).await;
                drop(share);
                response
            };
            let done = tokio::spawn(work).await;
            waiting.answered = true;
            span = waiting.span.take();
            done.unwrap_or_else(|_| ApiError::Internal("the handler panicked".to_owned()).into_response())
        }
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
    let merchant = asker.known().map(|known| display(known.merchant));
    let client_id = asker.known().map(|known| &*known.client_id);
    let trace = place.map(|place| format!("{:032x}", place.trace));
    // Successes are counted in the metrics; a log line for each would cost more than the answer.
    if response.status().is_success() {
        tracing::debug!(request_id = id.0, method, route, status, took_us, merchant, client_id, trace, "answered a request");
    } else if response.status().is_server_error() || app.log_lines.admit(asker.known().is_some(), app.clock.uptime()) {
        tracing::info!(request_id = id.0, method, route, status, took_us, merchant, client_id, trace, "answered a request");
    }
    if let Some(span) = span {
        let about = [Attribute::Status(status), Attribute::Request(id.0.clone())];
        end_span(app, span, method, &route, &asker, about, status >= 500);
    }
    app.metrics.request_seconds.get_or_create(&RouteLabels { route: route.clone() }).observe(took.as_secs_f64());
    app.metrics.requests.get_or_create(&RequestLabels { route, method, status }).inc();
    response
}

/// Ends the span of a request.
fn end_span(app: &App, span: Begun, method: &'static str, route: &str, asker: &Asker, about: [Attribute; 2], failed: bool) {
    let mut attributes = vec![Attribute::Method(method), Attribute::Route(route.to_owned())];
    attributes.extend(about);
    attributes.extend(asker.known().map(|known| Attribute::Merchant(known.merchant)));
    app.traces.end(span, format!("{method} {route}"), attributes, failed);
}

/// The method as a label of the metrics and in the log, where a caller's own words have no place.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request as in flight for its address, unless there are too many.
fn admit(app: &App, request: &Request) -> Result<Share, ApiError> {
    let party = request.extensions().get::<Party>().copied();
    let party = party.ok_or_else(|| ApiError::Internal("a request without an address".to_owned()))?;
    let most = Most::quartered(app.settings.http.requests_in_flight.get().into());
    let exceeded = [Exceeded::RequestsInFlight, Exceeded::RequestsOfAddressInFlight];
    app.requests.take(party, 1, most).map_err(|full| rate::full(app, exceeded, full, 1))
}

/// A request whose caller waits for the answer. If this is dropped before there is one, the caller has reset the stream or closed
/// the connection.
struct Waiting<'a> {
    app: &'a App,
    id: &'a RequestId,
    method: &'static str,
    route: &'a str,
    asker: &'a Asker,
    span: Option<Begun>,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.app.metrics.requests_abandoned.inc();
            let Self { app, id, method, route, asker, .. } = self;
            if let Some(span) = self.span.take() {
                let about = [Attribute::Error("abandoned".to_owned()), Attribute::Request(id.0.clone())];
                end_span(app, span, method, route, asker, about, false);
            }
            if !app.log_lines.admit(asker.known().is_some(), app.clock.uptime()) {
                return;
            }
            let merchant = asker.known().map(|known| display(known.merchant));
            let client_id = asker.known().map(|known| &*known.client_id);
            tracing::info!(
                request_id = id.0,
                method,
                route,
                merchant,
                client_id,
                "a caller abandoned a request, which is worked on to its end"
            );
        }
    }
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
