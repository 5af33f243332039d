//! The change of a return, as its transaction keeps it.

use chrono::{DateTime, Utc};
use domain::returns::rma::{Event, ExchangeState, Receiving};

use super::record::Return;
use crate::returns::rma_changes::{Change, Entry, Flags, Units};

/// What has changed of a return since it was read or saved, with the entry of its time line.
pub(super) fn of(changed: &Return, event: Option<(Event, DateTime<Utc>)>) -> Change {
    let rma = &changed.rma;
    Change {
        id: changed.id,
        sequence: changed.sequence,
        updated_at: changed.updated_at,
        wakes_at: changed.wakes_at,
        status: rma.status.as_str(),
        exchange: rma.exchange().map(ExchangeState::as_str),
        cancel_reason: changed.cancel_reason.clone(),
        flags: Flags {
            reminded: changed.reminded,
            receiving_closed: rma.receiving_closed,
            scanned_early: rma.scanned_early,
            expected: rma.is_expected(),
            awaits_refund: rma.awaits_refund(),
        },
        event: event.map(|(event, happened_at)| Entry { event: event.as_str(), happened_at, parcels: parcels(changed) }),
        units: units(changed),
    }
}

/// The parcel states of the units, each once.
fn parcels(changed: &Return) -> Vec<&'static str> {
    let mut parcels: Vec<&str> = changed.rma.units.iter().filter_map(|unit| unit.parcel.as_str()).collect();
    parcels.sort_unstable();
    parcels.dedup();
    parcels
}

/// The units, unless none has changed.
fn units(changed: &Return) -> Units {
    let mut units = Units { changed: changed.changed_units(), ..Units::default() };
    if !units.any_changed() {
        return Units::default();
    }
    for (unit, item) in changed.units() {
        units.parcels.push(unit.parcel.as_str());
        units.tracking_numbers.push(unit.parcel.number().map(ToString::to_string));
        units.receiving.push(unit.receiving.map(Receiving::as_str));
        units.refunds.push(item.refund.clone());
        units.in_question.push(unit.in_question);
        units.refund_types.push(unit.refund_type.as_str());
        units.exchange_owed.push(unit.exchange_owed);
        units.exchange_orders.push(item.exchange_order.clone());
        units.estimated.push(item.financials.estimated.get());
        units.fees.push(item.financials.fee.get());
        units.service.push(item.financials.service.get());
        units.shopper.push(item.financials.shopper.get());
    }
    units
}
