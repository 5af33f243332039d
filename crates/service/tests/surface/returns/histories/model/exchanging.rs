//! Exchange orders in the model: one for each original order, placed or converted into refunds.

use super::super::step::{Answer, Instead, Item, Line, Start, exchange_order_name, order_name};
use super::super::view::exchanging::{Asked, AskedItem, Called, Exchange, REFUND};
use super::money::{part, share_fee};
use super::{Kept, Model};

/// The variants that the merchant has in stock.
pub const SKUS: [&str; 2] = ["SHOE-41", "SHOE-43"];
/// The price of a unit of each variant.
const PRICE: i64 = 5_000;
/// The only return reason that allows an exchange for a variant.
pub const EXCHANGE_REASON: &str = "TOO_SMALL";
pub const GIFT_CARD: &str = "GIFT-CARD";

/// An exchange order, with the state that a view does not show.
pub struct Exchanged {
    pub shown: Exchange,
    /// The return, by the order in which it was started.
    pub nth: usize,
    /// True once it was retried by hand.
    retried: bool,
    calls: Vec<Called>,
}

impl Exchanged {
    /// True if every call so far is known to have been refused with a status that means the order cannot be placed.
    fn was_refused(&self) -> bool {
        self.calls.iter().all(|call| matches!(call.status, Some(409 | 410 | 422)))
    }

    fn last_number(&self) -> i16 {
        self.calls.iter().map(|call| call.number).max().unwrap_or_default()
    }
}

impl Model {
    /// True if the shopper's choice is available for the units.
    pub(super) fn can_be_had(&self, start: &Start, item: &Item, gift: bool) -> bool {
        let once = !self.exchanges.contains_key(&start.order);
        match item.instead {
            Instead::Refund => true,
            Instead::Variant(sku) => once && item.reason == EXCHANGE_REASON && SKUS.contains(&sku),
            Instead::GiftCard => once && !gift && self.terms.bonus.is_some(),
        }
    }

    /// Sends the merchant the exchange order of a return, if it has exchanged units. `units` has the shopper's choice, the line and the
    /// number of each of the return's units.
    pub(super) fn ask(&mut self, start: &Start, nth: usize, units: &[(Instead, Line, u32)]) {
        let shown = &self.returns[nth].shown;
        let mut items: Vec<AskedItem> = Vec::new();
        let (mut worth, mut returned) = (0, Vec::new());
        for (unit, (instead, line, number)) in shown.units.iter().zip(units) {
            match instead {
                Instead::Refund => {}
                Instead::Variant(sku) => {
                    let discount = part(line.discount, line.ordered(), *number);
                    match items.iter_mut().find(|item| item.sku == *sku && item.lines[0].0 == unit.line) {
                        Some(item) => {
                            item.lines[0].1 += 1;
                            item.product = item.product.map(|product| product + PRICE);
                            item.discount = item.discount.map(|before| before + discount);
                        }
                        None => items.push(AskedItem {
                            sku: (*sku).to_owned(),
                            unit_price: PRICE,
                            product: Some(PRICE),
                            discount: Some(discount),
                            bonus: None,
                            lines: vec![(unit.line.clone(), 1)],
                        }),
                    }
                }
                Instead::GiftCard => {
                    worth += unit.got.estimated;
                    add(&mut returned, &unit.line);
                }
            }
        }
        // Units worth nothing earn no bonus.
        let bonus = self.terms.bonus.filter(|_| worth > 0).unwrap_or_default();
        let gift_card = (!returned.is_empty()).then_some((worth, bonus));
        items.extend(gift_card.map(|(unit_price, bonus)| AskedItem {
            sku: GIFT_CARD.to_owned(),
            unit_price,
            product: None,
            discount: None,
            bonus: Some(bonus),
            lines: returned,
        }));
        if items.is_empty() {
            return;
        }
        let (order, name) = (order_name(start.order), shown.name.clone());
        let (owed, state) = (Some((0, 0)), "pending".to_owned());
        let exchange = Exchange { order: order.clone(), name: name.clone(), state, identifier: None, gift_card, owed, failure: None };
        self.exchanges.insert(start.order, Exchanged { shown: exchange, nth, retried: false, calls: Vec::new() });
        self.asked.push(Asked { order, name, items });
    }

    /// The order whose exchange belongs to this return.
    pub fn exchange_of(&self, nth: usize) -> Option<usize> {
        self.exchanges.iter().find(|(_, exchange)| exchange.nth == nth).map(|(order, _)| *order)
    }

    pub(super) fn answer(&mut self, nth: usize, answer: Answer, last: bool) -> String {
        let Some(order) = self.exchange_of(nth) else { return "not owed".to_owned() };
        let final_word = self.terms.refusals_are_final && matches!(answer, Answer::Status(409 | 410 | 422));
        let exchange = self.exchanges.get_mut(&order).unwrap();
        let Some((attempts, before)) = exchange.shown.owed else { return "not owed".to_owned() };
        let number = before + attempts + 1;
        let call = Called { order: order_name(order), number, status: answer.status().map(|status| i16::try_from(status).unwrap()) };
        exchange.calls.push(call.clone());
        self.called.push(call);
        match answer {
            Answer::Unheard => "unheard".to_owned(),
            Answer::Placed(_) | Answer::Nameless => {
                exchange.shown.owed = None;
                if exchange.retried {
                    exchange.shown.failure = exchange.shown.failure.take().map(|(_, attempts)| ("resolved".to_owned(), attempts));
                }
                let named = if let Answer::Placed(number) = answer { Some(exchange_order_name(number)) } else { None };
                match (exchange.shown.state.as_str(), &exchange.shown.identifier, named) {
                    ("pending", _, named) => self.place(order, named.as_ref(), "rma.exchange_placed"),
                    ("placed", None, Some(named)) => self.place(order, Some(&named), "rma.exchange_identified"),
                    _ => {}
                }
                "delivered".to_owned()
            }
            Answer::Status(_) | Answer::Silence => {
                let is_pending = exchange.shown.state == "pending";
                if last && !is_pending {
                    exchange.shown.owed = None;
                    let ended =
                        |(state, attempts): (String, i16)| (if state == "resolved" { state } else { "discarded".to_owned() }, attempts);
                    exchange.shown.failure = exchange.shown.failure.take().map(ended);
                    return "withdrawn".to_owned();
                }
                if final_word && is_pending && exchange.was_refused() {
                    exchange.shown.owed = None;
                    exchange.shown.failure = exchange.shown.failure.take().map(|(_, attempts)| ("discarded".to_owned(), attempts));
                    self.turn_into_refunds(order);
                    return "withdrawn".to_owned();
                }
                if last {
                    (exchange.shown.owed, exchange.shown.failure) = (None, Some(("open".to_owned(), number)));
                    return "abandoned".to_owned();
                }
                exchange.shown.owed = Some((attempts + 1, before));
                "postponed".to_owned()
            }
        }
    }

    pub(super) fn convert(&mut self, nth: usize) -> &'static str {
        if nth >= self.returns.len() {
            return "no such return";
        }
        let Some(order) = self.exchange_of(nth) else { return "no exchange" };
        let settled = self.returns[nth].shown.status == "REFUNDED";
        let shown = &mut self.exchanges.get_mut(&order).unwrap().shown;
        match (shown.state.as_str(), &shown.identifier) {
            ("pending", _) => match &mut shown.failure {
                Some((state, _)) if shown.owed.is_none() => "discarded".clone_into(state),
                Some(_) | None => return "still owed",
            },
            ("placed", None) if shown.owed.is_some() => return "still owed",
            ("placed", None) if settled => return "settled",
            ("placed", None) => {}
            _ => return "ended",
        }
        self.turn_into_refunds(order);
        "converted"
    }

    pub(super) fn retry(&mut self, nth: usize) -> &'static str {
        let Some(order) = self.exchange_of(nth) else { return "no exchange" };
        let exchange = self.exchanges.get_mut(&order).unwrap();
        if exchange.shown.owed.is_some() {
            return "still owed";
        }
        if exchange.shown.state == "converted" {
            return "over";
        }
        exchange.shown.owed = Some((0, exchange.last_number()));
        exchange.retried = true;
        "retried"
    }

    /// Marks the exchange order as placed, or names it.
    fn place(&mut self, order: usize, identifier: Option<&String>, event: &'static str) {
        let exchange = self.exchanges.get_mut(&order).unwrap();
        "placed".clone_into(&mut exchange.shown.state);
        exchange.shown.identifier = identifier.cloned();
        let nth = exchange.nth;
        for unit in self.returns[nth].shown.units.iter_mut().filter(|unit| unit.got.is_exchange()) {
            unit.got.exchange_order = identifier.cloned();
        }
        self.returns[nth].placed = true;
        let event = self.returns[nth].settle().unwrap_or(event);
        self.send(nth, event);
    }

    /// Converts the exchange into refunds to the shopper. Units refunded before keep their share of the fee.
    fn turn_into_refunds(&mut self, order: usize) {
        let exchange = self.exchanges.get_mut(&order).unwrap();
        "converted".clone_into(&mut exchange.shown.state);
        let nth = exchange.nth;
        let kept = &mut self.returns[nth];
        let fee = fee(self.terms.fee, self.terms.deducted, kept);
        let (before, mut open): (Vec<_>, Vec<_>) =
            kept.shown.units.iter_mut().partition(|unit| !unit.got.is_exchange() && unit.is_covered());
        let paid: i64 = before.iter().map(|unit| unit.fee).sum();
        for unit in &mut open {
            // The refund may have been the settlement with the service, so somebody must confirm it.
            unit.in_question = unit.got.is_exchange() && unit.refund.is_some();
            REFUND.clone_into(&mut unit.got.refund_type);
        }
        share_fee(&mut open, fee - paid);
        kept.reminds_at = kept.reminds_at.max(self.now);
        let event = kept.settle().unwrap_or("rma.exchange_converted");
        self.send(nth, event);
    }
}

/// The fee deducted from the refunds of a return.
pub fn fee(fee: i64, deducted: bool, kept: &Kept) -> i64 {
    if kept.method == "mail-back" && deducted { fee } else { 0 }
}

/// The refund type of a unit with this choice.
pub fn refund_type(instead: Instead) -> &'static str {
    match instead {
        Instead::Refund => REFUND,
        Instead::Variant(_) => "EVEN_EXCHANGE",
        Instead::GiftCard => "UNEVEN_EXCHANGE",
    }
}

fn add(lines: &mut Vec<(String, u32)>, line: &str) {
    match lines.iter_mut().find(|(known, _)| known == line) {
        Some((_, units)) => *units += 1,
        None => lines.push((line.to_owned(), 1)),
    }
}
