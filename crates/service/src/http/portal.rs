//! The shopper's portal: one file per page. A page parses, calls one flow or reads, and renders.
//!
//! - `find.rs` finds the order; `lost.rs` and `link.rs` open it by a mailed link, `orders.rs` chooses among several.
//!   `return_link.rs` opens one return by the link in a mail about it, `shop_link.rs` an order by a link that the merchant made.
//!   `session.rs` knows the shopper from then on.
//! - `items.rs`, `reason.rs`, `instead.rs`, `exchange.rs`, `how.rs` ask the questions; `step.rs` knows which is next.
//! - `check.rs` shows all answers and confirms; `changed.rs` says what has changed since they were given.
//! - `done.rs`, `status.rs`, `returns.rs`, `label.rs`, `cancel.rs` are about returns.
//! - `withdraw.rs` is the way out of a contract, on its own.
//! - `view.rs`, `bill.rs` and `photo.rs` are what several pages show; `brand.rs` serves the merchant's style sheet and logos.

mod bill;
mod brand;
mod cancel;
mod changed;
mod check;
mod done;
mod exchange;
mod find;
mod how;
mod instead;
mod items;
mod label;
mod link;
mod lost;
mod orders;
mod photo;
mod reason;
mod return_link;
mod returns;
mod session;
mod shop;
mod shop_link;
mod status;
mod step;
mod view;
mod withdraw;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

pub(super) use self::find::show as first_page;
use super::middleware;
use super::pages;
use super::pages::error::PageError;
use crate::app::App;

/// The portal's router.
pub(super) fn router(app: &App) -> Router {
    let shop = Router::new()
        .route("/r/{merchant}", get(find::show).post(find::find))
        .route("/r/{merchant}/leave", post(find::leave))
        .route("/r/{merchant}/lost", get(lost::show).post(lost::send))
        .route("/r/{merchant}/l/{link}", get(link::show).post(link::open))
        .route("/r/{merchant}/s/{link}", get(return_link::show).post(return_link::open))
        .route("/r/{merchant}/m/{link}", get(shop_link::open))
        .route("/r/{merchant}/orders", get(orders::list).post(orders::choose))
        .route("/r/{merchant}/items", get(items::show).post(items::choose))
        .route("/r/{merchant}/items/{item}/reason", get(reason::show).post(reason::answer))
        .route("/r/{merchant}/items/{item}/instead", get(instead::show).post(instead::answer))
        .route("/r/{merchant}/items/{item}/exchange", get(exchange::show).post(exchange::answer))
        .route("/r/{merchant}/photos/{line}", get(photo::show))
        .route("/r/{merchant}/brand/{file}", get(brand::show))
        .route("/r/{merchant}/how", get(how::show).post(how::answer))
        .route("/r/{merchant}/check", get(check::show).post(check::confirm))
        .route("/r/{merchant}/changed", post(changed::accept))
        .route("/r/{merchant}/returns", get(returns::list))
        .route("/r/{merchant}/returns/{rma}", get(status::show))
        .route("/r/{merchant}/returns/{rma}/done", get(done::show))
        .route("/r/{merchant}/returns/{rma}/another", post(done::start_over))
        .route("/r/{merchant}/returns/{rma}/label", get(label::show).post(label::show_postcode))
        .route("/r/{merchant}/returns/{rma}/code", get(label::show_code))
        .route("/r/{merchant}/returns/{rma}/cancel", get(cancel::show).post(cancel::cancel))
        .route("/r/{merchant}/withdraw", get(withdraw::form::show).post(withdraw::form::answer))
        .route("/r/{merchant}/withdraw/goods", get(withdraw::goods::show).post(withdraw::goods::answer))
        .route("/r/{merchant}/withdraw/confirm", get(withdraw::confirm::show).post(withdraw::confirm::confirm))
        .route("/r/{merchant}/withdraw/done", get(withdraw::done::show))
        .route("/r/{merchant}/w/{link}", get(withdraw::link::show))
        .route("/r/{merchant}/withdrawals/{reference}", get(withdraw::done::show_of_order).post(withdraw::done::send))
        .route("/r/{merchant}/{*rest}", any(async || PageError::NotFound))
        .layer(from_fn_with_state(app.clone(), shop::enter));
    Router::new()
        .route("/assets/{name}", get(pages::asset))
        .route("/favicon.ico", get(pages::favicon))
        .merge(shop)
        .fallback(async || PageError::NotFound)
        .method_not_allowed_fallback(async || PageError::NotFound)
        .layer(from_fn_with_state(app.clone(), middleware::handle_page))
        .with_state(app.clone())
}
