//! Variants of a product: what an even exchange can be for.

use crate::money::Cents;

/// A variant as the merchant describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// SKU.
    pub sku: String,
    /// The name for people.
    pub title: Option<String>,
    /// What sets it apart: names with their values.
    pub attributes: Vec<(String, String)>,
    /// Price of one unit.
    pub unit_price: Cents,
    /// How many there are.
    pub in_stock: u32,
    /// Where there is a picture.
    pub image_url: Option<String>,
    /// Where there is more about it.
    pub product_url: Option<String>,
}

/// Those that an even exchange of a unit at this price can be for: in stock, at the same price.
pub fn offered(variants: &[Variant], unit_price: Cents) -> impl Iterator<Item = &Variant> {
    variants.iter().filter(move |variant| variant.in_stock > 0 && variant.unit_price == unit_price)
}
