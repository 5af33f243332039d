//! The alternatives to a refund.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::item::{Getting, Instead, RequestedItem};
use crate::returns::exchange::standing::Standing;
use crate::returns::exchange::variant::{Variant, offered};
use crate::returns::rma::policy::Policy;
use crate::returns::rma::sale::SoldLine;

/// The alternatives to a refund for an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    pub standing: Standing,
    /// The variants that the merchant answered with, by line.
    pub variants: BTreeMap<String, Arc<[Variant]>>,
}

/// The reasons an exchange is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoExchange {
    /// The merchant takes no exchange orders.
    NotOffered,
    ExchangedBefore,
    /// The line has no variant identifier.
    NoVariants,
    /// No exchange is offered for the reason, but for these.
    Reason(Vec<String>),
    /// The SKU is not among these, which can be chosen.
    NotAVariant(Vec<String>),
    /// Only this many units are left.
    OutOfStock(u32),
    NoGiftCard,
    /// A gift is refunded to a gift card anyway.
    Gift,
}

/// The stock left while the items of a choice are processed.
pub(super) struct Stock<'a, 'p> {
    exchanges: &'a Exchanges,
    policy: &'p Policy,
    gift: bool,
    taken: BTreeMap<&'a str, u32>,
}

impl<'a, 'p> Stock<'a, 'p> {
    pub(super) fn new(exchanges: &'a Exchanges, policy: &'p Policy, gift: bool) -> Self {
        Self { exchanges, policy, gift, taken: BTreeMap::new() }
    }

    /// The refund or exchange for the units of `wanted`, if it is possible for all of them.
    pub(super) fn take(&mut self, line: &SoldLine, wanted: &RequestedItem<'_>) -> Result<Getting<'a>, NoExchange> {
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

    fn variant(&mut self, line: &SoldLine, sku: &str, wanted: &RequestedItem<'_>) -> Result<Getting<'a>, NoExchange> {
        if line.variant_identifier.is_none() {
            return Err(NoExchange::NoVariants);
        }
        if !self.policy.exchanges_for(wanted.reason) {
            return Err(NoExchange::Reason(self.policy.exchange_reasons.clone()));
        }
        let told = self.exchanges.variants.get(&line.identifier).map(AsRef::as_ref).unwrap_or_default();
        let offered = offered(told, line);
        let Some(variant) = offered.iter().find(|variant| variant.sku == sku) else {
            let available = offered.iter().filter(|variant| variant.is_available());
            return Err(NoExchange::NotAVariant(available.map(|variant| variant.sku.clone()).collect()));
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
