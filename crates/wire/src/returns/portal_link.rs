//! Requests for links that sign shoppers in: `/v1/portal_links`.

use std::sync::LazyLock;

use domain::returns::portal::SupportName;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::explainer::Explainer;
use crate::json::Str;
use crate::request::{self, Refusal};
use crate::shape::pattern::SUPPORT_NAME;
use crate::shape::{Identifier, Shape, object};

object! {
    /// A link to make.
    pub struct PortalLinkIn<'a> as "MakePortalLink" at 1 {
        /// Order identifier.
        order_identifier: Identifier<'a>,
        /// Language of the pages, such as `de` or `de-AT`. The shopper's browser decides if it is omitted, or if the portal does not have it.
        language: Option<Identifier<'a>>,
        /// For support: name of the person who acts for the shopper. Omit it if shoppers act for themselves.
        support: Support,
    }
}

/// The name of the person who acts for the shopper. Unlike other optional fields it may not be empty or null: whoever acts for a shopper
/// and does not say who they are is refused, and not taken for the shopper.
pub struct Support(pub Option<SupportName>);

impl<'de> Deserialize<'de> for Support {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Str(name) = Str::deserialize(deserializer)?;
        name.parse().map(|name| Self(Some(name))).map_err(D::Error::custom)
    }
}

impl Shape for Support {
    const REQUIRED: bool = false;

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": SupportName::LONGEST, "pattern": SUPPORT_NAME })
    }
}

static EXPLAINER: LazyLock<Explainer> = LazyLock::new(Explainer::of::<PortalLinkIn<'_>>);

/// Reads a request for a link.
pub fn read(body: &[u8]) -> Result<PortalLinkIn<'_>, Refusal> {
    request::read(body, &EXPLAINER)
}

/// A link that signs a shopper in, once.
#[derive(Serialize, ToSchema)]
#[schema(as = PortalLink)]
pub struct PortalLinkOut {
    /// Address to which to redirect the shopper's browser at once. Whoever opens it first is signed in.
    pub url: String,
    /// Time from which it no longer works.
    pub expires_at: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Faults;

    fn faults(body: &Value) -> Vec<String> {
        match read(body.to_string().as_bytes()) {
            Err(Refusal::Faulty(Faults { faults, .. })) => {
                faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect()
            }
            Err(Refusal::Malformed(_)) => panic!("malformed: {body}"),
            Ok(_) => Vec::new(),
        }
    }

    #[test]
    fn support_is_left_out_or_named() {
        let with = |support: Value| faults(&json!({ "order_identifier": "1", "support": support }));
        assert_eq!(with(json!("Kim")), Vec::<String>::new());
        assert_eq!(faults(&json!({ "order_identifier": "1", "language": "" })), Vec::<String>::new());
        assert_eq!(with(json!("")), ["support must not be empty"]);
        assert_eq!(with(Value::Null), ["support must be a string"]);
        assert_eq!(with(json!("é".repeat(101))), ["support must have at most 100 characters"]);
        for blank in [" ", "\u{a0}\u{3000}", "Kim\n", "\u{85}"] {
            assert_eq!(with(json!(blank)), ["support must be a name, without control characters"], "{blank:?}");
        }
    }
}
