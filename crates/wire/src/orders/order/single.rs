//! An order on its own, as on a line of an import. The paths of its faults are relative to the order.

use super::received::ReceivedOrder;
use super::slow;
use crate::fault::{Code, Fault, MOST_TOLD, Path};
use crate::json::{self, Malformed};
use crate::request::Faults;

/// The nesting levels that an order on its own lacks, compared with one in a message.
const DEPTH: usize = 3;

/// A refused order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedOrder {
    /// `None` if it is unreadable or invalid.
    pub identifier: Option<String>,
    /// The first [`MOST_TOLD`] faults, with paths relative to the order.
    pub faults: Vec<Fault>,
}

impl RefusedOrder {
    /// Refuses the order as a whole.
    #[must_use]
    pub fn whole(message: impl Into<String>) -> Self {
        Self { identifier: None, faults: vec![Fault::new(Path::root(), Code::Invalid, message)] }
    }
}

/// Reads one order like [`super::read`] does those of a message: checks its shape, then its rules. Surrounding white space is
/// not part of the order.
pub fn read_one(bytes: &[u8]) -> Result<ReceivedOrder<'_>, RefusedOrder> {
    let text = json::text(bytes.trim_ascii()).map_err(malformed)?;
    let Ok(order) = serde_json::from_str(text) else { return Err(explain(text)) };
    let mut order = ReceivedOrder::new(text, order, None);
    let mut faults = order.hold_to_rules();
    if faults.is_empty() {
        return Ok(order);
    }
    faults.truncate(MOST_TOLD);
    Err(RefusedOrder { identifier: Some(order.order.identifier.0.to_string()), faults })
}

fn explain(text: &str) -> RefusedOrder {
    match json::shallow(text, DEPTH).and_then(slow::explain_order) {
        Ok(Faults { faults, identifiers }) => RefusedOrder { identifier: identifiers.into_iter().next(), faults },
        Err(wrong) => malformed(wrong),
    }
}

/// Refuses text that is not JSON. The order is a single line, so the fault gives only a column.
fn malformed(Malformed(why): Malformed) -> RefusedOrder {
    let why = why.strip_prefix("the body ").unwrap_or(&why).replacen("(line 1, column", "(column", 1);
    RefusedOrder::whole(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = r#"{"identifier": "1", "status": "Shipped", "total_amount_cents": 5000, "currency": "USD",
        "created_at": "2026-01-05T10:00:00Z", "updated_at": "2026-01-06T10:00:00Z",
        "items": [{"identifier": "L1", "sku": "S", "quantity": 1, "unit_price_amount_cents": 5000}],
        "customer": {"email": "pat@example.com"}, "transactions": [], "refunds": [], "discounts": []}"#;

    fn refused(text: &str) -> String {
        let refused = read_one(text.as_bytes()).err().expect("it is refused");
        let faults = refused.faults.into_iter().map(|fault| format!("`{}` {}", fault.field, fault.message)).collect::<Vec<_>>();
        format!("{:?}: {}", refused.identifier, faults.join("; "))
    }

    #[test]
    fn the_text_of_an_order_is_kept_without_the_space_around_it() {
        let text = format!(" \t{}\r", ORDER.replace("\"sku\"", "\"product_amount_cents\": 1, \"sku\""));
        let Ok(read) = read_one(text.as_bytes()) else { panic!("it is an order") };
        assert_eq!(read.text, text.trim());
        let warned: Vec<&str> = read.warnings.iter().map(|warning| warning.field.as_str()).collect();
        assert_eq!(warned, ["items[0].product_amount_cents"]);
    }

    #[test]
    fn faults_are_told_relative_to_the_order() {
        insta::assert_snapshot!(refused(&ORDER.replace("\"S\"", "7")), @r#"Some("1"): `items[0].sku` must be a string"#);
        insta::assert_snapshot!(refused(&ORDER.replace("\"1\"", "1").replace("USD", "dollars")), @r#"None: `currency` must be three letters, such as USD; `identifier` must be a string"#);
        insta::assert_snapshot!(refused(&ORDER.replace("\"quantity\"", "\"quantity_shipped\": 2, \"quantity\"")), @r#"Some("1"): `items[0].quantity_shipped` shipped and cancelled units together must not exceed quantity"#);
        insta::assert_snapshot!(refused(&ORDER.replace("\"quantity\"", "\"sku\": \"T\", \"quantity\"")), @r#"Some("1"): `items[0].sku` must be given only once"#);
    }

    #[test]
    fn what_is_no_order_is_refused_as_a_whole() {
        insta::assert_snapshot!(refused("[]"), @r#"None: `` must be an object"#);
        insta::assert_snapshot!(refused("{\"identifier\": nope}"), @r#"None: `` is not well-formed JSON (column 17)"#);
        insta::assert_snapshot!(refused("{\"identifier\":"), @r#"None: `` ends unexpectedly (column 14)"#);
        insta::assert_snapshot!(refused(&"[".repeat(40)), @r#"None: `` exceeds the limit of 32 nesting levels"#);
        assert_eq!(
            read_one(b"\"\xff\"").err().expect("it is refused").faults.first().expect("one").message,
            "is not valid UTF-8 from byte 1 on"
        );
    }
}
