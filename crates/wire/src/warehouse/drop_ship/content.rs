//! The content of a drop-ship order in a canonical form. It is stored as JSON text; two orders are the same if their texts are.

use serde::{Deserialize, Serialize};

use super::shape::{DropShipAddressIn, DropShipItemIn, DropShipOrderIn};
use crate::shape::{Amount, Text};

/// A drop-ship order as the merchant sent it. It has no `Debug`: it contains the shopper's address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub client_identifier: String,
    pub shipping_address: Address,
    pub billing_address: Option<Address>,
    pub order_items: Vec<ItemContent>,
    pub brand: Option<String>,
    pub channel: Option<String>,
    pub shipping_method: Option<String>,
    pub price_cents: Option<i64>,
    pub tax_cents: Option<i64>,
    pub processing_fee_cents: Option<i64>,
    pub shipping_cost_cents: Option<i64>,
    pub shipping_tax_cents: Option<i64>,
    pub comments: Option<String>,
    pub expected_delivery_date: Option<String>,
    pub signature_required: Option<bool>,
    pub packing_slip_identifier: Option<String>,
}

/// A postal address. It has no `Debug`: it is personal.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub name: String,
    pub company: Option<String>,
    pub telephone_number: Option<String>,
    pub street: String,
    pub street2: Option<String>,
    pub city: String,
    pub state: Option<String>,
    pub zip_code: Option<String>,
    pub country: String,
}

/// Units of one SKU.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemContent {
    pub client_identifier: String,
    pub sku: String,
    pub quantity: u32,
    pub brand: Option<String>,
    pub condition: Option<String>,
    pub price_cents: Option<i64>,
    pub tax_cents: Option<i64>,
    pub shipping_cost_cents: Option<i64>,
    pub shipping_tax_cents: Option<i64>,
    pub comments: Option<String>,
}

/// Placeholder for required personal data that was erased.
pub const NOBODY: &str = "erased";

impl Content {
    /// Removes everything that may be personal: addresses and comments.
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
    /// The content that is stored and compared.
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
