use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

fn of_sku<'a>(identifier: &'a str, sku: &'a str, quantity: u32) -> Line<'a> {
    Line { identifier, unit: None, client_unit: None, sku: Some(sku), carton: None, quantity, received: 0 }
}

fn of_unit<'a>(identifier: &'a str, unit: &'a str) -> Line<'a> {
    Line { unit: Some(unit), sku: Some("SHOE"), ..of_sku(identifier, "SHOE", 1) }
}

fn scan<'a>(unit: &'a str, sku: &'a str) -> Scan<'a> {
    Scan { unit, client_unit: None, line: None, sku: Some(sku), carton: None }
}

/// True if the database query for the scan returns the line.
fn concerns(line: &Line<'_>, scan: &Scan<'_>) -> bool {
    let announces = |name: &str| line.unit == Some(name) || line.client_unit == Some(name);
    scan.line == Some(line.identifier)
        || announces(scan.unit)
        || scan.client_unit.is_some_and(announces)
        || (!line.is_of_a_unit() && line.sku.is_some() && line.sku == scan.sku)
}

const UNEXPECTED: Outcome = Outcome::Exception(Exception::UnexpectedUnit);
const OVER: Outcome = Outcome::Exception(Exception::OverReceived);

#[test]
fn the_named_line_goes_before_the_unit_and_the_unit_before_its_sku() {
    let lines = [of_sku("1", "SHOE", 5), of_unit("2", "U-2"), of_unit("3", "U-3")];
    let named = Scan { line: Some("3"), ..scan("U-2", "SHOE") };
    assert_eq!(hold(&lines, &[named]), [Outcome::Received(2)]);
    assert_eq!(hold(&lines, &[scan("U-2", "SHOE")]), [Outcome::Received(1)]);
    assert_eq!(hold(&lines, &[scan("LP-9", "SHOE")]), [Outcome::Received(0)]);
    let by_client = Scan { client_unit: Some("U-3"), ..scan("LP-9", "SHOE") };
    assert_eq!(hold(&lines, &[by_client]), [Outcome::Received(2)]);
}

#[test]
fn a_line_that_announces_a_unit_waits_for_that_unit() {
    let lines = [of_unit("1", "U-1")];
    assert_eq!(hold(&lines, &[scan("U-2", "SHOE"), scan("U-1", "SHOE")]), [UNEXPECTED, Outcome::Received(0)]);
}

#[test]
fn units_of_a_sku_fill_its_lines_in_order_and_then_are_too_many() {
    let lines = [of_sku("1", "SHOE", 1), of_sku("2", "SOCK", 1), of_sku("3", "SHOE", 1)];
    let scans = [scan("A", "SHOE"), scan("B", "SHOE"), scan("C", "SHOE"), scan("D", "HAT")];
    assert_eq!(hold(&lines, &scans), [Outcome::Received(0), Outcome::Received(2), OVER, UNEXPECTED]);
}

#[test]
fn another_product_or_carton_than_announced_is_unexpected() {
    let line = Line { carton: Some("BOX-1"), ..of_sku("1", "SHOE", 2) };
    let named = Scan { line: Some("1"), ..scan("A", "SOCK") };
    let elsewhere = Scan { carton: Some("BOX-2"), ..scan("B", "SHOE") };
    assert_eq!(hold(&[line], &[named, elsewhere, scan("C", "SHOE")]), [UNEXPECTED, UNEXPECTED, Outcome::Received(0)]);
}

/// A line: whether it announces a unit, of which SKU, in which carton, how many units, and how many are there.
type AnyLine = (bool, u8, Option<u8>, u32, u32);
/// A scan: which unit, whether it names a line, which SKU and carton.
type AnyScan = (u8, Option<u8>, Option<u8>, Option<u8>);

fn any_line() -> impl Strategy<Value = AnyLine> {
    (any::<bool>(), 0..3_u8, proptest::option::of(0..2_u8), 1..4_u32).prop_flat_map(|(of_unit, sku, carton, quantity)| {
        let quantity = if of_unit { 1 } else { quantity };
        (Just(of_unit), Just(sku), Just(carton), Just(quantity), 0..=quantity)
    })
}

fn any_scan() -> impl Strategy<Value = AnyScan> {
    let some = proptest::option::of;
    (0..12_u8, some(0..8_u8), some(0..4_u8), some(0..3_u8))
}

proptest! {
    #[test]
    fn no_line_overflows_and_nothing_that_is_scanned_is_lost(
        lines in proptest::collection::vec(any_line(), 0..6),
        scans in proptest::collection::vec(any_scan(), 0..20),
    ) {
        let names: Vec<[String; 4]> = (0..12).map(|n| [format!("{n}"), format!("U-{n}"), format!("S-{n}"), format!("B-{n}")]).collect();
        let name = |kind: usize, n: u8| names[usize::from(n)][kind].as_str();
        let lines: Vec<Line<'_>> = lines.iter().enumerate().map(|(at, (of_unit, sku, carton, quantity, received))| {
            let at = u8::try_from(at).unwrap();
            Line {
                identifier: name(0, at), unit: of_unit.then(|| name(1, at)), client_unit: None, sku: Some(name(2, *sku)),
                carton: carton.map(|carton| name(3, carton)), quantity: *quantity, received: *received,
            }
        }).collect();
        let scans: Vec<Scan<'_>> = scans.iter().map(|(unit, line, sku, carton)| Scan {
            unit: name(1, *unit), client_unit: None, line: line.map(|line| name(0, line)), sku: sku.map(|sku| name(2, sku)),
            carton: carton.map(|carton| name(3, carton)),
        }).collect();
        let mut units: HashSet<&str> = HashSet::new();
        let scans: Vec<Scan<'_>> = scans.into_iter().filter(|scan| units.insert(scan.unit)).collect();
        let outcomes = hold(&lines, &scans);

        // No scan is lost: each has an outcome.
        prop_assert_eq!(outcomes.len(), scans.len());
        let mut counted: HashMap<usize, u32> = HashMap::new();
        for (at, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Outcome::Received(line) => {
                    prop_assert!(concerns(&lines[*line], &scans[at]), "its line was asked for");
                    *counted.entry(*line).or_default() += 1;
                }
                Outcome::Exception(why) => {
                    prop_assert!(matches!(why, Exception::UnexpectedUnit | Exception::OverReceived));
                }
            }
        }
        for (line, count) in counted {
            prop_assert!(lines[line].received + count <= lines[line].quantity, "no line takes more than it announces");
        }
        // Lines that the query leaves out make no difference.
        let asked: Vec<Line<'_>> = lines.iter().filter(|line| scans.iter().any(|scan| concerns(line, scan))).copied().collect();
        let told = |lines: &[Line<'_>], outcomes: Vec<Outcome>| outcomes.into_iter().map(|outcome| match outcome {
            Outcome::Received(at) => lines[at].identifier.to_owned(),
            Outcome::Exception(why) => why.to_string(),
        }).collect::<Vec<_>>();
        prop_assert_eq!(told(&lines, outcomes), told(&asked, hold(&asked, &scans)));
    }
}
