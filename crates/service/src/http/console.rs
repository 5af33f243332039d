//! The operator's console: one file per page. A page parses, calls one flow or reads, and renders.
//!
//! - `by.rs` knows who asks: the first argument of a handler is the permission. `routes.rs` reads the role of a route from it.
//! - `view.rs` and `stamp.rs` tell times in the viewer's zone; `frame.rs` draws menu and top bar; `error.rs` has a page for each error.
//! - `form.rs` reads paths, filters and forms.

mod account;
mod amount;
mod asn_page;
mod audit;
mod brand;
mod brand_form;
mod brand_logo;
mod brand_preview;
mod brand_told;
mod by;
mod carriers;
mod cases;
mod command_line;
mod cookie;
mod count;
mod credential_certificates;
mod credentials;
mod difference;
mod drop_ships;
mod endpoint;
mod endpoint_check;
mod endpoint_form;
mod endpoint_hours;
mod endpoint_preview;
mod endpoint_test;
mod endpoints;
mod entry;
mod error;
mod exception_page;
mod exceptions;
mod exchange_address;
mod expected_returns;
mod failure_choice;
mod failure_discard;
mod failure_group;
mod failure_retry;
mod failure_work;
mod failures;
mod figures;
mod form;
mod frame;
mod help;
mod imports;
mod inbound;
mod intake_report;
mod invitation;
mod late;
mod listing;
mod long_id;
mod mails;
mod merchant;
mod merchant_head;
mod merchant_name;
mod merchants;
mod message;
mod message_retry;
mod message_row;
mod messages;
mod needs;
mod next;
mod onboarding;
mod operators;
mod order_page;
mod orders;
mod page;
mod person;
mod policy;
mod policy_change;
mod policy_form;
mod policy_told;
mod policy_trial;
mod qr;
mod question;
mod refunds;
mod refused;
mod replay;
mod report_filters;
mod report_plots;
mod reports;
mod requests;
mod retention;
mod retry_jobs;
mod return_act;
mod return_actions;
mod return_axes;
mod return_exchange;
mod return_found;
mod return_money;
mod return_page;
mod return_refund;
mod return_report;
mod return_timeline;
mod returns;
mod routes;
mod search;
mod second_step;
mod shipments;
mod sign_in;
mod single_sign_on;
mod stamp;
mod stuck;
mod system;
mod system_cells;
mod system_keys;
mod today;
mod tokens;
mod view;
mod warnings;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;

use self::error::ConsoleError;
pub use self::routes::Guard;
use self::routes::Routes;
use super::middleware;
use super::pages;
use super::request_id::RequestId;
use crate::app::App;
use crate::platform::metrics::Surface;

/// All pages.
fn all_pages() -> Routes {
    Routes::default()
        .and(people())
        .and(work())
        .and(returns_and_orders())
        .and(warehouse())
        .and(merchants_and_endpoints())
        .and(policies_and_brands())
}

/// The way in, and the operator's own people.
fn people() -> Routes {
    Routes::default()
        .open_get("/sign-in", sign_in::show)
        .open_post("/sign-in", sign_in::check)
        .open_get("/sign-in/code", second_step::show)
        .open_post("/sign-in/code", second_step::check)
        .open_get("/sign-in/recovery", second_step::show_recovery)
        .open_post("/sign-in/recovery", second_step::check_recovery)
        .open_get("/sign-in/enrol", second_step::show_enrol)
        .open_post("/sign-in/enrol", second_step::check_enrol)
        .open_get("/sign-in/single", single_sign_on::leave)
        .open_get("/sign-in/single/back", single_sign_on::come_back)
        .open_get("/invitation/{token}", invitation::show)
        .open_post("/invitation", invitation::set)
        .post("/sign-out", sign_in::leave)
        .get("/account", account::show)
        .post("/account/sessions/end", account::end_session)
        .post("/account/sessions/end-others", account::end_others)
        .post("/account/sessions/end-all", account::end_all)
        .post("/account/devices/forget", account::forget_device)
        .post("/account/codes", account::new_codes)
        .post("/account/password", account::change_password)
        .get("/account/tokens", tokens::show)
        .post("/account/tokens", tokens::make)
        .post("/account/tokens/revoke", tokens::revoke)
        .get("/operators", operators::list)
        .get("/operators/invite", operators::invite)
        .post("/operators/invite", operators::add)
        .get("/operators/{id}", operators::show)
        .post("/operators/{id}/role", operators::set_role)
        .post("/operators/{id}/disable", operators::disable)
        .post("/operators/{id}/enable", operators::enable)
        .post("/operators/{id}/reset", operators::reset)
        .get("/audit", audit::show)
        .get("/audit.ndjson", audit::export)
        .get("/system", system::show)
        .get("/system/carriers", carriers::list)
        .get("/system/retention", retention::show)
        .get("/system/limits/{name}", system::ask_for_limit)
        .post("/system/limits/{name}", system::change_limit)
        .get("/system/keys/{kind}", system_keys::ask)
        .post("/system/keys/{kind}", system_keys::request)
        .get("/system/clock", system::ask_for_clock)
        .post("/system/clock", system::move_clock)
        .post("/operators/{id}/tokens/revoke", operators::revoke_token)
        .get("/requests", requests::list)
        .get("/requests/erase", requests::show_erase)
        .post("/requests/erase", requests::erase)
        .get("/requests/{id}", requests::show)
        .post("/requests/{id}", requests::decide)
}

/// What needs somebody, where to find things, and what was sent.
fn work() -> Routes {
    Routes::default()
        .get("/", today::show)
        .get("/help", help::show)
        .get("/failures", failures::show)
        .get("/failures/group", failure_group::show)
        .get("/failures/group.csv", failure_group::export)
        .get("/failures/work", failure_work::show)
        .post("/failures/work", failure_work::save)
        .get("/failures/retry", failure_retry::show)
        .post("/failures/retry", failure_retry::start)
        .get("/failures/discard", failure_discard::show)
        .post("/failures/discard", failure_discard::discard)
        .post("/failures/discard/request", failure_discard::ask)
        .get("/failures/jobs", retry_jobs::list)
        .get("/merchants/{handle}/jobs/{job}", retry_jobs::show)
        .get("/merchants/{handle}/jobs/{job}/cancel", retry_jobs::ask_cancel)
        .post("/merchants/{handle}/jobs/{job}/cancel", retry_jobs::cancel)
        .get("/messages", messages::show)
        .get("/merchants/{handle}/messages/{id}", message::show)
        .get("/merchants/{handle}/messages/{id}/retry", message_retry::show)
        .post("/merchants/{handle}/messages/{id}/retry", message_retry::start)
        .get("/reports", reports::show)
        .get("/reports.csv", reports::export)
        .get("/reports/intake", intake_report::show)
        .get("/reports/intake.csv", intake_report::export)
        .get("/reports/returns", return_report::show)
        .get("/reports/returns.csv", return_report::export)
        .post("/search", search::ask)
        .get("/search", search::show)
        .get("/search/by-email/{sealed}", search::by_email)
        .get("/refunds", refunds::list)
        .get("/cases", cases::list)
        .get("/cases/{handle}/{case}", cases::preview)
        .post("/cases/{handle}/{case}", cases::close)
}

/// Returns and orders.
fn returns_and_orders() -> Routes {
    Routes::default()
        .get("/returns", returns::list)
        .get("/orders", orders::list)
        .get("/intake", refused::list)
        .get("/merchants/{handle}/refused/{id}", refused::show)
        .get("/intake/warnings", warnings::show)
        .get("/intake/imports", imports::list)
        .get("/merchants/{handle}/imports/{id}", imports::show)
        .get("/merchants/{handle}/orders/{id}", order_page::show)
        .post("/merchants/{handle}/orders/{id}/shopper", order_page::show_shopper)
        .post("/merchants/{handle}/orders/{id}/export", order_page::export)
        .get("/merchants/{handle}/returns/{rma}", return_page::show)
        .post("/merchants/{handle}/returns/{rma}/shopper", return_page::show_shopper)
        .get("/merchants/{handle}/returns/{rma}/cancel", return_actions::ask_to_cancel)
        .post("/merchants/{handle}/returns/{rma}/cancel", return_actions::cancel)
        .get("/merchants/{handle}/returns/{rma}/resend", return_actions::ask_to_resend)
        .post("/merchants/{handle}/returns/{rma}/resend", return_actions::resend)
        .get("/merchants/{handle}/returns/{rma}/confirm-refund", return_actions::ask_to_confirm)
        .post("/merchants/{handle}/returns/{rma}/confirm-refund", return_actions::confirm)
        .get("/merchants/{handle}/returns/{rma}/label", return_actions::ask_for_label)
        .post("/merchants/{handle}/returns/{rma}/label", return_actions::label)
        .get("/merchants/{handle}/returns/{rma}/mails/{message}", return_actions::ask_to_mail)
        .post("/merchants/{handle}/returns/{rma}/mails/{message}", return_actions::mail)
        .get("/merchants/{handle}/returns/{rma}/exchange/placed", return_exchange::ask_what_was_placed)
        .post("/merchants/{handle}/returns/{rma}/exchange/placed", return_exchange::place)
        .get("/merchants/{handle}/returns/{rma}/exchange/convert", return_exchange::ask_to_convert)
        .post("/merchants/{handle}/returns/{rma}/exchange/convert", return_exchange::convert)
        .get("/merchants/{handle}/returns/{rma}/exchange/address", exchange_address::ask)
        .post("/merchants/{handle}/returns/{rma}/exchange/address", exchange_address::change)
        .get("/merchants/{handle}/returns/{rma}/act", return_act::ask)
        .post("/merchants/{handle}/returns/{rma}/act", return_act::make)
}

/// What arrives at warehouses, what does not match, and what leaves them.
fn warehouse() -> Routes {
    Routes::default()
        .get("/warehouse", inbound::list)
        .get("/merchants/{handle}/asns/{number}", asn_page::show)
        .get("/exceptions", exceptions::list)
        .get("/merchants/{handle}/exceptions/{id}", exception_page::show)
        .post("/merchants/{handle}/exceptions/{id}", exception_page::work)
        .get("/merchants/{handle}/exceptions/{id}/resolve", exception_page::ask_to_resolve)
        .post("/merchants/{handle}/exceptions/{id}/resolve", exception_page::resolve)
        .get("/warehouse/returns", expected_returns::list)
        .get("/warehouse/shipments", shipments::list)
        .get("/merchants/{handle}/shipments/{number}", shipments::show)
        .get("/warehouse/drop-ship", drop_ships::list)
        .get("/merchants/{handle}/drop-ship/{id}", drop_ships::show)
}

/// Merchants, their way to live and their endpoints.
fn merchants_and_endpoints() -> Routes {
    Routes::default()
        .get("/merchants", merchants::show)
        .get("/merchants/new", merchants::new)
        .post("/merchants/new", merchants::add)
        .get("/merchants/{handle}", merchant::show)
        .get("/merchants/{handle}/contact", merchant::contact)
        .post("/merchants/{handle}/contact", merchant::set_contact)
        .post("/merchants/{handle}/name", merchant_name::rename)
        .get("/merchants/{handle}/pause", merchant::ask_to_pause)
        .post("/merchants/{handle}/pause", merchant::pause)
        .get("/merchants/{handle}/resume", merchant::ask_to_resume)
        .post("/merchants/{handle}/resume", merchant::resume)
        .get("/merchants/{handle}/onboarding", onboarding::show)
        .get("/merchants/{handle}/live", onboarding::ask_to_go_live)
        .post("/merchants/{handle}/live", onboarding::live)
        .get("/merchants/{handle}/credentials", credentials::show)
        .post("/merchants/{handle}/credentials", credentials::issue)
        .get("/merchants/{handle}/credentials/{client_id}/revoke", credentials::ask_to_revoke)
        .post("/merchants/{handle}/credentials/{client_id}/revoke", credentials::revoke)
        .get("/merchants/{handle}/credentials/{client_id}/certificates", credential_certificates::show)
        .post("/merchants/{handle}/credentials/{client_id}/certificates", credential_certificates::add)
        .post("/merchants/{handle}/credentials/{client_id}/certificates/remove", credential_certificates::remove)
        .get("/merchants/{handle}/check", endpoint_check::ask)
        .post("/merchants/{handle}/check", endpoint_check::run)
        .get("/merchants/{handle}/endpoints", endpoints::show)
        .get("/merchants/{handle}/endpoints/{interface}", endpoint::show)
        .get("/merchants/{handle}/endpoints/{interface}/set", endpoints::ask)
        .post("/merchants/{handle}/endpoints/{interface}/set", endpoints::set)
        .get("/merchants/{handle}/endpoints/{interface}/pause", endpoint::ask_to_pause)
        .post("/merchants/{handle}/endpoints/{interface}/pause", endpoint::pause)
        .get("/merchants/{handle}/endpoints/{interface}/resume", endpoint::ask_to_resume)
        .post("/merchants/{handle}/endpoints/{interface}/resume", endpoint::resume)
        .get("/merchants/{handle}/endpoints/{interface}/secret", endpoint::ask_to_rotate)
        .post("/merchants/{handle}/endpoints/{interface}/secret", endpoint::rotate)
        .get("/merchants/{handle}/endpoints/{interface}/test", endpoint_test::ask)
        .post("/merchants/{handle}/endpoints/{interface}/test", endpoint_test::send)
        .get("/merchants/{handle}/endpoints/{interface}/test/{message}", endpoint_test::show)
        .get("/merchants/{handle}/endpoints/{interface}/replay", replay::ask)
        .post("/merchants/{handle}/endpoints/{interface}/replay", replay::start)
        .get("/merchants/{handle}/endpoints/{interface}/replay/{job}", replay::show)
        .get("/merchants/{handle}/endpoints/{interface}/replay/{job}/cancel", replay::ask_to_cancel)
        .post("/merchants/{handle}/endpoints/{interface}/replay/{job}/cancel", replay::cancel)
}

/// What shoppers meet: merchants' return policies, brands and mails.
fn policies_and_brands() -> Routes {
    Routes::default()
        .get("/merchants/{handle}/policy", policy::show)
        .get("/merchants/{handle}/policy/change", policy_change::ask)
        .post("/merchants/{handle}/policy/change", policy_change::change)
        .get("/merchants/{handle}/policy/{version}", policy::show_version)
        .get("/merchants/{handle}/policy/{version}/restore", policy_change::restore)
        .get("/merchants/{handle}/brand", brand::show)
        .post("/merchants/{handle}/brand", brand::set)
        .post("/merchants/{handle}/brand/logo", brand_logo::set)
        .get("/merchants/{handle}/brand/remove", brand::ask_to_remove)
        .post("/merchants/{handle}/brand/remove", brand::remove)
        .get("/merchants/{handle}/brand/preview", brand_preview::show)
        .get("/merchants/{handle}/brand/preview/brand/style.css", brand_preview::style)
        .get("/merchants/{handle}/brand/preview/brand/{file}", brand_preview::logo)
        .get("/merchants/{handle}/mails", mails::show)
        .get("/merchants/{handle}/mails/{mail}/{language}", mails::show_sample)
        .post("/merchants/{handle}/mails/{mail}/{language}", mails::send)
}

/// Every route with the role that it needs.
#[must_use]
pub fn guards() -> Vec<Guard> {
    all_pages().into_parts().1
}

/// The console's router.
pub fn router(app: &App) -> Router {
    let (router, _) = all_pages().into_parts();
    router
        .fallback(async || ConsoleError::NotFound)
        .method_not_allowed_fallback(async || ConsoleError::NotFound)
        .layer(from_fn_with_state(app.clone(), by::enter))
        .route("/assets/{name}", get(pages::asset))
        .route("/favicon.ico", get(pages::favicon))
        .layer(from_fn(confine))
        .layer(from_fn_with_state(app.clone(), handle))
        .with_state(app.clone())
}

/// Keeps what pages read and write to the console's own connections.
async fn confine(request: Request, next: Next) -> Response {
    store::confined(next.run(request)).await
}

/// Handles one request of an operator, from its id to its log line.
async fn handle(State(app): State<App>, request: Request, next: Next) -> Response {
    let render = |response: Response, id: &RequestId, route: &str| error::render(&app, response, id, route);
    middleware::serve_page(&app, Surface::Console, request, next, render).await
}
