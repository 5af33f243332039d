//! Assigns each scanned unit of a message to a line of its ASN, to its return, or to an exception.

use std::collections::HashMap;

use domain::warehouse::inbound::matching::{Line, Outcome, Scan, hold};
use domain::warehouse::inbound::{Act, Exception, Target};
use store::returns::rmas::Return;
use store::warehouse::inbound_asns::StoredAsn;
use store::warehouse::receipts::{Known, Placed};

use super::outcome::{Against, Assignment, MatchedUnit};
use super::returned;
use super::scan::Scanned;
use crate::show::warehouse::inbound::scanned;

/// The ASNs and lines that units may be received against.
#[derive(Clone, Copy)]
pub(super) struct Stock<'a> {
    pub(super) asns: &'a [StoredAsn],
    pub(super) lines: &'a [Placed],
}

/// Assigns the units of a message. `stock` and `returns` are all that any of them may be received against.
pub(super) fn assign<'a>(
    units: &'a [Scanned<'a>],
    stock: Stock<'a>,
    returns: &HashMap<String, Return>,
    known: &[Known],
) -> Vec<Assignment<'a>> {
    let known: HashMap<&str, &Known> = known.iter().map(|known| (known.unit.as_str(), known)).collect();
    let mut assignments: Vec<Option<Assignment<'a>>> = units.iter().map(|_| None).collect();
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut repeats: Vec<(usize, usize)> = Vec::new();
    let mut of_target: HashMap<Target<'a>, Vec<(usize, &'a Scanned<'a>)>> = HashMap::new();
    for (at, scanned) in units.iter().enumerate() {
        let plate = &*scanned.unit.unit_identifier.0;
        if let Some(known) = known.get(plate) {
            put(&mut assignments, at, Assignment::of_known(scanned, (*known).clone()));
        } else if let Some(first) = first.get(plate) {
            repeats.push((at, *first));
        } else {
            first.insert(plate, at);
            of_target.entry(scanned.target).or_default().push((at, scanned));
        }
    }
    for (target, scanned) in of_target {
        for (at, of) in match_with(target, stock, returns, &scanned) {
            put(&mut assignments, at, of);
        }
    }
    for (at, first) in repeats {
        let earlier = assignments.get(first).and_then(Option::as_ref);
        if let Some(again) = earlier.zip(units.get(at)).map(|(earlier, scanned)| earlier.again(scanned)) {
            put(&mut assignments, at, again);
        }
    }
    assignments.into_iter().flatten().collect()
}

fn put<'a>(assignments: &mut [Option<Assignment<'a>>], at: usize, of: Assignment<'a>) {
    if let Some(place) = assignments.get_mut(at) {
        *place = Some(of);
    }
}

/// Matches units with the lines of the ASN or the return that they were scanned for, if it exists.
fn match_with<'a>(
    target: Target<'a>,
    stock: Stock<'a>,
    returns: &HashMap<String, Return>,
    scanned: &[(usize, &'a Scanned<'a>)],
) -> Vec<(usize, Assignment<'a>)> {
    match target {
        Target::Asn(number) => match_with_asn(stock.asns.iter().find(|kept| kept.asn.number == number), stock.lines, scanned),
        Target::Return(identifier) => match_with_return(identifier, returns.get(identifier), scanned),
        Target::Parcel(_) => all(scanned, Exception::UnknownReturn),
    }
}

fn all<'a>(scanned: &[(usize, &'a Scanned<'a>)], exception: Exception) -> Vec<(usize, Assignment<'a>)> {
    scanned.iter().map(|(at, of)| (*at, Assignment::Exception(of, exception))).collect()
}

fn match_with_return<'a>(identifier: &'a str, kept: Option<&Return>, scanned: &[(usize, &'a Scanned<'a>)]) -> Vec<(usize, Assignment<'a>)> {
    let outcomes = returned::match_with(kept, &scanned.iter().map(|(_, of)| *of).collect::<Vec<_>>());
    let id = kept.map(|kept| kept.id).unwrap_or_default();
    let assignment = |(outcome, (at, of)): (Result<String, Exception>, &(usize, &'a Scanned<'a>))| {
        let assignment = match outcome {
            Ok(line) => Assignment::Received(MatchedUnit { scanned: of, against: Against::Return { id, identifier, line } }),
            Err(exception) => Assignment::Exception(of, exception),
        };
        (*at, assignment)
    };
    outcomes.into_iter().zip(scanned).map(assignment).collect()
}

fn match_with_asn<'a>(
    asn: Option<&'a StoredAsn>,
    lines: &'a [Placed],
    scanned: &[(usize, &'a Scanned<'a>)],
) -> Vec<(usize, Assignment<'a>)> {
    let Some(asn) = asn else { return all(scanned, Exception::UnknownAsn) };
    if asn.state.on(Act::Receive).is_err() {
        return all(scanned, Exception::CancelledAsn);
    }
    let lines: Vec<&Placed> = lines.iter().filter(|placed| placed.asn == asn.id).collect();
    let facts: Vec<Line<'_>> = lines.iter().map(|placed| fact(placed)).collect();
    let scans: Vec<Scan<'_>> = scanned.iter().map(|(_, of)| scanned::scan(of.unit)).collect();
    let outcomes = hold(&facts, &scans).into_iter().zip(scanned);
    let assignment = |(outcome, (at, of)): (Outcome, &(usize, &'a Scanned<'a>))| {
        let assignment = match outcome {
            Outcome::Received(line) => match lines.get(line) {
                Some(line) => Assignment::Received(MatchedUnit { scanned: of, against: Against::Line(asn, line) }),
                None => Assignment::Exception(of, Exception::UnexpectedUnit),
            },
            Outcome::Exception(exception) => Assignment::Exception(of, exception),
        };
        (*at, assignment)
    };
    outcomes.map(assignment).collect()
}

fn fact(placed: &Placed) -> Line<'_> {
    let line = &placed.line;
    Line {
        identifier: &line.identifier,
        unit: line.unit.as_deref(),
        client_unit: line.client_unit.as_deref(),
        sku: line.sku.as_deref(),
        carton: line.carton_identifier.as_deref(),
        quantity: line.quantity,
        received: line.received,
    }
}
