//! Faults as they are reported to callers: field, kind, and the rule that is violated.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The number of faults reported for one message; if it has more, the first ones are.
pub const MOST_TOLD: usize = 1_000;

/// The longest name that a path spells out: longer than any name of the contract.
const LONGEST_NAME: usize = 64;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A required field is missing.
    MissingField,
    /// The value has the wrong JSON type.
    InvalidType,
    /// Anything else.
    Invalid,
}

/// A fault of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Fault)]
pub struct Fault {
    /// JSON path of the field at fault, such as `returns_portal_order.orders[0].items[2].sku`.
    pub field: String,
    /// The kind of fault.
    pub code: Code,
    /// The rule that the field violates.
    pub message: String,
}

impl Fault {
    /// A fault at `field`.
    #[must_use]
    pub fn new(field: impl fmt::Display, code: Code, message: impl Into<String>) -> Self {
        Self { field: field.to_string(), code, message: message.into() }
    }
}

/// A warning about an accepted message that does not add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Warning {
    /// JSON path of the field in question.
    pub field: String,
    /// The discrepancy.
    pub message: String,
}

impl Warning {
    /// The field within the order, without positions: `items.product_amount_cents`. Warnings are counted by it.
    #[must_use]
    pub fn kind(&self) -> String {
        let mut kind = String::with_capacity(self.field.len());
        let mut within = false;
        for letter in self.field.chars() {
            match letter {
                '[' => within = true,
                ']' => within = false,
                letter if !within => kind.push(letter),
                _ => {}
            }
        }
        kind.strip_prefix("returns_portal_order.orders.").map(ToOwned::to_owned).unwrap_or(kind)
    }

    /// The warnings that were stored with an order.
    #[must_use]
    pub fn read_stored(text: &str) -> Vec<Self> {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// A JSON path under construction: `returns_portal_order.orders[0]`, then `.items`, then `[2]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// The path of the whole message.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Appends the property `name`. A name that is not a plain word is quoted: `orders[0]["the service"]`. A very long name is
    /// cut, because a thousand faults below it would each repeat it.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let mut path = self.0.clone();
        let cut = name.char_indices().nth(LONGEST_NAME).and_then(|(end, _)| name.get(..end)).map(|start| format!("{start}…"));
        let name = cut.as_deref().unwrap_or(name);
        let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if plain {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        } else {
            let _ = write!(path, "[{}]", serde_json::Value::from(name));
        }
        Self(path)
    }

    /// Appends the array element `index`.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.0.clone();
        let _ = write!(path, "[{index}]");
        Self(path)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_about_the_same_field_are_of_one_kind() {
        let kind = |field: &str| Warning { field: field.to_owned(), message: String::new() }.kind();
        assert_eq!(kind("returns_portal_order.orders[3].items[12].product_amount_cents"), "items.product_amount_cents");
        assert_eq!(kind("refunds[0].created_at"), "refunds.created_at");
    }

    #[test]
    fn a_path_reads_like_the_contract() {
        let order = Path::root().field("returns_portal_order").field("orders").index(0);
        assert_eq!(order.field("items").index(2).field("sku").to_string(), "returns_portal_order.orders[0].items[2].sku");
        assert_eq!(order.field("the service").to_string(), r#"returns_portal_order.orders[0]["the service"]"#);
        assert_eq!(order.field("a\"b").to_string(), r#"returns_portal_order.orders[0]["a\"b"]"#);
    }

    #[test]
    fn a_path_stays_short_however_long_its_names_are() {
        let plain = "é".repeat(LONGEST_NAME);
        assert_eq!(Path::root().field(&plain).to_string(), plain);
        assert_eq!(Path::root().field(&"é".repeat(LONGEST_NAME + 1)).to_string(), format!("[\"{plain}…\"]"));
    }
}
