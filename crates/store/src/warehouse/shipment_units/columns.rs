//! Units as columns, for statements that take many at once.

use super::unit::Unit;
use crate::warehouse::shipments::number;

/// Units as one list per column. Each unit has a list of flags, but the rows of an SQL array must all have the same length.
/// So all flags form one list, and each unit has a slice of it.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) cartons: Vec<i32>,
    pub(super) lines: Vec<String>,
    pub(super) programs: Vec<String>,
    pub(super) plates: Vec<String>,
    pub(super) client_units: Vec<Option<String>>,
    pub(super) inbound_asns: Vec<Option<String>>,
    pub(super) skus: Vec<String>,
    pub(super) upcs: Vec<Option<String>>,
    pub(super) vendors: Vec<Option<String>>,
    pub(super) serial_numbers: Vec<Option<String>>,
    pub(super) conditions: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) first_flags: Vec<Option<i32>>,
    pub(super) last_flags: Vec<Option<i32>>,
    pub(super) merchants: Vec<Option<String>>,
    pub(super) reference_types: Vec<Option<String>>,
    pub(super) references: Vec<Option<String>>,
    pub(super) alternates: Vec<Option<String>>,
}

impl Columns {
    pub(super) fn of(units: &[Unit]) -> Self {
        let mut columns = Self::default();
        for unit in units {
            columns.cartons.push(number(unit.carton));
            columns.lines.push(unit.line.clone());
            columns.programs.push(unit.program.clone());
            columns.plates.push(unit.unit.clone());
            columns.client_units.push(unit.client_unit.clone());
            columns.inbound_asns.push(unit.inbound_asn.clone());
            columns.skus.push(unit.sku.clone());
            columns.upcs.push(unit.upc.clone());
            columns.vendors.push(unit.vendor.clone());
            columns.serial_numbers.push(unit.serial_number.clone());
            columns.conditions.push(unit.condition.as_str().to_owned());
            let before = columns.flags.len();
            columns.flags.extend(unit.eligibility_flags.iter().flatten().cloned());
            let bound = |count: usize| unit.eligibility_flags.as_ref().and_then(|_| i32::try_from(count).ok());
            columns.first_flags.push(bound(before + 1));
            columns.last_flags.push(bound(columns.flags.len()));
            columns.merchants.push(unit.merchant.clone());
            let reference = unit.reference.as_ref();
            columns.reference_types.push(reference.map(|reference| reference.kind.as_str().to_owned()));
            columns.references.push(reference.map(|reference| reference.identifier.clone()));
            columns.alternates.push(reference.and_then(|reference| reference.alternate.clone()));
        }
        columns
    }
}
