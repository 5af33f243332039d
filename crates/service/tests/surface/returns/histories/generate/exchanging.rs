//! Random exchanges, and what happens to their exchange orders.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use super::super::model::Model;
use super::super::model::exchanging::{EXCHANGE_REASON, SKUS};
use super::super::model::starting::REASONS;
use super::super::step::{Answer, Instead, Step};
use super::super::view::exchanging::Exchange;
use super::Generator;

/// Answers that do not name the order, with refusals more frequent.
const FAILURES: [Answer; 10] = [
    Answer::Status(409),
    Answer::Status(422),
    Answer::Status(410),
    Answer::Status(404),
    Answer::Status(409),
    Answer::Status(500),
    Answer::Silence,
    Answer::Nameless,
    Answer::Nameless,
    Answer::Unheard,
];

impl Generator {
    /// The shopper's choice for units of an order; rarely an exchange if the order has had one.
    pub(super) fn instead(&mut self, model: &Model, order: usize) -> Instead {
        let exchanged = model.exchanges.contains_key(&order);
        if !self.rng.random_bool(if exchanged { 0.05 } else { 0.5 }) {
            return Instead::Refund;
        }
        let gift = model.orders.get(&order).is_some_and(|(snapshot, _)| snapshot.tags.contains(&"gift"));
        let has_cards = model.terms.bonus.is_some() && !gift;
        match self.rng.random_range(0..100) {
            0..2 => Instead::Variant("SHOE-99"),
            2..40 if has_cards => Instead::GiftCard,
            2..5 => Instead::GiftCard,
            _ => Instead::Variant(SKUS[self.rng.random_range(0..SKUS.len())]),
        }
    }

    /// A reason, usually one that allows the choice.
    pub(super) fn reason(&mut self, instead: Instead) -> &'static str {
        match instead {
            Instead::Variant(_) if self.rng.random_bool(0.93) => EXCHANGE_REASON,
            Instead::Refund | Instead::Variant(_) | Instead::GiftCard => REASONS[self.rng.random_range(0..REASONS.len())],
        }
    }

    /// A step about the exchange of a return, usually one that is still pending or has no name.
    pub(super) fn exchange(&mut self, model: &Model, nth: usize) -> Step {
        let of = |wanted: fn(&Exchange) -> bool| {
            let matching = model.exchanges.values().filter(move |exchange| wanted(&exchange.shown));
            matching.map(|exchange| exchange.nth).collect::<Vec<_>>()
        };
        let open = |exchange: &Exchange| exchange.state != "converted" && exchange.identifier.is_none();
        let (open, all) = (of(open), of(|_| true));
        if all.is_empty() && self.rng.random_bool(0.8) {
            return self.start(model);
        }
        let nth = match self.rng.random_range(0..100) {
            0..80 if !open.is_empty() => *open.choose(&mut self.rng).unwrap(),
            0..92 if !all.is_empty() => *all.choose(&mut self.rng).unwrap(),
            _ => nth,
        };
        // A refund that came beside a pending exchange is rarely followed by a conversion otherwise.
        let beside = open
            .iter()
            .copied()
            .find(|nth| model.returns[*nth].shown.units.iter().any(|unit| unit.got.is_exchange() && unit.refund.is_some()));
        if let Some(nth) = beside.filter(|_| self.rng.random_bool(0.7)) {
            let owed = model.exchange_of(nth).is_some_and(|order| model.exchanges[&order].shown.owed.is_some());
            return if owed { Step::Answer(nth, Answer::Status(500), true) } else { Step::Convert(nth) };
        }
        let in_question = (0..model.returns.len()).find(|nth| model.returns[*nth].shown.is_in_question());
        if in_question.is_some() && self.rng.random_bool(0.2) {
            return Step::Confirm(in_question.unwrap_or(nth));
        }
        let shown = model.exchange_of(nth).map(|order| &model.exchanges[&order].shown);
        let owed = shown.is_some_and(|exchange| exchange.owed.is_some());
        // Without this, an order would rarely be named later.
        let nameless = shown.is_some_and(|exchange| exchange.state == "placed" && exchange.identifier.is_none());
        match self.rng.random_range(0..100) {
            0..80 if owed => self.answer(nth, nameless),
            0..10 => self.answer(nth, nameless),
            10..40 => Step::Retry(nth),
            40..50 => Step::Confirm(in_question.unwrap_or(nth)),
            50..75 if nameless => Step::Retry(nth),
            _ => Step::Convert(nth),
        }
    }

    fn answer(&mut self, nth: usize, nameless: bool) -> Step {
        let answer = match self.rng.random_range(0..100) {
            0..35 => Answer::Placed(u32::try_from(self.made).unwrap()),
            35..75 if nameless => Answer::Placed(u32::try_from(self.made).unwrap()),
            _ => *FAILURES.choose(&mut self.rng).unwrap(),
        };
        Step::Answer(nth, answer, self.rng.random_bool(0.4))
    }
}
