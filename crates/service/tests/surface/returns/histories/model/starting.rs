//! Starting a return.

use chrono::TimeDelta;

use super::super::step::{Item, Snapshot, Start, line_name};
use super::super::view::exchanging::Got;
use super::super::view::{Place, Unit};
use super::exchanging::{fee, refund_type};
use super::money::{estimated, share_fee, with_order_discount};
use super::{Kept, Model, Used};

pub const REASONS: [&str; 3] = ["TOO_SMALL", "DAMAGED", "NOT_GIVEN"];
/// Tags that rule out a return.
pub const FINAL: [&str; 2] = ["Final-Sale", "GIFT_CARD"];

impl Model {
    /// The number of returnable units of a line.
    pub fn free(&self, order: usize, line: usize) -> u32 {
        let Some((snapshot, _)) = self.orders.get(&order) else { return 0 };
        let Some(sold) = snapshot.lines.get(line) else { return 0 };
        let barred = sold.tag.iter().chain(&snapshot.tags).any(|tag| FINAL.contains(tag));
        let over = self.now > crate::world::beginning() + TimeDelta::hours(sold.shipped_at) + TimeDelta::days(30);
        if snapshot.cancelled || barred || over {
            return 0;
        }
        let refunded = self.settled(order, line) + self.outside(order, line).saturating_sub(sold.cancelled);
        sold.shipped.saturating_sub(refunded).saturating_sub(self.live(order, line))
    }

    pub(super) fn start(&mut self, start: &Start, name: Option<&str>) -> String {
        let request = start.request();
        if let Some(used) = start.key.and_then(|key| self.keys.get(&key)).filter(|used| self.now < used.at + TimeDelta::hours(48)) {
            let same = used.request == request;
            return if same { format!("repeated {}", self.returns[used.started].shown.name) } else { "key used".to_owned() };
        }
        let Some((snapshot, _)) = self.orders.get(&start.order) else { return "no such order".to_owned() };
        if !self.is_possible(snapshot, start) {
            return "faulty".to_owned();
        }
        let name = name.unwrap_or("not started");
        let (mut kept, mut wanted) = (Kept::new(start, name, self.now), Vec::new());
        for Item { line, quantity, instead, .. } in &start.items {
            let sold = &with_order_discount(snapshot, *line);
            for _ in 0..*quantity {
                let number =
                    (1..=sold.shipped).find(|number| !self.is_claimed(start.order, *line, *number) && !has(&kept, *line, *number)).unwrap();
                let receiving = (self.terms.managed_receiving && start.method != "customer-keep").then(|| "PENDING".to_owned());
                kept.shown.units.push(Unit {
                    line: line_name(*line),
                    number,
                    place: Place { receiving, ..Place::default() },
                    refund: None,
                    in_question: false,
                    got: Got { refund_type: refund_type(*instead).to_owned(), estimated: estimated(sold, number), ..Got::default() },
                    fee: 0,
                });
                wanted.push((*instead, sold.clone(), number));
            }
        }
        let fee = fee(self.terms.fee, self.terms.deducted, &kept);
        share_fee(&mut kept.shown.units.iter_mut().collect::<Vec<_>>(), fee);
        let nth = self.returns.len();
        self.returns.push(kept);
        self.ask(start, nth, &wanted);
        if let Some(key) = start.key {
            self.keys.insert(key, Used { at: self.now, request, started: nth });
        }
        self.send(nth, "rma.created");
        format!("started {name}")
    }

    fn is_possible(&self, snapshot: &Snapshot, start: &Start) -> bool {
        let wanted = |line: usize| start.items.iter().filter(|item| item.line == line).map(|item| item.quantity).sum::<u32>();
        let gift = snapshot.tags.contains(&"gift");
        let each = start.items.iter().all(|item| {
            let free = item.line < snapshot.lines.len() && item.quantity > 0 && wanted(item.line) <= self.free(start.order, item.line);
            free && REASONS.contains(&item.reason) && self.can_be_had(start, item, gift)
        });
        let pounds = |item: &Item| snapshot.lines.get(item.line)?.weight.map(|weight| weight * item.quantity);
        let weight: Option<u32> = start.items.iter().map(pounds).sum();
        let fits = start.method != "express-returns" || weight.is_some_and(|weight| weight <= 20);
        each && fits && start.giftee == gift
    }

    fn is_claimed(&self, order: usize, line: usize, number: u32) -> bool {
        self.returns.iter().any(|kept| kept.order == order && kept.shown.status != "CANCELED" && has(kept, line, number))
    }
}

fn has(kept: &Kept, line: usize, number: u32) -> bool {
    kept.shown.units.iter().any(|unit| unit.line == line_name(line) && unit.number == number)
}
