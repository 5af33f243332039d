//! The address of an exchange order that is asked for once more: the same order, in a message of its own.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::exchange_order::{ExchangeAddress, ExchangePayment};

/// The most characters of a field.
const MOST_CHARACTERS: usize = 255;

/// An exchange order as it was written. Everything stays as it is, byte for byte, but what is replaced.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    original_order_id: &'a RawValue,
    #[serde(borrow)]
    rma_identifier: &'a RawValue,
    #[serde(borrow)]
    currency: &'a RawValue,
    #[serde(borrow)]
    items: &'a RawValue,
    #[serde(borrow)]
    customer: &'a RawValue,
    #[serde(borrow)]
    shipping_address: &'a RawValue,
    #[serde(borrow)]
    billing_address: &'a RawValue,
    #[serde(borrow)]
    payment: &'a RawValue,
}

/// The shipping address in the exchange order `body`; `None` if it has none.
#[must_use]
pub fn address_of(body: &str) -> Option<ExchangeAddress<'static>> {
    let written: Written<'_> = serde_json::from_str(body).ok()?;
    serde_json::from_str(written.shipping_address.get()).ok()?
}

/// The exchange order `body` with another shipping address and payment reference; `None` if it is no exchange order.
#[must_use]
pub fn readdressed(body: &str, to: &ExchangeAddress<'_>, transaction: &str) -> Option<String> {
    let written: Written<'_> = serde_json::from_str(body).ok()?;
    let address = to_raw_value(to).ok()?;
    let payment = to_raw_value(&ExchangePayment { transaction_id: transaction }).ok()?;
    serde_json::to_string(&Written { shipping_address: &address, payment: &payment, ..written }).ok()
}

impl ExchangeAddress<'_> {
    /// What keeps a parcel from being sent there, if anything does.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let Self { name, street1, city, state, zip_code, country_code, phone } = self;
        let all = [name, street1, city, state, zip_code, country_code, phone];
        let is_country = |code: &str| code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_uppercase());
        if [name, street1, city].into_iter().any(|field| field.as_deref().is_none_or(str::is_empty)) {
            Some("a name, a street and a city are needed")
        } else if !country_code.as_deref().is_some_and(is_country) {
            Some("the country is a code of two capital letters, such as US")
        } else if all.into_iter().flatten().any(|field| field.chars().count() > MOST_CHARACTERS || field.contains(char::is_control)) {
            Some("a field has at most 255 characters, on one line")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"original_order_id":"A-1","rma_identifier":"R-1","currency":"USD","items":[{"unit_price_amount_cents": 5400}],"customer":{"email":null},"shipping_address":null,"billing_address":{"city":"Oldtown"},"payment":{"transaction_id":"one"}}"#;

    fn address(city: &str, country: &str) -> ExchangeAddress<'static> {
        ExchangeAddress {
            name: Some("Sam Sample".into()),
            street1: Some("1 Example Street".into()),
            city: Some(city.to_owned().into()),
            state: None,
            zip_code: None,
            country_code: Some(country.to_owned().into()),
            phone: None,
        }
    }

    #[test]
    fn only_the_address_and_the_payment_reference_change() {
        let moved = readdressed(BODY, &address("Newtown", "US"), "two").unwrap();
        let there = r#""shipping_address":{"name":"Sam Sample","street1":"1 Example Street","city":"Newtown","state":null,"zip_code":null,"country_code":"US","phone":null}"#;
        assert_eq!(moved, BODY.replace(r#""shipping_address":null"#, there).replace("\"one\"", "\"two\""));
        assert_eq!(address_of(&moved).unwrap().city.as_deref(), Some("Newtown"));
        assert!(address_of(BODY).is_none());
        assert_eq!(readdressed("{}", &address("Newtown", "US"), "two"), None, "no exchange order");
    }

    #[test]
    fn an_address_without_a_street_or_a_country_is_faulty() {
        assert_eq!(address("Newtown", "US").fault(), None);
        assert!(address("", "US").fault().unwrap().contains("a city"));
        assert!(address("Newtown", "us").fault().unwrap().contains("capital"));
        assert!(address("New\ntown", "US").fault().unwrap().contains("on one line"));
        assert!(address(&"x".repeat(256), "US").fault().unwrap().contains("255"));
    }
}
