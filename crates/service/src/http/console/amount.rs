//! Amounts of money on a page, with their currency.

use chrono_tz::Tz;
use domain::money::Cents;
use store::merchants::accounts::Merchant;
use store::orders::snapshots;
use wire::orders::order::read_stored;

use super::by::{By, Permission};
use super::error::ConsoleError;
use crate::platform::texts::Language;
use crate::platform::words::Words;

/// The currency of a page.
#[derive(Clone, Debug)]
pub(super) struct Currency(pub(super) String);

impl Currency {
    /// An amount, such as `$54.00`.
    pub(super) fn tell(&self, amount: Cents) -> String {
        Words { language: Language::default(), zone: Tz::UTC }.money(amount, &self.0)
    }
}

/// The sum of some amounts.
pub(super) fn sum(amounts: impl IntoIterator<Item = Cents>) -> Cents {
    amounts.into_iter().fold(Cents::default(), Cents::plus)
}

/// The currency of an order; none if the order is not stored any more.
pub(super) async fn currency_of<P: Permission>(by: &By<P>, merchant: &Merchant, order: &str) -> Result<Currency, ConsoleError> {
    let stored = snapshots::find(by.app.store(merchant.id), merchant.id, order).await?;
    let currency = stored.and_then(|stored| Some(read_stored(&stored.snapshot)?.currency.0));
    Ok(Currency(currency.unwrap_or_default()))
}
