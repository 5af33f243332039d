//! Where the merchant places exchange orders: one for each original order, however often it is asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::{Answer, Merchant, Received};

/// What the merchant makes of a request for an exchange order.
#[derive(Clone, Debug)]
pub enum Mood {
    /// It places the order and says which.
    Willing,
    /// It places nothing, and answers with this status: 409 or 422 when something is out of stock.
    Refusing(u16),
    /// It places the order, and answers 200 without saying which.
    Forgetful,
    /// It places the order, and calls it something else every time.
    Fickle,
    /// It places the order, and then does this instead of answering.
    PlacingThen(Answer),
}

/// The merchant's book of exchange orders. Copies share it.
#[derive(Clone, Default)]
pub struct ExchangeOrders(Arc<Mutex<Book>>);

/// The mood for an original order that was asked for so often, this time included.
type Temper = Box<dyn Fn(&str, usize) -> Mood + Send>;

#[derive(Default)]
struct Book {
    standing: Option<Temper>,
    next: VecDeque<Mood>,
    orders: BTreeMap<String, ExchangeOrder>,
}

/// An exchange order, as the merchant knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeOrder {
    /// What the merchant calls it; none as long as it was not placed.
    pub identifier: Option<String>,
    /// How often it was asked for.
    pub asked: usize,
    /// Every body with which it was asked for; more than one is a fault.
    pub bodies: BTreeSet<String>,
}

impl Merchant {
    /// From now on, `path` places exchange orders.
    #[must_use]
    pub fn places_exchange_orders(&self, path: &str) -> ExchangeOrders {
        let orders = ExchangeOrders::default();
        let book = orders.clone();
        self.answer_by(path, move |received| book.decide(received));
        orders
    }
}

impl ExchangeOrders {
    /// What it makes of requests from now on.
    pub fn mood(&self, mood: Mood) {
        self.mood_by(move |_, _| mood.clone());
    }

    /// What it makes of requests from now on, by the original order and how often it was asked for, this time included.
    pub fn mood_by(&self, temper: impl Fn(&str, usize) -> Mood + Send + 'static) {
        self.book().standing = Some(Box::new(temper));
    }

    /// What it makes of the next requests, one each, before it is as it was.
    pub fn next(&self, moods: impl IntoIterator<Item = Mood>) {
        self.book().next.extend(moods);
    }

    /// Every order that it was asked for, by the original order.
    #[must_use]
    pub fn orders(&self) -> BTreeMap<String, ExchangeOrder> {
        self.book().orders.clone()
    }

    /// How many orders it has placed.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.book().orders.values().filter(|order| order.identifier.is_some()).count()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, received: &Received) -> Answer {
        let body = received.json();
        let Some(original) = body.get("original_order_id").and_then(Value::as_str) else { return Answer::status(400) };
        let mut book = self.book();
        let Book { standing, next, orders } = &mut *book;
        let order = orders.entry(original.to_owned()).or_default();
        order.asked += 1;
        let temper = || standing.as_ref().map(|temper| temper(original, order.asked));
        let mood = next.pop_front().or_else(temper).unwrap_or(Mood::Willing);
        order.bodies.insert(body.to_string());
        if let Mood::Refusing(status) = mood {
            return Answer::status(status).json(&json!({ "message": "out of stock" }));
        }
        let identifier = order.identifier.get_or_insert_with(|| format!("X-{original}")).clone();
        let told = |identifier: &str| Answer::ok().json(&answer(identifier, &body));
        match mood {
            Mood::Willing | Mood::Refusing(_) => told(&identifier),
            Mood::Forgetful => Answer::ok(),
            Mood::Fickle => told(&format!("{identifier}-{}", order.asked)),
            Mood::PlacingThen(answer) => answer,
        }
    }
}

/// The order as the merchant computes it: 8 % tax on what is replaced, no shipping.
fn answer(identifier: &str, body: &Value) -> Value {
    let of = |item: &Value, name: &str| item.get(name).and_then(Value::as_i64).unwrap_or_default();
    let items = body.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let product: i64 = items.iter().map(|item| of(item, "product_amount_cents") - of(item, "discount_amount_cents")).sum();
    let tax = product * 8 / 100;
    json!({
        "order_identifier": identifier,
        "total_amount_cents": product + tax,
        "product_amount_cents": product,
        "tax_amount_cents": tax,
    })
}
