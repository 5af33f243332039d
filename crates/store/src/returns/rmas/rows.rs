//! Rows of returns, and their conversion.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::money::Cents;
use domain::returns::rma::money::{Financials, UnitMoney};
use domain::returns::rma::{Method, Parcel, Rma, Unit};
use uuid::Uuid;

use super::record::{Item, Return};
use crate::Failed;

#[expect(clippy::struct_excessive_bools, reason = "the columns of a row")]
pub(super) struct RmaRow {
    pub(super) rma_id: Uuid,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) wakes_at: Option<DateTime<Utc>>,
    pub(super) sequence: i64,
    pub(super) shipping_cost_cents: i64,
    pub(super) fee_deducted: bool,
    pub(super) gift: bool,
    pub(super) receiving_closed: bool,
    pub(super) scanned_early: bool,
    pub(super) reminded: bool,
    pub(super) method: String,
    pub(super) status: String,
    pub(super) identifier: String,
    pub(super) order_identifier: String,
    pub(super) original_order_identifier: Option<String>,
    pub(super) cancel_reason: Option<String>,
    pub(super) giftee_email: Option<String>,
    pub(super) language: Option<String>,
}

pub(super) struct ItemRow {
    pub(super) rma_id: Uuid,
    pub(super) product_cents: i64,
    pub(super) discount_cents: i64,
    pub(super) tax_cents: i64,
    pub(super) estimated_cents: i64,
    pub(super) fee_cents: i64,
    pub(super) service_cents: i64,
    pub(super) shopper_cents: i64,
    pub(super) unit: i32,
    pub(super) exchange_owed: bool,
    pub(super) refund_type: String,
    pub(super) order_line: String,
    pub(super) sku: String,
    pub(super) title: Option<String>,
    pub(super) reason: String,
    pub(super) parcel: Option<String>,
    pub(super) tracking_number: Option<String>,
    pub(super) receiving: Option<String>,
    pub(super) refund_identifier: Option<String>,
    pub(super) refund_in_question: bool,
    pub(super) exchange_sku: Option<String>,
    pub(super) exchange_order_identifier: Option<String>,
}

/// Builds returns from their rows, in the order of `rows`. The rows of units must be in the order of their positions.
pub(super) fn assemble(rows: Vec<RmaRow>, items: Vec<ItemRow>) -> Result<Vec<Return>, Failed> {
    let mut of: HashMap<Uuid, Vec<ItemRow>> = HashMap::with_capacity(rows.len());
    for item in items {
        of.entry(item.rma_id).or_default().push(item);
    }
    rows.into_iter()
        .map(|row| {
            let items = of.remove(&row.rma_id).unwrap_or_default();
            row.into_return(items)
        })
        .collect()
}

fn unknown<E>(_: E) -> Failed {
    Failed::Internal("a stored value of a return is unknown")
}

fn cents(amount: i64) -> Result<Cents, Failed> {
    Cents::new(amount).ok_or(Failed::Internal("an amount is out of range"))
}

impl RmaRow {
    fn into_return(self, rows: Vec<ItemRow>) -> Result<Return, Failed> {
        let method: Method = self.method.parse().map_err(unknown)?;
        let mut units = Vec::with_capacity(rows.len());
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            let (unit, item) = row.into_unit(method)?;
            units.push(unit);
            items.push(item);
        }
        let mut kept = Return {
            id: self.rma_id,
            identifier: self.identifier,
            order: self.order_identifier,
            original_order: self.original_order_identifier,
            created_at: self.created_at,
            updated_at: self.updated_at,
            sequence: self.sequence,
            shipping_cost: cents(self.shipping_cost_cents)?,
            fee_deducted: self.fee_deducted,
            gift: self.gift,
            giftee_email: self.giftee_email,
            language: self.language,
            cancel_reason: self.cancel_reason,
            reminded: self.reminded,
            wakes_at: self.wakes_at,
            rma: Rma {
                status: self.status.parse().map_err(unknown)?,
                method,
                receiving_closed: self.receiving_closed,
                scanned_early: self.scanned_early,
                units,
            },
            items,
            stored: None,
        };
        kept.set_stored();
        Ok(kept)
    }
}

impl ItemRow {
    fn into_unit(self, method: Method) -> Result<(Unit, Item), Failed> {
        let number = self.tracking_number.map(|number| number.parse()).transpose().map_err(unknown)?;
        let unit = Unit {
            line: self.order_line,
            number: u32::try_from(self.unit).map_err(unknown)?,
            refund_type: self.refund_type.parse().map_err(unknown)?,
            parcel: Parcel::restore(method, self.parcel.as_deref(), number).ok_or_else(|| unknown(()))?,
            receiving: self.receiving.map(|receiving| receiving.parse()).transpose().map_err(unknown)?,
            refunded: self.refund_identifier.is_some() && !self.refund_in_question,
            in_question: self.refund_in_question,
            exchange_owed: self.exchange_owed,
        };
        let estimated = cents(self.estimated_cents)?;
        let item = Item {
            sku: self.sku,
            title: self.title,
            reason: self.reason,
            money: UnitMoney {
                product: cents(self.product_cents)?,
                discount: cents(self.discount_cents)?,
                tax: cents(self.tax_cents)?,
                estimated,
            },
            financials: Financials {
                estimated,
                fee: cents(self.fee_cents)?,
                service: cents(self.service_cents)?,
                shopper: cents(self.shopper_cents)?,
            },
            refund: self.refund_identifier,
            exchange_sku: self.exchange_sku,
            exchange_order: self.exchange_order_identifier,
        };
        Ok((unit, item))
    }
}
