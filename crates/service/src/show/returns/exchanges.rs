//! Exchange options: the variants that a shopper can get instead of a returned unit.

use std::sync::Arc;

use domain::id::MerchantId;
use domain::returns::exchange::variant::{NotOffered, Variant, asked_for, offered};
use domain::returns::rma::sale::SoldLine;
use store::Failed;

use super::returnable::{self, Exchangeable, NO_SESSION};
use crate::app::App;
use crate::delivery::variants::{Failure, VariantsError};

/// An error from finding the exchange options of a line.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// Also when the merchant has no such order.
    #[error("the merchant has no such order line")]
    NoSuchLine,
    #[error(transparent)]
    Merchant(#[from] Failure),
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// The exchange options of a line: all variants that the merchant has, or the reason it was not asked.
pub struct Options(Result<Arc<[Variant]>, NotOffered>);

impl Options {
    /// All variants that the merchant listed; `None` if it was not asked.
    #[must_use]
    pub fn into_variants(self) -> Option<Arc<[Variant]>> {
        self.0.ok()
    }

    /// All variants that the merchant listed, or the reason it was not asked.
    pub(crate) fn variants(&self) -> Result<&Arc<[Variant]>, NotOffered> {
        self.0.as_ref().map_err(|why| *why)
    }

    /// The variants that a shopper is shown for `line`.
    pub fn offered(&self, line: &SoldLine) -> Result<Vec<&Variant>, NotOffered> {
        match &self.0 {
            Ok(variants) => Ok(offered(variants, line)),
            Err(why) => Err(*why),
        }
    }
}

/// Finds the merchant's order `order`.
pub async fn find(app: &App, merchant: MerchantId, order: &str) -> Result<Exchangeable, OptionsError> {
    // No stored identifier has a NUL, and PostgreSQL refuses even to compare with one.
    if order.contains('\0') {
        return Err(OptionsError::NoSuchLine);
    }
    let found = returnable::find(app, merchant, order, NO_SESSION).await?;
    found.map(|found| found.order).ok_or(OptionsError::NoSuchLine)
}

/// The exchange options of a line that is returned for `reason`. This may call the merchant's system, so never call it within a
/// transaction.
pub async fn options(
    app: &App,
    merchant: MerchantId,
    order: &Exchangeable,
    line: &SoldLine,
    reason: &str,
) -> Result<Options, OptionsError> {
    let identifier = match asked_for(line, reason, &order.policy, order.standing) {
        Ok(identifier) => identifier,
        Err(why) => return Ok(Options(Err(why))),
    };
    match app.variants.ask(app, merchant, identifier).await {
        Ok(variants) => Ok(Options(Ok(variants))),
        Err(VariantsError::NoEndpoint) => Ok(Options(Err(NotOffered::NoEndpoint))),
        Err(VariantsError::Failure(failure)) => Err(failure.into()),
        Err(VariantsError::Failed(failed)) => Err(failed.into()),
    }
}
