//! The behaviour of merchants' systems when asked for exchange orders. It depends on the order's number, so every run is alike.

use std::time::Duration;

use sandbox::merchant::{Answer, Mood};

use super::confirm::SHOPS;

/// Reads an order's number from its identifier.
pub(super) fn number(original: &str) -> u64 {
    original.strip_prefix("O-").and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Fails in various ways before it places the order, within the number of attempts it gets, and sometimes does not name it.
pub(super) fn unreliable(shop: usize) -> impl Fn(&str, usize) -> Mood + Send + 'static {
    move |original, asked| {
        // Orders go to the shops in turn, so the number alone would leave out some of the ways.
        let way = (number(original) / SHOPS as u64 + shop as u64) % 6;
        match (way, asked) {
            (0, 1..=2) => Mood::Refusing(500),
            (1, 1) => Mood::PlacingThen(Answer::close()),
            (2, 1) => Mood::PlacingThen(Answer::reset()),
            (3, _) => Mood::Forgetful,
            (4, 1) => Mood::PlacingThen(Answer::ok().delay(Duration::from_secs(3))),
            (5, _) => Mood::PlacingThen(Answer::status(204)),
            _ => Mood::Willing,
        }
    }
}

/// The shop whose refusals mean that an order cannot be placed. It never places the orders that it refuses.
pub(super) const DECLARING: usize = 3;

/// True if the refusals of the order mean that it cannot be placed: half of those of the shop that declares so.
pub(super) fn is_declared(shop: usize, original: &str) -> bool {
    shop == DECLARING && (number(original) / 4).is_multiple_of(2)
}

/// Refuses orders from the number `from` on: always, or after placing them without an answer.
pub(super) fn refusing(shop: usize, from: u64) -> impl Fn(&str, usize) -> Mood + Send + 'static {
    let unreliable = unreliable(shop);
    move |original, asked| {
        let number = number(original);
        if number < from {
            return unreliable(original, asked);
        }
        match (number % 4, asked) {
            // A slow answer, so that the service is often killed while it waits. All later requests are refused.
            (0, 1) => Mood::PlacingThen(Answer::status(500).delay(Duration::from_millis(1_400))),
            (1, 1) => Mood::PlacingThen(Answer::close()),
            (2, 1) => Mood::PlacingThen(Answer::ok().delay(Duration::from_secs(3))),
            (3, _) if !is_declared(shop, original) => Mood::Refusing(404),
            _ => Mood::Refusing(409),
        }
    }
}
