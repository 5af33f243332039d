//! The order by which a shopper gets something else than the money: other variants, a gift card, or both.

use super::variant::Variant;
use crate::money::Cents;
use crate::rma::choice::{Getting, Picked};
use crate::rma::sale::SoldLine;

/// What is ordered for the units of a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeOrder<'a> {
    /// Other variants.
    pub replacements: Vec<Replacement<'a>>,
    /// A gift card for what is not replaced.
    pub gift_card: Option<GiftCard<'a>>,
}

/// A variant for units of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// The line that comes back.
    pub line: &'a SoldLine,
    /// What is had instead.
    pub variant: &'a Variant,
    /// How many units.
    pub quantity: u32,
    /// What the units cost together.
    pub product: Cents,
    /// The discount on the units that come back, which their replacements get too.
    pub discount: Cents,
}

/// A gift card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiftCard<'a> {
    /// What the units were worth that it is had for.
    pub value: Cents,
    /// What the merchant adds to that.
    pub bonus: Cents,
    /// The lines that come back for it, with how many units of each.
    pub returned: Vec<(&'a SoldLine, u32)>,
}

/// The exchange order for these units of a return; none if all of them are refunded. A gift card that is worth something gets
/// the `bonus` on top.
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
                    known.product = plus(known.product, variant.unit_price);
                    known.discount = plus(known.discount, money.discount);
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

fn plus(amount: Cents, more: Cents) -> Cents {
    Cents::nearest(i128::from(amount.get()) + i128::from(more.get()))
}

#[cfg(test)]
mod tests;
