//! What becomes of a drop-ship order. A word in its comments decides:
//!
//! | word | what happens |
//! | --- | --- |
//! | none | it is shipped |
//! | `SIM-PARTIAL` | one unit is shipped, and the rest with the next round |
//! | `SIM-SHORT` | one unit of its last item is not found; the rest is shipped |
//! | `SIM-CANCEL` | nothing of it is found |
//! | `SIM-REJECT` | the warehouse does not take it on |

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// An order, as far as the warehouse cares.
pub(super) struct Order {
    name: String,
    comments: String,
    /// Its items: their names, how many units are open, and how many were touched.
    items: Vec<Item>,
    /// How many shipments there were.
    shipments: usize,
}

struct Item {
    name: String,
    open: u64,
    touched: u64,
}

/// What the warehouse does next with an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// These units leave.
    Ship(Vec<(String, u64)>),
    /// These units are not there.
    CancelItems(Vec<(String, u64)>),
    /// Nothing of it is there.
    Cancel,
    /// It is not taken on.
    Reject,
}

impl Step {
    /// The last part of the path that it is reported at.
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
    /// Reads an order as the service shows it; nothing if it shows something else.
    pub(super) fn read(shown: &Value) -> Option<Self> {
        let order = shown.get("order")?;
        let count = |of: &Value, name: &str| of.get(name).and_then(Value::as_u64);
        let item = |of: &Value| {
            let touched = count(of, "shipped_quantity")? + count(of, "cancelled_quantity")?;
            Some(Item { name: of.get("client_identifier")?.as_str()?.to_owned(), open: count(of, "open_quantity")?, touched })
        };
        Some(Self {
            name: order.get("client_identifier")?.as_str()?.to_owned(),
            comments: order.get("comments")?.as_str().unwrap_or_default().to_owned(),
            items: shown.get("units")?.as_array()?.iter().map(item).collect::<Option<_>>()?,
            shipments: shown.get("shipments")?.as_array()?.len(),
        })
    }

    /// What is to be done next; nothing if no unit is open.
    pub(super) fn next(&self) -> Option<Step> {
        let open: Vec<(String, u64)> = self.items.iter().filter(|item| item.open > 0).map(|item| (item.name.clone(), item.open)).collect();
        let (first, last) = (open.first()?.0.clone(), open.last()?.0.clone());
        // What has been begun is finished.
        if self.items.iter().any(|item| item.touched > 0) {
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

    /// The report of a step. The same step of the same order has the same name, so that a repeat is known as one.
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

/// The carrier's number of a shipment; it follows from the shipment's name.
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
