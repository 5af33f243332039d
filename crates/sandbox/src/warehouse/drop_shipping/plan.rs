//! The steps of a drop-ship order. A word in its comments decides:
//!
//! | word | steps |
//! | --- | --- |
//! | none | it is shipped |
//! | `SIM-PARTIAL` | one unit is shipped, and the rest in the next round |
//! | `SIM-SHORT` | one unit of its last item is not in stock; the rest is shipped |
//! | `SIM-CANCEL` | nothing is in stock, and it is cancelled |
//! | `SIM-REJECT` | the warehouse rejects it |

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A drop-ship order, as the service shows it.
pub(super) struct Order {
    name: String,
    comments: String,
    items: Vec<Item>,
    /// The number of shipments so far.
    shipments: usize,
}

struct Item {
    name: String,
    open: u64,
    /// Units already shipped or cancelled.
    done: u64,
}

/// A step of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Ships these quantities by item.
    Ship(Vec<(String, u64)>),
    /// Cancels these quantities by item.
    CancelItems(Vec<(String, u64)>),
    Cancel,
    Reject,
}

impl Step {
    /// The last segment of the path for reporting it.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Ship(_) => "ship",
            Self::CancelItems(_) => "cancel_items",
            Self::Cancel => "cancel",
            Self::Reject => "reject",
        }
    }
}

impl Order {
    /// Reads the service's response. `None` if it is not an order.
    pub(super) fn read(shown: &Value) -> Option<Self> {
        let order = shown.get("order")?;
        let count = |of: &Value, name: &str| of.get(name).and_then(Value::as_u64);
        let item = |of: &Value| {
            let done = count(of, "shipped_quantity")? + count(of, "cancelled_quantity")?;
            Some(Item { name: of.get("client_identifier")?.as_str()?.to_owned(), open: count(of, "open_quantity")?, done })
        };
        Some(Self {
            name: order.get("client_identifier")?.as_str()?.to_owned(),
            comments: order.get("comments")?.as_str().unwrap_or_default().to_owned(),
            items: shown.get("units")?.as_array()?.iter().map(item).collect::<Option<_>>()?,
            shipments: shown.get("shipments")?.as_array()?.len(),
        })
    }

    /// The next step; `None` if no unit is open.
    pub(super) fn next(&self) -> Option<Step> {
        let open: Vec<(String, u64)> = self.items.iter().filter(|item| item.open > 0).map(|item| (item.name.clone(), item.open)).collect();
        let (first, last) = (open.first()?.0.clone(), open.last()?.0.clone());
        // Ship the rest of an order that was already worked on.
        if self.items.iter().any(|item| item.done > 0) {
            return Some(Step::Ship(open));
        }
        let says = |word: &str| self.comments.contains(word);
        let step = if says("SIM-REJECT") {
            Step::Reject
        } else if says("SIM-CANCEL") {
            Step::Cancel
        } else if says("SIM-SHORT") {
            Step::CancelItems(vec![(last, 1)])
        } else if says("SIM-PARTIAL") {
            Step::Ship(vec![(first, 1)])
        } else {
            Step::Ship(open)
        };
        Some(step)
    }

    /// The body of a step's report. The same step of the same order has the same identifier, so a repeat is recognised.
    pub(super) fn report(&self, step: &Step) -> Value {
        let units = |of: &[(String, u64)]| {
            of.iter().map(|(item, quantity)| json!({ "client_identifier": item, "quantity": quantity })).collect::<Value>()
        };
        match step {
            Step::Ship(of) => {
                let identifier = format!("{}-S{}", self.name, self.shipments + 1);
                let quantity: u64 = of.iter().map(|(_, quantity)| quantity).sum();
                json!({
                    "shipment_identifier": identifier,
                    "carrier": "SimPost",
                    "shipping_method": "GROUND",
                    "tracking_number": tracking_number(&identifier),
                    "billed_weight": quantity * 2,
                    "shipping_cost_cents": 500 + 150 * quantity,
                    "shipment_items": units(of),
                })
            }
            Step::CancelItems(of) => json!({
                "cancellation_identifier": format!("{}-C1", self.name),
                "order_items": units(of),
                "reject_reason": "inventory not found",
            }),
            Step::Cancel => json!({ "reject_reason": "inventory not found" }),
            Step::Reject => json!({ "reject_reason": "inventory damaged" }),
        }
    }
}

/// The tracking number, derived from the shipment's identifier.
fn tracking_number(identifier: &str) -> String {
    let number = Sha256::digest(identifier).iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("SIMW{:012}", number % 1_000_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(comments: &str, items: &[(u64, u64)]) -> Order {
        let unit = |(at, (open, shipped)): (usize, &(u64, u64))| json!({ "client_identifier": format!("L{}", at + 1), "open_quantity": open, "shipped_quantity": shipped, "cancelled_quantity": 0 });
        let units: Vec<Value> = items.iter().enumerate().map(unit).collect();
        let shown = json!({ "order": { "client_identifier": "A-1", "comments": comments }, "units": units, "shipments": [] });
        Order::read(&shown).unwrap()
    }

    #[test]
    fn a_word_in_the_comments_says_what_becomes_of_an_order() {
        let all = Step::Ship(vec![("L1".to_owned(), 2), ("L2".to_owned(), 1)]);
        for (comments, step) in [
            ("", all.clone()),
            ("Please SIM-PARTIAL.", Step::Ship(vec![("L1".to_owned(), 1)])),
            ("SIM-SHORT", Step::CancelItems(vec![("L2".to_owned(), 1)])),
            ("SIM-CANCEL", Step::Cancel),
            ("SIM-REJECT", Step::Reject),
        ] {
            assert_eq!(order(comments, &[(2, 0), (1, 0)]).next(), Some(step), "{comments}");
        }
    }

    #[test]
    fn what_was_begun_is_finished_and_what_is_over_is_left_alone() {
        assert_eq!(order("SIM-PARTIAL", &[(1, 1), (0, 0)]).next(), Some(Step::Ship(vec![("L1".to_owned(), 1)])));
        assert_eq!(order("", &[(0, 1)]).next(), None);
        assert!(Order::read(&json!({ "message": "Nothing was found at this path." })).is_none());
    }

    #[test]
    fn the_same_step_has_the_same_report() {
        let order = order("", &[(2, 0)]);
        let step = order.next().unwrap();
        assert_eq!(order.report(&step), order.report(&step));
        assert_eq!(order.report(&step)["shipment_identifier"], "A-1-S1");
    }
}
