//! The merchant's variants: its catalogue's answers to requests for exchange options.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::Method;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::answer::Answer;
use super::received::Received;

/// A variant that the merchant has in its catalogue.
#[derive(Clone, Debug)]
pub struct OnShelf {
    sku: String,
    size: String,
    colour: Option<String>,
    cents: i64,
    stock: i64,
}

impl OnShelf {
    /// A variant with three in stock.
    #[must_use]
    pub fn new(sku: &str, size: &str, cents: i64) -> Self {
        Self { sku: sku.to_owned(), size: size.to_owned(), colour: None, cents, stock: 3 }
    }

    /// Gives it a colour besides the size.
    #[must_use]
    pub fn colour(mut self, colour: &str) -> Self {
        self.colour = Some(colour.to_owned());
        self
    }

    /// Sets the number in stock.
    #[must_use]
    pub fn stock(mut self, stock: i64) -> Self {
        self.stock = stock;
        self
    }

    fn json(&self) -> Value {
        let Self { sku, size, colour, cents, stock } = self;
        let attribute = |name: &str, value: &String| json!({ "name": name, "value": value });
        let attributes: Vec<Value> =
            [Some(attribute("size", size)), colour.as_ref().map(|colour| attribute("color", colour))].into_iter().flatten().collect();
        json!({
            "sku": sku,
            "title": format!("{sku}, size {size}"),
            "attributes": attributes,
            "unit_price_amount_cents": cents,
            "quantity_in_stock": stock,
            "image_url": format!("https://shop.example.com/{sku}.png"),
            "product_url": format!("https://shop.example.com/{sku}"),
        })
    }
}

/// The merchant's variants by variant identifier.
#[derive(Default)]
pub(super) struct Shelf(Mutex<Shelved>);

#[derive(Default)]
struct Shelved {
    known: HashMap<String, Vec<OnShelf>>,
    wrapped: bool,
}

impl Shelf {
    pub(super) fn put(&self, identifier: &str, variants: impl IntoIterator<Item = OnShelf>) {
        let variants = variants.into_iter().collect();
        self.lock().known.insert(identifier.to_owned(), variants);
    }

    pub(super) fn wrap(&self, wrapped: bool) {
        self.lock().wrapped = wrapped;
    }

    /// Answers a request for variants, with 404 for unknown identifiers. `None` if the request asks for something else.
    pub(super) fn answer(&self, request: &Received) -> Option<Answer> {
        let identifier = asked_for(request)?;
        let shelved = self.lock();
        let Some(variants) = shelved.known.get(&identifier) else {
            return Some(Answer::status(404).json(&json!({ "message": "no such variant" })));
        };
        let list: Value = variants.iter().map(OnShelf::json).collect();
        Some(Answer::ok().json(&if shelved.wrapped { json!({ "variants": list }) } else { list }))
    }

    fn lock(&self) -> MutexGuard<'_, Shelved> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The variant identifier of a GET of `…/sku/<identifier>/variants`.
fn asked_for(request: &Received) -> Option<String> {
    let mut steps = request.path().rsplit('/');
    let (variants, identifier, sku) = (steps.next()?, steps.next()?, steps.next()?);
    let asked = request.method() == Method::GET && variants == "variants" && sku == "sku";
    asked.then(|| percent_decode_str(identifier).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hyper::Request;

    use super::*;

    fn request(method: Method, path: &str) -> Received {
        let (head, ()) = Request::builder().method(method).uri(path).body(()).unwrap().into_parts();
        Received::now(1, head, Bytes::new())
    }

    #[test]
    fn a_get_below_any_path_asks_for_a_variant() {
        let asked = |method, path| asked_for(&request(method, path));
        assert_eq!(asked(Method::GET, "/sku/V-1/variants").as_deref(), Some("V-1"));
        assert_eq!(asked(Method::GET, "/acme/sku/a%2Fb%20c/variants?x=1").as_deref(), Some("a/b c"));
        for (method, path) in
            [(Method::POST, "/sku/V-1/variants"), (Method::GET, "/sku/V-1"), (Method::GET, "/skus/V-1/variants"), (Method::GET, "/")]
        {
            assert_eq!(asked(method, path), None, "{path}");
        }
    }

    #[test]
    fn only_what_is_on_the_shelf_is_known() {
        let shelf = Shelf::default();
        shelf.lock().known.insert("V-1".to_owned(), vec![OnShelf::new("S", "43", 5_000)]);
        assert!(shelf.answer(&request(Method::GET, "/sku/V-1/variants")).is_some());
        assert!(shelf.answer(&request(Method::GET, "/sku/V-2/variants")).is_some(), "404 is an answer");
        assert!(shelf.answer(&request(Method::GET, "/rmas")).is_none());
    }
}
