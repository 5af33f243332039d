//! The order message as the rules of the domain see it.

use domain::money::Cents;
use domain::orders::order::{Line, Order, Refund, RefundLine, Status};

use super::shape::{LineIn, OrderIn, RefundIn, RefundLineIn};
use crate::shape::{Amount, List, Quantity, Text};

fn cents(amount: Option<Amount>) -> Cents {
    amount.map_or_else(Cents::default, |Amount(cents)| cents)
}

impl OrderIn<'_> {
    /// The order that this one was placed for as an exchange order, if it names another one and was not cancelled.
    #[must_use]
    pub fn exchanged_for(&self) -> Option<&str> {
        self.original_order().filter(|_| self.status.0 != Status::Cancelled)
    }

    /// The other order that this one was placed for, if it is an exchange order.
    #[must_use]
    pub fn original_order(&self) -> Option<&str> {
        let original = self.original_order_identifier.as_ref().map(|Text(original)| &**original);
        original.filter(|original| !original.is_empty() && *original != self.identifier.0)
    }

    /// The order as the rules see it, with the defaults for what was left out.
    #[must_use]
    pub fn facts(&self) -> Order<'_> {
        let Self { items: List(items), refunds: List(refunds), customer, .. } = self;
        let named = |text: &Option<Text<'_>>| text.as_ref().is_some_and(|Text(text)| !text.trim().is_empty());
        Order {
            identifier: &self.identifier.0,
            status: self.status.0,
            total: self.total_amount_cents.0,
            product: self.product_amount_cents.map(|Amount(cents)| cents),
            tax: self.tax_amount_cents.map(|Amount(cents)| cents),
            discount: cents(self.discount_amount_cents),
            shipping: cents(self.shipping_amount_cents),
            shipping_tax: cents(self.shipping_tax_amount_cents),
            placed_at: self.created_at.0,
            customer_named: named(&customer.identifier) || named(&customer.email),
            lines: items.iter().map(|line| line.facts(self.status.0)).collect(),
            refunds: refunds.iter().map(RefundIn::facts).collect(),
        }
    }
}

impl LineIn<'_> {
    fn facts(&self, status: Status) -> Line<'_> {
        let Quantity(quantity) = self.quantity;
        let cancelled = self.quantity_canceled.map_or(0, |Quantity(units)| units);
        let shipped = match (self.quantity_shipped, status) {
            (Some(Quantity(units)), _) => units,
            (None, Status::Shipped) => quantity.saturating_sub(cancelled),
            (None, Status::Created | Status::Cancelled) => 0,
        };
        Line {
            identifier: &self.identifier.0,
            quantity,
            shipped,
            cancelled,
            unit_price: self.unit_price_amount_cents.0,
            product: self.product_amount_cents.map(|Amount(cents)| cents),
            tax: cents(self.tax_amount_cents),
        }
    }
}

impl RefundIn<'_> {
    fn facts(&self) -> Refund<'_> {
        Refund {
            identifier: &self.identifier.0,
            total: self.total_refund_amount_cents.0,
            refunded_at: self.created_at.0,
            lines: self.refund_line_items.0.iter().map(RefundLineIn::facts).collect(),
        }
    }
}

impl RefundLineIn<'_> {
    fn facts(&self) -> RefundLine<'_> {
        RefundLine { identifier: &self.identifier.0, order_line: &self.order_item_identifier.0, quantity: self.quantity.0 }
    }
}
