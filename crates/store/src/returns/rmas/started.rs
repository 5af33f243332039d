//! A new return, as its transaction keeps it.

use domain::returns::rma::{ExchangeState, Receiving};

use super::record::Return;
use crate::returns::rma_starts::{Start, Units};

/// The rows of a new return.
pub(super) fn of(new: &Return) -> Start {
    Start {
        id: new.id,
        identifier: new.identifier.clone(),
        order: new.order.clone(),
        original_order: new.original_order.clone(),
        created_at: new.created_at,
        wakes_at: new.wakes_at,
        sequence: new.sequence,
        shipping_cost: new.shipping_cost.get(),
        fee_deducted: new.fee_deducted,
        exchange: new.rma.exchange().map(ExchangeState::as_str),
        gift: new.gift,
        giftee_email: new.giftee_email.clone(),
        method: new.rma.method.as_str(),
        status: new.rma.status.as_str(),
        expected: new.rma.is_expected(),
        language: new.language.clone(),
        units: units(new),
    }
}

fn units(new: &Return) -> Units {
    let mut units = Units::default();
    for (unit, item) in new.units() {
        units.numbers.push(i32::try_from(unit.number).unwrap_or(i32::MAX));
        units.lines.push(unit.line.clone());
        units.skus.push(item.sku.clone());
        units.titles.push(item.title.clone());
        units.reasons.push(item.reason.clone());
        units.refund_types.push(unit.refund_type.as_str());
        units.exchange_owed.push(unit.exchange_owed);
        units.exchange_skus.push(item.exchange_sku.clone());
        units.receiving.push(unit.receiving.map(Receiving::as_str));
        units.products.push(item.money.product.get());
        units.discounts.push(item.money.discount.get());
        units.taxes.push(item.money.tax.get());
        units.estimated.push(item.financials.estimated.get());
        units.fees.push(item.financials.fee.get());
        units.service.push(item.financials.service.get());
        units.shopper.push(item.financials.shopper.get());
    }
    units
}
