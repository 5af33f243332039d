//! Statements of withdrawal from a contract: as a shopper puts one together, and as merchants read them.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A statement that a shopper is putting together. It is personal, and cannot be printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statement {
    pub name: String,
    /// An e-mail address, for the acknowledgement.
    pub email: String,
    /// The order's number, or the shopper's own words for it.
    pub order: String,
    /// It is about some of the goods only.
    pub part: bool,
    /// The order, if the shopper has shown that it is theirs.
    pub found: Option<String>,
    /// The goods of a part: chosen, if the order is known.
    pub goods: Vec<WithdrawnGoods>,
    /// The goods of a part in the shopper's own words, if it is not.
    pub words: String,
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Statement(…)")
    }
}

impl Statement {
    /// Reads a stored statement. An unreadable one, of another version, starts from the beginning.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Writes it as it is stored.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Units of an order line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WithdrawnGoods {
    /// Identifier of the order line.
    pub order_line_item_identifier: String,
    /// Number of units.
    pub quantity: u32,
}

/// Query parameters for the list of withdrawals.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WithdrawalsQuery {
    /// Only those about this order.
    #[param(required = false)]
    pub order_identifier: Option<String>,
}

/// A page of withdrawals.
#[derive(Serialize, ToSchema)]
pub struct Withdrawals {
    /// Statements of withdrawal, newest first.
    pub items: Vec<WithdrawalOut>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}

/// A shopper's statement of withdrawal from a contract.
#[derive(Serialize, ToSchema)]
pub struct WithdrawalOut {
    /// Reference of the statement, as the shopper was given it.
    pub reference: String,
    /// Time at which it was made.
    pub received_at: String,
    /// Language in which it was made.
    pub language: String,
    /// Name of the shopper. Empty once it is erased, like the other words of the shopper.
    pub name: String,
    /// E-mail address to which receipt was acknowledged.
    pub email: String,
    /// The order as the shopper named it.
    pub order_words: String,
    /// The exact text that the shopper confirmed.
    pub statement: String,
    /// The order that it is about; null until it is known.
    pub order_identifier: Option<String>,
    /// Chosen units; null for the whole order, or if the shopper named the goods in words.
    pub goods: Option<Vec<WithdrawnGoods>>,
    /// Last day of the period of withdrawal, such as `2026-11-20`; null while it is open or unknown.
    pub last_day: Option<String>,
    /// Whether the statement was made in the period; null while that is unknown.
    pub in_time: Option<bool>,
    /// The return of the goods, once it is started.
    pub rma_identifier: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_read_as_it_is_written_and_not_printed() {
        let goods = vec![WithdrawnGoods { order_line_item_identifier: "1".to_owned(), quantity: 2 }];
        let statement = Statement { name: "Pat Doe".to_owned(), part: true, found: Some("A-1".to_owned()), goods, ..Statement::default() };
        assert_eq!(Statement::read(&statement.write()), statement);
        assert_eq!(Statement::read("of another version"), Statement::default());
        assert!(!format!("{statement:?}").contains("Pat"));
    }
}
