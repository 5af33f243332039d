//! What can be had instead of the money.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Getting, Instead, Wanted};
use crate::exchange::variant::{Variant, offered};
use crate::rma::policy::Policy;
use crate::rma::sale::SoldLine;

/// Whether anything can be had instead of the money, for the order as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can.
    Offered,
    /// The merchant takes no exchange orders.
    NotOffered,
    /// The order was exchanged before; there is one exchange order for each.
    ExchangedBefore,
}

/// What can be had instead of the money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    /// Whether anything can.
    pub standing: Standing,
    /// The variants that the merchant told of, by line.
    pub variants: BTreeMap<String, Arc<[Variant]>>,
}

/// Why something else than the money cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoExchange {
    /// The merchant takes no exchange orders.
    NotOffered,
    /// The order was exchanged before.
    ExchangedBefore,
    /// The line leads to no variants.
    NoVariants,
    /// The reason does not lead to an exchange; these do.
    Reason(Vec<String>),
    /// It is none of the variants that are offered: these are.
    NotAVariant(Vec<String>),
    /// There are only so many left.
    OutOfStock(u32),
    /// The merchant has no gift cards.
    NoGiftCard,
    /// What was a gift is refunded to a gift card anyway.
    Gift,
}

/// What is left to be had while the items of a choice are gone through.
pub(super) struct Shelf<'a, 'p> {
    exchanges: &'a Exchanges,
    policy: &'p Policy,
    gift: bool,
    taken: BTreeMap<&'a str, u32>,
}

impl<'a, 'p> Shelf<'a, 'p> {
    pub(super) fn new(exchanges: &'a Exchanges, policy: &'p Policy, gift: bool) -> Self {
        Self { exchanges, policy, gift, taken: BTreeMap::new() }
    }

    /// What the shopper gets for each of the units, if it can be had for all of them.
    pub(super) fn take(&mut self, line: &SoldLine, wanted: &Wanted<'_>) -> Result<Getting<'a>, NoExchange> {
        let sku = match wanted.instead {
            Instead::Refund => return Ok(Getting::Refund),
            Instead::GiftCard => None,
            Instead::Variant(sku) => Some(sku),
        };
        match self.exchanges.standing {
            Standing::Offered => {}
            Standing::NotOffered => return Err(NoExchange::NotOffered),
            Standing::ExchangedBefore => return Err(NoExchange::ExchangedBefore),
        }
        match sku {
            Some(sku) => self.variant(line, sku, wanted),
            None if self.gift => Err(NoExchange::Gift),
            None if self.policy.gift_card.is_none() => Err(NoExchange::NoGiftCard),
            None => Ok(Getting::GiftCard),
        }
    }

    fn variant(&mut self, line: &SoldLine, sku: &str, wanted: &Wanted<'_>) -> Result<Getting<'a>, NoExchange> {
        if line.variant_identifier.is_none() {
            return Err(NoExchange::NoVariants);
        }
        if !self.policy.exchanges_for(wanted.reason) {
            return Err(NoExchange::Reason(self.policy.exchange_reasons.clone()));
        }
        let told = self.exchanges.variants.get(&line.identifier).map(AsRef::as_ref).unwrap_or_default();
        let offered = offered(told, line.unit_price);
        let Some(variant) = offered.iter().find(|variant| variant.sku == sku) else {
            return Err(NoExchange::NotAVariant(offered.iter().map(|variant| variant.sku.clone()).collect()));
        };
        let taken = self.taken.entry(&variant.sku).or_default();
        let left = variant.in_stock.saturating_sub(*taken);
        if wanted.quantity > left {
            return Err(NoExchange::OutOfStock(left));
        }
        *taken += wanted.quantity;
        Ok(Getting::Variant(variant))
    }
}
