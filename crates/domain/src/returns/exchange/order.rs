//! The exchange order: the variants, the gift card, or both, that a shopper gets instead of a refund.

use super::variant::Variant;
use crate::money::Cents;
use crate::returns::rma::choice::{Getting, Picked};
use crate::returns::rma::sale::SoldLine;

/// The exchange order for the units of a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeOrder<'a> {
    pub replacements: Vec<Replacement<'a>>,
    /// Covers the units that are not replaced.
    pub gift_card: Option<GiftCard<'a>>,
}

/// A variant that replaces units of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// The returned line.
    pub line: &'a SoldLine,
    pub variant: &'a Variant,
    pub quantity: u32,
    /// Price of all units.
    pub product: Cents,
    /// Discount on the returned units; the replacements get it too.
    pub discount: Cents,
}

/// A gift card for returned units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiftCard<'a> {
    /// Value of the returned units.
    pub value: Cents,
    /// Added by the merchant.
    pub bonus: Cents,
    /// The returned lines, with the number of units of each.
    pub returned: Vec<(&'a SoldLine, u32)>,
}

/// The exchange order for the units of a return; `None` if all of them are refunded. A gift card with a value gets the `bonus` on
/// top.
#[must_use]
pub fn of<'a>(units: &[Picked<'a>], bonus: Cents) -> Option<ExchangeOrder<'a>> {
    let mut replacements: Vec<Replacement<'a>> = Vec::new();
    let mut returned: Vec<(&'a SoldLine, u32)> = Vec::new();
    let mut value = 0;
    for picked in units {
        let (line, money) = (picked.line, picked.money);
        match picked.getting {
            Getting::Refund => {}
            Getting::Variant(variant) => {
                let same = |known: &&mut Replacement<'_>| known.line.identifier == line.identifier && known.variant.sku == variant.sku;
                if let Some(known) = replacements.iter_mut().find(same) {
                    known.quantity += 1;
                    known.product = known.product.plus(variant.unit_price);
                    known.discount = known.discount.plus(money.discount);
                } else {
                    replacements.push(Replacement { line, variant, quantity: 1, product: variant.unit_price, discount: money.discount });
                }
            }
            Getting::GiftCard => {
                value += i128::from(money.estimated.get());
                match returned.iter_mut().find(|(known, _)| known.identifier == line.identifier) {
                    Some((_, quantity)) => *quantity += 1,
                    None => returned.push((line, 1)),
                }
            }
        }
    }
    let value = Cents::nearest(value);
    let bonus = if value > Cents::default() { bonus } else { Cents::default() };
    let gift_card = (!returned.is_empty()).then_some(GiftCard { value, bonus, returned });
    (gift_card.is_some() || !replacements.is_empty()).then_some(ExchangeOrder { replacements, gift_card })
}

#[cfg(test)]
mod tests;
