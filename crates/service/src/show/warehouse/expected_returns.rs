//! Returns as a warehouse sees them.

use domain::returns::rma::{Receiving, Status};
use store::returns::rmas::Return;
use wire::time;
use wire::warehouse::expected_returns::{ExpectedLine, ExpectedReturn};

/// True if the warehouse waits for units of the return.
pub(crate) fn is_expected(kept: &Return) -> bool {
    kept.rma.status != Status::Cancelled && kept.rma.units.iter().any(|unit| unit.receiving.is_some_and(Receiving::is_expected))
}

/// A return at the warehouse: its parcels, and how many units of each line have arrived.
pub(crate) fn shown(kept: &Return) -> ExpectedReturn {
    let mut tracking_numbers: Vec<String> = Vec::new();
    let mut lines: Vec<ExpectedLine> = Vec::new();
    for (unit, item) in kept.units() {
        tracking_numbers.extend(unit.parcel.number().map(ToString::to_string).filter(|number| !tracking_numbers.contains(number)));
        let expected = u32::from(unit.receiving.is_some_and(Receiving::is_expected));
        let at = lines.iter().position(|line| line.line_identifier == unit.line).unwrap_or_else(|| {
            lines.push(ExpectedLine {
                line_identifier: unit.line.clone(),
                sku: item.sku.clone(),
                title: item.title.clone(),
                expected: 0,
                received: 0,
            });
            lines.len() - 1
        });
        if let Some(line) = lines.get_mut(at) {
            line.expected += expected;
            line.received += 1 - expected;
        }
    }
    ExpectedReturn {
        rma_identifier: kept.identifier.clone(),
        order_identifier: kept.order.clone(),
        return_method: kept.rma.method.as_str(),
        tracking_numbers,
        closed: kept.rma.receiving_closed,
        lines,
        created_at: time::write(kept.created_at),
    }
}
