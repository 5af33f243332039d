//! An order as returns see it: the goods, without any data about the shopper.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use super::tag::Tag;
use crate::money::Cents;
use crate::orders::order;

/// A weight in thousandths of a pound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

/// The text is not a valid [`Weight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a weight in pounds, such as 20 or 12.5, up to 2,000,000 and with at most three decimals")]
pub struct NoWeight;

const PER_POUND: u32 = 1_000;
const HEAVIEST: Weight = Weight(2_000_000_000);

impl fmt::Display for Weight {
    /// In pounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pounds, thousandths) = (self.0 / PER_POUND, self.0 % PER_POUND);
        match format!("{thousandths:03}").trim_end_matches('0') {
            "" => write!(f, "{pounds}"),
            decimals => write!(f, "{pounds}.{decimals}"),
        }
    }
}

impl FromStr for Weight {
    type Err = NoWeight;

    /// From pounds.
    fn from_str(text: &str) -> Result<Self, NoWeight> {
        let (pounds, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        if !digits(pounds) || !digits(decimals) || decimals.len() > 3 {
            return Err(NoWeight);
        }
        let pounds: u32 = pounds.parse().map_err(|_| NoWeight)?;
        let thousandths: u32 = format!("{decimals:0<3}").parse().map_err(|_| NoWeight)?;
        let weight = pounds.checked_mul(PER_POUND).and_then(|whole| whole.checked_add(thousandths)).map(Self);
        weight.filter(|weight| *weight <= HEAVIEST).ok_or(NoWeight)
    }
}

/// An order as returns see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sale {
    pub identifier: String,
    pub status: order::Status,
    pub placed_at: DateTime<Utc>,
    /// Tags of the whole order.
    pub tags: Vec<Tag>,
    pub lines: Vec<SoldLine>,
}

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoldLine {
    pub identifier: String,
    pub sku: String,
    pub title: Option<String>,
    pub image_url: Option<String>,
    /// The merchant's product id, if it differs from the SKU.
    pub product_identifier: Option<String>,
    /// Typically a brand.
    pub concept: Option<String>,
    /// Identifies the variants that the line can be exchanged for.
    pub variant_identifier: Option<String>,
    pub quantity: u32,
    pub shipped: u32,
    pub cancelled: u32,
    pub unit_price: Cents,
    /// The merchant's figure for the shipped units, if given.
    pub product: Option<Cents>,
    /// The discount on the line, for all units that are not cancelled.
    pub discount: Cents,
    /// The line's share of a discount on the whole order, for all units that are not cancelled.
    pub order_discount: Cents,
    /// Of the shipped units.
    pub tax: Cents,
    /// Of one unit, if known.
    pub weight: Option<Weight>,
    pub shipped_at: Option<DateTime<Utc>>,
    /// When the last units were delivered, as the merchant says.
    pub delivered_at: Option<DateTime<Utc>>,
    pub tags: Vec<Tag>,
}

impl SoldLine {
    /// The units that were ordered and not cancelled, shipped or not.
    #[must_use]
    pub fn ordered(&self) -> u32 {
        self.quantity.saturating_sub(self.cancelled).max(self.shipped)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_weight_is_written_in_pounds() {
        for (text, weight) in [("20", 20_000), ("12.5", 12_500), ("0.001", 1), ("0", 0), ("007.250", 7_250)] {
            assert_eq!(text.parse(), Ok(Weight(weight)), "{text}");
        }
        for text in ["", ".5", "5.", "1.2345", "-1", "+1", "1e3", "2000000.001", "99999999999"] {
            assert_eq!(text.parse::<Weight>(), Err(NoWeight), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_weight_is_read_as_it_is_written(thousandths in 0..=HEAVIEST.0) {
            prop_assert_eq!(Weight(thousandths).to_string().parse::<Weight>(), Ok(Weight(thousandths)));
        }
    }

    /// A shipped order of these lines.
    pub(crate) fn sale(lines: Vec<SoldLine>) -> Sale {
        Sale { identifier: "order".to_owned(), status: order::Status::Shipped, placed_at: DateTime::UNIX_EPOCH, tags: Vec::new(), lines }
    }

    /// A line of two shipped units.
    pub(crate) fn line() -> SoldLine {
        SoldLine {
            identifier: "line".to_owned(),
            sku: "SHOE-42".to_owned(),
            title: None,
            image_url: None,
            product_identifier: None,
            concept: None,
            variant_identifier: None,
            quantity: 2,
            shipped: 2,
            cancelled: 0,
            unit_price: Cents::default(),
            product: None,
            discount: Cents::default(),
            order_discount: Cents::default(),
            tax: Cents::default(),
            weight: None,
            shipped_at: None,
            delivered_at: None,
            tags: Vec::new(),
        }
    }
}
