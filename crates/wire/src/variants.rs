//! The variants that a merchant's system offers for an exchange: its answer, and what shoppers see of it.

use std::fmt;

use domain::exchange::variant::{Attribute, NotOffered, Variant};
use domain::money::Cents;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// More variants than this are nothing that anybody chooses from.
pub const MOST_VARIANTS: usize = 1_000;

/// Why an answer tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Reads a merchant's answer: the variants alone, or an object that holds them. Fields that nobody knows are no fault.
pub fn read(answer: &[u8]) -> Result<Vec<Variant>, Unreadable> {
    let answer: AnswerIn = serde_json::from_slice(answer).map_err(|_| Unreadable)?;
    answer.0.into_iter().map(|variant| variant.variant().ok_or(Unreadable)).collect()
}

/// The answer, in either shape.
struct AnswerIn(Vec<VariantIn>);

/// The variants, not one more than there may be.
struct VariantsIn(Vec<VariantIn>);

#[derive(Deserialize)]
struct ObjectIn {
    variants: VariantsIn,
}

/// A variant as a merchant tells it. What is told of it and is not there or null is unknown; without SKU, price and stock it
/// could not be offered.
#[derive(Deserialize)]
struct VariantIn {
    sku: String,
    title: Option<String>,
    #[serde(default)]
    attributes: Option<Vec<AttributeIn>>,
    unit_price_amount_cents: i64,
    quantity_in_stock: i64,
    image_url: Option<String>,
    product_url: Option<String>,
}

#[derive(Deserialize)]
struct AttributeIn {
    name: String,
    value: ValueIn,
}

/// A size is a number for many.
#[derive(Deserialize)]
#[serde(untagged)]
enum ValueIn {
    Text(String),
    Number(serde_json::Number),
    Flag(bool),
}

impl<'de> Deserialize<'de> for AnswerIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = AnswerIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of variants, or an object that has one")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<AnswerIn, A::Error> {
                let VariantsIn(variants) = VariantsIn::deserialize(de::value::SeqAccessDeserializer::new(list))?;
                Ok(AnswerIn(variants))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, object: A) -> Result<AnswerIn, A::Error> {
                let ObjectIn { variants: VariantsIn(variants) } = ObjectIn::deserialize(de::value::MapAccessDeserializer::new(object))?;
                Ok(AnswerIn(variants))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for VariantsIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = VariantsIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST_VARIANTS} variants")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<VariantsIn, A::Error> {
                let mut variants = Vec::new();
                while let Some(variant) = list.next_element()? {
                    if variants.len() == MOST_VARIANTS {
                        return Err(de::Error::invalid_length(MOST_VARIANTS, &self));
                    }
                    variants.push(variant);
                }
                Ok(VariantsIn(variants))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

impl VariantIn {
    /// The variant, unless it is one that could not be ordered.
    fn variant(self) -> Option<Variant> {
        if self.sku.is_empty() {
            return None;
        }
        let attribute = |AttributeIn { name, value }| Attribute { name, value: value.text() };
        Some(Variant {
            sku: self.sku,
            title: self.title,
            attributes: self.attributes.unwrap_or_default().into_iter().map(attribute).collect(),
            unit_price: Cents::new(self.unit_price_amount_cents)?,
            // Some systems count below zero what they have promised too often.
            in_stock: u32::try_from(self.quantity_in_stock.max(0)).unwrap_or(u32::MAX),
            image_url: self.image_url.filter(|url| leads_to_the_web(url)),
            product_url: self.product_url.filter(|url| leads_to_the_web(url)),
        })
    }
}

impl ValueIn {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

/// Whether a browser that follows a link only goes somewhere: the schemes that make it do something else are left out.
fn leads_to_the_web(url: &str) -> bool {
    let starts = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("https://") || starts("http://")
}

/// What `exchange_options` is asked.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExchangeOptionsQuery {
    /// Why the shopper returns it: one of the merchant's reasons, or `NOT_GIVEN`.
    pub reason: String,
}

/// What a line can be exchanged for.
#[derive(Serialize, ToSchema)]
pub struct ExchangeOptionsOut<'a> {
    /// The order.
    pub order_identifier: &'a str,
    /// Its line.
    pub order_line_item_identifier: &'a str,
    /// The variants that are in stock at the line's price.
    pub variants: Vec<VariantOut<'a>>,
    /// Why there are none although the merchant was not asked; null when it was.
    #[schema(value_type = Option<NotOfferedOut>)]
    pub not_offered: Option<&'static str>,
}

/// Why the merchant was not asked.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum NotOfferedOut {
    /// The line has no `variant_identifier` that could be asked for.
    NoVariantIdentifier,
    /// The reason is none for an exchange.
    ReasonDoesNotTrigger,
    /// The order has been exchanged.
    AlreadyExchanged,
    /// The merchant has no endpoint for variants, or it is paused.
    NoEndpoint,
}

/// A variant that is offered.
#[derive(Serialize, ToSchema)]
pub struct VariantOut<'a> {
    /// The merchant's name for the goods.
    pub sku: &'a str,
    /// The name for people.
    pub title: Option<&'a str>,
    /// What tells it from the others.
    pub attributes: Vec<AttributeOut<'a>>,
    /// Price of one unit, that of the line.
    pub unit_price_amount_cents: i64,
    /// Units that the merchant has.
    pub quantity_in_stock: u32,
    /// Where there is a picture.
    pub image_url: Option<&'a str>,
    /// Where it is sold.
    pub product_url: Option<&'a str>,
}

/// Something that tells a variant from the others.
#[derive(Serialize, ToSchema)]
pub struct AttributeOut<'a> {
    /// What it is.
    pub name: &'a str,
    /// Which one.
    pub value: &'a str,
}

impl<'a> ExchangeOptionsOut<'a> {
    /// The variants that are offered for a line of an order, or why the merchant was not asked.
    #[must_use]
    pub fn new(order: &'a str, line: &'a str, offered: Result<Vec<&'a Variant>, NotOffered>) -> Self {
        let (variants, not_offered) = match offered {
            Ok(variants) => (variants.into_iter().map(VariantOut::from).collect(), None),
            Err(why) => (Vec::new(), Some(why.as_str())),
        };
        Self { order_identifier: order, order_line_item_identifier: line, variants, not_offered }
    }
}

impl<'a> From<&'a Variant> for VariantOut<'a> {
    fn from(variant: &'a Variant) -> Self {
        let attribute = |attribute: &'a Attribute| AttributeOut { name: &attribute.name, value: &attribute.value };
        Self {
            sku: &variant.sku,
            title: variant.title.as_deref(),
            attributes: variant.attributes.iter().map(attribute).collect(),
            unit_price_amount_cents: variant.unit_price.get(),
            quantity_in_stock: variant.in_stock,
            image_url: variant.image_url.as_deref(),
            product_url: variant.product_url.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests;
