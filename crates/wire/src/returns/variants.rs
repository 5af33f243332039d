//! The variants that a merchant offers for an exchange: its answer, and the view for shoppers.

use std::fmt;

use domain::money::Cents;
use domain::returns::exchange::variant::{Attribute, NotOffered, Variant};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

/// The most variants in an answer; nobody chooses from more.
pub const MOST_VARIANTS: usize = 1_000;

/// An answer that is not a list of variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// The variants in a merchant's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub variants: Vec<Variant>,
    /// The number of entries that could not be read as a variant.
    pub skipped: usize,
}

/// Reads a merchant's answer: a list of variants, or an object with one. Unknown fields are ignored, and entries that cannot be
/// read as a variant are skipped.
pub fn read(answer: &[u8]) -> Result<Listed, Unreadable> {
    let AnswerIn(entries) = serde_json::from_slice(answer).map_err(|_| Unreadable)?;
    let all = entries.len();
    let variant = |entry: &RawValue| serde_json::from_str::<VariantIn>(entry.get()).ok()?.variant();
    let variants: Vec<Variant> = entries.into_iter().filter_map(variant).collect();
    Ok(Listed { skipped: all - variants.len(), variants })
}

/// The answer, in either shape.
struct AnswerIn<'a>(Vec<&'a RawValue>);

/// At most [`MOST_VARIANTS`] entries.
struct VariantsIn<'a>(Vec<&'a RawValue>);

#[derive(Deserialize)]
struct ObjectIn<'a> {
    #[serde(borrow)]
    variants: VariantsIn<'a>,
}

/// A variant in a merchant's answer. A missing or null field is unknown; SKU, price and stock are required, because a variant
/// cannot be offered without them.
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

/// Many merchants send sizes as numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum ValueIn {
    Text(String),
    Number(serde_json::Number),
    Flag(bool),
}

impl<'de: 'a, 'a> Deserialize<'de> for AnswerIn<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = AnswerIn<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of variants, or an object that has one")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<AnswerIn<'de>, A::Error> {
                let VariantsIn(variants) = VariantsIn::deserialize(de::value::SeqAccessDeserializer::new(list))?;
                Ok(AnswerIn(variants))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, object: A) -> Result<AnswerIn<'de>, A::Error> {
                let ObjectIn { variants: VariantsIn(variants) } = ObjectIn::deserialize(de::value::MapAccessDeserializer::new(object))?;
                Ok(AnswerIn(variants))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for VariantsIn<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = VariantsIn<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST_VARIANTS} variants")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<VariantsIn<'de>, A::Error> {
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
    /// The variant, if it can be ordered.
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
            // Some systems let oversold stock go negative.
            in_stock: u32::try_from(self.quantity_in_stock.max(0)).unwrap_or(u32::MAX),
            image_url: self.image_url.filter(|url| is_web_link(url)),
            product_url: self.product_url.filter(|url| is_web_link(url)),
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

/// Allows only web links: other schemes could make a browser run code.
fn is_web_link(url: &str) -> bool {
    let starts = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("https://") || starts("http://")
}

/// Query parameters of `exchange_options`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExchangeOptionsQuery {
    /// Return reason: one of the merchant's, or `NOT_GIVEN`.
    pub reason: String,
}

/// The variants that an order line can be exchanged for.
#[derive(Serialize, ToSchema)]
pub struct ExchangeOptionsOut<'a> {
    /// Order identifier.
    pub order_identifier: &'a str,
    /// Order line.
    pub order_line_item_identifier: &'a str,
    /// Variants at the line's price, without the one that the shopper has.
    pub variants: Vec<VariantOut<'a>>,
    /// Reason the merchant was not asked for variants; null if it was.
    #[schema(value_type = Option<NotOfferedOut>)]
    pub not_offered: Option<&'static str>,
}

/// The reasons a merchant is not asked for variants.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum NotOfferedOut {
    /// The line has no usable `variant_identifier`.
    NoVariantIdentifier,
    /// No exchange is offered for this return reason.
    ReasonDoesNotTrigger,
    /// The order has already been exchanged.
    AlreadyExchanged,
    /// The merchant has no endpoint for variants, or it is paused.
    NoEndpoint,
}

/// A variant that is shown.
#[derive(Serialize, ToSchema)]
pub struct VariantOut<'a> {
    /// SKU.
    pub sku: &'a str,
    /// Title.
    pub title: Option<&'a str>,
    /// Attributes that distinguish the variant, such as size.
    pub attributes: Vec<AttributeOut<'a>>,
    /// Price of one unit; equal to the line's.
    pub unit_price_amount_cents: i64,
    /// Units in stock.
    pub quantity_in_stock: u32,
    /// False if it is sold out and cannot be chosen.
    pub available: bool,
    /// Image URL.
    pub image_url: Option<&'a str>,
    /// Product page URL.
    pub product_url: Option<&'a str>,
}

/// An attribute that distinguishes a variant.
#[derive(Serialize, ToSchema)]
pub struct AttributeOut<'a> {
    /// Name, such as size.
    pub name: &'a str,
    /// Value, such as 43.
    pub value: &'a str,
}

impl<'a> ExchangeOptionsOut<'a> {
    /// The variants offered for an order line, or the reason the merchant was not asked.
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
            available: variant.is_available(),
            image_url: variant.image_url.as_deref(),
            product_url: variant.product_url.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests;
