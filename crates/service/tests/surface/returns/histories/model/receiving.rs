//! The model at the warehouse: units are received for their return, without an ASN.

use super::super::step::Arrival;
use super::Model;

impl Model {
    pub(super) fn receive(&mut self, arrival: &Arrival) -> String {
        let of = match arrival.number {
            Some(number) => self.numbers.get(&number).copied(),
            None => Some(arrival.of).filter(|nth| *nth < self.returns.len()),
        };
        if of.is_some_and(|nth| self.is_unmanaged(nth)) {
            return "refused".to_owned();
        }
        let mut outcomes = Vec::new();
        for (plate, line) in &arrival.units {
            outcomes.push(match self.plates.get(plate) {
                Some((known, line)) if Some(*known) == of => format!("already_received {line}"),
                Some((_, line)) => format!("conflict {line}"),
                None => self.arrives(of, *plate, line),
            });
        }
        if let Some(nth) = of
            && outcomes.iter().any(|outcome| outcome.starts_with("received"))
        {
            self.send(nth, "rma.received");
        }
        outcomes.join(", ")
    }

    /// True for a return that the warehouse is not to receive, though it comes back.
    fn is_unmanaged(&self, nth: usize) -> bool {
        let kept = &self.returns[nth];
        kept.method != "customer-keep" && kept.shown.status != "CANCELED" && kept.shown.units[0].place.receiving.is_none()
    }

    fn arrives(&mut self, of: Option<usize>, plate: u32, line: &str) -> String {
        let Some(nth) = of else { return "unknown_return".to_owned() };
        let kept = &mut self.returns[nth];
        if kept.shown.status == "CANCELED" {
            return "canceled_return".to_owned();
        }
        let mut of_line = kept.shown.units.iter_mut().filter(|unit| unit.line == line).peekable();
        if kept.method == "customer-keep" || of_line.peek().is_none() {
            return "unexpected_unit".to_owned();
        }
        match of_line.find(|unit| unit.place.receiving.as_deref() != Some("RECEIVED")) {
            Some(unit) => {
                unit.place.receiving = Some("RECEIVED".to_owned());
                self.plates.insert(plate, (nth, line.to_owned()));
                format!("received {line}")
            }
            None => "over_received".to_owned(),
        }
    }

    pub(super) fn close(&mut self, nth: usize) -> String {
        let Some(kept) = self.returns.get_mut(nth) else { return "no such return".to_owned() };
        let shown = &mut kept.shown;
        if shown.status == "CANCELED" || shown.units[0].place.receiving.is_none() {
            return "refused".to_owned();
        }
        if !shown.closed {
            shown.closed = true;
            for unit in shown.units.iter_mut().filter(|unit| unit.place.receiving.as_deref() == Some("PENDING")) {
                unit.place.receiving = Some("NOT_RECEIVED".to_owned());
            }
            let event = kept.settle().unwrap_or("rma.receiving_closed");
            self.send(nth, event);
        }
        "closed".to_owned()
    }
}
