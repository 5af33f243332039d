//! What a return comes to, line by line.

use domain::money::Cents;
use domain::returns::rma::RefundType;
use domain::returns::rma::bill::{Bill, BillLine};

use crate::http::pages::frame::Reader;

/// A bill as pages show it.
pub(super) struct BillView {
    pub(super) groups: Vec<Group>,
    /// `None` if nothing is deducted.
    pub(super) fee: Option<String>,
    /// `None` if no money comes back.
    pub(super) total: Option<String>,
    /// The gift card's worth with its bonus.
    pub(super) gift_card: Option<(String, String)>,
}

/// The rows of one line.
pub(super) struct Group {
    pub(super) heading: String,
    pub(super) rows: Vec<(String, String)>,
}

impl BillView {
    /// Shows a bill. `title` names a line.
    pub(super) fn of(reader: &Reader, currency: &str, bill: &Bill<'_>, bonus: Cents, title: impl Fn(&str) -> String) -> Self {
        let money = |amount: Cents| reader.words().money(amount, currency);
        let less = |amount: Cents| reader.text_with("less", [("amount", money(amount).into())]);
        let some = |amount: Cents| Some(amount).filter(|amount| *amount > Cents::default());
        let group = |line: &BillLine<'_>| {
            let units = [("title", title(line.line).into()), ("units", line.units.into())];
            let heading = if line.units > 1 { reader.text_with("bill-units", units) } else { title(line.line) };
            let rows = match line.refund_type {
                RefundType::EvenExchange => vec![(reader.text("bill-exchanged"), money(Cents::default()))],
                RefundType::Refund | RefundType::UnevenExchange => {
                    let price = Some((reader.text("bill-price"), money(line.product)));
                    let discount = some(line.discount).map(|discount| (reader.text("bill-discount"), less(discount)));
                    let tax = some(line.tax).map(|tax| (reader.text("bill-tax"), money(tax)));
                    [price, discount, tax].into_iter().flatten().collect()
                }
            };
            Group { heading, rows }
        };
        let has = |kind| bill.lines.iter().any(|line| line.refund_type == kind);
        let card = has(RefundType::UnevenExchange).then(|| {
            let bonus = if bill.gift_card > Cents::default() { bonus } else { Cents::default() };
            let label = match some(bonus) {
                Some(bonus) => reader.text_with("bill-gift-card-bonus", [("bonus", money(bonus).into())]),
                None => reader.text("bill-gift-card"),
            };
            (label, money(bill.gift_card.plus(bonus)))
        });
        Self {
            groups: bill.lines.iter().map(group).collect(),
            fee: some(bill.fee).map(less),
            total: has(RefundType::Refund).then(|| money(bill.refund)),
            gift_card: card,
        }
    }
}
