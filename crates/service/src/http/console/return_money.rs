//! The money of a return, unit by unit and to the cent.

use domain::money::Cents;
use domain::returns::rma::{RefundType, Status, Unit};
use store::returns::rmas::{Item, Return};

use super::amount::{Currency, sum};

/// A unit's amounts.
pub(super) struct UnitRow {
    pub(super) title: String,
    pub(super) line: String,
    pub(super) number: u32,
    pub(super) refund_type: &'static str,
    pub(super) amounts: Amounts,
    /// Why the shopper gets this amount.
    pub(super) why: String,
    /// The state of the refund: class and words.
    pub(super) refund: (&'static str, String),
}

/// The amounts of a unit, or their sums.
pub(super) struct Amounts {
    pub(super) product: String,
    pub(super) discount: String,
    pub(super) tax: String,
    pub(super) estimated: String,
    pub(super) fee: String,
    pub(super) service: String,
    pub(super) shopper: String,
}

/// All units, their sums, and how the sums come about.
pub(super) struct Money {
    pub(super) units: Vec<UnitRow>,
    pub(super) sums: Amounts,
    pub(super) notes: Vec<String>,
}

impl Money {
    pub(super) fn of(kept: &Return, currency: &Currency) -> Self {
        let all = |of: fn(&Item) -> Cents| currency.tell(sum(kept.items.iter().map(of)));
        let sums = Amounts {
            product: all(|item| item.money.product),
            discount: all(|item| item.money.discount),
            tax: all(|item| item.money.tax),
            estimated: all(|item| item.financials.estimated),
            fee: all(|item| item.financials.fee),
            service: all(|item| item.financials.service),
            shopper: all(|item| item.financials.shopper),
        };
        let units = kept.units().map(|(unit, item)| row(kept, unit, item, currency)).collect();
        Self { units, notes: notes(kept, &sums, currency), sums }
    }
}

fn row(kept: &Return, unit: &Unit, item: &Item, currency: &Currency) -> UnitRow {
    let tell = |amount| currency.tell(amount);
    UnitRow {
        title: item.title.clone().unwrap_or_else(|| item.sku.clone()),
        line: unit.line.clone(),
        number: unit.number,
        refund_type: unit.refund_type.as_str(),
        amounts: Amounts {
            product: tell(item.money.product),
            discount: tell(item.money.discount),
            tax: tell(item.money.tax),
            estimated: tell(item.financials.estimated),
            fee: tell(item.financials.fee),
            service: tell(item.financials.service),
            shopper: tell(item.financials.shopper),
        },
        why: why(kept, unit, item, currency),
        refund: state(kept, unit, item),
    }
}

fn why(kept: &Return, unit: &Unit, item: &Item, currency: &Currency) -> String {
    let none = Cents::default();
    match unit.refund_type {
        RefundType::Refund if item.financials.fee > none => {
            format!("what was paid, less its share of the {} for the way back", currency.tell(kept.shipping_cost))
        }
        RefundType::Refund if kept.shipping_cost > none && !kept.fee_deducted => {
            format!("all that was paid; the {} for the way back is not deducted", currency.tell(kept.shipping_cost))
        }
        RefundType::Refund => "all that was paid".to_owned(),
        RefundType::EvenExchange => {
            let sku = item.exchange_sku.as_deref().map(|sku| format!(" for {sku}")).unwrap_or_default();
            format!("no money: exchanged{sku}, which takes all that was paid")
        }
        RefundType::UnevenExchange => "no money: exchanged for a gift card, which takes all that was paid".to_owned(),
    }
}

fn state(kept: &Return, unit: &Unit, item: &Item) -> (&'static str, String) {
    match (&item.refund, unit.refund_type) {
        (Some(refund), _) if unit.in_question => ("warn", format!("{refund} is in question")),
        (Some(refund), _) => ("ok", refund.clone()),
        (None, _) if unit.refunded => ("ok", "refunded".to_owned()),
        (None, _) if kept.rma.status == Status::Cancelled => ("off", "cancelled".to_owned()),
        (None, RefundType::Refund) => ("run", "to come".to_owned()),
        (None, RefundType::EvenExchange | RefundType::UnevenExchange) => ("off", "not due".to_owned()),
    }
}

fn notes(kept: &Return, sums: &Amounts, currency: &Currency) -> Vec<String> {
    let mut notes = vec![
        "A line's price, discount and tax are divided by its units; those with lower numbers get the odd cents. A discount on the whole order is spread over its lines by price first.".to_owned(),
    ];
    if kept.fee_deducted {
        let taken = sum(kept.items.iter().map(|item| item.financials.fee));
        notes.push(
            "The fee for the way back is shared by the refunded units in proportion to what was paid for them, by largest remainder."
                .to_owned(),
        );
        if taken < kept.shipping_cost && kept.rma.units.iter().any(|unit| unit.refund_type == RefundType::Refund) {
            let (cost, taken) = (currency.tell(kept.shipping_cost), currency.tell(taken));
            notes.push(format!("Of the fee of {cost} only {taken} could be deducted: no refund is less than nothing."));
        }
    }
    let Amounts { estimated, fee, service, shopper, .. } = sums;
    notes.push(format!("Check: {estimated} − {fee} − {service} = {shopper}."));
    notes
}
