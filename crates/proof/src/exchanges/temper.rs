//! How merchants' systems behave when they are asked for exchange orders: by the order's number, so that every run is alike.

use std::time::Duration;

use sandbox::merchant::{Answer, Mood};

/// The number of an order, from its identifier.
pub(super) fn number(original: &str) -> u64 {
    original.strip_prefix("O-").and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Fails in one way or another before it does what it is asked for, within the attempts that it gets.
pub(super) fn unreliable(shop: usize) -> impl Fn(&str, usize) -> Mood + Send + 'static {
    move |original, asked| {
        let way = (number(original) + shop as u64) % 6;
        match (way, asked) {
            (0, 1..=2) => Mood::Refusing(500),
            (1, 1) => Mood::PlacingThen(Answer::close()),
            (2, 1) => Mood::PlacingThen(Answer::reset()),
            (3, 1..=2) => Mood::Forgetful,
            (4, 1) => Mood::PlacingThen(Answer::ok().delay(Duration::from_secs(3))),
            _ => Mood::Willing,
        }
    }
}

/// Refuses orders from the number `from` on: always, or after it has placed them without saying so.
pub(super) fn refusing(shop: usize, from: u64) -> impl Fn(&str, usize) -> Mood + Send + 'static {
    let unreliable = unreliable(shop);
    move |original, asked| {
        let number = number(original);
        if number < from {
            return unreliable(original, asked);
        }
        match (number % 4, asked) {
            // A slow answer, so that the service is often killed while it waits; refused ever after.
            (0, 1) => Mood::PlacingThen(Answer::ok().delay(Duration::from_millis(1_400))),
            (1, 1) => Mood::PlacingThen(Answer::close()),
            (2, 1) => Mood::PlacingThen(Answer::ok().delay(Duration::from_secs(3))),
            _ => Mood::Refusing(409),
        }
    }
}
