//! The lines of an ASN as columns, for statements that take many at once.

use domain::warehouse::asn::Condition;

use super::asn::Line;

/// Separates flags in transit. Flags contain no control characters.
const SEPARATOR: &str = "\u{1f}";

pub(super) struct Columns<'a> {
    pub(super) cartons: Vec<i32>,
    pub(super) quantities: Vec<i32>,
    pub(super) identifiers: Vec<&'a str>,
    pub(super) carton_identifiers: Vec<Option<&'a str>>,
    pub(super) reference_types: Vec<Option<&'a str>>,
    pub(super) references: Vec<Option<&'a str>>,
    pub(super) alternates: Vec<Option<&'a str>>,
    pub(super) reference_lines: Vec<Option<&'a str>>,
    pub(super) units: Vec<Option<&'a str>>,
    pub(super) client_units: Vec<Option<&'a str>>,
    pub(super) skus: Vec<Option<&'a str>>,
    pub(super) upcs: Vec<Option<&'a str>>,
    pub(super) programs: Vec<Option<&'a str>>,
    pub(super) serial_numbers: Vec<Option<&'a str>>,
    pub(super) vendors: Vec<Option<&'a str>>,
    pub(super) conditions: Vec<Option<&'a str>>,
    pub(super) flags: Vec<Option<String>>,
    pub(super) merchants: Vec<Option<&'a str>>,
    pub(super) concepts: Vec<Option<&'a str>>,
    pub(super) asins: Vec<Option<&'a str>>,
    pub(super) return_reasons: Vec<Option<&'a str>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(lines: &'a [Line]) -> Self {
        let text = |of: fn(&Line) -> Option<&str>| lines.iter().map(of).collect::<Vec<_>>();
        let flags = |line: &Line| (!line.flags.is_empty()).then(|| line.flags.join(SEPARATOR));
        Self {
            cartons: lines.iter().map(|line| i32::try_from(line.carton).unwrap_or(i32::MAX)).collect(),
            quantities: lines.iter().map(|line| i32::try_from(line.quantity).unwrap_or(i32::MAX)).collect(),
            identifiers: lines.iter().map(|line| line.identifier.as_str()).collect(),
            carton_identifiers: text(|line| line.carton_identifier.as_deref()),
            reference_types: text(|line| line.reference.as_ref().map(|reference| reference.kind.as_str())),
            references: text(|line| line.reference.as_ref().map(|reference| reference.identifier.as_str())),
            alternates: text(|line| line.reference.as_ref().and_then(|reference| reference.alternate.as_deref())),
            reference_lines: text(|line| line.reference_line.as_deref()),
            units: text(|line| line.unit.as_deref()),
            client_units: text(|line| line.client_unit.as_deref()),
            skus: text(|line| line.sku.as_deref()),
            upcs: text(|line| line.upc.as_deref()),
            programs: text(|line| line.program.as_deref()),
            serial_numbers: text(|line| line.serial_number.as_deref()),
            vendors: text(|line| line.vendor.as_deref()),
            conditions: text(|line| line.condition.map(Condition::as_str)),
            flags: lines.iter().map(flags).collect(),
            merchants: text(|line| line.merchant.as_deref()),
            concepts: text(|line| line.concept.as_deref()),
            asins: text(|line| line.asin.as_deref()),
            return_reasons: text(|line| line.return_reason.as_deref()),
        }
    }
}
