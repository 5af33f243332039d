//! The effect of an order message: the newest snapshot wins, each refund has its effect once, and corrections are taken over.

use std::collections::BTreeMap;

use super::super::step::{Refund, Snapshot, line_name, refund_name, return_name};
use super::super::view::Unit;
use super::{Model, Recorded};

/// A stated refund that changes the record.
struct Entry<'s> {
    /// Position within the order.
    at: usize,
    stated: &'s Refund,
    /// True if the refund is new, or names its return only now.
    first: bool,
    named_late: bool,
    /// The units that are not in the record yet.
    added: BTreeMap<usize, u32>,
}

impl Model {
    pub(super) fn publish(&mut self, snapshot: &Snapshot) -> String {
        if snapshot.lines.iter().any(|line| line.shipped + line.cancelled > line.quantity) {
            return "refused".to_owned();
        }
        let names = self.names();
        let text = snapshot.message(&names);
        let verdict = match self.orders.get(&snapshot.order) {
            None => "created",
            Some((_, same)) if *same == text => "unchanged",
            Some((stored, _)) if snapshot.minute < stored.minute => "stale",
            Some(_) => "updated",
        };
        if ["created", "updated"].contains(&verdict) {
            self.orders.insert(snapshot.order, (snapshot.clone(), text));
        }
        let mut warnings = unclear(snapshot);
        let entries = self.record(snapshot, &names, verdict == "stale", &mut warnings);
        for entry in &entries {
            self.settle(snapshot.order, entry, &mut warnings);
        }
        for entry in &entries {
            self.count_beyond(snapshot, entry, &mut warnings);
        }
        if verdict == "updated" {
            warnings.extend(self.doubts(snapshot));
        }
        warnings.sort();
        format!("{verdict} {warnings:?}")
    }

    /// Takes the refunds over into the record, and returns those that change it: those that name a return first, then the oldest.
    fn record<'s>(&mut self, snapshot: &'s Snapshot, returns: &[String], stale: bool, warnings: &mut Vec<String>) -> Vec<Entry<'s>> {
        let mut entries = Vec::new();
        for (at, stated) in snapshot.refunds.iter().enumerate() {
            let named = stated.named.map(|nth| return_name(nth, returns).to_owned());
            let record = self.refunds.entry((snapshot.order, stated.number));
            let is_new = matches!(record, std::collections::btree_map::Entry::Vacant(_));
            if stale && !is_new {
                continue;
            }
            let record = record.or_insert_with(|| Recorded { total: stated.total, named: named.clone(), ..Recorded::default() });
            let named_late = record.named.is_none() && named.is_some();
            if record.total != stated.total {
                warnings.push(format!("refunds[{at}].total_refund_amount_cents"));
                record.total = stated.total;
            }
            match (&record.named, named) {
                (None, named) => record.named = named,
                (Some(known), Some(named)) if *known != named => warnings.push(named_wrong(at)),
                (Some(_), _) => {}
            }
            let said = |line: usize| stated.lines.iter().find(|(of, _)| *of == line).map_or(0, |(_, units)| *units);
            if record.lines.iter().any(|(line, units)| said(*line) < *units) {
                warnings.push(format!("refunds[{at}].refund_line_items"));
            }
            let mut added = BTreeMap::new();
            for (line_at, (line, units)) in stated.lines.iter().enumerate() {
                let counted = record.lines.entry(*line).or_default();
                if *units > *counted {
                    added.insert(*line, *units - *counted);
                    *counted = *units;
                    if !is_new {
                        warnings.push(format!("refunds[{at}].refund_line_items[{line_at}].quantity"));
                    }
                }
            }
            entries.push(Entry { at, stated, first: is_new || named_late, named_late, added });
        }
        entries.sort_by_key(|entry| {
            let named = self.refunds[&(snapshot.order, entry.stated.number)].named.is_some();
            (!named, entry.stated.date(), refund_name(entry.stated.number))
        });
        entries
    }

    /// Finds the units that an entry is for, in the return that it names, or else among cancelled units and all returns.
    fn settle(&mut self, order: usize, entry: &Entry<'_>, warnings: &mut Vec<String>) {
        let (at, key, refund) = (entry.at, (order, entry.stated.number), refund_name(entry.stated.number));
        let named = self.refunds[&key].named.clone();
        let of_order = |nth: &usize| self.returns[*nth].order == order && self.returns[*nth].shown.status != "CANCELED";
        let mut returns: Vec<usize> = (0..self.returns.len()).filter(of_order).collect();
        let named_nth = returns.iter().copied().find(|nth| Some(&self.returns[*nth].shown.name) == named.as_ref());
        let Some(nth) = named_nth else {
            if named.is_some() && entry.first {
                warnings.push(named_wrong(at));
            }
            let mut left = entry.added.clone();
            for (line, units) in &mut left {
                let free = self.cancelled(order, *line).saturating_sub(self.outside(order, *line));
                let of_cancelled = free.min(*units);
                *self.refunds.get_mut(&key).unwrap().outside.entry(*line).or_default() += of_cancelled;
                *units -= of_cancelled;
            }
            returns.sort_by_key(|nth| !self.returns[*nth].shown.is_live());
            if let Some(first) = returns.iter().position(|nth| left.iter().all(|(line, units)| self.returns[*nth].open(*line) >= *units)) {
                let first = returns.remove(first);
                returns.insert(0, first);
            }
            for nth in returns {
                self.settle_in(nth, &refund, &mut left, false);
            }
            for (line, units) in left {
                *self.refunds.get_mut(&key).unwrap().outside.entry(line).or_default() += units;
            }
            return;
        };
        if entry.first && self.refunds[&key].lines.is_empty() {
            warnings.push(format!("refunds[{at}].refund_line_items"));
            self.settle_by_amount(nth, &refund);
            return;
        }
        let mut covered = entry.added.clone();
        if entry.named_late {
            for (line, units) in std::mem::take(&mut self.refunds.get_mut(&key).unwrap().outside) {
                *covered.entry(line).or_default() += units;
            }
        }
        covered.retain(|_, units| *units > 0);
        let (mut inside, mut foreign, mut again) = (BTreeMap::new(), false, false);
        for (line, units) in &covered {
            let in_return = self.returns[nth].shown.units.iter().filter(|unit| unit.line == line_name(*line)).count();
            let within = (*units).min(u32::try_from(in_return).unwrap());
            again |= within > self.returns[nth].open(*line);
            if within < *units {
                foreign = true;
                *self.refunds.get_mut(&key).unwrap().outside.entry(*line).or_default() += *units - within;
            }
            inside.insert(*line, within);
        }
        for _ in [foreign, again].iter().filter(|found| **found) {
            warnings.push(format!("refunds[{at}].refund_line_items"));
        }
        if covered.is_empty() {
            return;
        }
        self.settle_in(nth, &refund, &mut inside, true);
    }

    /// A refund by amount settles every unit that is to be refunded; if there is none, the exchanged ones.
    fn settle_by_amount(&mut self, nth: usize, refund: &str) {
        let open = |unit: &&mut Unit| !unit.is_covered();
        let units = &mut self.returns[nth].shown.units;
        let to_refund = units.iter().any(|unit| !unit.is_covered() && !unit.got.is_exchange());
        let settled: Vec<&mut Unit> = units.iter_mut().filter(open).filter(|unit| !to_refund || !unit.got.is_exchange()).collect();
        let some = !settled.is_empty();
        for unit in settled {
            unit.cover(refund);
        }
        if some {
            self.told_of_refund(nth);
        }
    }

    /// Settles units of a return that a refund is for; it may be `named` by the refund.
    fn settle_in(&mut self, nth: usize, refund: &str, left: &mut BTreeMap<usize, u32>, named: bool) {
        let any = self.terms.any_refund_closes;
        let kept = &mut self.returns[nth];
        let mut settled = false;
        // The shopper's refund comes before the merchant settling an exchange.
        for exchanged in [false, true] {
            for unit in kept.shown.units.iter_mut().filter(|unit| !unit.is_covered() && unit.got.is_exchange() == exchanged) {
                let Some((_, units)) = left.iter_mut().find(|(line, units)| line_name(**line) == unit.line && **units > 0) else {
                    continue;
                };
                *units -= 1;
                unit.cover(refund);
                settled = true;
            }
        }
        if any && (settled || named) {
            for unit in kept.shown.units.iter_mut().filter(|unit| !unit.is_covered() && !unit.got.is_exchange()) {
                unit.cover(refund);
                settled = true;
            }
        }
        if settled {
            self.told_of_refund(nth);
        }
    }

    fn told_of_refund(&mut self, nth: usize) {
        let event = self.returns[nth].settle().unwrap_or("rma.refund_recorded");
        self.send(nth, event);
    }

    pub(super) fn confirm(&mut self, nth: usize) -> String {
        let Some(kept) = self.returns.get_mut(nth) else { return "no such return".to_owned() };
        let in_question: Vec<&mut Unit> = kept.shown.units.iter_mut().filter(|unit| unit.in_question).collect();
        if in_question.is_empty() {
            return "nothing in question".to_owned();
        }
        in_question.into_iter().for_each(|unit| unit.in_question = false);
        self.told_of_refund(nth);
        "confirmed".to_owned()
    }

    /// Warns about lines with more units refunded than sold, where the message alone does not show it.
    fn count_beyond(&self, snapshot: &Snapshot, entry: &Entry<'_>, warnings: &mut Vec<String>) {
        for (line_at, (line, _)) in entry.stated.lines.iter().enumerate().filter(|(_, (line, _))| entry.added.contains_key(line)) {
            let warning = format!("refunds[{}].refund_line_items[{line_at}].quantity", entry.at);
            let of_order = self.refunds.iter().filter(|((order, _), _)| *order == snapshot.order);
            let units: u32 = of_order.filter_map(|(_, record)| record.lines.get(line)).sum();
            let beyond = snapshot.lines.get(*line).is_some_and(|sold| units > sold.quantity);
            if beyond && !unclear(snapshot).contains(&warning) {
                warnings.push(warning);
            }
        }
    }

    /// Warnings about units that are being returned but that the order no longer has.
    fn doubts(&self, snapshot: &Snapshot) -> Vec<String> {
        let live: Vec<(usize, u32)> = (0..4).map(|line| (line, self.live(snapshot.order, line))).filter(|(_, live)| *live > 0).collect();
        if snapshot.cancelled && !live.is_empty() {
            return vec!["status".to_owned()];
        }
        let doubt = |(line, live): &(usize, u32)| match snapshot.lines.get(*line) {
            Some(sold) => (*live > sold.shipped).then(|| format!("items[{line}].quantity_shipped")),
            None => Some("items".to_owned()),
        };
        live.iter().filter_map(doubt).collect()
    }
}

/// Warnings about refunds of lines that are not in the order, and of more units than the order has.
fn unclear(snapshot: &Snapshot) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut refunded: BTreeMap<usize, u32> = BTreeMap::new();
    for (at, refund) in snapshot.refunds.iter().enumerate() {
        for (line_at, (line, units)) in refund.lines.iter().enumerate() {
            let field = |name: &str| format!("refunds[{at}].refund_line_items[{line_at}].{name}");
            let Some(sold) = snapshot.lines.get(*line) else {
                warnings.push(field("order_item_identifier"));
                continue;
            };
            *refunded.entry(*line).or_default() += units;
            if refunded[line] > sold.quantity {
                warnings.push(field("quantity"));
            }
        }
    }
    warnings
}

fn named_wrong(at: usize) -> String {
    format!("refunds[{at}].rma_identifier")
}
