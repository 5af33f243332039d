//! Matches scanned units with the units that a return waits for. A return needs no ASN: its order lines take the place of ASN lines.

use domain::returns::rma::{Method, Receiving, Status};
use domain::warehouse::inbound::Exception;
use domain::warehouse::inbound::matching::{Line, Outcome, Scan, hold};
use store::returns::rmas::Return;

use super::scan::Scanned;
use crate::show::warehouse::inbound::scanned;

/// The order line that each unit is received against, or its exception.
pub(super) fn match_with(kept: Option<&Return>, units: &[&Scanned<'_>]) -> Vec<Result<String, Exception>> {
    let all = |exception| units.iter().map(|_| Err(exception)).collect();
    let Some(kept) = kept else { return all(Exception::UnknownReturn) };
    if kept.rma.status == Status::Cancelled {
        return all(Exception::CancelledReturn);
    }
    if kept.rma.method == Method::CustomerKeep {
        return all(Exception::UnexpectedUnit);
    }
    let lines = lines(kept);
    // A rejected unit takes no place: the return still waits for a unit that can be refunded.
    let scans =
        |rejected: bool| units.iter().filter(move |of| of.unit.reject_reason.is_some() == rejected).map(|of| scanned::scan(of.unit));
    let mut good = hold(&lines, &scans(false).collect::<Vec<Scan<'_>>>()).into_iter();
    let mut rejected = scans(true).flat_map(|scan| hold(&lines, &[scan]));
    let outcome = |of: &&Scanned<'_>| {
        let outcome = if of.unit.reject_reason.is_some() { rejected.next() } else { good.next() };
        match outcome {
            Some(Outcome::Received(at)) => lines.get(at).map(|line| line.identifier.to_owned()).ok_or(Exception::UnexpectedUnit),
            Some(Outcome::Exception(exception)) => Err(exception),
            None => Err(Exception::UnexpectedUnit),
        }
    };
    units.iter().map(outcome).collect()
}

/// The units of a return, by order line.
fn lines(kept: &Return) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (unit, item) in kept.units() {
        let received = u32::from(!unit.receiving.is_some_and(Receiving::is_expected));
        match lines.iter_mut().find(|line| line.identifier == unit.line) {
            Some(line) => {
                line.quantity += 1;
                line.received += received;
            }
            None => lines.push(Line {
                identifier: &unit.line,
                unit: None,
                client_unit: None,
                sku: Some(&item.sku),
                carton: None,
                quantity: 1,
                received,
            }),
        }
    }
    lines
}
