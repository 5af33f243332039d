//! The rules for ASNs beyond their shape.

use std::collections::HashSet;

use super::shape::{InboundAsnIn, InboundAsnsIn, LineIn, MOST_LINES};
use crate::fault::{Code, Fault, MOST_TOLD, Path};

fn invalid(at: &Path, name: &str, message: impl Into<String>) -> Fault {
    Fault::new(at.field(name), Code::Invalid, message)
}

/// The rules that a message of ASNs breaks.
pub(super) fn of_message(message: &InboundAsnsIn<'_>) -> Vec<Fault> {
    let mut numbers = HashSet::new();
    let mut faults = Vec::new();
    for (at, asn) in message.inbound_asns.0.iter().enumerate() {
        let at = Path::root().field("inbound_asns").index(at);
        if !numbers.insert(&*asn.asn_number.0) {
            faults.push(invalid(&at, "asn_number", "must be unique within the message"));
        }
        faults.extend(of_asn(asn, &at));
    }
    faults.truncate(MOST_TOLD);
    faults
}

/// The fault of an ASN whose number is not the one in the URL.
pub(super) fn of_name(asn: &InboundAsnIn<'_>, number: &str) -> Option<Fault> {
    (asn.asn_number.0 != number).then(|| invalid(&Path::root(), "asn_number", "must be the ASN number in the URL"))
}

/// The rules that an ASN breaks.
pub(super) fn of_asn(asn: &InboundAsnIn<'_>, at: &Path) -> Vec<Fault> {
    let mut faults = Vec::new();
    let lines: usize = asn.cartons.0.iter().map(|carton| carton.details.0.len()).sum();
    if lines > MOST_LINES {
        faults.push(invalid(at, "cartons", format!("must have at most {MOST_LINES} lines in total; it has {lines}")));
    }
    let mut known = Known::default();
    for (number, carton) in asn.cartons.0.iter().enumerate() {
        let at = at.field("cartons").index(number).field("details");
        for (number, line) in carton.details.0.iter().enumerate() {
            if faults.len() >= MOST_TOLD {
                return faults;
            }
            known.add(line, &at.index(number), &mut faults);
        }
    }
    faults
}

/// The identifiers used by earlier lines.
#[derive(Default)]
struct Known<'a> {
    lines: HashSet<&'a str>,
    units: HashSet<&'a str>,
}

impl<'a> Known<'a> {
    fn add(&mut self, line: &'a LineIn<'_>, at: &Path, faults: &mut Vec<Fault>) {
        if !self.lines.insert(&line.line_identifier.0) {
            faults.push(invalid(at, "line_identifier", "must be unique within the ASN"));
        }
        let unit = line.unit_identifier.as_ref().map(|unit| &*unit.0);
        let client_unit = line.client_unit_identifier.as_ref().map(|unit| &*unit.0);
        for (name, unit) in [("unit_identifier", unit), ("client_unit_identifier", client_unit.filter(|own| Some(*own) != unit))] {
            if unit.is_some_and(|unit| !self.units.insert(unit)) {
                faults.push(invalid(at, name, "must not be used by another line of the ASN"));
            }
        }
        let is_of_a_unit = unit.is_some() || client_unit.is_some();
        if is_of_a_unit && line.quantity.is_some_and(|quantity| quantity.0 != 1) {
            faults.push(invalid(at, "quantity", "must be 1 for an identified unit"));
        }
        if !is_of_a_unit && line.sku.is_none() {
            faults.push(Fault::new(
                at.field("sku"),
                Code::MissingField,
                "is required unless unit_identifier or client_unit_identifier is given",
            ));
        }
        let flags = line.eligibility_flags.iter().flat_map(|flags| &flags.0);
        for (number, _) in flags.enumerate().filter(|(_, flag)| flag.0.chars().any(char::is_control)) {
            let at = at.field("eligibility_flags").index(number);
            faults.push(Fault::new(at, Code::Invalid, "must not contain control characters"));
        }
    }
}
