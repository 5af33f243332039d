//! The HTTP interface. The routers below read as a table of contents, grouped by who calls.

mod absent;
mod address;
pub mod admin;
mod api;
pub mod api_version;
mod asker;
mod body;
pub mod caller;
mod cells;
pub mod console;
mod docs;
mod error;
mod error_samples;
mod examples;
pub mod listener;
mod middleware;
pub mod openapi;
pub mod operator_api;
pub mod own_host;
mod page;
mod pages;
mod path;
mod portal;
mod prepared;
mod rate;
mod request_id;
mod size;

use std::collections::BTreeSet;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use secrecy::SecretString;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::admin::Admin;
use self::api_version::Versions;
use self::cells::Named;
use self::error::ApiError;
use self::operator_api::Commands;
use self::own_host::Api;
use crate::app::App;

/// The public routes with their OpenAPI descriptions.
fn public() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        // Everybody.
        .routes(routes!(openapi::document))
        // Merchants' systems.
        .routes(routes!(api::merchants::tokens::issue))
        .routes(routes!(api::merchants::credentials::rotate))
        .routes(routes!(api::orders::intake::publish))
        .routes(routes!(api::orders::list::list))
        .routes(routes!(api::orders::intake::show))
        .routes(routes!(api::returns::rmas::returnable))
        .routes(routes!(api::returns::exchange_options::show))
        .routes(routes!(api::returns::rmas::start, api::returns::rmas::list))
        .routes(routes!(api::returns::rmas::show))
        .routes(routes!(api::returns::rmas::label, api::returns::rmas::order_label))
        .routes(routes!(api::returns::rmas::label_code))
        .routes(routes!(api::returns::rmas::cancel))
        .routes(routes!(api::returns::rmas::confirm_refund))
        .routes(routes!(api::returns::rmas::resend))
        .routes(routes!(api::returns::exchanges::convert))
        .routes(routes!(api::returns::exchanges::record))
        .routes(routes!(api::returns::portal_links::make))
        .routes(routes!(api::returns::work_items::list))
        .routes(routes!(api::returns::withdrawals::list))
        .routes(routes!(api::returns::work_items::close))
        .routes(routes!(api::orders::imports::send, api::orders::imports::list))
        .routes(routes!(api::orders::imports::show))
        .routes(routes!(api::orders::imports::report))
        .routes(routes!(api::messages::events::list))
        .routes(routes!(api::messages::event_stream::follow))
        .routes(routes!(api::messages::reports::deliveries))
        .routes(routes!(api::messages::log::list))
        .routes(routes!(api::messages::log::show))
        .routes(routes!(api::messages::log::retry))
        .routes(routes!(api::messages::endpoints::list))
        .routes(routes!(api::warehouse::drop_ship_orders::give, api::warehouse::drop_ship_orders::list))
        .routes(routes!(api::warehouse::drop_ship_orders::show))
        // Merchants' systems, and warehouses'.
        .routes(routes!(api::warehouse::inbound_asns::announce, api::warehouse::inbound_asns::list))
        .routes(routes!(api::warehouse::inbound_asns::show, api::warehouse::inbound_asns::change))
        .routes(routes!(api::warehouse::inbound_asns::cancel))
        .routes(routes!(api::warehouse::receiving::exceptions))
        // Warehouses' systems.
        .routes(routes!(api::warehouse::receiving::receive))
        .routes(routes!(api::warehouse::receiving::close))
        .routes(routes!(api::warehouse::expected_returns::list))
        .routes(routes!(api::warehouse::expected_returns::close))
        .routes(routes!(api::warehouse::drop_ship_reports::ship))
        .routes(routes!(api::warehouse::drop_ship_reports::cancel))
        .routes(routes!(api::warehouse::drop_ship_reports::reject))
        .routes(routes!(api::warehouse::drop_ship_reports::cancel_items))
        // Carriers' systems.
        .routes(routes!(api::returns::carrier_events::report))
        .routes(routes!(api::returns::carrier_webhooks::receive))
        // Warehouses' systems.
        .routes(routes!(api::warehouse::outbound_shipments::create, api::warehouse::outbound_shipments::list))
        .routes(routes!(api::warehouse::outbound_shipments::show, api::warehouse::outbound_shipments::change))
        .routes(routes!(api::warehouse::outbound_shipments::add_units))
        .routes(routes!(api::warehouse::outbound_shipments::announce))
        .routes(routes!(api::warehouse::outbound_shipments::ship))
        .routes(routes!(api::warehouse::outbound_shipments::deliver))
        .routes(routes!(api::warehouse::outbound_shipments::cancel))
}

/// The public listener's router: the API, and the portal unless that has a listener of its own.
pub fn router(app: &App) -> Router {
    router_of(app, Versions::default())
}

/// The public listener's router, with these versions of the API.
pub fn router_of(app: &App, versions: Versions) -> Router {
    openapi::prepare();
    let (routes, document) = public().split_for_parts();
    let routes = routes
        .merge(docs::router(openapi::text()))
        .fallback(async || ApiError::NoSuchRoute)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed);
    let api = cells::router(app, Named::ByToken, |app| {
        let layered = routes.clone().layer(from_fn_with_state(app.clone(), middleware::handle));
        layered.layer(from_fn_with_state(versions, api_version::announce)).with_state(app.clone())
    });
    if app.settings.portal.listen().is_some() {
        return api;
    }
    let described = document.paths.paths.keys().map(|path| own_host::first_segment(path));
    let segments: BTreeSet<&str> = described.chain(docs::SEGMENTS).collect();
    let api = Api { router: api, segments: segments.into_iter().map(str::to_owned).collect() };
    own_host::serve_beside(api, app, portal(app))
}

/// The router of the portal's own listener.
pub fn portal_listener_router(app: &App) -> Router {
    own_host::serve(app, portal(app))
}

/// The portal, in which the merchant's cell answers.
fn portal(app: &App) -> Router {
    cells::router(app, Named::InPortal, portal::router)
}

/// The router of the operator's console, and of the operator API beside it.
pub fn console_router(app: &App, operator_api: Commands) -> Router {
    cells::router(app, Named::InConsole, console::router).merge(operator_api::router(app, operator_api))
}

/// The admin listener's router, for the operator's machines and not for the internet. With a token, nobody without it sees more
/// than whether the process is alive and ready.
pub fn admin_router(app: &App, token: Option<&SecretString>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(admin::metrics))
        .with_state(Admin::new(app, token))
}
