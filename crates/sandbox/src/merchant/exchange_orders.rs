//! The merchant's exchange orders. It places one for each original order, however often it is asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::answer::Answer;
use super::received::Received;

/// The merchant's reaction to a request for an exchange order.
#[derive(Clone, Debug)]
pub enum Mood {
    /// Places the order and names it.
    Willing,
    /// Places nothing and answers with this status, such as 409 or 422 for out of stock.
    Refusing(u16),
    /// Places the order and answers 200 without naming it.
    Forgetful,
    /// Places the order and gives it another name in every answer.
    Fickle,
    /// Places the order and then answers with this.
    PlacingThen(Answer),
}

/// The merchant's exchange orders. Copies share them.
#[derive(Clone, Default)]
pub struct ExchangeOrders(Arc<Mutex<Book>>);

/// Chooses the mood from the original order and the number of requests for it so far, including this one.
type ChooseMood = Box<dyn Fn(&str, usize) -> Mood + Send>;

#[derive(Default)]
struct Book {
    standing: Option<ChooseMood>,
    next: VecDeque<Mood>,
    orders: BTreeMap<String, ExchangeOrder>,
}

/// An exchange order, as the merchant knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeOrder {
    /// The merchant's name for it; `None` until it is placed.
    pub identifier: Option<String>,
    /// The number of requests for it.
    pub asked: usize,
    /// The distinct request bodies; more than one is a bug in the caller.
    pub bodies: BTreeSet<String>,
}

impl ExchangeOrders {
    /// Sets the mood from now on.
    pub fn mood(&self, mood: Mood) {
        self.mood_by(move |_, _| mood.clone());
    }

    /// Chooses the mood by the original order and the number of requests for it so far, including the current one.
    pub fn mood_by(&self, choose: impl Fn(&str, usize) -> Mood + Send + 'static) {
        self.book().standing = Some(Box::new(choose));
    }

    /// Sets the moods for the next requests, one each. After them the standing mood applies again.
    pub fn next(&self, moods: impl IntoIterator<Item = Mood>) {
        self.book().next.extend(moods);
    }

    /// All orders asked for, by original order, placed or not.
    #[must_use]
    pub fn orders(&self) -> BTreeMap<String, ExchangeOrder> {
        self.book().orders.clone()
    }

    /// The number of orders placed.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.book().orders.values().filter(|order| order.identifier.is_some()).count()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn decide(&self, received: &Received) -> Answer {
        // A test message asks for no order.
        if received.header("x-service-event") == Some("endpoint.test") {
            return Answer::ok();
        }
        let body = received.json();
        let Some(original) = body.get("original_order_id").and_then(Value::as_str) else { return Answer::status(400) };
        let mut book = self.book();
        let Book { standing, next, orders } = &mut *book;
        let order = orders.entry(original.to_owned()).or_default();
        order.asked += 1;
        let standing = || standing.as_ref().map(|choose| choose(original, order.asked));
        let mood = next.pop_front().or_else(standing).unwrap_or(Mood::Willing);
        order.bodies.insert(body.to_string());
        if let Mood::Refusing(status) = mood {
            return Answer::status(status).json(&json!({ "message": "out of stock" }));
        }
        let identifier = order.identifier.get_or_insert_with(|| format!("X-{original}")).clone();
        let placed = |identifier: &str| Answer::ok().json(&answer(identifier, &body));
        match mood {
            Mood::Willing | Mood::Refusing(_) => placed(&identifier),
            Mood::Forgetful => Answer::ok(),
            Mood::Fickle => placed(&format!("{identifier}-{}", order.asked)),
            Mood::PlacingThen(answer) => answer,
        }
    }
}

/// The placed order, with 8 % tax on the replaced goods and no shipping.
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
