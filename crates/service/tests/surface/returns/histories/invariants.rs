//! Invariants that hold whatever the rules are. They are checked against the requests and the observed results alone.

mod exchanging;

use std::collections::{BTreeMap, BTreeSet};

use self::exchanging::Exchanges;
use super::model::Terms;
use super::model::money::with_order_discount;
use super::step::{Snapshot, Step, line_name, order_name, refund_name};
use super::view::{Return, View};

/// A history that was run: each step with the view after it.
pub type Record = Vec<(Step, View)>;

/// Returns the first violated invariant.
pub fn check(terms: Terms, record: &Record) -> Result<(), String> {
    let (mut ledger, mut exchanges) = (Ledger::default(), Exchanges::default());
    for (step, view) in record {
        ledger.note(step, view);
        units(view, &ledger, terms)?;
        goods_or_money(view)?;
        ledger.follow(step, view)?;
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
    /// The most units of each line that a refund ever stated, by refund and order.
    refunds: BTreeMap<(String, String), BTreeMap<usize, u32>>,
    /// The refunds that named a return at least once.
    naming: BTreeSet<(String, String)>,
    /// The refunds that were stated without lines at least once.
    by_amount: BTreeSet<(String, String)>,
    /// The units that a refund covered until another one, or more units of it, settled them, by refund, order and line: it came while
    /// their exchange was owed, and nobody confirmed it.
    replaced: BTreeMap<(String, String, String), u32>,
    /// The returns as last seen.
    returns: BTreeMap<String, Return>,
    /// The number of messages on each return, and true once one of them was `rma.refunded`.
    messages: BTreeMap<String, (i64, bool)>,
    /// The returns whose label has been in a message.
    labelled: BTreeSet<String>,
    /// The shipped units and money of a line, or none once they have changed or if units are still to be shipped.
    money: BTreeMap<(String, String), Option<(u32, i64)>>,
}

impl Ledger {
    fn note(&mut self, step: &Step, view: &View) {
        let Step::Publish(snapshot) = step else { return };
        if view.outcome == "refused" {
            return;
        }
        for refund in &snapshot.refunds {
            let key = (refund_name(refund.number), order_name(snapshot.order));
            // A stale snapshot brings only refunds that were not seen before.
            if view.outcome.starts_with("stale") && self.refunds.contains_key(&key) {
                continue;
            }
            if refund.named.is_some() {
                self.naming.insert(key.clone());
            }
            if refund.lines.is_empty() {
                self.by_amount.insert(key.clone());
            }
            let lines = self.refunds.entry(key).or_default();
            for (line, units) in &refund.lines {
                let most = lines.entry(*line).or_default();
                *most = (*most).max(*units);
            }
        }
        if view.outcome.starts_with("created") || view.outcome.starts_with("updated") {
            for (at, line) in snapshot.lines.iter().enumerate() {
                let money = (line.shipped, line.product - with_order_discount(snapshot, at).discount + line.tax);
                let known = self.money.entry((order_name(snapshot.order), line_name(at))).or_insert(Some(money));
                *known = known.filter(|known| *known == money && line.shipped == line.ordered());
            }
            self.standing.insert(snapshot.order, snapshot.clone());
        }
    }

    /// The units of a line that were certainly refunded outside of returns: by refunds that never named one, less those that they
    /// cover or covered in returns.
    fn outside(&self, order: usize, line: usize, view: &View) -> u32 {
        let of_line = |((refund, of), lines): (&(String, String), &BTreeMap<usize, u32>)| {
            let unnamed = *of == order_name(order) && !self.naming.contains(&(refund.clone(), of.clone()));
            let returned = view.returns.iter().filter(|kept| kept.order == *of).flat_map(|kept| &kept.units);
            let settled = returned.filter(|unit| unit.line == line_name(line) && unit.refund.as_ref() == Some(refund)).count();
            let replaced = self.replaced.get(&(refund.clone(), of.clone(), line_name(line))).copied().unwrap_or_default();
            let units = lines.get(&line).copied().unwrap_or_default();
            if unnamed { units.saturating_sub(u32::try_from(settled).unwrap() + replaced) } else { 0 }
        };
        self.refunds.iter().map(of_line).sum()
    }

    /// At the time of a claim, the units in returns and those refunded outside together never exceed the shipped ones.
    fn fits(&self, order: usize, view: &View) -> Result<(), String> {
        let snapshot = &self.standing[&order];
        let started = view.returns.last().ok_or("a return was started, and there is none")?;
        for (at, line) in snapshot.lines.iter().enumerate() {
            let of_order = view.returns.iter().filter(|kept| kept.order == order_name(order) && kept.status != "CANCELED");
            let returned = of_order.flat_map(|kept| &kept.units).filter(|unit| unit.line == line_name(at)).count();
            let taken = u32::try_from(returned).unwrap() + self.outside(order, at, view).saturating_sub(line.cancelled);
            let claimed = started.units.iter().any(|unit| unit.line == line_name(at));
            hold(!claimed || taken <= line.shipped, || format!("{taken} units of L{at} are taken, and {} shipped", line.shipped))?;
        }
        Ok(())
    }

    /// Final states stay, no message is missing or repeated, and the label comes first.
    fn follow(&mut self, step: &Step, view: &View) -> Result<(), String> {
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
        for shown in &view.returns {
            let name = &shown.name;
            let sent = self.messages.get(name).map_or(0, |(count, _)| *count);
            hold(sent == shown.sequence, || format!("{name} is at {} but has {sent} messages", shown.sequence))?;
            if let Some(before) = self.returns.get(name) {
                let is_final = !before.is_live();
                hold(!is_final || before.status == shown.status, || format!("{name} was {} and is {}", before.status, shown.status))?;
                for (before, now) in before.units.iter().zip(&shown.units) {
                    let kept = before.refund.is_none() || before.refund == now.refund || (before.in_question && now.is_covered());
                    hold(kept, || format!("a unit of {name} has lost its refund"))?;
                    // More units of the same refund settle a unit in question as those of another one do.
                    let settled_anew = before.in_question && !now.in_question && matches!(step, Step::Publish(_));
                    if let Some(refund) = before.refund.as_ref().filter(|_| before.refund != now.refund || settled_anew) {
                        let key = (refund.clone(), shown.order.clone(), before.line.clone());
                        *self.replaced.entry(key).or_default() += 1;
                    }
                    let converted = before.got.is_exchange() && !now.got.is_exchange();
                    let asked = now.in_question == before.refund.is_some();
                    hold(!converted || asked, || format!("a refund of {name} that came before the conversion is taken for the shopper's"))?;
                }
            }
            self.returns.insert(name.clone(), shown.clone());
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
            // A unit whose discount exceeds its price leaves nothing, and not less.
            let exact = parts.values().all(|part| *part > 0);
            hold(!exact || sum <= whole && (!complete || sum == whole), || format!("{order} {line}: parts sum to {sum} of {whole}"))?;
        }
        Ok(())
    }
}

/// Every unit of a settled return ended as goods or as money, never both and never neither, and an open question is on the work list.
fn goods_or_money(view: &View) -> Result<(), String> {
    for kept in &view.returns {
        for unit in kept.units.iter().filter(|_| kept.status == "REFUNDED") {
            let (goods, money) = (unit.got.is_exchange(), unit.is_covered() && !unit.got.is_exchange());
            hold(goods != money, || format!("{} is settled, and the shopper of a unit has neither goods nor money", kept.name))?;
        }
        let listed = view.questions.contains(&kept.name);
        hold(listed == kept.is_in_question(), || format!("a refund of {} is in question, and nobody is asked", kept.name))?;
    }
    Ok(())
}

/// No unit is in two returns, and no refund covers more units than it states.
fn units(view: &View, ledger: &Ledger, terms: Terms) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut settled: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for kept in &view.returns {
        for unit in &kept.units {
            let claim = (kept.order.clone(), unit.line.clone(), unit.number);
            if kept.status != "CANCELED" {
                hold(view.claims.contains(&claim), || format!("{claim:?} of {} is not claimed", kept.name))?;
                hold(seen.insert(claim.clone()), || format!("{claim:?} is in two returns"))?;
            }
            if let Some(refund) = &unit.refund {
                *settled.entry((refund, &kept.order, &unit.line)).or_default() += 1;
            }
        }
    }
    hold(seen.len() == view.claims.len(), || "units are claimed that are in no return".to_owned())?;
    for ((refund, order, line), units) in settled {
        let key = (refund.to_owned(), order.to_owned());
        let lines = ledger.refunds.get(&key).ok_or_else(|| format!("{refund} was never stated"))?;
        let stated: u32 = lines.iter().filter(|(of, _)| line_name(**of) == line).map(|(_, units)| units).sum();
        // A refund by amount, and any refund if the merchant wants it so, settles units that it does not state.
        hold(units <= stated || ledger.by_amount.contains(&key) || terms.any_refund_closes, || {
            format!("{refund} covers {units} units of {line}, and says {stated}")
        })?;
    }
    Ok(())
}

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
