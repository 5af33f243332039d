//! The slow path: the faults of an order, or of a message of orders, that the fast path refused.

use std::iter;
use std::sync::LazyLock;

use serde_json::Value;

use super::shape::{LineIn, MOST_ORDERS, OrderIn, OrderMessage, RefundIn, RefundLineIn, order_path};
use crate::explainer::Explainer;
use crate::fault::{Fault, MOST_TOLD, Path};
use crate::json::{self, Malformed};
use crate::request::{Faults, Refusal};
use crate::shape::Identifier;

static ENVELOPE: LazyLock<Explainer> = LazyLock::new(|| Explainer::with_lists::<OrderMessage<'_>>(&["Order"], Vec::new()));

static ORDER: LazyLock<Explainer> = LazyLock::new(|| {
    let refund_line = Explainer::of::<RefundLineIn<'_>>();
    let refund = Explainer::with_lists::<RefundIn<'_>>(&["RefundLine"], vec![("refund_line_items", refund_line)]);
    let line = Explainer::of::<LineIn<'_>>();
    Explainer::with_lists::<OrderIn<'_>>(&["OrderLine", "Refund"], vec![("items", line), ("refunds", refund)])
});

/// Explains why a message is malformed.
#[must_use]
pub fn read_slow(text: &str) -> Refusal {
    match json::shallow(text, 0).and_then(explain) {
        Ok(faults) => Refusal::Faulty(faults),
        Err(malformed) => Refusal::Malformed(malformed),
    }
}

/// The faults in the shape of a message of orders.
fn explain(text: &str) -> Result<Faults, Malformed> {
    let (mut message, mut odd) = json::inspect(text)?;
    odd.sort_by_key(order_of);
    let mut odd = odd.into_iter().peekable();
    let mut faults: Vec<Fault> = iter::from_fn(|| odd.next_if(|fault| order_of(fault).is_none())).collect();
    ENVELOPE.explain(&mut message, &Path::root(), &mut faults);
    let orders = message.pointer_mut("/returns_portal_order/orders").and_then(Value::as_array_mut).map_or(&mut [][..], Vec::as_mut_slice);
    for (at, order) in orders.iter_mut().enumerate().take(MOST_ORDERS) {
        if faults.len() >= MOST_TOLD {
            break;
        }
        faults.extend(iter::from_fn(|| odd.next_if(|fault| order_of(fault) == Some(at))));
        ORDER.explain(order, &order_path(at), &mut faults);
    }
    faults.extend(odd);
    faults.truncate(MOST_TOLD);
    Ok(Faults { faults, identifiers: orders.iter().take(MOST_ORDERS).filter_map(identifier_of).collect() })
}

/// The faults in the shape of an order on its own.
pub(super) fn explain_order(text: &str) -> Result<Faults, Malformed> {
    let (mut order, mut faults) = json::inspect(text)?;
    ORDER.explain(&mut order, &Path::root(), &mut faults);
    faults.truncate(MOST_TOLD);
    Ok(Faults { faults, identifiers: identifier_of(&order).into_iter().collect() })
}

/// The order's identifier, if it is readable and valid.
fn identifier_of(order: &Value) -> Option<String> {
    let identifier = order.get("identifier")?.as_str()?;
    Identifier::fits(identifier).then(|| identifier.to_owned())
}

/// The position of the order that `fault` is in.
fn order_of(fault: &Fault) -> Option<usize> {
    let (at, _) = fault.field.strip_prefix("returns_portal_order.orders[")?.split_once(']')?;
    at.parse().ok()
}
