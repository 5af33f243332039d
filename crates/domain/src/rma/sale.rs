//! An order as returns see it: what was sold, without a word on who bought it.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use super::policy::Tag;
use crate::money::Cents;
use crate::order;

/// A weight in thousandths of a pound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

/// Why a text is no [`Weight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a weight is written in pounds, such as 20 or 12.5, up to 2,000,000 and with three decimals at most")]
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
    /// The merchant's name for the product, where it differs from the SKU.
    pub product_identifier: Option<String>,
    /// The merchant's word for what it is: typically a brand.
    pub concept: Option<String>,
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
            tax: Cents::default(),
            weight: None,
            shipped_at: None,
            tags: Vec::new(),
        }
    }
}
