//! What shoppers can have in exchange for what comes back.

use std::sync::Arc;

use domain::exchange::variant::{NotOffered, Variant, asked_for, offered};
use domain::id::MerchantId;
use domain::rma::choice::Standing;
use domain::rma::policy::Policy;
use domain::rma::sale::{Sale, SoldLine};
use store::{Failed, exchange_orders, orders, return_policies};

use crate::app::App;
use crate::outbound::variants::{Failure, VariantsError};

/// Why it is not known what a line can be exchanged for.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The merchant has no such order, or the order no such line.
    #[error("there is no such line")]
    NoSuchLine,
    /// The order cannot be read any more.
    #[error("a stored order cannot be read")]
    Unreadable,
    /// The merchant's system did not say.
    #[error(transparent)]
    Merchant(#[from] Failure),
    /// The database.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// An order, and what is said about exchanges of it.
pub struct Exchangeable {
    /// What was sold.
    pub sale: Sale,
    policy: Policy,
    standing: Standing,
}

impl Exchangeable {
    /// The line of this identifier.
    pub fn line(&self, identifier: &str) -> Result<&SoldLine, OptionsError> {
        self.sale.lines.iter().find(|sold| sold.identifier == identifier).ok_or(OptionsError::NoSuchLine)
    }
}

/// What a line can be exchanged for: all variants that the merchant has, or why it was not asked.
pub struct Options(Result<Arc<[Variant]>, NotOffered>);

impl Options {
    /// All variants that the merchant told of; none if it was not asked.
    #[must_use]
    pub fn told(self) -> Option<Arc<[Variant]>> {
        self.0.ok()
    }

    /// What a shopper is offered for `line`.
    pub fn offered(&self, line: &SoldLine) -> Result<Vec<&Variant>, NotOffered> {
        match &self.0 {
            Ok(variants) => Ok(offered(variants, line.unit_price)),
            Err(why) => Err(*why),
        }
    }
}

/// The merchant's order `order`, if there is one.
pub async fn find(app: &App, merchant: MerchantId, order: &str) -> Result<Exchangeable, OptionsError> {
    // No stored identifier has a NUL, and PostgreSQL would not even compare with one.
    if order.contains('\0') {
        return Err(OptionsError::NoSuchLine);
    }
    let stored = orders::find(app.store(merchant), merchant, order).await?.ok_or(OptionsError::NoSuchLine)?;
    let sale = wire::order::read_stored(&stored.snapshot).map(|order| order.sale()).ok_or(OptionsError::Unreadable)?;
    let policy = return_policies::current(app.store(merchant), merchant).await?;
    let standing = exchange_orders::standing_of(app.store(merchant), merchant, order).await?;
    Ok(Exchangeable { sale, policy, standing })
}

/// What a line of the order can be exchanged for when it is returned for `reason`. The merchant is asked if need be, and so is
/// never asked within a transaction.
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
