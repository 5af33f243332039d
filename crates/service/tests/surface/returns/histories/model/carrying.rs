//! The effect of carriers' reports on the units of a return.

use super::super::step::{Report, line_name, tracking_number};
use super::Model;
use super::kept::STAYS;

impl Model {
    pub(super) fn carry(&mut self, report: &Report) -> String {
        let is_label = report.event == "label_issued";
        let is_drop_off = ["dropped_off", "collected"].contains(&report.event);
        let nameless =
            if is_label { report.of.is_none() || report.number.is_none() } else { report.of.is_none() && report.number.is_none() };
        if nameless || (report.items.is_some() && !is_drop_off) {
            return "faulty".to_owned();
        }
        let nth = match (report.of, report.number) {
            (Some(nth), _) if nth < self.returns.len() => nth,
            (Some(_), _) => return "no such return".to_owned(),
            (None, Some(number)) => match self.numbers.get(&number) {
                Some(nth) => *nth,
                None => return self.keep(tracking_number(number), report, None),
            },
            (None, None) => return "faulty".to_owned(),
        };
        let holder = report.number.and_then(|number| self.numbers.get(&number)).filter(|holder| **holder != nth);
        if holder.is_some_and(|holder| !is_label || !self.returns[*holder].is_over()) {
            return "another's number".to_owned();
        }
        let name = self.returns[nth].shown.name.clone();
        let Some(handed_over) = self.handed_over(nth, report) else { return "refused".to_owned() };
        let kept = &self.returns[nth];
        let labelled = kept.shown.units[0].place.tracking.clone();
        match (labelled, report.number.filter(|_| is_label)) {
            _ if kept.shown.status == "CANCELED" => format!("unchanged {name}"),
            _ if kept.method == "customer-keep" => "refused".to_owned(),
            (None, None) if !is_drop_off => {
                self.returns[nth].scanned = true;
                self.keep(name.clone(), report, Some(&name))
            }
            (None, Some(number)) => {
                self.label(nth, number);
                format!("moved {name}")
            }
            (Some(has), Some(number)) if has == tracking_number(number) => format!("unchanged {name}"),
            (Some(_), Some(_)) => "refused".to_owned(),
            (_, None) => {
                let moved = self.move_units(nth, report, &handed_over);
                format!("{} {name}", if moved { "moved" } else { "unchanged" })
            }
        }
    }

    /// Keeps a report that arrived before its label; a repeat is kept once.
    fn keep(&mut self, waits_for: String, report: &Report, name: Option<&str>) -> String {
        let same = |(of, kept): &(String, Report)| *of == waits_for && kept.event == report.event && kept.at == report.at;
        if !self.early.iter().any(same) {
            self.early.push((waits_for, report.clone()));
        }
        format!("kept {}", name.unwrap_or("for a number"))
    }

    /// Sets the label, and applies the reports that waited for it.
    fn label(&mut self, nth: usize, number: usize) {
        self.numbers.insert(number, nth);
        for unit in &mut self.returns[nth].shown.units {
            unit.place.parcel.get_or_insert_with(|| "PRE_TRANSIT".to_owned());
            unit.place.tracking = Some(tracking_number(number));
        }
        self.send(nth, "rma.tracking_updated");
        let waited_for = [self.returns[nth].shown.name.clone(), tracking_number(number)];
        let (mut due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.early).into_iter().partition(|(of, _)| waited_for.contains(of));
        self.early = rest;
        due.sort_by_key(|(_, report)| report.at);
        for (_, report) in due {
            if let Some(handed_over) = self.handed_over(nth, &report) {
                self.move_units(nth, &report, &handed_over);
            }
        }
    }

    /// For each unit, true if it was handed over; within a line the first units that were not handed over before. None if the return
    /// has too few units.
    fn handed_over(&self, nth: usize, report: &Report) -> Option<Vec<bool>> {
        let units = &self.returns[nth].shown.units;
        let mut handed_over = vec![report.items.is_none(); units.len()];
        for (line, quantity) in report.items.iter().flatten() {
            for _ in 0..*quantity {
                let left: Vec<usize> = (0..units.len()).filter(|at| !handed_over[*at] && units[*at].line == line_name(*line)).collect();
                let stays = |at: &usize| STAYS.contains(&units[*at].place.parcel.as_deref());
                let next = left.iter().copied().find(stays).or(left.first().copied())?;
                handed_over[next] = true;
            }
        }
        Some(handed_over)
    }

    /// Moves the units that a report is about; they have a label, or are handed over. The same partial drop-off counts once.
    fn move_units(&mut self, nth: usize, report: &Report, handed_over: &[bool]) -> bool {
        if let Some(items) = &report.items
            && !self.returns[nth].drop_offs.insert((report.event, report.at, items.clone()))
        {
            return false;
        }
        let units = &mut self.returns[nth].shown.units;
        let is_left_out = |parcel: &Option<String>| parcel.as_deref() == Some("NOT_DROPPED_OFF");
        let all_left_out = units.iter().all(|unit| is_left_out(&unit.place.parcel));
        let mut moved = false;
        for (unit, handed_over) in units.iter_mut().zip(handed_over) {
            // A report on the whole parcel does not apply to units that were left out of it.
            if report.items.is_none() && is_left_out(&unit.place.parcel) && !all_left_out {
                continue;
            }
            let event = if *handed_over { report.event } else { "left_out" };
            if let Some(place) = next(unit.place.parcel.as_deref(), event) {
                unit.place.parcel = Some(place.to_owned());
                moved = true;
            }
        }
        if moved {
            self.send(nth, "rma.tracking_updated");
        }
        moved
    }
}

/// The next status of a parcel; none after a final status, and never backwards.
fn next(parcel: Option<&str>, event: &str) -> Option<&'static str> {
    let (to, from): (_, &[&str]) = match event {
        "dropped_off" | "collected" => ("ACCEPTED", &["", "PRE_TRANSIT", "NOT_DROPPED_OFF"]),
        "left_out" => ("NOT_DROPPED_OFF", &["", "PRE_TRANSIT"]),
        "in_transit" => ("TRANSIT", &["PRE_TRANSIT", "NOT_DROPPED_OFF", "ACCEPTED", "FAILURE"]),
        "delivered" => ("DELIVERED", &["PRE_TRANSIT", "NOT_DROPPED_OFF", "ACCEPTED", "TRANSIT", "FAILURE"]),
        "returned_to_sender" => ("RETURNED", &["PRE_TRANSIT", "NOT_DROPPED_OFF", "ACCEPTED", "TRANSIT", "FAILURE"]),
        "failed" => ("FAILURE", &["PRE_TRANSIT", "NOT_DROPPED_OFF", "ACCEPTED", "TRANSIT"]),
        other => panic!("{other}"),
    };
    from.contains(&parcel.unwrap_or_default()).then_some(to)
}
