//! What the domain's rules find, in the words and paths of the order message.

use std::collections::BTreeMap;

use domain::order::{Broken, Doubt, MOST_UNITS, Status};
use domain::refund::Conflict;
use domain::rma::sale::Sale;

use super::order_path;
use crate::fault::{Code, Fault, Path, Warning};

fn refund_at(order: &Path, refund: usize) -> Path {
    order.field("refunds").index(refund)
}

fn refund_line_at(order: &Path, refund: usize, line: usize) -> Path {
    refund_at(order, refund).field("refund_line_items").index(line)
}

fn invalid(path: &Path, message: impl Into<String>) -> Fault {
    Fault::new(path, Code::Invalid, message)
}

/// A broken rule as a fault of the order at `order`.
pub(super) fn broken(order: &Path, broken: Broken) -> Fault {
    let line_at = |line| order.field("items").index(line);
    match broken {
        Broken::CustomerUnnamed => {
            let message = "is required when the customer has no e-mail address; the address is fine as identifier";
            Fault::new(order.field("customer").field("identifier"), Code::MissingField, message)
        }
        Broken::LineRepeated { line } => invalid(&line_at(line).field("identifier"), "must be unique among the lines of the order"),
        Broken::LineOvercommitted { line } => {
            invalid(&line_at(line).field("quantity_shipped"), "shipped and cancelled units together must not exceed quantity")
        }
        Broken::RefundRepeated { refund } => invalid(&refund_at(order, refund).field("identifier"), "must be unique across all refunds"),
        Broken::RefundLineRepeated { refund, line } => reused_refund_line(order, refund, line),
        Broken::RefundOfUnknownLine { refund, line } => {
            invalid(&refund_line_at(order, refund, line).field("order_item_identifier"), "must be the identifier of a line of this order")
        }
        Broken::Overrefunded { refund, line } => overrefunded(order, refund, line),
    }
}

/// A doubt as a warning about the order at `order`.
pub(super) fn doubt(order: &Path, doubt: Doubt) -> Warning {
    let warning = |path: Path, message: String| Warning { field: path.to_string(), message };
    match doubt {
        Doubt::TotalDiffers { computed } => {
            warning(order.field("total_amount_cents"), format!("product − discount + tax + shipping + shipping tax is {computed}"))
        }
        Doubt::ProductDiffers { computed } => {
            warning(order.field("product_amount_cents"), format!("the product_amount_cents of the lines sum to {computed}"))
        }
        Doubt::TaxDiffers { computed } => {
            warning(order.field("tax_amount_cents"), format!("the tax_amount_cents of the lines sum to {computed}"))
        }
        Doubt::LineProductDiffers { line, computed } => warning(
            order.field("items").index(line).field("product_amount_cents"),
            format!("unit_price_amount_cents × quantity_shipped is {computed}"),
        ),
        Doubt::FullRefundDiffers { refund } => warning(
            refund_at(order, refund).field("total_refund_amount_cents"),
            "every unit is refunded, but not the order's total_amount_cents".to_owned(),
        ),
        Doubt::RefundedAboveTotal { refund } => warning(
            refund_at(order, refund).field("total_refund_amount_cents"),
            "with this refund, more is paid back than the order's total_amount_cents".to_owned(),
        ),
        Doubt::RefundBeforeOrder { refund } => {
            warning(refund_at(order, refund).field("created_at"), "is before the order's created_at".to_owned())
        }
    }
}

/// The refund at position `refund` says something else than the recorded refund of that identifier.
#[must_use]
pub fn conflict(order: &Path, refund: usize, conflict: Conflict) -> Fault {
    let at = refund_at(order, refund);
    match conflict {
        Conflict::AnotherOrder => {
            invalid(&at.field("identifier"), "belongs to a refund of another order; identifiers are unique across all refunds")
        }
        Conflict::AnotherTotal => {
            invalid(&at.field("total_refund_amount_cents"), "differs from what was received before; a refund is immutable, send a new one")
        }
        Conflict::OtherLines => {
            invalid(&at.field("refund_line_items"), "differ from what was received before; a refund is immutable, send a new one")
        }
    }
}

/// The refund line's identifier belongs to another refund line of the merchant.
#[must_use]
pub fn reused_refund_line(order: &Path, refund: usize, line: usize) -> Fault {
    invalid(&refund_line_at(order, refund, line).field("identifier"), "must be unique across all refunds")
}

/// With this refund line, more units are refunded than were ordered.
#[must_use]
pub fn overrefunded(order: &Path, refund: usize, line: usize) -> Fault {
    let message = format!("all refunds of the line together must not exceed its quantity (at most {MOST_UNITS})");
    invalid(&refund_line_at(order, refund, line).field("quantity"), message)
}

/// The refund names another RMA than the one recorded.
#[must_use]
pub fn rma_differs(order: &Path, refund: usize) -> Warning {
    let message = "differs from what was received before, which stands".to_owned();
    Warning { field: refund_at(order, refund).field("rma_identifier").to_string(), message }
}

/// The RMA that the refund names is unknown, of another order, cancelled or settled already.
#[must_use]
pub fn rma_not_live(order: &Path, refund: usize) -> Warning {
    let message = "names no RMA of this order that is still to be settled; the refund is treated as if it named none".to_owned();
    Warning { field: refund_at(order, refund).field("rma_identifier").to_string(), message }
}

/// What the order at position `at` no longer has, though it is on its way back: `live` counts units by line.
#[must_use]
pub fn changed_under_returns(at: usize, sale: &Sale, live: &BTreeMap<String, u32>) -> Vec<Warning> {
    let order = order_path(at);
    if sale.status == Status::Cancelled && !live.is_empty() {
        let message = "the order is cancelled while units of it are on their way back; the return stays".to_owned();
        return vec![Warning { field: order.field("status").to_string(), message }];
    }
    let reduced = live.iter().filter_map(|(line, units)| {
        let position = sale.lines.iter().position(|sold| sold.identifier == *line);
        let shipped = position.and_then(|position| sale.lines.get(position)).map_or(0, |sold| sold.shipped);
        let items = order.field("items");
        let field = position.map_or_else(|| items.clone(), |position| items.index(position).field("quantity_shipped"));
        let message = format!("{units} units are on their way back, and {shipped} are shipped; the return stays");
        (*units > shipped).then(|| Warning { field: field.to_string(), message })
    });
    reduced.collect()
}

/// The refund carries another time than the one recorded.
#[must_use]
pub fn time_differs(order: &Path, refund: usize) -> Warning {
    let message = "differs from what was received before, which stands".to_owned();
    Warning { field: refund_at(order, refund).field("created_at").to_string(), message }
}
