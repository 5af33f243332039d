use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn shoe() -> Value {
    json!({
        "sku": "SHOE-43",
        "title": "Running shoe",
        "attributes": [{ "name": "size", "value": "43" }, { "name": "colour", "value": "blue" }],
        "unit_price_amount_cents": 5_000,
        "quantity_in_stock": 3,
        "image_url": "https://shop.example.com/43.png",
        "product_url": "https://shop.example.com/43",
    })
}

/// The variants of an answer of which nothing is skipped.
fn read_json(answer: &Value) -> Result<Vec<Variant>, Unreadable> {
    let listed = read(answer.to_string().as_bytes())?;
    assert_eq!(listed.skipped, 0, "{answer}");
    Ok(listed.variants)
}

/// The shoe with one field replaced.
fn with(field: &str, value: Value) -> Value {
    let mut shoe = shoe();
    shoe[field] = value;
    json!([shoe])
}

#[test]
fn a_variant_is_read_with_all_that_is_told_of_it() {
    let attribute = |name: &str, value: &str| Attribute { name: name.to_owned(), value: value.to_owned() };
    let expected = Variant {
        sku: "SHOE-43".to_owned(),
        title: Some("Running shoe".to_owned()),
        attributes: vec![attribute("size", "43"), attribute("colour", "blue")],
        unit_price: Cents::new(5_000).unwrap(),
        in_stock: 3,
        image_url: Some("https://shop.example.com/43.png".to_owned()),
        product_url: Some("https://shop.example.com/43".to_owned()),
    };
    assert_eq!(read_json(&json!([shoe()])), Ok(vec![expected.clone()]));
    assert_eq!(read_json(&json!({ "variants": [shoe()] })), Ok(vec![expected]));
    assert_eq!(read_json(&json!([])), Ok(vec![]));
    assert_eq!(read_json(&json!({ "variants": [] })), Ok(vec![]));
}

#[test]
fn sku_price_and_stock_are_enough_and_more_is_no_fault() {
    let bare = json!([{ "sku": "S", "unit_price_amount_cents": 0, "quantity_in_stock": 0, "barcode": [1, { "x": null }] }]);
    let read = read_json(&bare).unwrap();
    assert_eq!((read[0].title.as_ref(), read[0].attributes.len(), read[0].image_url.as_ref()), (None, 0, None));
    assert_eq!(read_json(&json!({ "page": 1, "variants": bare, "more": {} })), Ok(read));
    for field in ["title", "attributes", "image_url", "product_url"] {
        assert!(read_json(&with(field, Value::Null)).is_ok(), "{field}");
    }
}

#[test]
fn what_can_be_understood_is() {
    let sizes = json!([{ "name": "size", "value": 43 }, { "name": "width", "value": 4.5 }, { "name": "vegan", "value": true }]);
    let read = read_json(&with("attributes", sizes)).unwrap();
    let values: Vec<&str> = read[0].attributes.iter().map(|attribute| attribute.value.as_str()).collect();
    assert_eq!(values, ["43", "4.5", "true"]);
    for (told, in_stock) in [(-2, 0), (7, 7), (i64::MAX, u32::MAX)] {
        assert_eq!(read_json(&with("quantity_in_stock", told.into())).unwrap()[0].in_stock, in_stock);
    }
    for link in ["javascript:alert(1)", "data:text/html,x", "//shop.example.com", "shop.example.com", "", "ä"] {
        assert_eq!(read_json(&with("product_url", link.into())).unwrap()[0].product_url, None, "{link}");
        assert_eq!(read_json(&with("image_url", link.into())).unwrap()[0].image_url, None, "{link}");
    }
    assert!(read_json(&with("image_url", "HTTPS://shop.example.com/".into())).unwrap()[0].image_url.is_some());
}

#[test]
fn what_could_not_be_ordered_is_skipped_and_counted_and_the_rest_is_read() {
    for (field, value) in [
        ("sku", json!("")),
        ("sku", Value::Null),
        ("sku", json!(43)),
        ("unit_price_amount_cents", json!(-1)),
        ("unit_price_amount_cents", json!(50.5)),
        ("unit_price_amount_cents", json!("5000")),
        ("unit_price_amount_cents", json!(Cents::MAX + 1)),
        ("unit_price_amount_cents", Value::Null),
        ("quantity_in_stock", json!("many")),
        ("quantity_in_stock", Value::Null),
        ("attributes", json!({ "size": 43 })),
        ("title", json!(43)),
    ] {
        let mut answer = with(field, value.clone());
        answer.as_array_mut().unwrap().push(shoe());
        let listed = read(answer.to_string().as_bytes()).unwrap();
        assert_eq!((listed.variants, listed.skipped), (read_json(&json!([shoe()])).unwrap(), 1), "{field}: {value}");
    }
    assert_eq!(read(b"[null, [], 1]"), Ok(Listed { variants: vec![], skipped: 3 }));
}

#[test]
fn what_is_no_list_is_unreadable() {
    for garbage in ["", "null", "{}", "1", "\"variants\"", "<html>", "[nul]", r#"{"variants":null}"#, r#"{"variants":{}}"#, "[] []"] {
        assert_eq!(read(garbage.as_bytes()), Err(Unreadable), "{garbage}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(read(deep.as_bytes()), Err(Unreadable));
}

#[test]
fn there_are_at_most_a_thousand() {
    let many = |count: usize| json!(vec![shoe(); count]);
    assert_eq!(read_json(&many(MOST_VARIANTS)).map(|read| read.len()), Ok(MOST_VARIANTS));
    assert_eq!(read_json(&many(MOST_VARIANTS + 1)), Err(Unreadable));
    assert_eq!(read_json(&json!({ "variants": many(MOST_VARIANTS + 1) })), Err(Unreadable));
}

proptest! {
    #[test]
    fn anything_is_read_or_refused(answer in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&answer);
    }

    #[test]
    fn both_shapes_are_read_alike_whatever_is_broken(
        breaks in prop::collection::vec((0..7_usize, prop::sample::select(vec![json!(null), json!(-1), json!(7), json!("x"), json!([]), json!({})])), 0..4),
        count in 0..4_usize,
    ) {
        let fields = ["sku", "title", "attributes", "unit_price_amount_cents", "quantity_in_stock", "image_url", "product_url"];
        let mut variants = vec![shoe(); count];
        for ((field, value), variant) in breaks.into_iter().zip(&mut variants) {
            variant[fields[field]] = value;
        }
        let read = |answer: Value| read(answer.to_string().as_bytes());
        let listed = read(json!(variants));
        prop_assert_eq!(listed.clone().map(|listed| listed.variants.len() + listed.skipped), Ok(count));
        prop_assert_eq!(listed, read(json!({ "variants": variants })));
    }

    #[test]
    fn what_is_written_for_shoppers_is_read_again(sku in "[!-~]{1,20}", title in prop::option::of(".{0,20}"), price in 0..=Cents::MAX, in_stock: u32) {
        let variant = Variant { sku, title, unit_price: Cents::new(price).unwrap(), in_stock, ..read_json(&json!([shoe()])).unwrap().remove(0) };
        let written = ExchangeOptionsOut::new("order", "line", Ok(vec![&variant]));
        prop_assert_eq!(read(&serde_json::to_vec(&written).unwrap()), Ok(Listed { variants: vec![variant.clone()], skipped: 0 }));
    }
}
