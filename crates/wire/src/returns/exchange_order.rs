//! The exchange order: the message that asks a merchant to place an order for a shopper who takes an exchange instead of a refund,
//! and the merchant's answer.

use std::borrow::Cow;
use std::sync::LazyLock;

use domain::money::Cents;
use domain::returns::exchange::order::{ExchangeOrder, GiftCard, Replacement};
use domain::returns::rma::sale::SoldLine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::explainer::Explainer;
use crate::orders::order::{AddressIn, OrderIn};
use crate::request::{self, Refusal};
use crate::shape::{Identifier, Text, object};

/// The event name of the message.
pub const EVENT: &str = "exchange_order.requested";

/// A new order for an exchange, a gift card, or both. Every key is always present, null if there is no value.
///
/// It has no `Debug`: it contains the shopper's personal data.
#[derive(Serialize, ToSchema)]
#[schema(as = ExchangeOrderMessage)]
pub struct ExchangeOrderMessage<'a> {
    /// The order that is exchanged. There is one exchange order per order, so use it as the idempotency key.
    pub original_order_id: &'a str,
    /// The return that this exchange belongs to.
    pub rma_identifier: &'a str,
    /// Currency code of all amounts.
    pub currency: &'a str,
    /// Replacements, and the gift card if there is one.
    pub items: Vec<ExchangeItem<'a>>,
    /// The shopper.
    pub customer: ExchangeCustomer<'a>,
    /// Shipping address: of the original order, unless the shopper asked for another one.
    pub shipping_address: Option<ExchangeAddress<'a>>,
    /// Billing address of the original order.
    pub billing_address: Option<ExchangeAddress<'a>>,
    /// Payment reference.
    pub payment: ExchangePayment<'a>,
}

/// An item of an exchange order.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum ExchangeItem<'a> {
    /// A replacement.
    Replacement(ReplacementItem<'a>),
    /// A gift card.
    GiftCard(GiftCardItem<'a>),
}

/// A variant that replaces returned units. The merchant computes all tax and shipping.
#[derive(Serialize, ToSchema)]
pub struct ReplacementItem<'a> {
    /// SKU of the variant.
    pub sku: &'a str,
    /// Number of units.
    pub quantity: u32,
    /// Title of the variant.
    pub title: Option<&'a str>,
    /// Price of one unit.
    pub unit_price_amount_cents: i64,
    /// Price of all units.
    pub product_amount_cents: i64,
    /// Discount on the returned units.
    pub discount_amount_cents: i64,
    /// Always 0.
    pub tax_amount_cents: i64,
    /// The merchant's product id; the SKU when there is none.
    pub product_identifier: &'a str,
    /// Variant identifier of the order line.
    pub variant_identifier: Option<&'a str>,
    /// SKU of the returned units.
    pub original_sku: &'a str,
    /// Order line of the returned units.
    pub original_item_identifier: &'a str,
    /// Concept of the order line, or else of the merchant.
    pub concept: Option<&'a str>,
}

/// A gift card for returned units.
#[derive(Serialize, ToSchema)]
pub struct GiftCardItem<'a> {
    /// The agreed SKU of gift cards.
    pub sku: &'a str,
    /// Always 1.
    pub quantity: u32,
    /// Value without the bonus.
    pub unit_price_amount_cents: i64,
    /// Bonus added by the merchant.
    pub bonus_credit_amount_cents: i64,
    /// The units returned for it.
    pub return_items: Vec<ReturnedItem<'a>>,
}

/// Units returned for a gift card.
#[derive(Serialize, ToSchema)]
pub struct ReturnedItem<'a> {
    /// Title.
    pub title: Option<&'a str>,
    /// SKU.
    pub original_sku: &'a str,
    /// Order line.
    pub original_item_identifier: &'a str,
    /// Number of units.
    pub quantity: u32,
    /// Concept of the order line, or else of the merchant.
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

/// A postal address, as in the original order or as a person has changed it since.
///
/// It has no `Debug`: it contains the shopper's personal data.
#[derive(Serialize, Deserialize, ToSchema)]
pub struct ExchangeAddress<'a> {
    /// Name.
    pub name: Option<Cow<'a, str>>,
    /// Street.
    pub street1: Option<Cow<'a, str>>,
    /// City.
    pub city: Option<Cow<'a, str>>,
    /// State.
    pub state: Option<Cow<'a, str>>,
    /// Postal code.
    pub zip_code: Option<Cow<'a, str>>,
    /// Country code.
    pub country_code: Option<Cow<'a, str>>,
    /// Telephone number.
    pub phone: Option<Cow<'a, str>>,
}

/// The payment of an exchange order, for reporting and reconciliation.
#[derive(Serialize, ToSchema)]
pub struct ExchangePayment<'a> {
    /// Unique; the id of the message that carries it.
    pub transaction_id: &'a str,
}

/// Terms that the merchant agreed with the operator.
pub struct Terms<'a> {
    pub gift_card_sku: Option<&'a str>,
    pub concept: Option<&'a str>,
}

impl<'a> ExchangeOrderMessage<'a> {
    /// The message that orders `wanted` in exchange for the units of `order` returned with `rma`.
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

    /// Renders the exact bytes that are sent.
    ///
    /// # Errors
    /// Never, in practice: every field can be serialised.
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
    let text = |field| text(field).map(Cow::Borrowed);
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

/// The merchant's answer to an exchange order that it has placed. Everything in it is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedOrder {
    /// The merchant's identifier of the new order.
    pub order_identifier: Option<String>,
    pub total: Option<Cents>,
    pub product: Option<Cents>,
    pub tax: Option<Cents>,
}

impl PlacedOrder {
    /// Reads what can be read of an answer. The identifier may be a number, and unknown fields are ignored.
    #[must_use]
    pub fn read(answer: &[u8]) -> Self {
        let Ok(answer) = serde_json::from_slice::<Map<String, Value>>(answer) else { return Self::default() };
        let order_identifier = match answer.get("order_identifier") {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) if number.is_u64() => Some(number.to_string()),
            Some(Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => None,
        };
        let cents = |name| answer.get(name).and_then(Value::as_i64).and_then(Cents::new);
        Self {
            order_identifier: order_identifier.filter(|identifier| Identifier::fits(identifier)),
            total: cents("total_amount_cents"),
            product: cents("product_amount_cents"),
            tax: cents("tax_amount_cents"),
        }
    }
}

/// True if an answer to an exchange order is empty, or an object that either names the order in a way that can be read or does not
/// name it at all.
#[must_use]
pub fn is_readable(answer: &[u8]) -> bool {
    if answer.trim_ascii().is_empty() {
        return true;
    }
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(answer) else { return false };
    matches!(object.get("order_identifier"), None | Some(Value::Null)) || PlacedOrder::read(answer).order_identifier.is_some()
}

object! {
    /// The order that the merchant placed for an exchange.
    pub struct PlacedOrderIn<'a> as "PlacedExchangeOrder" at 1 {
        /// The merchant's identifier of the new order.
        order_identifier: Identifier<'a>,
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<PlacedOrderIn<'_>>);

/// True if the text can be an order identifier.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    Identifier::fits(text)
}

/// Reads the request that names a placed order.
pub fn read_placed(body: &[u8]) -> Result<PlacedOrderIn<'_>, Refusal> {
    request::read(body, &EXPLAINER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(answer: &str) -> PlacedOrder {
        PlacedOrder::read(answer.as_bytes())
    }

    #[test]
    fn an_answer_names_the_order_and_may_tell_its_amounts() {
        let told =
            r#"{"order_identifier":"E-1","total_amount_cents":5400,"product_amount_cents":5000,"tax_amount_cents":400,"status":"new"}"#;
        let cents = |amount| Cents::new(amount);
        let placed = PlacedOrder { order_identifier: Some("E-1".to_owned()), total: cents(5_400), product: cents(5_000), tax: cents(400) };
        assert_eq!(read(told), placed);
        let bare = PlacedOrder { order_identifier: Some("7".to_owned()), ..PlacedOrder::default() };
        assert_eq!(read(r#"{"order_identifier":7,"total_amount_cents":-1,"tax_amount_cents":"many"}"#), bare);
    }

    #[test]
    fn an_answer_need_not_name_the_order() {
        for answer in ["", "{}", "[]", "ok", r#"{"order_identifier":null}"#, r#"{"order_identifier":""}"#, r#"{"order_identifier":1.5}"#] {
            assert_eq!(read(answer), PlacedOrder::default(), "{answer}");
        }
        assert_eq!(read(r#"{"order_identifier":"a\u0000b"}"#), PlacedOrder::default());
        assert_eq!(read(&format!(r#"{{"order_identifier":"{}"}}"#, "x".repeat(256))), PlacedOrder::default());
    }

    #[test]
    fn an_answer_that_names_no_order_is_told_from_one_that_cannot_be_read() {
        for answer in ["", " \n", "{}", r#"{"order_identifier":null}"#, r#"{"order_identifier":"E-1"}"#, r#"{"order_identifier":7}"#] {
            assert!(is_readable(answer.as_bytes()), "{answer}");
        }
        for answer in ["[]", "ok", "<html>", r#"{"order_identifier":""}"#, r#"{"order_identifier":1.5}"#, r#"{"order_identifier":"#] {
            assert!(!is_readable(answer.as_bytes()), "{answer}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_read(answer in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = PlacedOrder::read(&answer);
        }
    }
}
