//! An order as returns see it: what was sold, without a word on who bought it.

use chrono::{DateTime, Utc};

use super::policy::Tag;
use crate::money::Cents;
use crate::order;

/// A weight in thousandths of a pound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

/// What was sold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sale {
    /// The merchant's name for the order.
    pub identifier: String,
    /// Where it stands.
    pub status: order::Status,
    /// When it was placed.
    pub placed_at: DateTime<Utc>,
    /// What the merchant flags about all of it.
    pub tags: Vec<Tag>,
    /// What was ordered.
    pub lines: Vec<SoldLine>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoldLine {
    /// The merchant's name for the line.
    pub identifier: String,
    /// The merchant's name for the goods.
    pub sku: String,
    /// The name for people.
    pub title: Option<String>,
    /// Where there is a picture.
    pub image_url: Option<String>,
    /// What leads to the variants that it can be exchanged for.
    pub variant_identifier: Option<String>,
    /// Units ordered.
    pub quantity: u32,
    /// Units that left.
    pub shipped: u32,
    /// Units called off.
    pub cancelled: u32,
    /// Price of one unit.
    pub unit_price: Cents,
    /// The merchant's figure for the shipped units, where given.
    pub product: Option<Cents>,
    /// Discount on the line.
    pub discount: Cents,
    /// Tax on the shipped units.
    pub tax: Cents,
    /// What one unit weighs, where known.
    pub weight: Option<Weight>,
    /// When it left, where known.
    pub shipped_at: Option<DateTime<Utc>>,
    /// What the merchant flags about the line.
    pub tags: Vec<Tag>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A line of two shipped units.
    pub(in crate::rma) fn line() -> SoldLine {
        SoldLine {
            identifier: "line".to_owned(),
            sku: "SHOE-42".to_owned(),
            title: None,
            image_url: None,
            variant_identifier: None,
            quantity: 2,
            shipped: 2,
            cancelled: 0,
            unit_price: Cents::default(),
            product: None,
            discount: Cents::default(),
            tax: Cents::default(),
            weight: None,
            shipped_at: None,
            tags: Vec::new(),
        }
    }
}
