//! Everything that is stored about a shopper, as one JSON file.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::time;

/// Everything about a shopper.
#[derive(Debug, Serialize)]
pub struct ShopperExport {
    merchant: String,
    exported_at: String,
    orders: Vec<OrderExport>,
}

/// The rows about one order, by table.
#[derive(Debug, Serialize)]
struct OrderExport {
    order: String,
    records: BTreeMap<String, Vec<Value>>,
}

impl ShopperExport {
    /// An export without orders.
    #[must_use]
    pub fn new(merchant: &str, at: DateTime<Utc>) -> Self {
        Self { merchant: merchant.to_owned(), exported_at: time::write(at), orders: Vec::new() }
    }

    /// Adds an order with its rows, each with its table.
    pub fn push(&mut self, order: &str, rows: impl IntoIterator<Item = (String, Value)>) {
        let mut records: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (table, row) in rows {
            records.entry(table).or_default().push(row);
        }
        self.orders.push(OrderExport { order: order.to_owned(), records });
    }
}
