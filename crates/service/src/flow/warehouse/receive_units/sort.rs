//! What becomes of each unit of a message, by all that is known once everything is locked.

use std::collections::HashMap;

use domain::warehouse::inbound::matching::{Line, Outcome, Scan, hold};
use domain::warehouse::inbound::{Act, Exception, State};
use store::warehouse::inbound_asns::StoredAsn;
use store::warehouse::receipts::{Known, Placed};
use wire::warehouse::receiving::ReceivedUnitIn;

use super::Taken;
use crate::show::warehouse::inbound::scanned;

/// A unit that is received.
pub(super) struct Sorted<'a> {
    pub(super) unit: &'a ReceivedUnitIn<'a>,
    pub(super) asn: &'a StoredAsn,
    pub(super) line: &'a Placed,
}

impl Sorted<'_> {
    /// The ASN and the line, when the ASN was closed before.
    pub(super) fn late(&self) -> Option<(&str, &str)> {
        (self.asn.state == State::Closed).then_some((self.asn.asn.number.as_str(), self.line.line.identifier.as_str()))
    }
}

/// Where a unit went.
pub(super) enum Went<'a> {
    /// It is received.
    In(Sorted<'a>),
    /// It was received before, or earlier in the message, against this ASN and line.
    Known(String, String),
    /// It is an exception.
    Out(&'a ReceivedUnitIn<'a>, Exception),
    /// It is the same exception as earlier in the message.
    OutAgain(Exception),
}

impl<'a> Went<'a> {
    pub(super) const fn received(&self) -> Option<&Sorted<'a>> {
        match self {
            Self::In(sorted) => Some(sorted),
            Self::Known(..) | Self::Out(..) | Self::OutAgain(_) => None,
        }
    }

    pub(super) const fn exception(&self) -> Option<(&'a ReceivedUnitIn<'a>, Exception)> {
        match self {
            Self::Out(unit, exception) => Some((unit, *exception)),
            Self::In(_) | Self::Known(..) | Self::OutAgain(_) => None,
        }
    }

    pub(super) fn into_taken(self) -> Taken {
        match self {
            Self::In(sorted) => Taken::Received(sorted.line.line.identifier.clone()),
            Self::Known(asn_number, line) => Taken::Known(asn_number, line),
            Self::Out(_, exception) | Self::OutAgain(exception) => Taken::Exception(exception),
        }
    }

    /// Where the same unit goes that is scanned again in the same message.
    fn again(&self) -> Self {
        match self {
            Self::In(sorted) => Self::Known(sorted.asn.asn.number.clone(), sorted.line.line.identifier.clone()),
            Self::Known(asn_number, line) => Self::Known(asn_number.clone(), line.clone()),
            Self::Out(_, exception) | Self::OutAgain(exception) => Self::OutAgain(*exception),
        }
    }
}

/// Sorts the units of a message; the lines are those that any of them may be received against.
pub(super) fn sort<'a>(units: &'a [ReceivedUnitIn<'a>], asns: &'a [StoredAsn], lines: &'a [Placed], known: &[Known]) -> Vec<Went<'a>> {
    let known: HashMap<&str, &Known> = known.iter().map(|known| (known.unit.as_str(), known)).collect();
    let mut went: Vec<Option<Went<'a>>> = units.iter().map(|_| None).collect();
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut repeats: Vec<(usize, usize)> = Vec::new();
    let mut of_asn: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, unit) in units.iter().enumerate() {
        if let Some(known) = known.get(&*unit.unit_identifier.0) {
            put(&mut went, at, Went::Known(known.asn_number.clone(), known.line.clone()));
        } else if let Some(first) = first.get(&*unit.unit_identifier.0) {
            repeats.push((at, *first));
        } else {
            first.insert(&unit.unit_identifier.0, at);
            of_asn.entry(&unit.asn_number.0).or_default().push(at);
        }
    }
    for (number, positions) in of_asn {
        let scanned: Vec<(usize, &'a ReceivedUnitIn<'a>)> =
            positions.into_iter().filter_map(|at| units.get(at).map(|unit| (at, unit))).collect();
        let asn = asns.iter().find(|kept| kept.asn.number == number);
        for (at, of) in hold_against(asn, lines, &scanned) {
            put(&mut went, at, of);
        }
    }
    for (at, first) in repeats {
        if let Some(again) = went.get(first).and_then(Option::as_ref).map(Went::again) {
            put(&mut went, at, again);
        }
    }
    went.into_iter().flatten().collect()
}

fn put<'a>(went: &mut [Option<Went<'a>>], at: usize, of: Went<'a>) {
    if let Some(place) = went.get_mut(at) {
        *place = Some(of);
    }
}

/// Holds units against the ASN that they were scanned for, if there is one.
fn hold_against<'a>(
    asn: Option<&'a StoredAsn>,
    lines: &'a [Placed],
    scanned: &[(usize, &'a ReceivedUnitIn<'a>)],
) -> Vec<(usize, Went<'a>)> {
    let all = |exception| scanned.iter().map(|(at, unit)| (*at, Went::Out(unit, exception))).collect();
    let Some(asn) = asn else { return all(Exception::UnknownAsn) };
    if asn.state.on(Act::Receive).is_err() {
        return all(Exception::CancelledAsn);
    }
    let lines: Vec<&Placed> = lines.iter().filter(|placed| placed.asn == asn.id).collect();
    let facts: Vec<Line<'_>> = lines.iter().map(|placed| fact(placed)).collect();
    let scans: Vec<Scan<'_>> = scanned.iter().map(|(_, unit)| scanned::scan(unit)).collect();
    let outcomes = hold(&facts, &scans).into_iter().zip(scanned);
    let went = |(outcome, (at, unit)): (Outcome, &(usize, &'a ReceivedUnitIn<'a>))| {
        let went = match outcome {
            Outcome::Received(line) => match lines.get(line) {
                Some(line) => Went::In(Sorted { unit, asn, line }),
                None => Went::Out(unit, Exception::UnexpectedUnit),
            },
            Outcome::Exception(exception) => Went::Out(unit, exception),
        };
        (*at, went)
    };
    outcomes.map(went).collect()
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
