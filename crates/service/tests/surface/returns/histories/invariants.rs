//! Invariants that hold whatever the rules are. They are checked against the requests and the observed results alone.

mod exchanging;

use std::collections::{BTreeMap, BTreeSet};

use self::exchanging::Exchanges;
use super::step::{Line, Snapshot, Step, line_name, order_name, refund_name};
use super::view::{Return, View};

/// A history that was run: each step with the view after it.
pub type Record = Vec<(Step, View)>;

/// Returns the first violated invariant.
pub fn check(record: &Record) -> Result<(), String> {
    let (mut ledger, mut exchanges) = (Ledger::default(), Exchanges::default());
    for (step, view) in record {
        ledger.note(step, view)?;
        units(view, &ledger)?;
        ledger.follow(view)?;
        exchanges.follow(step, view)?;
        if let Step::Start(start) = step
            && view.outcome.starts_with("started")
        {
            ledger.fits(start.order, view)?;
        }
    }
    ledger.cents()
}

/// Everything published and recorded so far.
#[derive(Default)]
struct Ledger {
    standing: BTreeMap<usize, Snapshot>,
    /// The order, lines and units that each refund covers.
    refunds: BTreeMap<String, (usize, Vec<(usize, u32)>)>,
    /// The returns as last seen.
    returns: BTreeMap<String, Return>,
    /// The number of messages on each return, and true once one of them was `rma.refunded`.
    messages: BTreeMap<String, (i64, bool)>,
    /// The returns whose label has been in a message.
    labelled: BTreeSet<String>,
    /// The shipped units and money of a line, or none once they have changed.
    money: BTreeMap<(String, String), Option<(u32, i64)>>,
}

impl Ledger {
    fn note(&mut self, step: &Step, view: &View) -> Result<(), String> {
        let Step::Publish(snapshot) = step else { return Ok(()) };
        if view.outcome == "refused" {
            return Ok(());
        }
        for refund in &snapshot.refunds {
            let lines = refund.lines.clone();
            if self.refunds.insert(refund_name(refund.number), (snapshot.order, lines)).is_none() {
                for (line, _) in &refund.lines {
                    let sold = snapshot.lines[*line].quantity;
                    hold(self.refunded(snapshot.order, *line) <= sold, || format!("more than {sold} units of L{line} are refunded"))?;
                }
            }
        }
        if view.outcome.starts_with("created") || view.outcome.starts_with("updated") {
            for (at, line) in snapshot.lines.iter().enumerate() {
                let money = (line.shipped, worth(line));
                let known = self.money.entry((order_name(snapshot.order), line_name(at))).or_insert(Some(money));
                *known = known.filter(|known| *known == money);
            }
            self.standing.insert(snapshot.order, snapshot.clone());
        }
        Ok(())
    }

    fn refunded(&self, order: usize, line: usize) -> u32 {
        let lines = self.refunds.values().filter(|(of, _)| *of == order).flat_map(|(_, lines)| lines);
        lines.filter(|(of, _)| *of == line).map(|(_, units)| units).sum()
    }

    /// At the time of a claim, live and refunded units together never exceed the shipped ones.
    fn fits(&self, order: usize, view: &View) -> Result<(), String> {
        let snapshot = &self.standing[&order];
        let started = view.returns.last().ok_or("a return was started, and there is none")?;
        for (at, line) in snapshot.lines.iter().enumerate() {
            let of_order = view.returns.iter().filter(|kept| kept.order == order_name(order) && kept.status != "CANCELED");
            let live = of_order.flat_map(|kept| &kept.units).filter(|unit| unit.line == line_name(at) && unit.refund.is_none()).count();
            let taken = u32::try_from(live).unwrap() + self.refunded(order, at);
            let claimed = started.units.iter().any(|unit| unit.line == line_name(at));
            hold(!claimed || taken <= line.shipped, || format!("{taken} units of L{at} are taken, and {} shipped", line.shipped))?;
        }
        Ok(())
    }

    /// Final states stay, no message is missing or repeated, and the label comes first.
    fn follow(&mut self, view: &View) -> Result<(), String> {
        for message in &view.messages {
            let (count, refunded) = self.messages.entry(message.name.clone()).or_default();
            *count += 1;
            hold(message.sequence == *count, || format!("{}: message {} comes after {}", message.name, message.sequence, *count - 1))?;
            hold(!(message.event == "rma.refunded" && *refunded), || format!("{} is refunded twice", message.name))?;
            *refunded |= message.event == "rma.refunded";
            hold(*count > 1 || message.units.iter().all(|unit| unit.tracking.is_none()), || {
                format!("{} began with a label", message.name)
            })?;
            let before_the_scan = |unlabelled: Option<&str>| {
                let places = [unlabelled, Some("ACCEPTED"), Some("NOT_DROPPED_OFF")];
                message.units.iter().all(|unit| places.contains(&unit.parcel.as_deref()))
            };
            if message.units.iter().all(|unit| unit.tracking.is_none()) {
                hold(before_the_scan(None), || format!("{} was scanned without a label", message.name))?;
            } else if self.labelled.insert(message.name.clone()) {
                hold(before_the_scan(Some("PRE_TRANSIT")), || format!("{} was scanned before its label was sent", message.name))?;
            }
        }
        for now in &view.returns {
            let name = &now.name;
            let sent = self.messages.get(name).map_or(0, |(count, _)| *count);
            hold(sent == now.sequence, || format!("{name} is at {} but has {sent} messages", now.sequence))?;
            if let Some(before) = self.returns.get(name) {
                let is_final = !before.is_live();
                hold(!is_final || before.status == now.status, || format!("{name} was {} and is {}", before.status, now.status))?;
                for (before, now) in before.units.iter().zip(&now.units) {
                    let kept = before.refund.is_none() || before.refund == now.refund;
                    hold(kept, || format!("a unit of {name} has lost its refund"))?;
                }
            }
            self.returns.insert(name.clone(), now.clone());
        }
        Ok(())
    }

    /// The parts of a line's money never exceed the whole, and all parts together equal it.
    fn cents(&self) -> Result<(), String> {
        let mut parts: BTreeMap<(&str, &str), BTreeMap<u32, i64>> = BTreeMap::new();
        for kept in self.returns.values() {
            for unit in &kept.units {
                parts.entry((&kept.order, &unit.line)).or_default().insert(unit.number, unit.got.estimated);
            }
        }
        for ((order, line), parts) in parts {
            let Some((shipped, whole)) = self.money[&(order.to_owned(), line.to_owned())] else { continue };
            let sum: i64 = parts.values().sum();
            let complete = parts.len() == shipped as usize;
            hold(sum <= whole && (!complete || sum == whole), || format!("{order} {line}: parts sum to {sum} of {whole}"))?;
        }
        Ok(())
    }
}

/// No unit is in two returns, and no refund covers more units than it states.
fn units(view: &View, ledger: &Ledger) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut settled: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for kept in &view.returns {
        for unit in &kept.units {
            let claim = (kept.order.clone(), unit.line.clone(), unit.number);
            if kept.status != "CANCELED" {
                hold(view.claims.contains(&claim), || format!("{claim:?} of {} is not claimed", kept.name))?;
                hold(seen.insert(claim.clone()), || format!("{claim:?} is in two returns"))?;
            }
            if let Some(refund) = &unit.refund {
                *settled.entry((refund, &unit.line)).or_default() += 1;
            }
        }
    }
    hold(seen.len() == view.claims.len(), || "units are claimed that are in no return".to_owned())?;
    for ((refund, line), units) in settled {
        let (_, lines) = ledger.refunds.get(refund).ok_or_else(|| format!("{refund} was never stated"))?;
        let stated: u32 = lines.iter().filter(|(of, _)| line_name(*of) == line).map(|(_, units)| units).sum();
        hold(units <= stated, || format!("{refund} covers {units} units of {line}, and says {stated}"))?;
    }
    Ok(())
}

fn worth(line: &Line) -> i64 {
    line.product - line.discount + line.tax
}

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
