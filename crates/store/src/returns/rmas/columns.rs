//! The units of a return as `unnest` takes them: one list per column.

use domain::returns::rma::{Receiving, TrackingNumber};

use super::record::Return;

/// One list per column, in the order of the units.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) units: Vec<i32>,
    pub(super) lines: Vec<&'a str>,
    pub(super) skus: Vec<&'a str>,
    pub(super) titles: Vec<Option<&'a str>>,
    pub(super) reasons: Vec<&'a str>,
    pub(super) refund_types: Vec<&'a str>,
    pub(super) exchange_owed: Vec<bool>,
    pub(super) parcels: Vec<Option<&'a str>>,
    pub(super) tracking_numbers: Vec<Option<&'a str>>,
    pub(super) receiving: Vec<Option<&'a str>>,
    pub(super) refunds: Vec<Option<&'a str>>,
    pub(super) in_question: Vec<bool>,
    pub(super) exchange_skus: Vec<Option<&'a str>>,
    pub(super) exchange_orders: Vec<Option<&'a str>>,
    pub(super) products: Vec<i64>,
    pub(super) discounts: Vec<i64>,
    pub(super) taxes: Vec<i64>,
    pub(super) estimated: Vec<i64>,
    pub(super) fees: Vec<i64>,
    pub(super) service: Vec<i64>,
    pub(super) shopper: Vec<i64>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(kept: &'a Return) -> Self {
        let mut columns = Self::default();
        for (unit, item) in kept.units() {
            columns.units.push(i32::try_from(unit.number).unwrap_or(i32::MAX));
            columns.lines.push(&unit.line);
            columns.skus.push(&item.sku);
            columns.titles.push(item.title.as_deref());
            columns.reasons.push(&item.reason);
            columns.refund_types.push(unit.refund_type.as_str());
            columns.exchange_owed.push(unit.exchange_owed);
            columns.parcels.push(unit.parcel.as_str());
            columns.tracking_numbers.push(unit.parcel.number().map(TrackingNumber::as_str));
            columns.receiving.push(unit.receiving.map(Receiving::as_str));
            columns.refunds.push(item.refund.as_deref());
            columns.in_question.push(unit.in_question);
            columns.exchange_skus.push(item.exchange_sku.as_deref());
            columns.exchange_orders.push(item.exchange_order.as_deref());
            columns.products.push(item.money.product.get());
            columns.discounts.push(item.money.discount.get());
            columns.taxes.push(item.money.tax.get());
            columns.estimated.push(item.financials.estimated.get());
            columns.fees.push(item.financials.fee.get());
            columns.service.push(item.financials.service.get());
            columns.shopper.push(item.financials.shopper.get());
        }
        columns
    }
}
