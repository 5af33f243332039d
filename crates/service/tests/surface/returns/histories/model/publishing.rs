//! The effect of an order message: the newest snapshot wins, and each refund counts once.

use std::collections::BTreeMap;

use super::super::step::{Refund, Snapshot, line_name, refund_name, return_name};
use super::{Kept, Model, Recorded};

impl Model {
    pub(super) fn publish(&mut self, snapshot: &Snapshot) -> String {
        if !adds_up(snapshot) || !self.agrees(snapshot) {
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
        let mut warnings = self.record(snapshot, &names);
        if verdict == "updated" {
            warnings.extend(self.doubts(snapshot));
        }
        warnings.sort();
        format!("{verdict} {warnings:?}")
    }

    /// True if the message is consistent with the recorded refunds.
    fn agrees(&self, snapshot: &Snapshot) -> bool {
        let mut after: BTreeMap<usize, u32> = (0..snapshot.lines.len()).map(|line| (line, self.refunded(snapshot.order, line))).collect();
        let (known, new): (Vec<&Refund>, Vec<&Refund>) =
            snapshot.refunds.iter().partition(|refund| self.refunds.contains_key(&refund.number));
        for (line, units) in new.iter().flat_map(|refund| &refund.lines) {
            *after.entry(*line).or_default() += units;
        }
        let same = |refund: &&Refund| {
            let recorded = &self.refunds[&refund.number];
            recorded.order == snapshot.order && recorded.total == refund.total && sorted(&recorded.lines) == sorted(&refund.lines)
        };
        let fits = |refund: &&Refund| refund.lines.iter().all(|(line, _)| after[line] <= snapshot.lines[*line].quantity);
        known.iter().all(same) && new.iter().all(fits)
    }

    /// Records the refunds, new ones first, and returns a warning for each named return that cannot be settled.
    fn record(&mut self, snapshot: &Snapshot, names: &[String]) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut stated: Vec<(usize, &Refund)> = snapshot.refunds.iter().enumerate().collect();
        stated.sort_by_key(|(_, refund)| refund.number);
        let (known, new): (Vec<_>, Vec<_>) = stated.into_iter().partition(|(_, refund)| self.refunds.contains_key(&refund.number));
        for (at, refund) in new {
            let name = refund.named.map(|nth| return_name(nth, names).to_owned());
            let recorded = Recorded { order: snapshot.order, total: refund.total, lines: refund.lines.clone(), named: name.clone() };
            self.refunds.insert(refund.number, recorded);
            let first = name.as_deref().and_then(|name| self.open_return(snapshot.order, name));
            if name.is_some() && first.is_none() {
                warnings.push(named_wrong(at));
            }
            self.settle(snapshot.order, refund, first, true);
        }
        for (at, refund) in known {
            let Some(name) = refund.named.map(|nth| return_name(nth, names).to_owned()) else { continue };
            let recorded = self.refunds.get_mut(&refund.number).unwrap();
            match &recorded.named {
                Some(same) if *same == name => {}
                Some(_) => warnings.push(named_wrong(at)),
                None => {
                    recorded.named = Some(name.clone());
                    match self.open_return(snapshot.order, &name) {
                        Some(nth) => self.settle(snapshot.order, refund, Some(nth), false),
                        None if self.was_settled(refund, &name) => {}
                        None => warnings.push(named_wrong(at)),
                    }
                }
            }
        }
        warnings
    }

    /// True if all units of the refund are in returns, some of them in the return that it names only now.
    fn was_settled(&self, refund: &Refund, name: &str) -> bool {
        let by_it: Vec<&str> = self
            .returns
            .iter()
            .flat_map(|kept| kept.shown.units.iter().map(move |unit| (kept.shown.name.as_str(), unit)))
            .filter(|(_, unit)| unit.refund.as_ref() == Some(&refund_name(refund.number)))
            .map(|(name, _)| name)
            .collect();
        let covered: usize = refund.lines.iter().map(|(_, units)| *units as usize).sum();
        by_it.len() == covered && by_it.contains(&name)
    }

    fn open_return(&self, order: usize, name: &str) -> Option<usize> {
        self.open_returns(order).into_iter().find(|nth| self.returns[*nth].shown.name == name)
    }

    /// The returns that a refund can be for, oldest first: live ones, then those with exchanged units left.
    fn open_returns(&self, order: usize) -> Vec<usize> {
        let of = |is_open: fn(&Kept) -> bool| {
            (0..self.returns.len()).filter(move |nth| self.returns[*nth].order == order && is_open(&self.returns[*nth]))
        };
        of(|kept| kept.shown.is_live()).chain(of(Kept::has_exchanges_left)).collect()
    }

    /// Assigns the units of a refund that are in no return yet: to `first`, or to the oldest return in which all of them fit, and the
    /// rest to the `others`, oldest first.
    fn settle(&mut self, order: usize, refund: &Refund, first: Option<usize>, others: bool) {
        let name = refund_name(refund.number);
        let mut left: BTreeMap<String, usize> = BTreeMap::new();
        for (line, units) in &refund.lines {
            let by_it = |line: &str| {
                let units = self.returns.iter().filter(|kept| kept.order == order).flat_map(|kept| &kept.shown.units);
                units.filter(|unit| unit.line == line && unit.refund.as_ref() == Some(&name)).count()
            };
            let line = line_name(*line);
            left.insert(line.clone(), *units as usize - by_it(&line));
        }
        let fits = |nth: &usize| {
            let open = |line: &str| self.returns[*nth].shown.units.iter().filter(|unit| unit.line == line && unit.refund.is_none()).count();
            left.iter().all(|(line, units)| open(line) >= *units)
        };
        let all = self.open_returns(order);
        let first = first.or_else(|| all.iter().copied().find(fits));
        let rest = all.into_iter().filter(|nth| others && Some(*nth) != first);
        for nth in first.into_iter().chain(rest).collect::<Vec<_>>() {
            self.settle_in(nth, &name, &mut left);
        }
    }

    fn settle_in(&mut self, nth: usize, refund: &str, left: &mut BTreeMap<String, usize>) {
        let kept = &mut self.returns[nth];
        let mut settled = false;
        // The shopper's refund comes before the merchant settling an exchange.
        for exchanged in [false, true] {
            for unit in kept.shown.units.iter_mut().filter(|unit| unit.refund.is_none() && unit.got.is_exchange() == exchanged) {
                let Some(units) = left.get_mut(&unit.line).filter(|units| **units > 0) else { continue };
                *units -= 1;
                unit.refund = Some(refund.to_owned());
                settled = true;
            }
        }
        if !settled {
            return;
        }
        let event = kept.settle().unwrap_or("rma.refund_recorded");
        self.send(nth, event);
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

/// True if the message is consistent in itself.
fn adds_up(snapshot: &Snapshot) -> bool {
    let lines = snapshot.lines.iter().all(|line| line.shipped + line.cancelled <= line.quantity);
    let mut refunded: BTreeMap<usize, u32> = BTreeMap::new();
    for (line, units) in snapshot.refunds.iter().flat_map(|refund| &refund.lines) {
        *refunded.entry(*line).or_default() += units;
    }
    lines && refunded.iter().all(|(line, units)| snapshot.lines.get(*line).is_some_and(|sold| *units <= sold.quantity))
}

fn sorted(lines: &[(usize, u32)]) -> Vec<(usize, u32)> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines
}

fn named_wrong(at: usize) -> String {
    format!("refunds[{at}].rma_identifier")
}
