//! The exchange order: what the merchant's systems are asked to place for a shopper who takes something else than the money,
//! and what they answer.

use domain::exchange::order::{ExchangeOrder, GiftCard, Replacement};
use domain::money::Cents;
use domain::rma::sale::SoldLine;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::order::{AddressIn, OrderIn};
use crate::shape::Text;

/// What happened, in the header of the message.
pub const EVENT: &str = "exchange_order.requested";

/// Only so much of an answer's identifier is one.
const LONGEST_IDENTIFIER: usize = 255;

/// A new order for an exchange, a gift card, or both. Every key is always there, null where there is nothing to say.
///
/// It has no `Debug`: who gets it is personal.
#[derive(Serialize, ToSchema)]
#[schema(as = ExchangeOrderMessage)]
pub struct ExchangeOrderMessage<'a> {
    /// The order that is exchanged: the idempotency key. There is one exchange order for each.
    pub original_order_id: &'a str,
    /// The return that brings the goods back.
    pub rma_identifier: &'a str,
    /// Currency code of all amounts.
    pub currency: &'a str,
    /// The replacements, and the gift card.
    pub items: Vec<ExchangeItem<'a>>,
    /// Who gets them.
    pub customer: ExchangeCustomer<'a>,
    /// Where the original order went.
    pub shipping_address: Option<ExchangeAddress<'a>>,
    /// Where its bill went.
    pub billing_address: Option<ExchangeAddress<'a>>,
    /// How the payment is told apart.
    pub payment: ExchangePayment<'a>,
}

/// Something in an exchange order.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum ExchangeItem<'a> {
    /// Another variant.
    Replacement(ReplacementItem<'a>),
    /// A gift card.
    GiftCard(GiftCardItem<'a>),
}

/// Another variant instead of what comes back. The merchant computes all tax and shipping.
#[derive(Serialize, ToSchema)]
pub struct ReplacementItem<'a> {
    /// SKU of the variant.
    pub sku: &'a str,
    /// How many units.
    pub quantity: u32,
    /// Title of the variant.
    pub title: Option<&'a str>,
    /// Price of one unit.
    pub unit_price_amount_cents: i64,
    /// Price of all units.
    pub product_amount_cents: i64,
    /// The discount on the units that come back.
    pub discount_amount_cents: i64,
    /// Always 0.
    pub tax_amount_cents: i64,
    /// The merchant's product id; the SKU when there is none.
    pub product_identifier: &'a str,
    /// By which the variant was found.
    pub variant_identifier: Option<&'a str>,
    /// SKU of what comes back.
    pub original_sku: &'a str,
    /// The order line of what comes back.
    pub original_item_identifier: &'a str,
    /// The line's, or else the merchant's.
    pub concept: Option<&'a str>,
}

/// A gift card for what comes back.
#[derive(Serialize, ToSchema)]
pub struct GiftCardItem<'a> {
    /// The SKU that was agreed for gift cards.
    pub sku: &'a str,
    /// Always 1.
    pub quantity: u32,
    /// What it is worth without the bonus.
    pub unit_price_amount_cents: i64,
    /// What the merchant adds to that.
    pub bonus_credit_amount_cents: i64,
    /// What comes back for it.
    pub return_items: Vec<ReturnedItem<'a>>,
}

/// What comes back for a gift card.
#[derive(Serialize, ToSchema)]
pub struct ReturnedItem<'a> {
    /// Title.
    pub title: Option<&'a str>,
    /// SKU.
    pub original_sku: &'a str,
    /// The order line.
    pub original_item_identifier: &'a str,
    /// How many units.
    pub quantity: u32,
    /// The line's, or else the merchant's.
    pub concept: Option<&'a str>,
}

/// The shopper.
#[derive(Serialize, ToSchema)]
pub struct ExchangeCustomer<'a> {
    /// The merchant's identifier of the shopper.
    pub identifier: Option<&'a str>,
    /// E-mail address.
    pub email: Option<&'a str>,
    /// First name.
    pub first_name: Option<&'a str>,
    /// Last name.
    pub last_name: Option<&'a str>,
    /// Telephone number.
    pub phone: Option<&'a str>,
}

/// A postal address, as the order had it.
#[derive(Serialize, ToSchema)]
pub struct ExchangeAddress<'a> {
    /// Name.
    pub name: Option<&'a str>,
    /// Street.
    pub street1: Option<&'a str>,
    /// City.
    pub city: Option<&'a str>,
    /// State.
    pub state: Option<&'a str>,
    /// Postal code.
    pub zip_code: Option<&'a str>,
    /// Country code.
    pub country_code: Option<&'a str>,
    /// Telephone number.
    pub phone: Option<&'a str>,
}

/// How the payment of an exchange order is reported and reconciled.
#[derive(Serialize, ToSchema)]
pub struct ExchangePayment<'a> {
    /// Unique; the id of the message that carries it.
    pub transaction_id: &'a str,
}

/// What the merchant agreed on with the operator.
pub struct Terms<'a> {
    /// The SKU of gift cards.
    pub gift_card_sku: Option<&'a str>,
    /// The merchant's word for what it sells.
    pub concept: Option<&'a str>,
}

impl<'a> ExchangeOrderMessage<'a> {
    /// The message that asks for `wanted` instead of what comes back of `order` with the return `rma`.
    #[must_use]
    pub fn new(order: &'a OrderIn<'_>, rma: &'a str, wanted: &'a ExchangeOrder<'_>, terms: &Terms<'a>, transaction: &'a str) -> Self {
        let replacements = wanted.replacements.iter().map(|replacement| ExchangeItem::Replacement(replaced(replacement, terms)));
        let gift_card = wanted.gift_card.as_ref().map(|card| ExchangeItem::GiftCard(carded(card, terms)));
        let customer = &order.customer;
        Self {
            original_order_id: &order.identifier.0,
            rma_identifier: rma,
            currency: &order.currency.0,
            items: replacements.chain(gift_card).collect(),
            customer: ExchangeCustomer {
                identifier: text(customer.identifier.as_ref()),
                email: text(customer.email.as_ref()),
                first_name: text(customer.first_name.as_ref()),
                last_name: text(customer.last_name.as_ref()),
                phone: text(customer.phone.as_ref()),
            },
            shipping_address: order.shipping_address.as_ref().map(address),
            billing_address: order.billing_address.as_ref().map(address),
            payment: ExchangePayment { transaction_id: transaction },
        }
    }

    /// The exact bytes that are sent.
    ///
    /// # Errors
    /// It cannot fail for what this message is made of.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

fn replaced<'a>(replacement: &'a Replacement<'_>, terms: &Terms<'a>) -> ReplacementItem<'a> {
    let Replacement { line, variant, quantity, product, discount } = replacement;
    ReplacementItem {
        sku: &variant.sku,
        quantity: *quantity,
        title: variant.title.as_deref(),
        unit_price_amount_cents: variant.unit_price.get(),
        product_amount_cents: product.get(),
        discount_amount_cents: discount.get(),
        tax_amount_cents: 0,
        product_identifier: line.product_identifier.as_deref().unwrap_or(&variant.sku),
        variant_identifier: line.variant_identifier.as_deref(),
        original_sku: &line.sku,
        original_item_identifier: &line.identifier,
        concept: concept(line, terms),
    }
}

fn carded<'a>(card: &'a GiftCard<'_>, terms: &Terms<'a>) -> GiftCardItem<'a> {
    let returned = |(line, quantity): &(&'a SoldLine, u32)| ReturnedItem {
        title: line.title.as_deref(),
        original_sku: &line.sku,
        original_item_identifier: &line.identifier,
        quantity: *quantity,
        concept: concept(line, terms),
    };
    GiftCardItem {
        sku: terms.gift_card_sku.unwrap_or_default(),
        quantity: 1,
        unit_price_amount_cents: card.value.get(),
        bonus_credit_amount_cents: card.bonus.get(),
        return_items: card.returned.iter().map(returned).collect(),
    }
}

fn concept<'a>(line: &'a SoldLine, terms: &Terms<'a>) -> Option<&'a str> {
    line.concept.as_deref().or(terms.concept)
}

fn text<'a>(text: Option<&'a Text<'_>>) -> Option<&'a str> {
    text.map(|Text(text)| &**text)
}

fn address<'a>(of: &'a AddressIn<'_>) -> ExchangeAddress<'a> {
    ExchangeAddress {
        name: text(of.name.as_ref()),
        street1: text(of.street1.as_ref()),
        city: text(of.city.as_ref()),
        state: text(of.state.as_ref()),
        zip_code: text(of.zip_code.as_ref()),
        country_code: text(of.country_code.as_ref()),
        phone: text(of.phone.as_ref()),
    }
}

/// What a merchant answers to an exchange order that it has placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedOrder {
    /// Its identifier of the new order.
    pub order_identifier: String,
    /// The order's total, where told.
    pub total: Option<Cents>,
    /// The price of the goods, where told.
    pub product: Option<Cents>,
    /// The tax, where told.
    pub tax: Option<Cents>,
}

impl PlacedOrder {
    /// Reads an answer; none if it does not tell which order it is. Identifiers may be numbers, and other fields are the
    /// merchant's own business.
    #[must_use]
    pub fn read(answer: &[u8]) -> Option<Self> {
        let answer: Map<String, Value> = serde_json::from_slice(answer).ok()?;
        let order_identifier = match answer.get("order_identifier")? {
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_u64() => number.to_string(),
            Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let fits = (1..=LONGEST_IDENTIFIER).contains(&order_identifier.chars().count()) && !order_identifier.contains('\0');
        let cents = |name| answer.get(name).and_then(Value::as_i64).and_then(Cents::new);
        fits.then(|| Self {
            order_identifier,
            total: cents("total_amount_cents"),
            product: cents("product_amount_cents"),
            tax: cents("tax_amount_cents"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(answer: &str) -> Option<PlacedOrder> {
        PlacedOrder::read(answer.as_bytes())
    }

    #[test]
    fn an_answer_names_the_order_and_may_tell_its_amounts() {
        let told =
            r#"{"order_identifier":"E-1","total_amount_cents":5400,"product_amount_cents":5000,"tax_amount_cents":400,"status":"new"}"#;
        let cents = |amount| Cents::new(amount);
        let placed = PlacedOrder { order_identifier: "E-1".to_owned(), total: cents(5_400), product: cents(5_000), tax: cents(400) };
        assert_eq!(read(told), Some(placed));
        let bare = PlacedOrder { order_identifier: "7".to_owned(), total: None, product: None, tax: None };
        assert_eq!(read(r#"{"order_identifier":7,"total_amount_cents":-1,"tax_amount_cents":"many"}"#), Some(bare));
    }

    #[test]
    fn an_answer_without_an_identifier_is_none() {
        for answer in ["", "{}", "[]", "ok", r#"{"order_identifier":null}"#, r#"{"order_identifier":""}"#, r#"{"order_identifier":1.5}"#] {
            assert_eq!(read(answer), None, "{answer}");
        }
        assert_eq!(read(r#"{"order_identifier":"a\u0000b"}"#), None);
        assert_eq!(read(&format!(r#"{{"order_identifier":"{}"}}"#, "x".repeat(256))), None);
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_read_or_refused(answer in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = PlacedOrder::read(&answer);
        }
    }
}
