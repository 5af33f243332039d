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

/// Reads an amount that was typed without its currency, such as `5`, `4.9` or `4.99`.
pub(super) fn parse_decimal(typed: &str) -> Option<Cents> {
    let (whole, part) = typed.split_once('.').unwrap_or((typed, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 2 {
        return None;
    }
    let (whole, part): (i64, i64) = (whole.parse().ok()?, format!("{part:0<2}").parse().ok()?);
    whole.checked_mul(100)?.checked_add(part).and_then(Cents::new)
}

#[cfg(test)]
mod tests {
    use domain::money::decimal;

    use super::*;

    #[test]
    fn an_amount_is_read_as_it_is_told() {
        for (typed, cents) in [("0", 0), ("5", 500), ("4.9", 490), ("4.99", 499), ("10000000000", Cents::MAX)] {
            assert_eq!(parse_decimal(typed).map(Cents::get), Some(cents), "{typed}");
        }
        assert_eq!(parse_decimal("4.99").map(|amount| decimal(amount.get())).as_deref(), Some("4.99"));
        for typed in ["", ".5", "5.", "4.999", "-1", "+1", "1,50", "1e3", "99999999999999999999", "10000000000.01"] {
            assert_eq!(parse_decimal(typed), None, "{typed}");
        }
    }
}
