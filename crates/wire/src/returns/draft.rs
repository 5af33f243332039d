//! The answers of a shopper who is putting a return together, as they are stored, and the request that they become.

use std::collections::BTreeMap;
use std::fmt;

use domain::returns::rma::Method;
use domain::returns::rma::policy::NOT_GIVEN;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The answers so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    #[serde(default)]
    pub items: Vec<AnsweredItem>,
    #[serde(default, with = "method")]
    pub method: Option<Method>,
    /// The e-mail address of whoever was given the goods, if they are a gift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub giftee: Option<Giftee>,
    /// The code of the language in which the questions were answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The statement of withdrawal whose goods come back, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<Withdrawn>,
}

/// The goods of a statement of withdrawal. They come back whatever the merchant's policy says, for a refund.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawn {
    /// The reference of the statement.
    pub reference: String,
    /// Units by order line.
    pub units: BTreeMap<String, u32>,
}

/// The e-mail address of whoever was given something. It cannot be printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Giftee(pub String);

impl fmt::Debug for Giftee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Giftee(…)")
    }
}

/// The answers about units of one order line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredItem {
    pub line: String,
    pub quantity: u32,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub instead: Option<Wish>,
}

/// What a shopper would like for what goes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    Refund,
    GiftCard,
    /// The SKU of a variant.
    Variant(String),
}

mod method {
    use domain::returns::rma::Method;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub(super) fn serialize<S: Serializer>(method: &Option<Method>, serializer: S) -> Result<S::Ok, S::Error> {
        method.map(Method::as_str).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Method>, D::Error> {
        let word: Option<String> = Option::deserialize(deserializer)?;
        word.map(|word| word.parse().map_err(D::Error::custom)).transpose()
    }
}

impl Answers {
    /// Reads stored answers. Unreadable ones, of another version, start from the beginning.
    #[must_use]
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Writes them as they are stored.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The request to start the return of an order: the same that a merchant's system would send. `None` while an answer is missing.
    #[must_use]
    pub fn request(&self, order: &str) -> Option<String> {
        let item = |item: &AnsweredItem| {
            let mut wanted = json!({
                "order_line_item_identifier": item.line,
                "quantity": item.quantity,
                "return_reason": item.reason.as_deref().unwrap_or(NOT_GIVEN),
            });
            match item.instead.as_ref()? {
                Wish::Refund => {}
                Wish::GiftCard => _ = wanted.as_object_mut()?.insert("gift_card".to_owned(), true.into()),
                Wish::Variant(sku) => _ = wanted.as_object_mut()?.insert("exchange_sku".to_owned(), sku.clone().into()),
            }
            Some(wanted)
        };
        let items: Vec<_> = self.items.iter().map(item).collect::<Option<_>>()?;
        let method = self.method.filter(|_| !items.is_empty())?;
        let mut request = json!({ "order_identifier": order, "return_method": method.as_str(), "items": items });
        if let Some(Giftee(email)) = &self.giftee {
            request.as_object_mut()?.insert("giftee_email".to_owned(), email.as_str().into());
        }
        if let Some(language) = &self.language {
            request.as_object_mut()?.insert("language".to_owned(), language.as_str().into());
        }
        Some(request.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::returns::api;

    fn answers() -> Answers {
        let item =
            |line: &str, wish| AnsweredItem { line: line.to_owned(), quantity: 1, reason: Some("TOO_SMALL".to_owned()), instead: wish };
        Answers {
            items: vec![item("1", Some(Wish::Refund)), item("2", Some(Wish::GiftCard)), item("3", Some(Wish::Variant("S-43".to_owned())))],
            method: Some(Method::ExpressReturns),
            giftee: None,
            language: None,
            withdrawal: None,
        }
    }

    #[test]
    fn answers_are_read_as_they_are_written() {
        assert_eq!(Answers::read(&answers().write()), answers());
        assert_eq!(Answers::read("{}"), Answers::default());
        assert_eq!(Answers::read("of another version"), Answers::default());
    }

    #[test]
    fn the_request_is_one_that_a_merchants_system_could_send() {
        let request = answers().request("A-1").expect("everything is answered");
        assert!(api::read(request.as_bytes()).is_ok());
        insta::assert_snapshot!(request, @r#"{"items":[{"order_line_item_identifier":"1","quantity":1,"return_reason":"TOO_SMALL"},{"gift_card":true,"order_line_item_identifier":"2","quantity":1,"return_reason":"TOO_SMALL"},{"exchange_sku":"S-43","order_line_item_identifier":"3","quantity":1,"return_reason":"TOO_SMALL"}],"order_identifier":"A-1","return_method":"express-returns"}"#);
    }

    #[test]
    fn the_request_for_a_gift_names_the_giftee_and_nothing_prints_the_address() {
        let gift = Answers { giftee: Some(Giftee("lin@example.com".to_owned())), ..answers() };
        assert_eq!(Answers::read(&gift.write()), gift);
        let request = gift.request("A-1").expect("everything is answered");
        assert!(api::read(request.as_bytes()).is_ok_and(|request| request.giftee_email.is_some_and(|email| email.0 == "lin@example.com")));
        assert!(!format!("{gift:?}").contains("example.com"));
    }

    #[test]
    fn there_is_no_request_while_an_answer_is_missing() {
        assert_eq!(Answers { method: None, ..answers() }.request("A-1"), None);
        assert_eq!(Answers { items: Vec::new(), ..answers() }.request("A-1"), None);
        let mut unanswered = answers();
        unanswered.items[0].instead = None;
        assert_eq!(unanswered.request("A-1"), None);
    }
}
