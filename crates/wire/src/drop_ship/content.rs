//! What counts of a drop-ship order, in one form: it is kept as text, and two orders are the same if it is.

use serde::{Deserialize, Serialize};

use super::{DropShipAddressIn, DropShipItemIn, DropShipOrderIn};
use crate::shape::{Amount, Text};

/// A drop-ship order as the merchant gave it. It has no `Debug`: it says where a shopper lives.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The merchant's name for it.
    pub client_identifier: String,
    /// Where it goes.
    pub shipping_address: Address,
    /// Who pays.
    pub billing_address: Option<Address>,
    /// What is to be shipped.
    pub order_items: Vec<ItemContent>,
    /// The brand that it is sold under.
    pub brand: Option<String>,
    /// The channel that it was sold through.
    pub channel: Option<String>,
    /// How it is to be shipped.
    pub shipping_method: Option<String>,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// What handling it costs.
    pub processing_fee_cents: Option<i64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// For the people at the warehouse.
    pub comments: Option<String>,
    /// The day on which the shopper expects it.
    pub expected_delivery_date: Option<String>,
    /// Whether somebody must sign for it.
    pub signature_required: Option<bool>,
    /// The packing slip that goes with it.
    pub packing_slip_identifier: Option<String>,
}

/// A postal address. It has no `Debug`: somebody lives there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Who lives there.
    pub name: String,
    /// A company.
    pub company: Option<String>,
    /// For the carrier.
    pub telephone_number: Option<String>,
    /// Street and number.
    pub street: String,
    /// A second line.
    pub street2: Option<String>,
    /// The city.
    pub city: String,
    /// The state or province.
    pub state: Option<String>,
    /// The postal code.
    pub zip_code: Option<String>,
    /// The country.
    pub country: String,
}

/// Units of one SKU.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemContent {
    /// The merchant's name for it.
    pub client_identifier: String,
    /// SKU.
    pub sku: String,
    /// How many units.
    pub quantity: u32,
    /// Its brand.
    pub brand: Option<String>,
    /// The condition that the units must be in.
    pub condition: Option<String>,
    /// Price of the goods.
    pub price_cents: Option<i64>,
    /// Tax on the goods.
    pub tax_cents: Option<i64>,
    /// What shipping it costs.
    pub shipping_cost_cents: Option<i64>,
    /// Tax on shipping.
    pub shipping_tax_cents: Option<i64>,
    /// For the people at the warehouse.
    pub comments: Option<String>,
}

/// What stands in place of what must be there, and was erased.
pub const NOBODY: &str = "erased";

impl Content {
    /// The same order without anything that may be personal: where it went, who paid, and what people wrote about it.
    #[must_use]
    pub fn erased(self) -> Self {
        Self {
            shipping_address: Address::of_nobody(),
            billing_address: self.billing_address.map(|_| Address::of_nobody()),
            order_items: self.order_items.into_iter().map(|item| ItemContent { comments: None, ..item }).collect(),
            comments: None,
            ..self
        }
    }
}

impl Address {
    fn of_nobody() -> Self {
        let nobody = || NOBODY.to_owned();
        Self {
            name: nobody(),
            company: None,
            telephone_number: None,
            street: nobody(),
            street2: None,
            city: nobody(),
            state: None,
            zip_code: None,
            country: nobody(),
        }
    }
}

pub(super) fn text(text: Option<&Text<'_>>) -> Option<String> {
    text.map(|text| text.0.to_string())
}

pub(super) fn cents(amount: Option<Amount>) -> Option<i64> {
    amount.map(|amount| amount.0.get())
}

impl DropShipOrderIn<'_> {
    /// What counts of it.
    #[must_use]
    pub fn content(&self) -> Content {
        Content {
            client_identifier: self.client_identifier.0.to_string(),
            shipping_address: self.shipping_address.content(),
            billing_address: self.billing_address.as_ref().map(DropShipAddressIn::content),
            order_items: self.order_items.0.iter().map(DropShipItemIn::content).collect(),
            brand: text(self.brand.as_ref()),
            channel: text(self.channel.as_ref()),
            shipping_method: text(self.shipping_method.as_ref()),
            price_cents: cents(self.price_cents),
            tax_cents: cents(self.tax_cents),
            processing_fee_cents: cents(self.processing_fee_cents),
            shipping_cost_cents: cents(self.shipping_cost_cents),
            shipping_tax_cents: cents(self.shipping_tax_cents),
            comments: text(self.comments.as_ref()),
            expected_delivery_date: self.expected_delivery_date.map(|day| day.0.to_string()),
            signature_required: self.signature_required.map(|flag| flag.0),
            packing_slip_identifier: text(self.packing_slip_identifier.as_ref()),
        }
    }
}

impl DropShipAddressIn<'_> {
    fn content(&self) -> Address {
        Address {
            name: self.name.0.to_string(),
            company: text(self.company.as_ref()),
            telephone_number: text(self.telephone_number.as_ref()),
            street: self.street.0.to_string(),
            street2: text(self.street2.as_ref()),
            city: self.city.0.to_string(),
            state: text(self.state.as_ref()),
            zip_code: text(self.zip_code.as_ref()),
            country: self.country.0.to_string(),
        }
    }
}

impl DropShipItemIn<'_> {
    fn content(&self) -> ItemContent {
        ItemContent {
            client_identifier: self.client_identifier.0.to_string(),
            sku: self.sku.0.to_string(),
            quantity: self.quantity.0.get(),
            brand: text(self.brand.as_ref()),
            condition: text(self.condition.as_ref()),
            price_cents: cents(self.price_cents),
            tax_cents: cents(self.tax_cents),
            shipping_cost_cents: cents(self.shipping_cost_cents),
            shipping_tax_cents: cents(self.shipping_tax_cents),
            comments: text(self.comments.as_ref()),
        }
    }
}
