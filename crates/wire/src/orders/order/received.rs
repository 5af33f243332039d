//! Orders as they were received, and the fast path that reads them.

use domain::orders::order as rules;
use domain::orders::snapshot::Version;

use super::content::digest;
use super::explain;
use super::shape::{MOST_ORDERS, OrderIn, OrderMessage, Raw, order_path};
use crate::fault::{Fault, Path, Warning};
use crate::shape::List;

/// A received order.
pub struct ReceivedOrder<'a> {
    /// The exact text as sent.
    pub text: &'a str,
    pub order: OrderIn<'a>,
    /// Position in the message; `None` for an order sent on its own.
    pub at: Option<usize>,
    pub warnings: Vec<Warning>,
}

impl<'a> ReceivedOrder<'a> {
    pub(super) fn new(text: &'a str, order: OrderIn<'a>, at: Option<usize>) -> Self {
        Self { text, order, at, warnings: Vec::new() }
    }

    /// Checks the rules: records warnings, and returns the faults.
    pub(super) fn hold_to_rules(&mut self) -> Vec<Fault> {
        let facts = self.order.facts();
        // Most orders are fine; the path is built only for the others.
        let faults = rules::broken(&facts).into_iter().map(|broken| explain::broken(&self.path(), broken)).collect();
        let warnings = rules::doubts(&facts).into_iter().map(|doubt| explain::doubt(&self.path(), doubt)).collect();
        drop(facts);
        self.warnings = warnings;
        faults
    }

    /// The path of the order in its message.
    #[must_use]
    pub fn path(&self) -> Path {
        self.at.map_or_else(Path::root, order_path)
    }

    /// The version of this snapshot.
    #[must_use]
    pub fn version(&self) -> Version {
        Version { updated_at: self.order.updated_at.0, digest: digest(self.text) }
    }
}

/// The fast path: all orders of the message, or `None` if any part of it is malformed.
#[must_use]
pub fn read_fast(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    read_plain(text).or_else(|| read_any(text))
}

/// The tokens before the first order and after the last one, in a message with nothing but orders.
const OPENING: [&str; 7] = ["{", r#""returns_portal_order""#, ":", "{", r#""orders""#, ":", "["];
const CLOSING: [&str; 3] = ["]", "}", "}"];

/// Reads a message with nothing but orders, as nearly all are, in a single pass.
fn read_plain(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    let mut rest = OPENING.iter().try_fold(text, |rest, mark| trim(rest).strip_prefix(mark))?;
    let mut orders = Vec::new();
    loop {
        rest = trim(rest);
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter();
        let order = reader.next()?.ok()?;
        let (text, after) = rest.split_at_checked(reader.byte_offset())?;
        orders.push(ReceivedOrder::new(text, order, Some(orders.len())));
        match trim(after).strip_prefix(',') {
            Some(more) if orders.len() < MOST_ORDERS => rest = more,
            Some(_) => return None,
            None => break rest = after,
        }
    }
    let end = CLOSING.iter().try_fold(rest, |rest, mark| trim(rest).strip_prefix(mark))?;
    trim(end).is_empty().then_some(orders)
}

/// Strips leading JSON white space.
fn trim(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// Reads a message with other fields: finds the orders first, then parses them.
fn read_any(text: &str) -> Option<Vec<ReceivedOrder<'_>>> {
    let message: OrderMessage<'_> = serde_json::from_str(text).ok()?;
    let List(orders) = message.returns_portal_order.orders;
    let texts = orders.into_iter().map(|Raw(raw)| raw.get()).enumerate();
    texts.map(|(at, text)| Some(ReceivedOrder::new(text, serde_json::from_str(text).ok()?, Some(at)))).collect()
}
