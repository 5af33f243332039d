//! Assigns each scanned unit of a message to a line of its ASN, or to an exception.

use std::collections::HashMap;

use domain::warehouse::inbound::matching::{Line, Outcome, Scan, hold};
use domain::warehouse::inbound::{Act, Exception, State};
use store::warehouse::inbound_asns::StoredAsn;
use store::warehouse::receipts::{Known, Placed};
use wire::warehouse::receiving::ReceivedUnitIn;

use crate::show::warehouse::inbound::scanned;

/// The outcome of a scanned unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitOutcome {
    /// Received against this line.
    Received(String),
    /// Received earlier, against this ASN and line.
    AlreadyReceived(String, String),
    Exception(Exception),
}

/// A unit with the ASN line that it is received against.
pub(super) struct MatchedUnit<'a> {
    pub(super) unit: &'a ReceivedUnitIn<'a>,
    pub(super) asn: &'a StoredAsn,
    pub(super) line: &'a Placed,
}

impl MatchedUnit<'_> {
    /// The ASN and the line, if the ASN is closed already.
    pub(super) fn late(&self) -> Option<(&str, &str)> {
        (self.asn.state == State::Closed).then_some((self.asn.asn.number.as_str(), self.line.line.identifier.as_str()))
    }
}

/// The assignment of a scanned unit.
pub(super) enum Assignment<'a> {
    Received(MatchedUnit<'a>),
    /// Received earlier, or earlier in the same message, against this ASN and line.
    AlreadyReceived(String, String),
    Exception(&'a ReceivedUnitIn<'a>, Exception),
    /// The same exception as for an earlier scan in the same message.
    RepeatedException(Exception),
}

impl<'a> Assignment<'a> {
    pub(super) const fn received(&self) -> Option<&MatchedUnit<'a>> {
        match self {
            Self::Received(matched) => Some(matched),
            Self::AlreadyReceived(..) | Self::Exception(..) | Self::RepeatedException(_) => None,
        }
    }

    pub(super) const fn exception(&self) -> Option<(&'a ReceivedUnitIn<'a>, Exception)> {
        match self {
            Self::Exception(unit, exception) => Some((unit, *exception)),
            Self::Received(_) | Self::AlreadyReceived(..) | Self::RepeatedException(_) => None,
        }
    }

    pub(super) fn into_outcome(self) -> UnitOutcome {
        match self {
            Self::Received(matched) => UnitOutcome::Received(matched.line.line.identifier.clone()),
            Self::AlreadyReceived(asn_number, line) => UnitOutcome::AlreadyReceived(asn_number, line),
            Self::Exception(_, exception) | Self::RepeatedException(exception) => UnitOutcome::Exception(exception),
        }
    }

    /// The assignment of the same unit when it is scanned again in the same message.
    fn again(&self) -> Self {
        match self {
            Self::Received(matched) => Self::AlreadyReceived(matched.asn.asn.number.clone(), matched.line.line.identifier.clone()),
            Self::AlreadyReceived(asn_number, line) => Self::AlreadyReceived(asn_number.clone(), line.clone()),
            Self::Exception(_, exception) | Self::RepeatedException(exception) => Self::RepeatedException(*exception),
        }
    }
}

/// Assigns the units of a message. `lines` are all lines that any of them may be received against.
pub(super) fn assign<'a>(
    units: &'a [ReceivedUnitIn<'a>],
    asns: &'a [StoredAsn],
    lines: &'a [Placed],
    known: &[Known],
) -> Vec<Assignment<'a>> {
    let known: HashMap<&str, &Known> = known.iter().map(|known| (known.unit.as_str(), known)).collect();
    let mut assignments: Vec<Option<Assignment<'a>>> = units.iter().map(|_| None).collect();
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut repeats: Vec<(usize, usize)> = Vec::new();
    let mut of_asn: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, unit) in units.iter().enumerate() {
        if let Some(known) = known.get(&*unit.unit_identifier.0) {
            put(&mut assignments, at, Assignment::AlreadyReceived(known.asn_number.clone(), known.line.clone()));
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
        for (at, of) in match_with(asn, lines, &scanned) {
            put(&mut assignments, at, of);
        }
    }
    for (at, first) in repeats {
        if let Some(again) = assignments.get(first).and_then(Option::as_ref).map(Assignment::again) {
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

/// Matches units with the lines of the ASN that they were scanned for, if it exists.
fn match_with<'a>(
    asn: Option<&'a StoredAsn>,
    lines: &'a [Placed],
    scanned: &[(usize, &'a ReceivedUnitIn<'a>)],
) -> Vec<(usize, Assignment<'a>)> {
    let all = |exception| scanned.iter().map(|(at, unit)| (*at, Assignment::Exception(unit, exception))).collect();
    let Some(asn) = asn else { return all(Exception::UnknownAsn) };
    if asn.state.on(Act::Receive).is_err() {
        return all(Exception::CancelledAsn);
    }
    let lines: Vec<&Placed> = lines.iter().filter(|placed| placed.asn == asn.id).collect();
    let facts: Vec<Line<'_>> = lines.iter().map(|placed| fact(placed)).collect();
    let scans: Vec<Scan<'_>> = scanned.iter().map(|(_, unit)| scanned::scan(unit)).collect();
    let outcomes = hold(&facts, &scans).into_iter().zip(scanned);
    let assignment = |(outcome, (at, unit)): (Outcome, &(usize, &'a ReceivedUnitIn<'a>))| {
        let assignment = match outcome {
            Outcome::Received(line) => match lines.get(line) {
                Some(line) => Assignment::Received(MatchedUnit { unit, asn, line }),
                None => Assignment::Exception(unit, Exception::UnexpectedUnit),
            },
            Outcome::Exception(exception) => Assignment::Exception(unit, exception),
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
