//! Generates random histories whose steps mostly make sense.

mod exchanging;

use rand::rngs::StdRng;
use rand::seq::{IndexedMutRandom as _, IndexedRandom as _};
use rand::{RngExt as _, SeedableRng as _};

use super::model::kept::Kept;
use super::model::starting::FINAL;
use super::model::{Model, Terms};
use super::step::{Arrival, Item, Line, Refund, Report, Snapshot, Start, Step, line_name};

/// The number of steps in a history.
const STEPS: usize = 38;
/// The longest total wait of a history in hours: enough for a return to expire, and for another one started after that.
pub const MOST_HOURS: i64 = 64 * 24;
const METHODS: [&str; 5] = ["mail-back", "mail-back", "mail-back", "express-returns", "customer-keep"];
const CARRIER: [&str; 7] = ["label_issued", "dropped_off", "collected", "in_transit", "delivered", "returned_to_sender", "failed"];

/// Generates one history.
pub struct Generator {
    rng: StdRng,
    made: usize,
    orders: usize,
    refunds: u32,
    waited: i64,
    /// Requests sent before, kept so that they can be sent again.
    snapshots: Vec<Snapshot>,
    starts: Vec<Start>,
    reports: Vec<Report>,
    /// The number of license plates used so far.
    plates: u32,
}

impl Generator {
    pub fn new(seed: u64) -> (Self, Terms) {
        let mut rng = StdRng::seed_from_u64(seed);
        let terms = Terms {
            managed_receiving: rng.random_bool(0.65),
            fee: *[0, 500, 777, 1_000_000].choose(&mut rng).unwrap(),
            deducted: rng.random_bool(0.5),
            bonus: *[None, Some(0), Some(500)].choose(&mut rng).unwrap(),
            refusals_are_final: rng.random_bool(0.5),
            any_refund_closes: rng.random_bool(0.3),
        };
        let orders = rng.random_range(2..=3);
        (
            Self { rng, made: 0, orders, refunds: 0, waited: 0, snapshots: Vec::new(), starts: Vec::new(), reports: Vec::new(), plates: 0 },
            terms,
        )
    }

    /// The next step for a merchant in this state, until the history ends.
    pub fn next(&mut self, model: &Model) -> Option<Step> {
        self.made += 1;
        if self.made > STEPS {
            return None;
        }
        if self.made <= self.orders {
            let snapshot = self.new_order(self.made - 1);
            return Some(self.publish(snapshot));
        }
        let nth = self.pick_return(model);
        // Without a return there is little to do but start one.
        let most = if model.returns.is_empty() { 55 } else { 120 };
        Some(match self.rng.random_range(0..most) {
            0..27 => {
                let snapshot = self.changed(model);
                self.publish(snapshot)
            }
            27..32 => {
                let again = self.snapshots.choose(&mut self.rng).unwrap().clone();
                self.publish(again)
            }
            32..55 => self.start(model),
            55..80 => self.carry(model, nth),
            80..92 if !model.terms.managed_receiving && self.rng.random_bool(0.8) => self.exchange(model, nth),
            80..86 => self.receive(model, nth),
            86..92 => Step::Close(nth),
            92..95 => Step::Cancel(nth),
            95..97 => Step::Resend(nth),
            97..102 => self.wait(),
            _ => self.exchange(model, nth),
        })
    }

    /// Units of a return arrive: mostly such as it has, under new license plates and sometimes under one that was used before.
    fn receive(&mut self, model: &Model, nth: usize) -> Step {
        let lines: Vec<String> =
            model.returns.get(nth).map_or(Vec::new(), |kept| kept.shown.units.iter().map(|unit| unit.line.clone()).collect());
        let mut units = Vec::new();
        for at in 0..self.rng.random_range(1..=lines.len().max(2)) {
            let line =
                lines.get(at).filter(|_| self.rng.random_bool(0.9)).cloned().unwrap_or_else(|| line_name(self.rng.random_range(0..4)));
            let plate = if self.plates > 0 && self.rng.random_bool(0.1) { self.rng.random_range(1..=self.plates) } else { self.plates + 1 };
            self.plates = self.plates.max(plate);
            if units.iter().all(|(used, _)| *used != plate) {
                units.push((plate, line));
            }
        }
        let number = self.rng.random_bool(0.3).then(|| if self.rng.random_bool(0.8) { nth } else { self.rng.random_range(0..nth + 2) });
        Step::Receive(Arrival { of: nth, number, units })
    }

    fn wait(&mut self) -> Step {
        let hours = *[1, 47, 49, 49, 7 * 24, 21 * 24, 22 * 24, 31 * 24].choose(&mut self.rng).unwrap();
        let hours = if self.waited + hours > MOST_HOURS { 0 } else { hours };
        self.waited += hours;
        Step::Wait(hours)
    }

    /// A return, sometimes one that does not exist.
    fn pick_return(&mut self, model: &Model) -> usize {
        let count = model.returns.len();
        let live: Vec<usize> = (0..count).filter(|nth| model.returns[*nth].shown.is_live()).collect();
        match self.rng.random_range(0..100) {
            0..3 => count,
            3..70 if !live.is_empty() => *live.choose(&mut self.rng).unwrap(),
            _ => self.rng.random_range(0..count.max(1)),
        }
    }

    /// An order, preferably one with a return under way, and more so if only its exchanged units are left.
    fn pick_order(&mut self, model: &Model) -> usize {
        let of =
            |wanted: fn(&Kept) -> bool| model.returns.iter().filter(move |kept| wanted(kept)).map(|kept| kept.order).collect::<Vec<_>>();
        let (settled, live) = (of(Kept::has_exchanges_left), of(|kept| kept.shown.is_live()));
        match self.rng.random_range(0..10) {
            0..6 if !settled.is_empty() => *settled.choose(&mut self.rng).unwrap(),
            0..6 if !live.is_empty() => *live.choose(&mut self.rng).unwrap(),
            _ => self.rng.random_range(0..self.orders),
        }
    }

    fn publish(&mut self, snapshot: Snapshot) -> Step {
        self.snapshots.push(snapshot.clone());
        Step::Publish(snapshot)
    }

    fn new_order(&mut self, order: usize) -> Snapshot {
        let mut tags = vec!["online"];
        if self.rng.random_bool(0.2) {
            tags.push("gift");
        }
        if self.rng.random_bool(0.03) {
            tags.push(FINAL[0]);
        }
        let lines = (0..self.rng.random_range(1..=3)).map(|_| self.line()).collect();
        let discount = if self.rng.random_bool(0.4) { self.rng.random_range(1..5_000) } else { 0 };
        Snapshot { order, minute: 0, word: 0, cancelled: false, tags, discount, lines, refunds: Vec::new() }
    }

    fn line(&mut self) -> Line {
        let quantity = self.rng.random_range(1..=4_u32);
        let shipped = if self.rng.random_bool(0.85) { quantity } else { self.rng.random_range(0..=quantity) };
        let product = self.rng.random_range(0..20_000);
        Line {
            quantity,
            shipped,
            cancelled: if self.rng.random_bool(0.5) { quantity - shipped } else { 0 },
            product,
            discount: if self.rng.random_bool(0.3) { self.rng.random_range(0..=product) } else { 0 },
            tax: self.rng.random_range(0..2_000),
            weight: self.rng.random_bool(0.8).then(|| self.rng.random_range(1..9)),
            tag: if self.rng.random_bool(0.05) { Some(FINAL[1]) } else { None },
            shipped_at: -self.rng.random_range(0..15 * 24),
        }
    }

    /// A changed version of an order, usually newer.
    fn changed(&mut self, model: &Model) -> Snapshot {
        let order = self.pick_order(model);
        let Some((stored, _)) = model.orders.get(&order) else { return self.new_order(order) };
        let mut snapshot = stored.clone();
        snapshot.word = u32::try_from(self.made).unwrap();
        snapshot.minute += [1, 1, 1, 1, 0, -1][self.rng.random_range(0..6)];
        let lines = snapshot.lines.len();
        if snapshot.cancelled && self.rng.random_bool(0.7) {
            snapshot.cancelled = false;
            return snapshot;
        }
        let sold = &mut snapshot.lines[self.rng.random_range(0..lines)];
        match self.rng.random_range(0..34) {
            0 => snapshot.cancelled = !snapshot.cancelled,
            1 => {
                sold.quantity = sold.quantity.saturating_sub(1).max(1);
                (sold.shipped, sold.cancelled) = (sold.shipped.min(sold.quantity), 0);
            }
            2 => sold.shipped = sold.shipped.saturating_sub(1),
            3 => (sold.shipped, sold.cancelled) = (sold.quantity, 0),
            4 => sold.cancelled = (sold.cancelled + 1).min(sold.quantity),
            5 if lines > 1 => snapshot.lines.truncate(lines - 1),
            6 => snapshot.refunds.clear(),
            7..10 => {
                let yesterday = (model.now - crate::world::beginning()).num_hours() - 24;
                snapshot.lines.iter_mut().for_each(|line| line.shipped_at = yesterday);
            }
            10..14 => {
                // The refund names its return late, or names a different one.
                let nth = self.pick_return(model);
                if let Some(refund) = snapshot.refunds.last_mut() {
                    refund.named = Some(nth);
                }
            }
            14 => {
                if let Some(refund) = snapshot.refunds.last_mut() {
                    refund.total += 1;
                }
            }
            15 => {}
            16..19 => self.correct(&mut snapshot),
            _ => {
                let refund = self.refund(model, &snapshot);
                snapshot.refunds.push(refund);
            }
        }
        snapshot
    }

    /// Adds units to a refund that was sent before, or takes some away.
    fn correct(&mut self, snapshot: &mut Snapshot) {
        let lines = snapshot.lines.len();
        let Some(refund) = snapshot.refunds.choose_mut(&mut self.rng) else { return };
        match self.rng.random_range(0..4) {
            0 => {
                let line = self.rng.random_range(0..lines);
                match refund.lines.iter_mut().find(|(of, _)| *of == line) {
                    Some((_, units)) => *units += 1,
                    None => refund.lines.push((line, 1)),
                }
            }
            1 => refund.lines.iter_mut().for_each(|(_, units)| *units += 1),
            2 => refund.lines.iter_mut().for_each(|(_, units)| *units = units.saturating_sub(1).max(1)),
            _ => refund.lines.truncate(1),
        }
    }

    /// A refund for the open units of a return, or for any units.
    fn refund(&mut self, model: &Model, snapshot: &Snapshot) -> Refund {
        self.refunds += 1;
        let of_order: Vec<usize> = (0..model.returns.len()).filter(|nth| model.returns[*nth].order == snapshot.order).collect();
        let open = |nth: &&usize| (0..snapshot.lines.len()).any(|line| model.returns[**nth].open(line) > 0);
        let with_open: Vec<usize> = of_order.iter().filter(open).copied().collect();
        let settled: Vec<usize> = with_open.iter().filter(|nth| model.returns[**nth].has_exchanges_left()).copied().collect();
        let of_order = match self.rng.random_range(0..10) {
            0..4 if !settled.is_empty() => settled,
            0..8 => with_open.clone(),
            _ => of_order,
        };
        let of = of_order.choose(&mut self.rng).copied();
        // The units whose exchange order is owed, or whose refund is in question.
        let pending = |nth: &usize| {
            let shown = &model.returns[*nth].shown;
            shown.is_in_question() || model.exchange_of(*nth).is_some_and(|order| model.exchanges[&order].shown.state == "pending")
        };
        let unsettled = with_open.iter().copied().find(pending).filter(|_| self.rng.random_bool(0.5));
        let of = unsettled.or(of);
        let closed = of.is_some_and(|nth| model.returns[nth].shown.closed);
        let all = self.rng.random_bool(if closed { 0.2 } else { 0.5 });
        let mut lines = Vec::new();
        for line in 0..snapshot.lines.len() {
            let open = of.map_or(0, |nth| model.returns[nth].open(line));
            let most = if open > 0 && self.rng.random_bool(0.8) { open } else { u32::from(self.rng.random_bool(0.3)) * 2 };
            let units = if all { most } else { self.rng.random_range(0..=most) };
            if units > 0 {
                lines.push((line, units));
            }
        }
        if self.rng.random_bool(0.03) {
            lines.push((snapshot.lines.len(), 1));
        }
        if of.is_some() && self.rng.random_bool(0.1) {
            return Refund { number: self.refunds, total: self.rng.random_range(0..5_000), lines: Vec::new(), named: of };
        }
        let named = match self.rng.random_range(0..10) {
            0..5 => of,
            5..9 => None,
            _ => Some(self.pick_return(model)),
        };
        Refund { number: self.refunds, total: self.rng.random_range(0..5_000), lines, named }
    }

    fn start(&mut self, model: &Model) -> Step {
        if !self.starts.is_empty() && self.rng.random_bool(0.15) {
            let mut again = self.starts.choose(&mut self.rng).unwrap().clone();
            if self.rng.random_bool(0.4) {
                again.giftee = !again.giftee;
            }
            return Step::Start(again);
        }
        let has_free = |order: &usize| (0..3).any(|line| model.free(*order, line) > 0);
        let with_free: Vec<usize> = (0..self.orders).filter(has_free).collect();
        let order = match self.rng.random_range(0..100) {
            0..2 => self.orders,
            2..90 if !with_free.is_empty() => *with_free.choose(&mut self.rng).unwrap(),
            _ => self.rng.random_range(0..self.orders),
        };
        let gift = model.orders.get(&order).is_some_and(|(snapshot, _)| snapshot.tags.contains(&"gift"));
        let lines = model.orders.get(&order).map_or(1, |(snapshot, _)| snapshot.lines.len());
        let free: Vec<usize> = (0..lines).filter(|line| model.free(order, *line) > 0).collect();
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..if self.rng.random_bool(0.35) { 2 } else { 1 } {
            let line = free.choose(&mut self.rng).copied().unwrap_or_else(|| self.rng.random_range(0..=lines));
            let taken = items.iter().filter(|item| item.line == line).map(|item| item.quantity).sum();
            let most = model.free(order, line).saturating_sub(taken).max(1) + u32::from(self.rng.random_bool(0.1));
            let instead = self.instead(model, order);
            let reason = if self.rng.random_bool(0.02) { "BORED" } else { self.reason(instead) };
            items.push(Item { line, quantity: self.rng.random_range(1..=most), reason, instead });
        }
        let start = Start {
            order,
            method: METHODS.choose(&mut self.rng).unwrap(),
            items,
            giftee: gift != self.rng.random_bool(0.03),
            key: self.rng.random_bool(0.4).then(|| u32::try_from(self.made).unwrap()),
        };
        self.starts.push(start.clone());
        Step::Start(start)
    }

    fn carry(&mut self, model: &Model, nth: usize) -> Step {
        if !self.reports.is_empty() && self.rng.random_bool(0.15) {
            return Step::Carry(self.reports.choose(&mut self.rng).unwrap().clone());
        }
        let waits = model.returns.get(nth).is_some_and(|kept| kept.shown.units[0].place.tracking.is_none());
        let event = if waits && self.rng.random_bool(0.5) { "label_issued" } else { CARRIER.choose(&mut self.rng).unwrap() };
        let parts = event == "dropped_off" || event == "collected" || self.rng.random_bool(0.01);
        let items = (parts && self.rng.random_bool(0.6)).then(|| {
            let lines = 0..self.rng.random_range(1..=2);
            lines.map(|line| (line, self.rng.random_range(1..=2))).collect()
        });
        let number = Some(if self.rng.random_bool(0.2) { self.rng.random_range(0..nth + 2) } else { nth });
        let (of, number) = match (event, self.rng.random_range(0..10)) {
            ("label_issued", 0..9) | (_, 0..3) => (Some(nth), number),
            (_, 3..6) => (Some(nth), None),
            _ => (None, number),
        };
        // Later than every report before it, or earlier.
        let step = i64::try_from(self.made).unwrap();
        let at = if self.rng.random_bool(0.7) { step } else { -step };
        let report = Report { event, of, number, at, items };
        self.reports.push(report.clone());
        Step::Carry(report)
    }
}
