//! Puts the findings of the domain's rules into the words and paths of the order message.

use std::collections::BTreeMap;

use domain::orders::order::{Broken, Doubt, Status};
use domain::orders::refund::Remark;
use domain::returns::rma::sale::Sale;

use super::shape::order_path;
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

/// The fault for a broken rule of the order at `order`.
pub(super) fn broken(order: &Path, broken: Broken) -> Fault {
    let line_at = |line| order.field("items").index(line);
    match broken {
        Broken::CustomerUnnamed => {
            let message = "is required unless the customer has an e-mail address; the e-mail address may serve as the identifier";
            Fault::new(order.field("customer").field("identifier"), Code::MissingField, message)
        }
        Broken::LineRepeated { line } => invalid(&line_at(line).field("identifier"), "must be unique among the lines of the order"),
        Broken::LineOvercommitted { line } => {
            invalid(&line_at(line).field("quantity_shipped"), "shipped and cancelled units together must not exceed quantity")
        }
        Broken::RefundRepeated { refund } => invalid(&refund_at(order, refund).field("identifier"), "must be unique across all refunds"),
    }
}

/// The warning for a doubt about the order at `order`.
pub(super) fn doubt(order: &Path, doubt: Doubt) -> Warning {
    let warning = |path: Path, message: String| Warning { field: path.to_string(), message };
    match doubt {
        Doubt::TotalDiffers { computed } => warning(
            order.field("total_amount_cents"),
            format!("differs from product − discount + tax + shipping + shipping tax, which is {computed}"),
        ),
        Doubt::ProductDiffers { computed } => warning(
            order.field("product_amount_cents"),
            format!("differs from the sum of the lines' product_amount_cents, which is {computed}"),
        ),
        Doubt::TaxDiffers { computed } => {
            warning(order.field("tax_amount_cents"), format!("differs from the sum of the lines' tax_amount_cents, which is {computed}"))
        }
        Doubt::LineProductDiffers { line, computed } => warning(
            order.field("items").index(line).field("product_amount_cents"),
            format!("differs from unit_price_amount_cents × quantity_shipped, which is {computed}"),
        ),
        Doubt::FullRefundDiffers { refund } => warning(
            refund_at(order, refund).field("total_refund_amount_cents"),
            "differs from the order's total_amount_cents, although every unit is refunded".to_owned(),
        ),
        Doubt::RefundedAboveTotal { refund } => warning(
            refund_at(order, refund).field("total_refund_amount_cents"),
            "brings the refunds above the order's total_amount_cents".to_owned(),
        ),
        Doubt::RefundBeforeOrder { refund } => {
            warning(refund_at(order, refund).field("created_at"), "is before the order's created_at".to_owned())
        }
        Doubt::RefundOfUnknownLine { refund, line } => warning(
            refund_line_at(order, refund, line).field("order_item_identifier"),
            "is not a line of this order; the refund is recorded all the same".to_owned(),
        ),
        Doubt::Overrefunded { refund, line } => overrefunded(order, refund, line),
    }
}

/// The warning about a refund of units of an order line that were all refunded before.
#[must_use]
pub fn overrefunded(order: &Path, refund: usize, line: usize) -> Warning {
    let message = "brings the refunded units of the line above its quantity; units count up to what was sold".to_owned();
    Warning { field: refund_line_at(order, refund, line).field("quantity").to_string(), message }
}

/// The warning for a remark on the refund at `refund`.
#[must_use]
pub fn remark(order: &Path, refund: usize, remark: Remark) -> Warning {
    let at = refund_at(order, refund);
    let line_at = |line| refund_line_at(order, refund, line);
    let (field, message) = match remark {
        Remark::TotalCorrected => {
            (at.field("total_refund_amount_cents"), "differs from the refund received before; the new value replaces it")
        }
        Remark::UnitsAdded { line } => {
            (line_at(line).field("quantity"), "is more than the refund received before; the added units count from now on")
        }
        Remark::UnitsMissing => {
            (at.field("refund_line_items"), "have fewer units than the refund received before; the missing units stay counted")
        }
        Remark::OtherRma => (at.field("rma_identifier"), "differs from the refund received before; the earlier value is kept"),
        Remark::CountedBefore { line } => {
            (line_at(line).field("identifier"), "was received before for the same line of the order; it counts once")
        }
        Remark::IdentifierReused { line } => (
            line_at(line).field("identifier"),
            "must be unique across all refunds; it was received before for another line, and both count",
        ),
    };
    Warning { field: field.to_string(), message: message.to_owned() }
}

/// The warning about a refund whose identifier belongs to a refund of another order, too.
#[must_use]
pub fn refund_of_another_order(order: &Path, refund: usize) -> Warning {
    let message = "must be unique across all refunds; a refund of another order has it too, and both count".to_owned();
    Warning { field: refund_at(order, refund).field("identifier").to_string(), message }
}

/// The warning about a refund that names an RMA and lists no lines.
#[must_use]
pub fn refund_by_amount(order: &Path, refund: usize) -> Warning {
    let message = "is empty; the refund settles all units of its RMA that are to be refunded".to_owned();
    Warning { field: refund_at(order, refund).field("refund_line_items").to_string(), message }
}

/// The warning about a refund of units that are not in the RMA that it names.
#[must_use]
pub fn units_not_in_rma(order: &Path, refund: usize) -> Warning {
    let message = "has units that are not in the RMA; they count as refunded outside of any RMA".to_owned();
    Warning { field: refund_at(order, refund).field("refund_line_items").to_string(), message }
}

/// The warning about a refund of units of an RMA that were all refunded before.
#[must_use]
pub fn refunded_again(order: &Path, refund: usize) -> Warning {
    let message = "has units of the RMA that were refunded before".to_owned();
    Warning { field: refund_at(order, refund).field("refund_line_items").to_string(), message }
}

/// The warning about a refund whose RMA is unknown, belongs to another order, or is cancelled.
#[must_use]
pub fn rma_not_live(order: &Path, refund: usize) -> Warning {
    let message = "is not an RMA of this order, or the RMA is cancelled; the refund is processed as if it named no RMA".to_owned();
    Warning { field: refund_at(order, refund).field("rma_identifier").to_string(), message }
}

/// The warning about an exchange order although another one is `known` for the same exchange.
#[must_use]
pub fn exchanged_otherwise(order: &Path, known: &str) -> Warning {
    let message = format!("names an exchange whose order is {known}; this order is not recorded as its exchange order");
    Warning { field: order.field("original_order_identifier").to_string(), message }
}

/// The warning about an exchange order although the exchange was converted into refunds.
#[must_use]
pub fn exchange_was_converted(order: &Path) -> Warning {
    let message = "names an exchange that was converted into refunds before; the operator will ask which of both is to stay".to_owned();
    Warning { field: order.field("original_order_identifier").to_string(), message }
}

/// Warnings about an order at position `at` that no longer has units in returns; `live` counts those units by line.
#[must_use]
pub fn changed_under_returns(at: usize, sale: &Sale, live: &BTreeMap<String, u32>) -> Vec<Warning> {
    let order = order_path(at);
    if sale.status == Status::Cancelled && !live.is_empty() {
        let message = "the order is cancelled although units of it are being returned; the return is not affected".to_owned();
        return vec![Warning { field: order.field("status").to_string(), message }];
    }
    let reduced = live.iter().filter_map(|(line, units)| {
        let position = sale.lines.iter().position(|sold| sold.identifier == *line);
        let shipped = position.and_then(|position| sale.lines.get(position)).map_or(0, |sold| sold.shipped);
        let items = order.field("items");
        let field = position.map_or_else(|| items.clone(), |position| items.index(position).field("quantity_shipped"));
        let message = format!("{units} units are being returned, but only {shipped} are shipped; the return is not affected");
        (*units > shipped).then(|| Warning { field: field.to_string(), message })
    });
    reduced.collect()
}
