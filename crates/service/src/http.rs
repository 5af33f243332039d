//! The HTTP interface. The routers below read as a table of contents, grouped by who calls.

mod address;
pub mod admin;
mod api;
mod api_version;
mod body;
pub mod caller;
mod error;
pub mod listener;
mod middleware;
pub mod openapi;
mod path;
mod rate;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::get;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use self::error::ApiError;
use crate::app::App;

/// The public routes with their OpenAPI descriptions.
fn public() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        // Everybody.
        .routes(routes!(openapi::document))
        // Merchants' systems.
        .routes(routes!(api::tokens::issue).layer(map_response(api::tokens::forbid_caching)))
        .routes(routes!(api::orders::publish).layer(from_fn(api_version::announce)))
        .routes(routes!(api::orders::show))
        .routes(routes!(api::returns::returnable))
        .routes(routes!(api::exchange_options::show))
        .routes(routes!(api::returns::start, api::returns::list))
        .routes(routes!(api::returns::show))
        .routes(routes!(api::returns::label))
        .routes(routes!(api::returns::cancel))
        .routes(routes!(api::returns::resend))
        .routes(routes!(api::imports::send, api::imports::list))
        .routes(routes!(api::imports::show))
        .routes(routes!(api::imports::report))
        .routes(routes!(api::events::list))
        .routes(routes!(api::event_stream::follow))
        .routes(routes!(api::reports::deliveries))
        .routes(routes!(api::messages::list))
        .routes(routes!(api::messages::show))
        .routes(routes!(api::messages::retry))
        .routes(routes!(api::endpoints::list))
        .routes(routes!(api::drop_ship_orders::give, api::drop_ship_orders::list))
        .routes(routes!(api::drop_ship_orders::show))
        // Merchants' systems, and warehouses'.
        .routes(routes!(api::inbound_asns::announce, api::inbound_asns::list))
        .routes(routes!(api::inbound_asns::show, api::inbound_asns::change))
        .routes(routes!(api::inbound_asns::cancel))
        .routes(routes!(api::receiving::exceptions))
        // Warehouses' systems.
        .routes(routes!(api::receiving::receive))
        .routes(routes!(api::receiving::close))
        .routes(routes!(api::drop_ship_reports::ship))
        .routes(routes!(api::drop_ship_reports::cancel))
        .routes(routes!(api::drop_ship_reports::reject))
        .routes(routes!(api::drop_ship_reports::cancel_items))
        // Carriers' systems.
        .routes(routes!(api::carrier_events::report))
        .routes(routes!(api::carrier_webhooks::receive))
        // Warehouses' systems.
        .routes(routes!(api::outbound_shipments::create, api::outbound_shipments::list))
        .routes(routes!(api::outbound_shipments::show, api::outbound_shipments::change))
        .routes(routes!(api::outbound_shipments::add_units))
        .routes(routes!(api::outbound_shipments::announce))
        .routes(routes!(api::outbound_shipments::ship))
        .routes(routes!(api::outbound_shipments::deliver))
        .routes(routes!(api::outbound_shipments::cancel))
}

/// The public listener's router.
pub fn router(app: &App) -> Router {
    let (routes, _) = public().split_for_parts();
    routes
        .fallback(async || ApiError::NotFound)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(from_fn_with_state(app.clone(), middleware::handle))
        .with_state(app.clone())
}

/// The admin listener's router, for the operator's machines and not for the internet.
pub fn admin_router(app: &App) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(admin::metrics))
        .with_state(app.clone())
}
