//! Which line of its ASN a scanned unit is received against.

use std::collections::HashMap;

use super::Exception;

/// A line of an ASN, as far as a unit can be told from it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its name in the ASN.
    pub identifier: &'a str,
    /// The unit that it announces.
    pub unit: Option<&'a str>,
    /// The same, by the merchant's own name.
    pub client_unit: Option<&'a str>,
    /// What it announces.
    pub sku: Option<&'a str>,
    /// The carton that it comes in.
    pub carton: Option<&'a str>,
    /// How many units it announces.
    pub quantity: u32,
    /// How many of them are there.
    pub received: u32,
}

impl Line<'_> {
    /// Whether it announces one particular unit.
    const fn is_of_a_unit(&self) -> bool {
        self.unit.is_some() || self.client_unit.is_some()
    }
}

/// A unit as it was scanned.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// Its license plate.
    pub unit: &'a str,
    /// The merchant's own name for it.
    pub client_unit: Option<&'a str>,
    /// The line, where the warehouse knows it.
    pub line: Option<&'a str>,
    /// What it is.
    pub sku: Option<&'a str>,
    /// The carton that it came in.
    pub carton: Option<&'a str>,
}

/// What becomes of a scanned unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is received against the line at this position.
    Received(usize),
    /// It is put on the list of exceptions.
    Exception(Exception),
}

/// Holds the units that were scanned against the lines of their ASN, one after the other. Each unit is scanned once.
///
/// The line that the warehouse names comes first, then the line that announces this very unit, then the first line of its SKU
/// that announces no unit in particular and is not complete.
#[must_use]
pub fn hold(lines: &[Line<'_>], scans: &[Scan<'_>]) -> Vec<Outcome> {
    let mut received: Vec<u32> = lines.iter().map(|line| line.received).collect();
    let mut outcomes = Vec::with_capacity(scans.len());
    let known = Known::new(lines);
    for scan in scans {
        let free = |at: &usize| lines.get(*at).zip(received.get(*at)).is_some_and(|(line, received)| *received < line.quantity);
        let outcome = match known.candidates(lines, scan) {
            candidates if candidates.is_empty() => Outcome::Exception(Exception::UnexpectedUnit),
            candidates => candidates.into_iter().find(free).map_or(Outcome::Exception(Exception::OverReceived), Outcome::Received),
        };
        if let Outcome::Received(line) = outcome
            && let Some(count) = received.get_mut(line)
        {
            *count += 1;
        }
        outcomes.push(outcome);
    }
    outcomes
}

/// The lines by what they can be found by.
struct Known<'a> {
    lines: HashMap<&'a str, usize>,
    units: HashMap<&'a str, usize>,
    skus: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Known<'a> {
    fn new(lines: &[Line<'a>]) -> Self {
        let mut known = Self { lines: HashMap::new(), units: HashMap::new(), skus: HashMap::new() };
        for (at, line) in lines.iter().enumerate() {
            known.lines.insert(line.identifier, at);
            for unit in [line.unit, line.client_unit].into_iter().flatten() {
                known.units.entry(unit).or_insert(at);
            }
            if let Some(sku) = line.sku.filter(|_| !line.is_of_a_unit()) {
                known.skus.entry(sku).or_default().push(at);
            }
        }
        known
    }

    /// The lines that the unit may be received against; the first that is not complete is taken.
    fn candidates(&self, lines: &[Line<'_>], scan: &Scan<'_>) -> Vec<usize> {
        // What is known of the unit on both sides must agree: another product in the box is not what was announced.
        let agrees = |at: &usize| lines.get(*at).is_some_and(|line| same(line.sku, scan.sku) && same(line.carton, scan.carton));
        if let Some(name) = scan.line {
            return self.lines.get(name).copied().filter(agrees).into_iter().collect();
        }
        let names = [Some(scan.unit), scan.client_unit].into_iter().flatten();
        let of_the_unit: Vec<usize> = names.filter_map(|name| self.units.get(name).copied()).take(1).collect();
        if !of_the_unit.is_empty() {
            return of_the_unit.into_iter().filter(agrees).collect();
        }
        let of_the_sku = scan.sku.and_then(|sku| self.skus.get(sku)).map(Vec::as_slice).unwrap_or_default();
        of_the_sku.iter().copied().filter(agrees).collect()
    }
}

/// Whether two names can be of the same thing: one of them is not known, or they are equal.
fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

#[cfg(test)]
mod tests;
