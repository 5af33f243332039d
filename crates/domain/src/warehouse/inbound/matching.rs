//! Matching scanned units to the lines of their ASN.

use std::collections::HashMap;

use super::Exception;

/// The part of an ASN line that units are matched by.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Unique within the ASN.
    pub identifier: &'a str,
    /// License plate of the announced unit.
    pub unit: Option<&'a str>,
    /// The merchant's identifier of the announced unit.
    pub client_unit: Option<&'a str>,
    pub sku: Option<&'a str>,
    pub carton: Option<&'a str>,
    /// Units announced.
    pub quantity: u32,
    /// Units received so far.
    pub received: u32,
}

impl Line<'_> {
    /// True if the line announces one specific unit.
    const fn is_of_a_unit(&self) -> bool {
        self.unit.is_some() || self.client_unit.is_some()
    }
}

/// A scanned unit.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The license plate.
    pub unit: &'a str,
    /// The merchant's identifier of the unit.
    pub client_unit: Option<&'a str>,
    /// The line, if the warehouse knows it.
    pub line: Option<&'a str>,
    pub sku: Option<&'a str>,
    pub carton: Option<&'a str>,
}

/// The outcome for a scanned unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Received against the line at this position.
    Received(usize),
    Exception(Exception),
}

/// Matches scanned units to the lines of their ASN, in order. Each unit is scanned once.
///
/// A unit goes to the line that the warehouse names, else to the line that announces this unit, else to the first incomplete line
/// of its SKU that announces no specific unit.
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

/// Lookup tables of the lines.
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

    /// The lines that the unit may be received against, in order of preference.
    fn candidates(&self, lines: &[Line<'_>], scan: &Scan<'_>) -> Vec<usize> {
        // SKU and carton must agree where both sides know them: a different product in the carton was not announced.
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

/// True if the values are equal, or at least one is unknown.
fn same(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

#[cfg(test)]
mod tests;
