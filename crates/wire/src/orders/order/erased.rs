//! Erasing a shopper's data from a stored order.

use serde_json::{Value, json};

/// The fields that returns and refunds need. Everything else may be personal, including unknown fields and free text.
const ORDER: [&str; 16] = [
    "identifier",
    "status",
    "total_amount_cents",
    "product_amount_cents",
    "tax_amount_cents",
    "discount_amount_cents",
    "shipping_amount_cents",
    "shipping_tax_amount_cents",
    "currency",
    "tags",
    "created_at",
    "updated_at",
    "items",
    "refunds",
    "customer",
    "original_order_identifier",
];

/// The fields to keep of a line.
const LINE: [&str; 19] = [
    "identifier",
    "sku",
    "upc",
    "quantity",
    "quantity_shipped",
    "quantity_canceled",
    "shipped_date",
    "delivered_date",
    "product_identifier",
    "variant_identifier",
    "title",
    "concept",
    "tags",
    "product_amount_cents",
    "tax_amount_cents",
    "discount_amount_cents",
    "unit_price_amount_cents",
    "image_url",
    "weight",
];

/// The fields to keep of a refund.
const REFUND: [&str; 5] = ["identifier", "total_refund_amount_cents", "refund_line_items", "created_at", "rma_identifier"];

/// The fields to keep of a refund line.
const REFUND_LINE: [&str; 3] = ["identifier", "quantity", "order_item_identifier"];

/// The customer identifier of an erased shopper.
const NOBODY: &str = "erased";

/// Removes everything that may be personal. The result is still a valid order, and the same to returns and refunds.
#[must_use]
pub fn erased(snapshot: &str) -> Option<String> {
    let mut order: Value = serde_json::from_str(snapshot).ok()?;
    keep(&mut order, &ORDER);
    let fields = order.as_object_mut()?;
    for line in entries(fields.get_mut("items")) {
        keep(line, &LINE);
    }
    for refund in entries(fields.get_mut("refunds")) {
        keep(refund, &REFUND);
        for line in entries(refund.get_mut("refund_line_items")) {
            keep(line, &REFUND_LINE);
        }
    }
    fields.insert("customer".to_owned(), json!({ "identifier": NOBODY }));
    fields.insert("transactions".to_owned(), json!([]));
    fields.insert("discounts".to_owned(), json!([]));
    Some(order.to_string())
}

/// Removes all but these fields of an object.
fn keep(object: &mut Value, names: &[&str]) {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| names.contains(&name.as_str()));
    }
}

fn entries(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::order::{read_one, read_stored};

    /// A marker in every field that must be erased.
    const CANARY: &str = "canary";

    fn order() -> Value {
        json!({
            "identifier": "A-1", "raw_status": CANARY, "status": "Shipped", "currency": "USD", "tags": ["gift"], CANARY: [CANARY],
            "total_amount_cents": 5_400, "product_amount_cents": 5_000, "tax_amount_cents": 400, "discount_amount_cents": 0,
            "shipping_amount_cents": 0, "shipping_tax_amount_cents": 0,
            "created_at": "2026-01-05T10:00:00Z", "updated_at": "2026-01-06T10:00:00+02:00",
            "items": [{
                "identifier": "L1", "sku": "SHOE-42", "upc": "012345678905", "quantity": 1, "quantity_shipped": 1, "quantity_canceled": 0,
                "tracking_number": CANARY, "shipped_date": "2026-01-06T09:00:00Z", "product_identifier": "P-42", "title": "Shoe",
                "variant_identifier": "V-SHOE", "concept": "Example", "tags": ["final"], "product_amount_cents": 5_000, CANARY: CANARY,
                "tax_amount_cents": 400, "discount_amount_cents": 0, "unit_price_amount_cents": 5_000, "weight": 1.25,
                "image_url": "https://example.com/shoe.png", "engraving": CANARY,
            }],
            "customer": { "identifier": CANARY, "email": CANARY, "first_name": CANARY, CANARY: CANARY },
            "shipping_address": { "name": CANARY, "street1": CANARY, "zip_code": CANARY },
            "billing_address": { "city": CANARY, "phone": CANARY },
            "transactions": [{ "card": CANARY }],
            "refunds": [{
                "identifier": "F1", "total_refund_amount_cents": 5_400, "note": CANARY, "created_at": "2026-02-01T10:00:00Z",
                "rma_identifier": "R-1", CANARY: CANARY,
                "refund_line_items": [{ "identifier": "F1-1", "quantity": 1, "order_item_identifier": "L1", CANARY: CANARY }],
            }],
            "discounts": [{ "code": CANARY }],
        })
    }

    #[test]
    fn nothing_personal_is_left_and_what_was_sold_is_the_same() {
        let before = order().to_string();
        let after = erased(&before).expect("an order");
        assert!(!after.contains(CANARY), "{after}");
        let (Some(before), Some(kept)) = (read_stored(&before), read_stored(&after)) else { panic!("both are orders") };
        assert_eq!(kept.sale(), before.sale());
        assert!(kept.facts().refunds.iter().zip(&before.facts().refunds).all(|(kept, before)| kept.total == before.total));
        assert!(read_one(after.as_bytes()).is_ok(), "a merchant could have sent it");
        assert_eq!(erased(&after), Some(after), "the second time nothing is left to do");
    }

    #[test]
    fn the_shopper_is_gone_under_either_name() {
        let mut named = order();
        let customer = named.as_object_mut().and_then(|order| order.remove("customer"));
        named["the service"] = customer.expect("a shopper");
        let after = erased(&named.to_string()).expect("an order");
        assert!(!after.contains(CANARY) && read_stored(&after).is_some(), "{after}");
    }
}
