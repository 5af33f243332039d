//! What an item could be exchanged for, as far as the merchant's system says.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::MerchantId;
use domain::returns::exchange::variant::{Variant, offered};
use domain::returns::rma::policy::NOT_GIVEN;
use store::Failed;
use wire::returns::draft::{AnsweredItem, Wish};

use super::super::exchanges::{OptionsError, options};
use super::order::PortalOrder;
use crate::app::App;

/// The exchange options of an item.
pub(crate) enum Stock {
    /// All variants that the merchant listed.
    Variants(Arc<[Variant]>),
    NotOffered,
    /// The merchant's system did not answer in time, or not properly.
    Unknown,
}

impl PortalOrder {
    /// Asks the merchant what an item could be exchanged for. This may take as long as the merchant's system is given.
    pub(crate) async fn stock(&self, app: &App, merchant: MerchantId, item: &AnsweredItem) -> Result<Stock, Failed> {
        let Some(line) = self.order.line(&item.line) else { return Ok(Stock::NotOffered) };
        match options(app, merchant, &self.order, line, item.reason.as_deref().unwrap_or(NOT_GIVEN)).await {
            Ok(options) => Ok(options.variants().map_or(Stock::NotOffered, |variants| Stock::Variants(Arc::clone(variants)))),
            Err(OptionsError::Merchant(_)) => Ok(Stock::Unknown),
            Err(OptionsError::NoSuchLine) => Ok(Stock::NotOffered),
            Err(OptionsError::Failed(failed)) => Err(failed),
        }
    }

    /// The variants of every item that is to be exchanged, by line; `None` if the merchant's system does not say.
    pub(crate) async fn stocks(&self, app: &App, merchant: MerchantId) -> Result<BTreeMap<String, Option<Arc<[Variant]>>>, Failed> {
        let mut stocks = BTreeMap::new();
        for item in self.answers.items.iter().filter(|item| matches!(item.instead, Some(Wish::Variant(_)))) {
            match self.stock(app, merchant, item).await? {
                Stock::Variants(variants) => _ = stocks.insert(item.line.clone(), Some(variants)),
                Stock::Unknown => _ = stocks.insert(item.line.clone(), None),
                Stock::NotOffered => {}
            }
        }
        Ok(stocks)
    }

    /// The variants that are shown for the line of an item, in the merchant's order.
    pub(crate) fn shown<'v>(&self, item: &AnsweredItem, variants: &'v [Variant]) -> Vec<&'v Variant> {
        self.line(&item.line).map(|(sold, _)| offered(variants, sold)).unwrap_or_default()
    }
}
