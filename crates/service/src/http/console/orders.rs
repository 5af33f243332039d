//! `GET /orders`: a merchant's orders by identifier, the highest first.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;
use store::merchants::accounts::Merchant;
use store::orders::order_pages::{self, Filter, LOOKED_AT};

use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::failure_choice::merchant_of;
use super::form::Query;
use super::frame::{Frame, Notice, Section};
use super::order_page::shown;
use super::page::render;
use super::return_found::order_at;
use super::stamp::Stamp;

/// The rows of a page.
const PAGE: usize = 50;

/// The filters in the address.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Filters {
    merchant: String,
    status: String,
    /// `returns` or `warnings`.
    has: String,
    order: String,
    since: String,
    until: String,
    before: String,
}

impl Filters {
    fn is_set(&self) -> bool {
        [&self.merchant, &self.status, &self.has, &self.order, &self.since, &self.until].iter().any(|value| !value.is_empty())
    }

    /// The address of this list, from the order `before` on.
    fn at(&self, before: &str) -> String {
        let fields = [
            ("merchant", self.merchant.as_str()),
            ("status", &self.status),
            ("has", &self.has),
            ("order", &self.order),
            ("since", &self.since),
            ("until", &self.until),
            ("before", before),
        ];
        let set: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        format!("/orders?{}", serde_urlencoded::to_string(set).unwrap_or_default())
    }
}

struct Row {
    at: String,
    identifier: String,
    status: (&'static str, &'static str),
    placed: Stamp,
    received: Stamp,
    revision: i64,
    has_returns: bool,
    has_warnings: bool,
}

#[derive(Template)]
#[template(path = "console/orders.html")]
struct Page {
    frame: Frame,
    is_set: bool,
    filters: Filters,
    statuses: [&'static str; 3],
    merchant: Option<Merchant>,
    rows: Vec<Row>,
    more: Option<String>,
    looked_at: i64,
    command: String,
}

/// The filter of the store, and what could not be read.
fn read(by: &By<Viewer>, filters: &Filters) -> (Filter, Vec<&'static str>) {
    let mut faults = Vec::new();
    let (from, to) = (
        by.parse_filter(&filters.since, "“Placed since” cannot be read.", &mut faults),
        by.parse_filter(&filters.until, "“Until” cannot be read.", &mut faults),
    );
    let filter = Filter {
        // A text with a zero byte is no identifier.
        prefix: filters.order.trim().replace('\0', ""),
        status: Some(filters.status.clone()).filter(|status| !status.is_empty()),
        with_returns: filters.has == "returns",
        with_warnings: filters.has == "warnings",
        from,
        to,
    };
    (filter, faults)
}

pub(super) async fn list(by: By<Viewer>, Query(filters): Query<Filters>) -> Result<Response, ConsoleError> {
    let (filter, mut faults) = read(&by, &filters);
    let merchant = match filters.merchant.trim() {
        "" => None,
        handle => match merchant_of(&by, handle).await {
            Ok(merchant) => Some(merchant),
            Err(ConsoleError::NotFound) => {
                faults.push("There is no merchant with this handle.");
                None
            }
            Err(error) => return Err(error),
        },
    };
    let (rows, more) = match &merchant {
        Some(merchant) => {
            let before = Some(filters.before.replace('\0', "")).filter(|before| !before.is_empty());
            let page = order_pages::list(by.app.store(merchant.id), merchant.id, &filter, before.as_deref(), PAGE).await?;
            let row = |order: order_pages::Listed| Row {
                at: order_at(&merchant.handle, &order.identifier),
                status: shown(&order.status),
                placed: by.time(order.placed_at),
                received: by.time(order.received_at),
                revision: order.revision,
                has_returns: order.has_returns,
                has_warnings: order.has_warnings,
                identifier: order.identifier,
            };
            (page.orders.into_iter().map(row).collect(), page.next)
        }
        None => (Vec::new(), None),
    };
    let faults = faults.join(" ");
    let notice = (!faults.is_empty()).then(|| Notice::warn("A filter was left out.", &faults));
    let handle = if filters.merchant.is_empty() { "HANDLE" } else { &filters.merchant };
    let command = format!("backhaul orders warned --merchant {handle}");
    render(&Page {
        frame: by.frame(Section::Orders, "Orders").with(notice),
        is_set: filters.is_set(),
        statuses: ["Created", "Shipped", "Cancelled"],
        merchant,
        rows,
        more: more.map(|before| filters.at(&before)),
        looked_at: LOOKED_AT,
        command,
        filters,
    })
}
