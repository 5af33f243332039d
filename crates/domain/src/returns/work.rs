//! The operator's work list: cases of returns that a person must decide or mend.

use super::rma::word::words;

words! {
    /// The kinds of cases on the work list.
    WorkKind, "kind of case" {
        /// The merchant reported a refund while the exchange order was owed, and the exchange was converted afterwards. Somebody
        /// must confirm that the refund is the shopper's money, unless another refund arrives.
        RefundInQuestion = "refund_in_question",
        /// The carrier refuses the label for good.
        LabelRefused = "label_refused",
        /// The exchange order is placed, and its identifier is unknown after a day.
        ExchangeUnidentified = "exchange_unidentified",
        /// The merchant placed an exchange order that had been converted into refunds.
        ExchangeAfterConversion = "exchange_after_conversion",
        /// A shopper withdraws from a contract, and nobody knows which order is meant.
        WithdrawalUnmatched = "withdrawal_unmatched",
    }
}
